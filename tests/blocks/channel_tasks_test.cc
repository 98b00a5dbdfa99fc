// Passes by channel, however they are cut: batch normalisation and its gradient, and sums of wide rows. The tester compares 1, 2 and 5
// threads.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

template <class T>
T Whole(int64_t value) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(value);  // wraps
  else return static_cast<T>(static_cast<float>(value));
}

/// Eighths from -1 to 1, exact in every type.
template <class T>
Tensor ChannelValues(const Shape& shape, int64_t step) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.values<T>()[static_cast<size_t>(i)] = static_cast<T>(static_cast<float>(i * step % 17 - 8) / 8);
  }
  return tensor;
}

Tensor PositiveChannels(int64_t channels, int64_t step) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, Shape{channels}).value();
  for (int64_t c = 0; c < channels; ++c) tensor.values<float>()[static_cast<size_t>(c)] = 0.5f + static_cast<float>(c * step % 13) / 8;
  return tensor;
}

/// One normalisation, forwards and backwards, beside what its formulas give in double.
template <class T>
class Normalisation {
 public:
  Normalisation(const Shape& shape, bool channels_first, bool training)
      : shape_(shape),
        channels_first_(channels_first),
        training_(training),
        x_(ChannelValues<T>(shape, 7)),
        g_(ChannelValues<T>(shape, 5)) {}

  void Check() const {
    CAPTURE(DTypeName(kDTypeOf<T>), ToString(shape_), channels_first_, training_);
    const std::string attrs = Cat("data_format_ = ", channels_first_ ? "NCHW" : "NHWC", ";is_training_ = ", training_ ? "true" : "false", ";");
    const BlockResult norm = BlockTester(Catalog(), "FusedBatchNormV3").Attrs(attrs).Input("x", x_).Input("scale", scale_)
                                 .Input("offset", offset_).Input("mean", mean_).Input("variance", variance_).Run();
    INFO(ToString(norm.status));
    REQUIRE(norm.status.ok());
    const BlockResult grad = BlockTester(Catalog(), "FusedBatchNormGradV3").Attrs(attrs).Input("y_backprop", g_).Input("x", x_)
                                 .Input("scale", scale_).Input("reserve_space_1", training_ ? norm.outputs.at("reserve_space_1") : mean_)
                                 .Input("reserve_space_2", training_ ? norm.outputs.at("reserve_space_2") : variance_)
                                 .Input("reserve_space_3", Tensor::Scalar(0.0f)).Run();
    INFO(ToString(grad.status));
    REQUIRE(grad.status.ok());
    int64_t wrong = 0;
    for (int64_t c = 0; c < channels_; ++c) wrong += CountWrong(norm, grad, static_cast<size_t>(c));
    CHECK(wrong == 0);
  }

 private:
  static double At(const Tensor& tensor, size_t i) { return static_cast<double>(tensor.values<T>()[i]); }
  static double Of(const BlockResult& result, const char* port, size_t c) {
    return static_cast<double>(result.outputs.at(port).values<float>()[c]);
  }

  /// Calls body with the place of each value of a channel.
  template <class Body>
  void ForValues(size_t c, Body&& body) const {
    const auto inner = static_cast<size_t>(channels_first_ ? shape_.count(2, 4) : 1), channels = static_cast<size_t>(channels_);
    for (size_t row = 0; row < static_cast<size_t>(x_.count()) / (inner * channels); ++row) {
      for (size_t i = (row * channels + c) * inner, end = i + inner; i < end; ++i) body(i);
    }
  }

  int64_t CountWrong(const BlockResult& norm, const BlockResult& grad, size_t c) const {
    const double count = static_cast<double>(x_.count() / channels_), rounding = std::is_same_v<T, float> ? 4e-5 : 8e-2;
    double mean = mean_.values<float>()[c], variance = variance_.values<float>()[c];
    int64_t wrong = 0;
    if (training_) {
      double sum = 0, squares = 0;
      ForValues(c, [&](size_t i) { sum += At(x_, i); });
      mean = sum / count;
      ForValues(c, [&](size_t i) { squares += (At(x_, i) - mean) * (At(x_, i) - mean); });
      variance = squares / count;
      wrong += std::abs(Of(norm, "reserve_space_1", c) - mean) > 1e-6 || std::abs(Of(norm, "reserve_space_2", c) - variance) > 1e-6;
      wrong += std::abs(Of(norm, "batch_variance", c) - squares / (count - 1)) > 1e-6;
    } else {
      wrong += Of(norm, "batch_variance", c) != variance || Of(norm, "reserve_space_1", c) != 0;
    }
    wrong += std::abs(Of(norm, "batch_mean", c) - mean) > 1e-6;
    const double reciprocal = 1 / std::sqrt(variance + 1e-4), gain = scale_.values<float>()[c] * reciprocal;
    double sum = 0, product = 0;
    ForValues(c, [&](size_t i) { sum += At(g_, i); product += At(g_, i) * (At(x_, i) - mean); });
    const double mean_g = training_ ? sum / count : 0, slope = training_ ? product / count * reciprocal * reciprocal : 0;
    ForValues(c, [&](size_t i) {
      const double distance = At(x_, i) - mean, y = distance * gain + offset_.values<float>()[c];
      wrong += std::abs(At(norm.outputs.at("y"), i) - y) > rounding;
      wrong += std::abs(At(grad.outputs.at("x_backprop"), i) - (At(g_, i) - mean_g - distance * slope) * gain) > rounding;
    });
    wrong += std::abs(Of(grad, "offset_backprop", c) - sum) > 1e-6 * count;
    return wrong + (std::abs(Of(grad, "scale_backprop", c) - product * reciprocal) > 1e-5 * count);
  }

  Shape shape_;
  bool channels_first_, training_;
  Tensor x_, g_;
  int64_t channels_ = shape_[channels_first_ ? 1 : 3];
  Tensor scale_ = PositiveChannels(channels_, 3), offset_ = PositiveChannels(channels_, 5), mean_ = PositiveChannels(channels_, 7),
         variance_ = PositiveChannels(channels_, 11);
};

template <class T>
void CheckNormalisation(const Shape& shape, bool channels_first) {
  for (const bool training : {false, true}) Normalisation<T>(shape, channels_first, training).Check();
}

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

TEST_CASE("batch normalisation with channels first, whatever the planes") {
  const std::vector<Shape> shapes = {
      {8, 1350, 7, 7},    // short planes past the cache; the last task has fewer channels
      {40, 300, 7, 7},    // more rows than sums of short planes are made of
      {3, 70, 4, 4},      // planes of one register
      {5, 3, 7, 7},       // narrow rows that are taken together
      {30, 65, 17, 17},   // longer planes
      {3, 50, 61, 61},    // runs
      {2, 2, 450, 610},   // runs of several pieces
  };
  for (const Shape& shape : shapes) CheckNormalisation<float>(shape, true);
  CheckNormalisation<half>(Shape{10, 2200, 7, 7}, true);
  CheckNormalisation<bfloat16>(Shape{10, 2200, 7, 7}, true);
}

TEST_CASE("batch normalisation with channels last, whatever the rows") {
  const std::vector<Shape> shapes = {
      {40, 7, 7, 64},     // rows that stay in registers
      {20, 9, 9, 93},     // registers, and elements that fill none
      {12, 13, 11, 3},    // narrow rows that are taken together
      {45, 15, 15, 256},  // large enough for fetching in advance
      {6, 5, 7, 700},     // several tasks a row
      {7, 8, 9, 1027},    // tasks of all rows; the last has fewer channels
      {23, 6, 7, 1030},   // two blocks of rows in such a task
      {2, 2, 4, 2048},    // few rows
  };
  for (const Shape& shape : shapes) CheckNormalisation<float>(shape, false);
  CheckNormalisation<half>(Shape{10, 6, 7, 2050}, false);
  CheckNormalisation<bfloat16>(Shape{10, 6, 7, 2050}, false);
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
