// Functions of whole vectors: right to a few units in the last place, and the same bits at any place in a tensor.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/kit/block_tester.h"

using namespace weft;
using kit::BlockTester;

namespace {

struct Function {
  const char* block;
  long double (*exact)(long double);
  double low, high;
};
const Function kFunctions[] = {
    {"Log", std::log, 1e-30, 1e6},
    {"Tanh", std::tanh, -9, 9},
    {"Sigmoid", [](long double v) { return 1 / (1 + std::exp(-v)); }, -80, 80},
    {"Erf", std::erf, -4, 4},
    {"Erfc", std::erfc, -5, 9},
    {"Exp", std::exp, -80, 80},   {"Expm1", std::expm1, -20, 80}, {"Log1p", std::log1p, -0.99, 1e6}, {"Cosh", std::cosh, -80, 80},
    {"Sinh", std::sinh, -80, 80}, {"Sin", std::sin, -300, 300},   {"Cos", std::cos, -300, 300},      {"Tan", std::tan, -300, 300},
    {"Asin", std::asin, -1, 1},   {"Acos", std::acos, -1, 1},     {"Atan", std::atan, -1e4, 1e4},    {"Sqrt", std::sqrt, 0, 1e6},
    {"Rsqrt", [](long double v) { return 1 / std::sqrt(v); }, 1e-6, 1e6}};

/// Numbers of the range, a quarter of them small; special ones first.
template <class T>
Tensor Numbers(double low, double high, int64_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> spread(low, high), exponent(-30, 0);
  const T special[] = {0, T(-0.0), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(), T(1e30), T(-1e30), T(0.5)};
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, Shape{count}).value();
  int64_t i = 0;
  for (T& v : tensor.values<T>()) {
    v = static_cast<T>(i % 4 == 0 ? spread(random) * std::exp2(exponent(random)) : spread(random));
    if (i < 8) v = special[i];
    ++i;
  }
  return tensor;
}

Tensor Apply(const char* block, std::vector<std::pair<const char*, Tensor>> inputs) {
  BlockTester tester(kit::Catalog(), block);
  for (auto& [port, tensor] : inputs) tester.Input(port, tensor);
  auto result = tester.Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  return result.outputs.begin()->second;
}

template <class T>
Tensor Slice(const Tensor& tensor, int64_t from, int64_t count) {
  Tensor part = Tensor::Allocate(kDTypeOf<T>, Shape{count}).value();
  std::copy_n(tensor.values<T>().begin() + from, count, part.values<T>().begin());
  return part;
}

template <class T>
bool SameAs(const Tensor& part, const Tensor& whole, int64_t from) {
  return std::memcmp(part.data(), whole.values<T>().data() + from, static_cast<size_t>(part.count()) * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("vector functions are right to a few units in the last place", "[elementwise]", float, double) {
  for (const Function& f : kFunctions) {
    const Tensor x = Numbers<TestType>(f.low, f.high, 5000);
    const Tensor y = Apply(f.block, {{"x", x}});
    double worst = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
      const long double exact = f.exact(x.values<TestType>()[i]);
      const TestType found = y.values<TestType>()[i], nearest = static_cast<TestType>(exact);
      INFO(f.block << " of " << x.values<TestType>()[i]);
      if (std::isnan(nearest)) CHECK(std::isnan(found));
      else if (std::isinf(nearest) || nearest == 0) CHECK(found == nearest);
      else if (std::abs(nearest) < std::numeric_limits<TestType>::min()) CHECK(std::abs(found) <= std::numeric_limits<TestType>::min());
      else worst = std::max(worst, static_cast<double>(std::abs((found - exact) / exact)) / std::numeric_limits<TestType>::epsilon());
    }
    INFO(f.block << ": " << worst);
    CHECK(worst < 4);
  }
}

TEMPLATE_TEST_CASE("vector functions give an element the same bits at any place", "[elementwise]", float, double) {
  for (const Function& f : kFunctions) {
    INFO(f.block);
    const Tensor x = Numbers<TestType>(f.low, f.high, 75);
    const Tensor y = Apply(f.block, {{"x", x}});
    for (int64_t i = 0; i < x.count(); ++i) CHECK(SameAs<TestType>(Apply(f.block, {{"x", Slice<TestType>(x, i, 1)}}), y, i));
    for (int64_t from : {1, 3, 6}) CHECK(SameAs<TestType>(Apply(f.block, {{"x", Slice<TestType>(x, from, 60)}}), y, from));
  }
  for (const char* block : {"Pow", "Atan2"}) {
    INFO(block);
    const Tensor x = Numbers<TestType>(-9, 9, 75), y = Numbers<TestType>(-5, 5, 83);
    const Tensor shifted = Slice<TestType>(y, 8, 75);
    const Tensor z = Apply(block, {{"x", x}, {"y", shifted}});
    for (int64_t i = 0; i < x.count(); ++i) {
      const Tensor one = Apply(block, {{"x", Slice<TestType>(x, i, 1)}, {"y", Slice<TestType>(shifted, i, 1)}});
      CHECK(SameAs<TestType>(one, z, i));
    }
  }
}

TEMPLATE_TEST_CASE("powers agree with the scalar function", "[elementwise]", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity(), nan = std::numeric_limits<TestType>::quiet_NaN();
  const std::vector<TestType> numbers = {0, TestType(-0.0), 1, -1, 2, -2, TestType(0.5), TestType(-0.5), 3, -3, TestType(2.5), TestType(-7.25),
                                         infinity, -infinity, nan, TestType(1e10), TestType(-1e10), TestType(16777217), TestType(1e-3)};
  const auto count = static_cast<int64_t>(numbers.size());
  Tensor x = Tensor::Allocate(kDTypeOf<TestType>, Shape{count, 1}).value(), y = Tensor::Allocate(kDTypeOf<TestType>, Shape{count}).value();
  std::copy(numbers.begin(), numbers.end(), x.values<TestType>().begin());
  std::copy(numbers.begin(), numbers.end(), y.values<TestType>().begin());
  const Tensor z = Apply("Pow", {{"x", x}, {"y", y}});
  for (int64_t i = 0; i < count * count; ++i) {
    const TestType a = numbers[static_cast<size_t>(i / count)], b = numbers[static_cast<size_t>(i % count)], exact = std::pow(a, b);
    const TestType found = z.values<TestType>()[i];
    INFO(a << " to the power of " << b << ": " << found << ", needs " << exact);
    if (std::isnan(exact)) CHECK(std::isnan(found));
    else CHECK((found == exact || std::abs(found - exact) <= std::abs(exact) * 4 * std::numeric_limits<TestType>::epsilon()));
    if (!std::isnan(exact)) CHECK(std::signbit(found) == std::signbit(exact));
  }
}

TEMPLATE_TEST_CASE("rests of divisions are exact", "[elementwise]", float, double) {
  using Limits = std::numeric_limits<TestType>;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> digits(1, 2), exponent(-20, 20);
  constexpr int64_t kCount = 20000;
  Tensor x = Tensor::Allocate(kDTypeOf<TestType>, Shape{kCount}).value(), y = Tensor::Allocate(kDTypeOf<TestType>, Shape{kCount}).value();
  for (int64_t i = 0; i < kCount; ++i) {
    TestType& a = x.values<TestType>()[i];
    TestType& b = y.values<TestType>()[i];
    b = static_cast<TestType>((random() % 2 ? 1 : -1) * digits(random) * std::exp2(exponent(random)));
    a = static_cast<TestType>((random() % 2 ? 1 : -1) * digits(random) * std::exp2(exponent(random)));
    // Products and their neighbours are where a rounded quotient would be off by one.
    if (i % 3 == 0) a = b * static_cast<TestType>(random() % 100000);
    if (i % 6 == 0) a = std::nextafter(a, TestType(0));
    if (i % 1000 == 999) b = Limits::infinity();
    if (i % 1000 == 998) a = Limits::quiet_NaN();
  }
  const Tensor towards_zero = Apply("TruncateMod", {{"x", x}, {"y", y}}), down = Apply("FloorMod", {{"x", x}, {"y", y}});
  for (int64_t i = 0; i < kCount; ++i) {
    const TestType a = x.values<TestType>()[i], b = y.values<TestType>()[i], rest = std::fmod(a, b);
    const TestType floor = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    const TestType found = towards_zero.values<TestType>()[i], found_down = down.values<TestType>()[i];
    if (std::isnan(rest) ? !std::isnan(found) : found != rest || std::signbit(found) != std::signbit(rest)) FAIL(a << " mod " << b);
    if (std::isnan(floor) ? !std::isnan(found_down) : found_down != floor) FAIL(a << " floor mod " << b);
  }
}
