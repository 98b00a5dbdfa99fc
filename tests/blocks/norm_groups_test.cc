// Training of batch normalisation. Channels first, group by group: where the last pass of a group is one loop with the first pass of the
// next, where groups take turns, and where the last group is smaller. Channels last, block of rows by block: where blocks are few or many,
// and the last one shorter. The tester compares 1, 2 and 5 threads, of which each begins elsewhere.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "blocks/kernels/simd/non_temporal.h"
#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// GroupedValues from 0 to 1. With a pattern along a channel, all roundings of its sums might go one way.
class Units {
 public:
  explicit Units(uint32_t seed) : bits_(seed) {}
  double operator()() { return static_cast<double>(bits_()) / 4294967296.0; }

 private:
  std::mt19937 bits_;
};

/// As elements at ((row * channels + c) * inner + i).
struct GroupSizes {
  int64_t rows, channels, inner;
  const char* layout;
};

GroupSizes SizesOf(const Shape& shape, bool channels_last) {
  const int rank = shape.rank(), axis = channels_last ? rank - 1 : 1;
  const char* const layouts[] = {"data_format_ = NCHW;", "data_format_ = NCDHW;", "data_format_ = NHWC;", "data_format_ = NDHWC;"};
  return {shape.count(0, axis), shape[axis], shape.count(axis + 1, rank), layouts[(channels_last ? 2 : 0) + rank - 4]};
}

template <class T>
Tensor GroupedValues(const Shape& shape, const GroupSizes& sizes, uint32_t seed) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  Units unit(seed);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double channel = static_cast<double>(i / sizes.inner % sizes.channels % 5);
    tensor.values<T>()[static_cast<size_t>(i)] = static_cast<T>(static_cast<float>(channel + (1 + channel) * (unit() - 0.5)));
  }
  return tensor;
}

Tensor ByChannel(int64_t channels, uint32_t seed) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, Shape{channels}).value();
  Units unit(seed);
  for (float& value : tensor.values<float>()) value = static_cast<float>(0.5 + unit());
  return tensor;
}

/// All figures of a batch normalisation and its gradient, channel by channel in double.
template <class T>
class Norm {
 public:
  explicit Norm(const Shape& shape, bool channels_last = false)
      : sizes_(SizesOf(shape, channels_last)), x_(GroupedValues<T>(shape, sizes_, 40503)), g_(GroupedValues<T>(shape, sizes_, 977)) {}

  void Check() {
    const Tensor none = Tensor::Of<float>({});
    const BlockResult norm = BlockTester(Catalog(), "FusedBatchNormV3").Attrs(sizes_.layout).Input("x", x_)
                                 .Input("scale", scale_).Input("offset", offset_).Input("mean", none).Input("variance", none).Run();
    REQUIRE(norm.status.ok());
    const Tensor &mean = norm.outputs.at("reserve_space_1"), &variance = norm.outputs.at("reserve_space_2");
    const BlockResult grad = BlockTester(Catalog(), "FusedBatchNormGradV3").Attrs(sizes_.layout).Input("y_backprop", g_)
                                 .Input("x", x_).Input("scale", scale_).Input("reserve_space_1", mean).Input("reserve_space_2", variance)
                                 .Input("reserve_space_3", Tensor::Scalar(0.0f)).Run();
    REQUIRE(grad.status.ok());
    int64_t wrong = 0;
    for (int64_t c = 0; c < sizes_.channels; ++c) wrong += CountWrong(norm, grad, c);
    CHECK(wrong == 0);
  }

 private:
  template <class F>
  void Each(int64_t c, F&& f) const {
    for (int64_t row = 0; row < sizes_.rows; ++row) {
      for (int64_t i = 0; i < sizes_.inner; ++i) f(static_cast<size_t>((row * sizes_.channels + c) * sizes_.inner + i));
    }
  }
  static double Of(const Tensor& tensor, size_t at) { return static_cast<double>(tensor.values<T>()[at]); }

  int64_t CountWrong(const BlockResult& norm, const BlockResult& grad, int64_t channel) const {
    const auto c = static_cast<size_t>(channel);
    const double count = static_cast<double>(sizes_.rows * sizes_.inner);
    const auto of = [&](const BlockResult& result, const char* port) {
      return static_cast<double>(result.outputs.at(port).values<float>()[c]);
    };
    double mean = 0, variance = 0, sum = 0, magnitudes = 0, product = 0;
    Each(channel, [&](size_t i) { mean += Of(x_, i) / count; });
    Each(channel, [&](size_t i) { variance += (Of(x_, i) - mean) * (Of(x_, i) - mean) / count; });
    Each(channel, [&](size_t i) { sum += Of(g_, i), magnitudes += std::abs(Of(g_, i)); });
    Each(channel, [&](size_t i) { product += Of(g_, i) * (Of(x_, i) - mean); });
    const double reciprocal = 1 / std::sqrt(variance + 1e-4), gain = scale_.values<float>()[c] * reciprocal;
    int64_t wrong = std::abs(of(norm, "reserve_space_1") - mean) > 1e-6 * (1 + std::abs(mean));
    wrong += std::abs(of(norm, "reserve_space_2") - variance) > 1e-5 * variance;
    // Roundings go either way: a sum of floats in chains of n additions is off by sqrt(n) 2^-24 of the sum of magnitudes. Chains here are
    // no longer than 300.
    wrong += std::abs(of(grad, "offset_backprop") - sum) > 1e-6 * magnitudes;
    wrong += std::abs(of(grad, "scale_backprop") - product * reciprocal) > 1e-5 * count;
    const double rounding = std::is_same_v<T, float> ? 1e-5 : 1e-2;
    Each(channel, [&](size_t i) {
      const double y = (Of(x_, i) - mean) * gain + offset_.values<float>()[c];
      const double slope = (Of(x_, i) - mean) * product / count * reciprocal * reciprocal;
      wrong += std::abs(Of(norm.outputs.at("y"), i) - y) > rounding * (1 + std::abs(y));
      wrong += std::abs(Of(grad.outputs.at("x_backprop"), i) - (Of(g_, i) - sum / count - slope) * gain) > rounding * (1 + gain);
    });
    return wrong;
  }

  GroupSizes sizes_;
  Tensor x_, g_, scale_ = ByChannel(sizes_.channels, 3), offset_ = ByChannel(sizes_.channels, 5);
};

/// Groups are pipelined where the output goes past the cache.
struct PastTheCache {
  PastTheCache() { kernels::SetResultCacheBytes(0); }
  ~PastTheCache() { kernels::SetResultCacheBytes(-1); }
};

}  // namespace

TEST_CASE("channels first are normalised in groups whatever their number and planes") {
  const std::vector<Shape> shapes = {
      {64, 64, 14, 14},   // planes that share registers
      {100, 36, 14, 14},  // several blocks of rows; the last group is smaller
      {70, 45, 15, 15},   // rows of no whole lines: in turns
      {4, 41, 60, 60},    // runs, pipelined
      {3, 50, 61, 61},    // runs of no whole lines: in turns
      {2, 9, 180, 200},   // runs of several pieces, pipelined
      {8, 1350, 7, 7},    // short planes: groups of several tiles, the last one smaller
  };
  for (const Shape& shape : shapes) {
    INFO("shape " << ToString(shape));
    Norm<float>(shape).Check();
    const PastTheCache past;
    Norm<float>(shape).Check();
  }
}

TEST_CASE("half and bfloat16 are normalised in groups as float is") {
  for (const Shape& shape : {Shape{64, 96, 14, 14}, Shape{8, 50, 56, 56}}) {
    INFO("shape " << ToString(shape));
    Norm<half>(shape).Check();
    Norm<bfloat16>(shape).Check();
    const PastTheCache past;
    Norm<half>(shape).Check();
    Norm<bfloat16>(shape).Check();
  }
}

TEST_CASE("channels last are normalised in blocks of rows whatever their number and width") {
  const std::vector<Shape> shapes = {
      {17, 37, 29, 48},   // as many blocks for each thread; the last one is shorter
      {3, 31, 33, 128},   // a dozen blocks
      {41, 11, 7, 8, 5},  // rank 5; narrow rows are taken as one, and some are left over
      {5, 20, 20, 259},   // rows of no whole lines
      {4, 7, 7, 1100},    // rows in tiles; two blocks
      {1, 1, 3, 700},     // fewer rows than are summed side by side
  };
  for (const Shape& shape : shapes) {
    INFO("shape " << ToString(shape));
    Norm<float>(shape, true).Check();
  }
  for (const Shape& shape : {Shape{17, 37, 29, 48}, Shape{5, 20, 20, 259}}) {
    INFO("shape " << ToString(shape));
    Norm<half>(shape, true).Check();
    Norm<bfloat16>(shape, true).Check();
  }
}

}  // namespace weft::kit
