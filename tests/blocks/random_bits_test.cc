// Random blocks give the bits that TensorFlow 2.21.0 gives on one thread, however many threads share the work here.
#include <catch2/catch.hpp>
#include <cmath>
#include <span>

#include "tests/kit/block_tester.h"
#include "tests/kit/check_gradient.h"

namespace weft::kit {
namespace {

uint64_t Fingerprint(const Tensor& tensor) {
  uint64_t hash = 1469598103934665603u;
  for (uint8_t byte : std::span(static_cast<const uint8_t*>(tensor.data()), static_cast<size_t>(tensor.bytes()))) {
    hash = (hash ^ byte) * 1099511628211u;
  }
  return hash;
}

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

void CheckBits(const std::string& block, const std::string& attrs, const NamedTensors& inputs, uint64_t fingerprint) {
  BlockTester tester(Catalog(), block);
  tester.Attrs(attrs + "seed_ = 7;seed2_ = 13;");
  std::string title = block + " " + attrs;
  for (const auto& [port, value] : inputs) {
    tester.Input(port, value);
    title += Cat(" ", port, " ", ToString(value, 7));
  }
  INFO(title);
  BlockResult result = tester.Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  CHECK(Fingerprint(result.outputs.at("output")) == fingerprint);
}

Tensor Sizes(std::initializer_list<int32_t> sizes) { return Tensor::Of<int32_t>(sizes); }
Tensor GivenNumbers(DType dtype, const std::vector<double>& numbers, std::optional<Shape> shape = std::nullopt) {
  const Shape sizes = shape.value_or(Shape{static_cast<int64_t>(numbers.size())});
  return FromNumbers(dtype, sizes, std::vector<complex128>(numbers.begin(), numbers.end()));
}
Tensor Number(DType dtype, double number) { return GivenNumbers(dtype, {number}, Shape{}); }

TEST_CASE("Random numbers of one distribution are TensorFlow's to the bit", "[random]") {
  struct Row {
    const char* block;
    uint64_t of_float, of_double, of_half, of_bfloat16;
  };
  const Row rows[] = {{"RandomNormal", 0xd8a1dc4dbfc63b63, 0xa7c382d502ea76a6, 0x4d1caed8a777aab6, 0x4fcccb56707dbc39},
                      {"RandomUniform", 0xe56d1f7bce88dc87, 0x85a3440bf74d2505, 0xef9f828d75e94c0f, 0x7d1ceeb92cb225f9},
                      {"TruncatedNormal", 0x5321e18cd0811766, 0x293a07e952ed878f, 0xca6b18451a21f938, 0xf6612cb7fff4192d}};
  for (const Row& row : rows) {
    CheckBits(row.block, "dtype_ = DT_FLOAT;", {{"shape", Sizes({100003})}}, row.of_float);
    CheckBits(row.block, "dtype_ = DT_DOUBLE;", {{"shape", Sizes({100003})}}, row.of_double);
    CheckBits(row.block, "dtype_ = DT_HALF;", {{"shape", Sizes({100003})}}, row.of_half);
    CheckBits(row.block, "dtype_ = DT_BFLOAT16;", {{"shape", Sizes({100003})}}, row.of_bfloat16);
  }
}

TEST_CASE("Random integers and orders are TensorFlow's", "[random]") {
  CheckBits("RandomUniformInt", "",
            {{"shape", Sizes({100003})}, {"minval", Tensor::Scalar<int32_t>(-1000)}, {"maxval", Tensor::Scalar<int32_t>(123456789)}},
            0xf2a0fd163654d940);
  CheckBits("RandomUniformInt", "",
            {{"shape", Sizes({100003})}, {"minval", Tensor::Scalar<int64_t>(-1000)}, {"maxval", Tensor::Scalar<int64_t>(123456789)}},
            0x6c1d2a8b0194d0db);
  const auto whole = [&](Shape shape) {
    Tensor tensor = Tensor::Allocate(DType::kInt32, shape).value();
    for (size_t i = 0; i < static_cast<size_t>(shape.count()); ++i) tensor.values<int32_t>()[i] = static_cast<int32_t>(i);
    return tensor;
  };
  CheckBits("RandomShuffle", "", {{"value", whole({100003})}}, 0xda11a1296e6f51f3);
  CheckBits("RandomShuffle", "", {{"value", whole({1000, 3})}}, 0x6ee39c2b76c2b79f);
}

TEST_CASE("Gamma and Poisson numbers are TensorFlow's to the bit", "[random]") {
  const std::vector<double> alphas = {0.01, 0.3, 1.0, 1.5, 8.0, 300.0};
  CheckBits("RandomGamma", "", {{"shape", Sizes({4001})}, {"alpha", GivenNumbers(DType::kFloat, alphas)}}, 0x528a41f965d690c7);
  CheckBits("RandomGamma", "", {{"shape", Sizes({4001})}, {"alpha", GivenNumbers(DType::kDouble, alphas)}}, 0xce308f9f236abf4d);
  CheckBits("RandomGamma", "", {{"shape", Sizes({4001})}, {"alpha", GivenNumbers(DType::kHalf, alphas)}}, 0x28f73d0fd2fb391a);

  const Tensor rates = GivenNumbers(DType::kDouble, {0, 0.1, 2, 9.99, 10, 33, 1000}),
               large = GivenNumbers(DType::kDouble, {1e6, 1e9, 1e15});
  const std::pair<const char*, uint64_t> expected[] = {{"DT_HALF", 0x82f5aac5449a86ba},   {"DT_FLOAT", 0x7605f78954178845},
                                                       {"DT_DOUBLE", 0x41b4d7ce5095efbb}, {"DT_INT32", 0x7dec5b540e2e657b},
                                                       {"DT_INT64", 0x7cab968f249d9a4b}};
  for (const auto& [dtype, fingerprint] : expected) {
    CheckBits("RandomPoisson", Cat("dtype_ = ", dtype, ";"), {{"shape", Sizes({4001})}, {"rate", rates}}, fingerprint);
  }
  CheckBits("RandomPoisson", "dtype_ = DT_DOUBLE;", {{"shape", Sizes({4001})}, {"rate", large}}, 0x42fcd787dad906c3);
}

TEST_CASE("Drawn classes are TensorFlow's", "[random]") {
  std::vector<double> logits;
  for (int i = 0; i < 300 * 7; ++i) logits.push_back(i * 7919 % 1000 / 250.0 - 2);
  const std::pair<DType, uint64_t> expected[] = {{DType::kFloat, 0x37194189c5a554a3},
                                                 {DType::kDouble, 0x37194189c5a554a3},
                                                 {DType::kHalf, 0x7e4e0f5643ea5e40},
                                                 {DType::kBFloat16, 0x35de54148024c080}};
  for (const auto& [dtype, fingerprint] : expected) {
    const NamedTensors inputs = {{"logits", GivenNumbers(dtype, logits, Shape{300, 7})}, {"num_samples", Tensor::Scalar<int32_t>(33)}};
    CheckBits("Multinomial", "", inputs, fingerprint);
  }
}

TEST_CASE("Normal numbers between limits are TensorFlow's to the bit, by every method", "[random]") {
  const std::pair<double, double> limits[] = {{-3, 4}, {-1, 0.5}, {-0.2, 0.3}, {2, 2.5}, {3, 30}, {-30, -2}, {5, 6}};
  struct Row {
    DType dtype;
    uint64_t fingerprints[7], batches;
  };
  const Row rows[] = {
      {DType::kFloat,
       {0xcdc8ad407f49b5d0, 0xbf7a79008ed4c856, 0xb0a79c61d32c33dd,
        0x24bc135acf99dc3a, 0x354aa915f608991e, 0xb8bedf8ac7ecdb0c, 0x8e549b6632666002},
       0x2133bd8b095c603b},
      {DType::kDouble,
       {0x5764c633faa7b4d8, 0x1a9f5c69dcc22493, 0x827f2427cf89c271,
        0x48182aeb17c3c71a, 0x7b1ce18cf5ca0663, 0xdde7ac23f44f65e4, 0x47be29151dc58401},
       0xf787703c5b172880},
      {DType::kHalf,
       {0xf33bd59c7045bac3, 0x562f101411245d52, 0xfc2e3ca0608fb443,
        0x15504200f90f2bdd, 0xf871bf32cbfbe6da, 0x24426d2084add2de, 0x18ac6612ca4327aa},
       0x2bc210066c673f33}};
  for (const Row& row : rows) {
    const auto inputs = [&](Tensor sizes, Tensor means, double low, double high) {
      return NamedTensors{{"shape", sizes},
                          {"means", means},
                          {"stdevs", Number(row.dtype, 1.5)},
                          {"minvals", Number(row.dtype, low)},
                          {"maxvals", Number(row.dtype, high)}};
    };
    for (size_t i = 0; i < 7; ++i) {
      CheckBits("ParameterizedTruncatedNormal", "", inputs(Sizes({3001}), Number(row.dtype, 0.5), limits[i].first, limits[i].second),
                row.fingerprints[i]);
    }
    std::vector<double> means;
    for (int i = 0; i < 50; ++i) means.push_back(i % 7 - 3);
    CheckBits("ParameterizedTruncatedNormal", "", inputs(Sizes({50, 31}), GivenNumbers(row.dtype, means), -2, 2.5), row.batches);
  }
}

TEST_CASE("Gamma numbers move with alpha as the distribution's quantiles do", "[random]") {
  // What Igamma gives for alpha and the number stays the same: d number / d alpha = -(dP / d alpha) / (dP / d number).
  const std::vector<double> alphas = {0.2, 0.9, 1.0, 3.5, 40.0};
  const auto run = [](const char* block, NamedTensors inputs, const char* attrs, const char* output) {
    BlockTester tester(Catalog(), block);
    tester.Attrs(attrs);
    for (auto& [port, value] : inputs) tester.Input(port, std::move(value));
    BlockResult result = tester.Run();
    INFO(ToString(result.status));
    REQUIRE(result.status.ok());
    const auto values = result.outputs.at(output).values<double>();
    return std::vector<double>(values.begin(), values.end());
  };
  const auto igamma = [&](const std::vector<double>& a, const std::vector<double>& x) {
    return run("Igamma", {{"a", GivenNumbers(DType::kDouble, a)}, {"x", GivenNumbers(DType::kDouble, x)}}, "", "z");
  };
  const auto moved = [](std::vector<double> values, double factor) {
    for (double& value : values) value *= factor;
    return values;
  };
  const Tensor alpha = GivenNumbers(DType::kDouble, alphas);
  const auto x = run("RandomGamma", {{"shape", Sizes({})}, {"alpha", alpha}}, "seed_ = 7;seed2_ = 13;", "output");
  const auto slopes = run("RandomGammaGrad", {{"alpha", alpha}, {"sample", GivenNumbers(DType::kDouble, x)}}, "", "output");
  constexpr double kStep = 1e-5;
  const auto a_above = igamma(moved(alphas, 1 + kStep), x), a_below = igamma(moved(alphas, 1 - kStep), x);
  const auto x_above = igamma(alphas, moved(x, 1 + kStep)), x_below = igamma(alphas, moved(x, 1 - kStep));
  for (size_t i = 0; i < alphas.size(); ++i) {
    const double expected = -((a_above[i] - a_below[i]) / alphas[i]) / ((x_above[i] - x_below[i]) / x[i]);
    INFO(alphas[i] << " " << x[i]);
    CHECK(slopes[i] == Approx(expected).epsilon(1e-6));
  }
}

}  // namespace
}  // namespace weft::kit
