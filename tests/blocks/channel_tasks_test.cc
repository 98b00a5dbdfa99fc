// Passes by channel that are one loop over all tasks: inference of batch normalisation, whose tasks make the gains of their channels, and
// sums of wide rows, whose last task adds up the others'. The tester compares 1, 2 and 5 threads.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

template <class T>
T Whole(int64_t value) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(value);  // wraps
  else return static_cast<T>(static_cast<float>(value));
}

/// Eighths from -1 to 1, exact in every type.
template <class T>
Tensor Numbers(const Shape& shape, int64_t step) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.values<T>()[static_cast<size_t>(i)] = static_cast<T>(static_cast<float>(i * step % 17 - 8) / 8);
  }
  return tensor;
}

Tensor Positive(int64_t channels, int64_t step) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, Shape{channels}).value();
  for (int64_t c = 0; c < channels; ++c) tensor.values<float>()[static_cast<size_t>(c)] = 0.5f + static_cast<float>(c * step % 13) / 8;
  return tensor;
}

/// Inference with channels first of one shape, forwards and backwards.
template <class T>
class Inference {
 public:
  explicit Inference(const Shape& shape) : shape_(shape), x_(Numbers<T>(shape, 7)), g_(Numbers<T>(shape, 5)) {}

  void Check() const {
    constexpr const char* kAttrs = "data_format_ = NCHW;is_training_ = false;";
    const BlockResult norm = BlockTester(Catalog(), "FusedBatchNormV3").Attrs(kAttrs).Input("x", x_).Input("scale", scale_)
                                 .Input("offset", offset_).Input("mean", mean_).Input("variance", variance_).Run();
    INFO(ToString(norm.status));
    REQUIRE(norm.status.ok());
    const BlockResult grad = BlockTester(Catalog(), "FusedBatchNormGradV3").Attrs(kAttrs).Input("y_backprop", g_).Input("x", x_)
                                 .Input("scale", scale_).Input("reserve_space_1", mean_).Input("reserve_space_2", variance_)
                                 .Input("reserve_space_3", Tensor::Scalar(0.0f)).Run();
    INFO(ToString(grad.status));
    REQUIRE(grad.status.ok());
    int64_t wrong = 0;
    for (int64_t c = 0; c < shape_[1]; ++c) wrong += CountWrong(norm, grad, static_cast<size_t>(c));
    CHECK(wrong == 0);
  }

 private:
  static double At(const Tensor& tensor, size_t i) { return static_cast<double>(tensor.values<T>()[i]); }
  static double Of(const BlockResult& result, const char* port, size_t c) {
    return static_cast<double>(result.outputs.at(port).values<float>()[c]);
  }

  int64_t CountWrong(const BlockResult& norm, const BlockResult& grad, size_t c) const {
    const double mean = mean_.values<float>()[c], variance = variance_.values<float>()[c], offset = offset_.values<float>()[c];
    const double reciprocal = 1 / std::sqrt(variance + 1e-4), gain = scale_.values<float>()[c] * reciprocal;
    const double rounding = std::is_same_v<T, float> ? 1e-5 : 2e-2;
    const auto inner = static_cast<size_t>(shape_.count(2, 4)), channels = static_cast<size_t>(shape_[1]);
    double sum = 0, product = 0;
    int64_t wrong = Of(norm, "batch_mean", c) != mean || Of(norm, "batch_variance", c) != variance || Of(norm, "reserve_space_1", c) != 0;
    for (size_t row = 0; row < static_cast<size_t>(shape_[0]); ++row) {
      for (size_t i = (row * channels + c) * inner, end = i + inner; i < end; ++i) {
        const double x = At(x_, i), g = At(g_, i);
        sum += g;
        product += g * (x - mean);
        wrong += std::abs(At(norm.outputs.at("y"), i) - ((x - mean) * gain + offset)) > rounding * 4;
        wrong += std::abs(At(grad.outputs.at("x_backprop"), i) - g * gain) > rounding * 4;
      }
    }
    const double count = static_cast<double>(shape_[0]) * static_cast<double>(inner);
    wrong += std::abs(Of(grad, "offset_backprop", c) - sum) > 1e-6 * count;
    return wrong + (std::abs(Of(grad, "scale_backprop", c) - product * reciprocal) > 1e-5 * count);
  }

  Shape shape_;
  Tensor x_, g_, scale_ = Positive(shape_[1], 3), offset_ = Positive(shape_[1], 5), mean_ = Positive(shape_[1], 7),
                 variance_ = Positive(shape_[1], 11);
};

/// Sums by the last axis are the exact ones. Elements are whole numbers from -2 to 2.
template <class T>
void CheckWideSums(int64_t rows, int64_t channels) {
  CAPTURE(DTypeName(kDTypeOf<T>), rows, channels);
  Tensor g = Tensor::Allocate(kDTypeOf<T>, Shape{rows, channels}).value();
  std::vector<int64_t> sums(static_cast<size_t>(channels));
  for (int64_t i = 0; i < g.count(); ++i) {
    const int64_t value = (i * 7 + i / channels) % 5 - 2;
    g.values<T>()[static_cast<size_t>(i)] = Whole<T>(value);
    sums[static_cast<size_t>(i % channels)] += value;
  }
  const BlockResult result = BlockTester(Catalog(), "BiasAddGrad").Input("out_backprop", g).Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  const auto got = result.outputs.at("output").values<T>();
  int64_t wrong = 0;
  for (size_t c = 0; c < sums.size(); ++c) wrong += got[c] != Whole<T>(sums[c]);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("inference of batch normalisation with channels first, whatever the planes") {
  const std::vector<Shape> shapes = {
      {8, 1350, 7, 7},    // short planes past the cache; the last task has fewer channels
      {40, 300, 7, 7},    // more rows than sums of short planes are made of
      {3, 70, 4, 4},      // planes of one register
      {5, 3, 7, 7},       // narrow rows that are taken together
      {30, 65, 17, 17},   // longer planes
      {3, 50, 61, 61},    // runs
      {2, 2, 450, 610},   // runs of several pieces
  };
  for (const Shape& shape : shapes) {
    INFO("shape " << ToString(shape));
    Inference<float>(shape).Check();
  }
  Inference<half>(Shape{10, 2200, 7, 7}).Check();
  Inference<bfloat16>(Shape{10, 2200, 7, 7}).Check();
}

TEST_CASE("sums of wide rows, of which several tasks have a part") {
  CheckWideSums<float>(600, 2050);
  CheckWideSums<half>(600, 2050);
  CheckWideSums<bfloat16>(600, 2050);
  CheckWideSums<int32_t>(600, 2050);
  CheckWideSums<std::complex<float>>(600, 2050);
  CheckWideSums<uint8_t>(300, 20000);
}

}  // namespace weft::kit
