// Long sums over channels: BiasAddGrad, the statistics of FusedBatchNorm and the sums of its gradient are at least as accurate as
// TensorFlow's, against the same in double.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// The errors of TensorFlow 2.21.0 on the CPU (plain kernels) for the data that Data gives, the worst of two channels: sums as parts of the
/// sum of magnitudes, mean and variance as parts of themselves, x_backprop and y as they are.
struct NormErrors {
  DType dtype;
  int64_t count;
  bool channels_first;
  double bias_grad, mean, variance, y, scale_grad, offset_grad, x_grad;
};
constexpr NormErrors kNormErrors[] = {
    {DType::kFloat, 3000, false, 2.490e-07, 3.859e-07, 1.229e-06, 1.346e-04, 1.433e-06, 1.519e-07, 1.604e-06},
    {DType::kFloat, 3000, true, 4.549e-08, 3.859e-07, 1.229e-06, 1.346e-04, 1.433e-06, 1.519e-07, 1.604e-06},
    {DType::kFloat, 65536, false, 4.024e-07, 9.578e-08, 1.500e-05, 3.355e-05, 2.429e-06, 4.383e-08, 4.364e-06},
    {DType::kFloat, 65536, true, 2.980e-08, 9.578e-08, 1.500e-05, 3.355e-05, 2.429e-06, 4.383e-08, 4.364e-06},
    {DType::kFloat, 1000000, false, 1.150e-05, 8.980e-03, 9.774e+00, 2.156e+00, 1.163e-04, 6.505e-08, 2.685e-04},
    {DType::kFloat, 1000000, true, 1.748e-08, 8.980e-03, 9.774e+00, 2.156e+00, 1.163e-04, 6.505e-08, 2.685e-04},
    {DType::kHalf, 3000, false, 3.296e-05, 8.300e-07, 1.145e-06, 4.881e-04, 5.798e-07, 1.153e-06, 7.578e-04},
    {DType::kHalf, 3000, true, 5.274e-05, 8.300e-07, 1.145e-06, 4.881e-04, 5.798e-07, 1.153e-06, 7.578e-04},
    {DType::kHalf, 65536, false, 7.215e-05, 6.652e-05, 2.409e-05, 3.613e-03, 9.072e-06, 7.549e-07, 8.689e-04},
    {DType::kHalf, 65536, true, 7.215e-05, 6.652e-05, 2.409e-05, 3.613e-03, 9.072e-06, 7.549e-07, 8.689e-04},
    {DType::kHalf, 1000000, false, 3.204e-04, 8.229e-03, 8.152e+00, 2.097e+00, 1.229e-04, 6.384e-05, 8.821e-04},
    {DType::kHalf, 1000000, true, 3.204e-04, 8.229e-03, 8.152e+00, 2.097e+00, 1.229e-04, 6.384e-05, 8.821e-04},
    {DType::kBFloat16, 3000, false, 7.867e-01, 6.108e-09, 8.665e-07, 3.889e-03, 8.782e-07, 1.541e-07, 5.727e-03},
    {DType::kBFloat16, 3000, true, 2.328e-04, 6.108e-09, 8.665e-07, 3.889e-03, 8.782e-07, 1.541e-07, 5.727e-03},
    {DType::kBFloat16, 65536, false, 9.902e-01, 3.742e-05, 1.079e-04, 3.923e-03, 8.330e-05, 2.717e-06, 7.125e-03},
    {DType::kBFloat16, 65536, true, 3.773e-03, 3.742e-05, 1.079e-04, 3.923e-03, 8.330e-05, 2.717e-06, 7.125e-03},
    {DType::kBFloat16, 1000000, false, 9.987e-01, 5.427e-03, 2.400e+00, 1.483e+00, 1.625e-04, 4.697e-04, 6.483e-03},
    {DType::kBFloat16, 1000000, true, 3.520e-03, 5.427e-03, 2.400e+00, 1.483e+00, 1.625e-04, 4.697e-04, 6.483e-03},
};

/// A number in [0, 1) that looks random.
double Unit(int64_t i, uint64_t seed) {
  return static_cast<double>((static_cast<uint64_t>(i) * 2654435761u + seed) & 0xFFFFFFu) / 16777216.0;
}

/// Two channels of `count` values each, as [count, 1, 1, 2] or [1, 2, count, 1]; `of` gives value i of a channel.
template <class T>
class Data {
 public:
  template <class F>
  Data(int64_t count, bool channels_first, F&& of) : count_(count), channels_first_(channels_first) {
    tensor = Tensor::Allocate(kDTypeOf<T>, channels_first ? Shape{1, 2, count, 1} : Shape{count, 1, 1, 2}).value();
    for (int c = 0; c < 2; ++c) {
      for (int64_t i = 0; i < count; ++i) tensor.values<T>()[at(tensor, i, c)] = static_cast<T>(static_cast<float>(of(i, c)));
    }
  }
  double operator()(int64_t i, int c) const { return Read(tensor, i, c); }
  double Read(const Tensor& from, int64_t i, int c) const { return static_cast<double>(from.values<T>()[at(from, i, c)]); }
  /// The worst difference of `got` from f(i) over channel c.
  template <class F>
  double Worst(const Tensor& got, int c, F&& f) const {
    double worst = 0;
    for (int64_t i = 0; i < count_; ++i) worst = std::max(worst, std::abs(Read(got, i, c) - f(i)));
    return worst;
  }

  Tensor tensor;

 private:
  size_t at(const Tensor&, int64_t i, int c) const { return static_cast<size_t>(channels_first_ ? c * count_ + i : i * 2 + c); }
  int64_t count_;
  bool channels_first_;
};

struct Exact {
  double sum = 0, magnitude = 0;
  template <class F>
  Exact(int64_t count, F&& f) {
    for (int64_t i = 0; i < count; ++i) {
      sum += f(i);
      magnitude += std::abs(f(i));
    }
  }
};

double FloatAt(const BlockResult& result, const char* port, int c) {
  return result.outputs.at(port).values<float>()[static_cast<size_t>(c)];
}

/// No worse than TensorFlow, or than one rounding to the output's type.
void CheckError(const char* what, double error, double tensorflow, double rounding) {
  INFO(what << ": " << error << ", TensorFlow " << tensorflow);
  CHECK(error <= std::max(tensorflow, rounding));
}

template <class T>
constexpr double kRounding = std::is_same_v<T, half> ? 0x1p-11 : std::is_same_v<T, bfloat16> ? 0x1p-8 : 0x1p-23;

/// One rounding to float, and a sixteenth for the blocks summed in float.
constexpr double kFloatSum = 0x1.1p-24;

template <class T>
void CheckBiasGrad(const NormErrors& m, const char* layout) {
  const Data<T> g(m.count, m.channels_first, [](int64_t i, int c) { return c == 0 ? Unit(i, 40503) * 0.1 : (Unit(i, 977) - 0.5) * 0.1; });
  const BlockResult result = BlockTester(Catalog(), "BiasAddGrad").Attrs(layout).Input("out_backprop", g.tensor).Run();
  REQUIRE(result.status.ok());
  for (int c = 0; c < 2; ++c) {
    const Exact exact(m.count, [&](int64_t i) { return g(i, c); });
    const double got = static_cast<double>(result.outputs.at("output").values<T>()[static_cast<size_t>(c)]);
    CheckError("BiasAddGrad", std::abs(got - exact.sum) / exact.magnitude, m.bias_grad, kRounding<T>);
  }
}

template <class T>
void CheckNorm(const NormErrors& m, const char* layout) {
  const double count = static_cast<double>(m.count), epsilon = static_cast<double>(1e-4f);
  const Data<T> x(m.count, m.channels_first, [](int64_t i, int c) { return c == 0 ? 100 + Unit(i, 40503) : 5 * Unit(i, 977); });
  const Data<T> g(m.count, m.channels_first, [](int64_t i, int c) { return c == 0 ? Unit(i, 555) : Unit(i, 31337) - 0.5; });
  const Tensor ones = Tensor::Of<float>({1, 1}), zeros = Tensor::Of<float>({0, 0}), none = Tensor::Of<float>({});
  const BlockResult norm = BlockTester(Catalog(), "FusedBatchNormV3").Attrs(layout).Input("x", x.tensor)
                               .Input("scale", ones).Input("offset", zeros)
                               .Input("mean", none).Input("variance", none).Run();
  REQUIRE(norm.status.ok());
  Tensor means = Tensor::Of<float>({0, 0}), variances = Tensor::Of<float>({0, 0});
  for (int c = 0; c < 2; ++c) {
    const double mean = Exact(m.count, [&](int64_t i) { return x(i, c); }).sum / count;
    const double variance = Exact(m.count, [&](int64_t i) { return (x(i, c) - mean) * (x(i, c) - mean); }).sum / count;
    const double reciprocal = 1 / std::sqrt(variance + epsilon);
    CheckError("mean", std::abs(FloatAt(norm, "reserve_space_1", c) - mean) / mean, m.mean, kFloatSum);
    CheckError("variance", std::abs(FloatAt(norm, "reserve_space_2", c) - variance) / variance, m.variance, kFloatSum);
    const double y_error = x.Worst(norm.outputs.at("y"), c, [&](int64_t i) { return (x(i, c) - mean) * reciprocal; });
    CheckError("y", y_error, m.y, 2 * kRounding<T>);
    means.values<float>()[static_cast<size_t>(c)] = static_cast<float>(mean);
    variances.values<float>()[static_cast<size_t>(c)] = static_cast<float>(variance);
  }
  const BlockResult grad = BlockTester(Catalog(), "FusedBatchNormGradV3").Attrs(layout).Input("y_backprop", g.tensor).Input("x", x.tensor)
                               .Input("scale", ones).Input("reserve_space_1", means).Input("reserve_space_2", variances)
                               .Input("reserve_space_3", Tensor::Scalar(0.0f)).Run();
  REQUIRE(grad.status.ok());
  for (int c = 0; c < 2; ++c) {
    const double mean = means.values<float>()[static_cast<size_t>(c)], variance = variances.values<float>()[static_cast<size_t>(c)];
    const double reciprocal = 1 / std::sqrt(variance + epsilon);
    const Exact sum(m.count, [&](int64_t i) { return g(i, c); });
    const Exact product(m.count, [&](int64_t i) { return g(i, c) * (x(i, c) - mean) * reciprocal; });
    CheckError("offset_backprop", std::abs(FloatAt(grad, "offset_backprop", c) - sum.sum) / sum.magnitude, m.offset_grad, kFloatSum);
    CheckError("scale_backprop", std::abs(FloatAt(grad, "scale_backprop", c) - product.sum) / product.magnitude, m.scale_grad, kFloatSum);
    const double x_error = x.Worst(grad.outputs.at("x_backprop"), c, [&](int64_t i) {
      return (g(i, c) - sum.sum / count - (x(i, c) - mean) * reciprocal * product.sum / count) * reciprocal;
    });
    CheckError("x_backprop", x_error, m.x_grad, 2 * kRounding<T>);
  }
}

template <class T>
void CheckAccuracy(const NormErrors& m) {
  const char* layout = m.channels_first ? "data_format_ = NCHW;" : "data_format_ = NHWC;";
  INFO(DTypeName(m.dtype) << " " << m.count << " " << layout);
  CheckBiasGrad<T>(m, layout);
  CheckNorm<T>(m, layout);
}

}  // namespace

TEST_CASE("sums over channels are at least as accurate as TensorFlow's", "[accuracy]") {
  for (const NormErrors& m : kNormErrors) {
    Dispatch(m.dtype, TypeList<float, half, bfloat16>{}, [&]<class T>() { CheckAccuracy<T>(m); });
  }
}

TEST_CASE("statistics hold where one value is far from all others", "[accuracy]") {
  const int64_t count = 100000;
  const Data<float> x(count, false, [](int64_t i, int c) { return i == 0 ? 1e4 : c * 1000 + Unit(i, 7); });
  const Tensor ones = Tensor::Of<float>({1, 1}), none = Tensor::Of<float>({});
  const BlockResult norm =
      BlockTester(Catalog(), "FusedBatchNorm").Input("x", x.tensor).Input("scale", ones).Input("offset", ones)
          .Input("mean", none).Input("variance", none).Run();
  REQUIRE(norm.status.ok());
  for (int c = 0; c < 2; ++c) {
    const double mean = Exact(count, [&](int64_t i) { return x(i, c); }).sum / static_cast<double>(count);
    const double variance = Exact(count, [&](int64_t i) { return (x(i, c) - mean) * (x(i, c) - mean); }).sum / static_cast<double>(count);
    CHECK(FloatAt(norm, "reserve_space_1", c) == Approx(mean).epsilon(1e-7));
    CHECK(FloatAt(norm, "reserve_space_2", c) == Approx(variance).epsilon(1e-5));
  }
}

TEST_CASE("cross entropies of few classes agree with plain loops in double, stretched or not", "[accuracy]") {
  const int64_t rows = GENERATE(1, 31, 100), classes = GENERATE(1, 2, 10, 16, 33, 64, 65);
  const int stretched = GENERATE(0, 1, 2);  // 1: one row of labels for all, 2: one label for all classes
  const Shape label_shape{stretched == 1 ? 1 : rows, stretched == 2 ? 1 : classes};
  Tensor features = Tensor::Allocate(DType::kFloat, Shape{rows, classes}).value();
  Tensor labels = Tensor::Allocate(DType::kFloat, label_shape).value();
  const auto x = features.values<float>(), y = labels.values<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i)) * 20);
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(static_cast<double>(i % 7) / 8);
  const BlockResult result =
      BlockTester(Catalog(), "SoftmaxCrossEntropyWithLogits").Input("features", features).Input("labels", labels).Run();
  REQUIRE(result.status.ok());
  const auto losses = result.outputs.at("loss").values<float>(), backprop = result.outputs.at("backprop").values<float>();
  for (int64_t r = 0; r < rows; ++r) {
    const auto label = [&](int64_t c) {
      return y[static_cast<size_t>((stretched == 1 ? 0 : r) * label_shape[1] + (stretched == 2 ? 0 : c))];
    };
    const auto feature = [&](int64_t c) { return static_cast<double>(x[static_cast<size_t>(r * classes + c)]); };
    double sum = 0, loss = 0, worst = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(feature(c));
    for (int64_t c = 0; c < classes; ++c) {
      loss += label(c) * (std::log(sum) - feature(c));
      worst = std::max(worst, std::abs(std::exp(feature(c)) / sum - label(c) - backprop[static_cast<size_t>(r * classes + c)]));
    }
    INFO("row " << r << " of " << rows << ", " << classes << " classes, stretched " << stretched);
    CHECK(std::abs(losses[static_cast<size_t>(r)] - loss) <= 1e-6 * (1 + loss));
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("outputs too large for the cache are written whole", "[accuracy]") {
  const int64_t inner = 70000;
  const Tensor bias = Tensor::Of<float>({1, 2}), variance = Tensor::Of<float>({0.5f, 4});
  for (const bool channels_first : {false, true}) {
    Tensor x = Tensor::Allocate(DType::kFloat, channels_first ? Shape{16, 2, inner, 1} : Shape{16, inner, 1, 2}).value();
    for (int64_t i = 0; i < x.count(); ++i) x.values<float>()[static_cast<size_t>(i)] = static_cast<float>(Unit(i, 99));
    const std::string layout = channels_first ? "data_format_ = NCHW;" : "data_format_ = NHWC;";
    const BlockResult sum = BlockTester(Catalog(), "BiasAdd").Attrs(layout).Input("value", x).Input("bias", bias).Run();
    const BlockResult norm = BlockTester(Catalog(), "FusedBatchNorm").Attrs(layout + "is_training_ = false;")
                                 .Input("x", x).Input("scale", bias)
                                 .Input("offset", bias).Input("mean", bias).Input("variance", variance).Run();
    REQUIRE(sum.status.ok());
    REQUIRE(norm.status.ok());
    int64_t wrong = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
      const size_t c = static_cast<size_t>(channels_first ? i / inner % 2 : i % 2), at = static_cast<size_t>(i);
      const float v = x.values<float>()[at], b = bias.values<float>()[c];
      const double y = (v - b) * b / std::sqrt(variance.values<float>()[c] + 1e-4) + b;
      wrong += sum.outputs.at("output").values<float>()[at] != v + b || std::abs(norm.outputs.at("y").values<float>()[at] - y) > 1e-6;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("planes that share registers take each their own channel's values", "[accuracy]") {
  // Rows of whole lines and others, in one part and several; the last ones are written past the cache.
  const std::vector<Shape> shapes = {{3, 97, 7, 7}, {2, 131, 17, 1}, {5, 2048, 7, 7}, {1, 1000, 9, 8}, {6, 1500, 8, 8}, {16, 672, 7, 7}};
  for (const Shape& shape : shapes) {
    const int64_t channels = shape[1], inner = shape.count(2, 4);
    Tensor x = Tensor::Allocate(DType::kFloat, shape).value(), bias = Tensor::Allocate(DType::kFloat, Shape{channels}).value();
    for (int64_t i = 0; i < x.count(); ++i) x.values<float>()[static_cast<size_t>(i)] = static_cast<float>(Unit(i, 7));
    for (int64_t c = 0; c < channels; ++c) bias.values<float>()[static_cast<size_t>(c)] = static_cast<float>(c % 61 + 1);
    const std::string layout = "data_format_ = NCHW;";
    const BlockResult sum = BlockTester(Catalog(), "BiasAdd").Attrs(layout).Input("value", x).Input("bias", bias).Run();
    const BlockResult norm = BlockTester(Catalog(), "FusedBatchNorm").Attrs(layout + "is_training_ = false;")
                                 .Input("x", x).Input("scale", bias)
                                 .Input("offset", bias).Input("mean", bias).Input("variance", bias).Run();
    REQUIRE(sum.status.ok());
    REQUIRE(norm.status.ok());
    int64_t wrong = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto at = static_cast<size_t>(i);
      const float v = x.values<float>()[at], b = bias.values<float>()[static_cast<size_t>(i / inner % channels)];
      const double y = (v - b) * b / std::sqrt(b + 1e-4) + b;
      wrong += sum.outputs.at("output").values<float>()[at] != v + b;
      wrong += std::abs(norm.outputs.at("y").values<float>()[at] - y) > 1e-6 * (1 + std::abs(v - b) * std::sqrt(b) + b);
    }
    INFO("shape " << ToString(shape));
    CHECK(wrong == 0);
  }
}

}  // namespace weft::kit
