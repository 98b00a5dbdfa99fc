// Broadcasting against a plain loop over random shapes; integer division against 64-bit arithmetic; results that do not depend on position.
#include <catch2/catch.hpp>

#include <cstring>
#include <random>

#include "tests/kit/block_tester.h"

using namespace weft;
using kit::BlockTester;

namespace {

template <class T, class F>
Tensor Make(const Shape& shape, F&& value) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  int64_t i = 0;
  for (T& element : tensor.values<T>()) element = value(i++);
  return tensor;
}

Tensor RunBinary(const char* block, const Tensor& x, const Tensor& y) {
  auto result = BlockTester(kit::Catalog(), block).Input("x", x).Input("y", y).Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  return result.outputs.at("z");
}

/// Two shapes that fit, with sizes of 1 and missing axes in any place, and their common shape.
struct ShapePair {
  std::vector<int64_t> x, y, z;
};
ShapePair RandomShapes(std::mt19937& random) {
  constexpr int64_t kSizes[] = {1, 2, 3, 2, 17, 1, 5};
  ShapePair shapes;
  const int rank = static_cast<int>(random() % 8);
  int64_t count = 1;
  for (int d = 0; d < rank; ++d) {
    int64_t size = kSizes[random() % 7];
    if (count * size > 20000) size = 1;
    count *= size;
    shapes.z.push_back(size);
    const unsigned kind = random() % 3;
    shapes.x.push_back(kind == 1 ? 1 : size);
    shapes.y.push_back(kind == 2 ? 1 : size);
  }
  auto& shorter = random() % 2 ? shapes.x : shapes.y;
  while (!shorter.empty() && shorter[0] == 1 && random() % 2) shorter.erase(shorter.begin());
  for (size_t d = 0; d < shapes.z.size(); ++d) {
    const size_t rank_of_z = shapes.z.size();
    const auto at = [&](const std::vector<int64_t>& s) { return d + s.size() < rank_of_z ? int64_t{1} : s[d + s.size() - rank_of_z]; };
    shapes.z[d] = std::max(at(shapes.x), at(shapes.y));
  }
  return shapes;
}

/// Where the element of an operand is that element `index` of the result is computed from.
int64_t OperandIndex(const std::vector<int64_t>& operand, const std::vector<int64_t>& result, int64_t index) {
  int64_t offset = 0, stride = 1;
  for (size_t d = 1; d <= operand.size(); ++d) {
    const int64_t at = index % result[result.size() - d], size = operand[operand.size() - d];
    index /= result[result.size() - d];
    if (size > 1) offset += at * stride;
    stride *= size;
  }
  return offset;
}

template <class T>
void CheckDivision(const std::vector<T>& x, const std::vector<T>& y) {
  const Shape column{static_cast<int64_t>(x.size()), 1}, row{static_cast<int64_t>(y.size())};
  const Tensor z = RunBinary("Div", Make<T>(column, [&](int64_t i) { return x[i]; }), Make<T>(row, [&](int64_t i) { return y[i]; }));
  const auto quotients = z.values<T>();
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < y.size(); ++j) {
      const T expected = static_cast<T>(static_cast<int64_t>(x[i]) / static_cast<int64_t>(y[j]));
      if (quotients[i * y.size() + j] != expected) FAIL(static_cast<int64_t>(x[i]) << " / " << static_cast<int64_t>(y[j]));
    }
  }
}

}  // namespace

TEST_CASE("broadcasting agrees with a plain loop on random shapes", "[elementwise]") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const ShapePair s = RandomShapes(random);
    const Tensor x = Make<int32_t>(Shape(s.x), [](int64_t i) { return static_cast<int32_t>(i * 7 + 1); });
    const Tensor y = Make<int32_t>(Shape(s.y), [](int64_t i) { return static_cast<int32_t>(i * 1000 - 5); });
    const Tensor z = RunBinary("Subtract", x, y);
    REQUIRE(z.shape() == Shape(s.z));
    for (int64_t i = 0; i < z.count(); ++i) {
      const int32_t expected = x.values<int32_t>()[OperandIndex(s.x, s.z, i)] - y.values<int32_t>()[OperandIndex(s.y, s.z, i)];
      if (z.values<int32_t>()[i] != expected) FAIL("element " << i << " of " << ToString(x.shape()) << " with " << ToString(y.shape()));
    }
  }
}

TEST_CASE("broadcasting moves elements of every size, strings too", "[elementwise]") {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const ShapePair s = RandomShapes(random);
    const auto text = [](int64_t i) { return std::string(1, static_cast<char>('a' + i % 26)); };
    const auto byte = [](int64_t i) { return static_cast<uint8_t>(i * 3); };
    const auto complex = [](int64_t i) { return complex128(static_cast<double>(i), -1); };
    const Tensor strings = RunBinary("Add", Make<String>(Shape(s.x), text), Make<String>(Shape(s.y), text));
    const Tensor bytes = RunBinary("Add", Make<uint8_t>(Shape(s.x), byte), Make<uint8_t>(Shape(s.y), byte));
    const Tensor wide = RunBinary("Add", Make<complex128>(Shape(s.x), complex), Make<complex128>(Shape(s.y), complex));
    for (int64_t i = 0; i < strings.count(); ++i) {
      const int64_t a = OperandIndex(s.x, s.z, i), b = OperandIndex(s.y, s.z, i);
      if (strings.values<String>()[i] != text(a) + text(b)) FAIL("string " << i);
      if (bytes.values<uint8_t>()[i] != static_cast<uint8_t>(byte(a) + byte(b))) FAIL("byte " << i);
      if (wide.values<complex128>()[i] != complex(a) + complex(b)) FAIL("complex " << i);
    }
  }
}

TEST_CASE("integer division is exact", "[elementwise]") {
  std::vector<int8_t> all;
  for (int v = -128; v < 128; ++v) all.push_back(static_cast<int8_t>(v));
  std::vector<int8_t> divisors = all;
  std::erase(divisors, 0);
  CheckDivision(all, divisors);

  std::mt19937 random(3);
  std::vector<int32_t> x = {INT32_MIN, INT32_MAX, INT32_MIN + 1, 0, 1, -1}, y = {INT32_MIN, INT32_MAX, 1, -1, 2, 3, 7};
  std::vector<uint32_t> ux = {UINT32_MAX, UINT32_MAX - 1, 0, 1}, uy = {UINT32_MAX, 1, 2, 3};
  std::vector<uint16_t> sx = {65535, 65534, 0, 1}, sy = {65535, 1, 2, 3};
  for (int i = 0; i < 500; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    const uint32_t divisor = std::max<uint32_t>(static_cast<uint32_t>(random()) >> (i % 32), 1);
    // Products and their neighbours are where a rounded quotient would be off by one.
    ux.push_back(i % 2 ? bits : bits / divisor * divisor - (i % 3 == 0 ? 1 : 0));
    uy.push_back(divisor);
    x.push_back(static_cast<int32_t>(ux.back()));
    y.push_back(static_cast<int32_t>(divisor >> 1) | 1);
    sx.push_back(static_cast<uint16_t>(ux.back()));
    sy.push_back(static_cast<uint16_t>(divisor) | 1);
  }
  CheckDivision(x, y);
  CheckDivision(ux, uy);
  CheckDivision(sx, sy);
}

TEMPLATE_TEST_CASE("a function gives an element the same bits at any place", "[elementwise]", float, double) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal(0, 3);
  const Tensor x = Make<TestType>(Shape{101}, [&](int64_t) { return static_cast<TestType>(std::abs(normal(random))); });
  for (const char* block : {"Log", "Tanh", "Sigmoid", "Reciprocal", "Square"}) {
    INFO(block);
    const auto whole = BlockTester(kit::Catalog(), block).Input("x", x).Run();
    REQUIRE(whole.status.ok());
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto one = BlockTester(kit::Catalog(), block).Input("x", Tensor::Scalar(x.values<TestType>()[i])).Run();
      REQUIRE(one.status.ok());
      CHECK(std::memcmp(one.outputs.at("y").data(), whole.outputs.at("y").values<TestType>().data() + i, sizeof(TestType)) == 0);
    }
  }
}

TEST_CASE("double tanh, log and sigmoid are right to a few units in the last place", "[elementwise]") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> exponent(-40, 6);
  const Tensor x = Make<double>(Shape{20000}, [&](int64_t i) { return (i % 2 ? 1 : -1) * std::exp2(exponent(random)); });
  const auto check = [&](const char* block, const Tensor& in, double (*exact)(double)) {
    const auto result = BlockTester(kit::Catalog(), block).Input("x", in).Run();
    REQUIRE(result.status.ok());
    double worst = 0;
    for (int64_t i = 0; i < in.count(); ++i) {
      const double expected = exact(in.values<double>()[i]);
      worst = std::max(worst, std::abs(result.outputs.at("y").values<double>()[i] - expected) / std::abs(expected));
    }
    INFO(block << ": " << worst);
    CHECK(worst < 2e-15);
  };
  check("Tanh", x, [](double v) { return std::tanh(v); });
  check("Sigmoid", x, [](double v) { return 1 / (1 + std::exp(-v)); });
  const Tensor positive = Make<double>(Shape{20000}, [&](int64_t i) { return std::abs(x.values<double>()[i]); });
  check("Log", positive, [](double v) { return std::log(v); });
}
