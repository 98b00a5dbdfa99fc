// Large results are the same bits whether they are written past the cache or through it, which is the machine's choice.
#include <catch2/catch.hpp>

#include "blocks/kernels/simd/non_temporal.h"
#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

/// Random numbers from -1 to 1.
template <class T>
Tensor Large(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  for (T& value : tensor.values<T>()) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<T>(static_cast<float>(seed >> 8) / (1 << 23) - 1);
  }
  return tensor;
}

/// The block's results with a last-level cache that takes all of them, and with none.
void CheckBothWays(const BlockTester& tester) {
  kernels::SetResultCacheBytes(int64_t{1} << 40);
  const BlockResult through = BlockTester(tester).Run();
  kernels::SetResultCacheBytes(0);
  const BlockResult past = BlockTester(tester).Run();
  kernels::SetResultCacheBytes(-1);
  INFO(ToString(past.status));
  REQUIRE(past.status.ok());
  REQUIRE(through.status.ok());
  for (const auto& [name, value] : past.outputs) {
    INFO(name);
    CHECK(SameBits(value, through.outputs.at(name)));
  }
}

/// Batch normalisation and its gradient, in training and not.
template <class T>
void CheckNorm(const Shape& shape, const std::string& layout) {
  CAPTURE(ToString(shape), layout);
  const std::string format = "data_format_ = " + layout + ";";
  const Shape channels{shape[layout == "NHWC" ? 3 : 1]};
  const Tensor x = Large<T>(shape, 5), g = Large<T>(shape, 6), each = Large<float>(channels, 4), none = Large<float>(Shape{0}, 0);
  Tensor positive = Large<float>(channels, 5);
  for (float& value : positive.values<float>()) value += 1.5f;
  for (const bool trains : {true, false}) {
    CAPTURE(trains);
    const std::string attrs = format + (trains ? "is_training_ = true;" : "is_training_ = false;");
    CheckBothWays(BlockTester(Catalog(), "FusedBatchNormV2").Attrs(attrs).Input("x", x).Input("scale", each).Input("offset", each)
                      .Input("mean", trains ? none : each).Input("variance", trains ? none : positive));
    CheckBothWays(BlockTester(Catalog(), "FusedBatchNormGradV2").Attrs(attrs).Input("y_backprop", g).Input("x", x).Input("scale", each)
                      .Input("reserve_space_1", each).Input("reserve_space_2", positive));
  }
}

template <class T>
void CheckType() {
  const Shape pictures{10, 59, 61, 32}, planes{10, 32, 59, 61}, channels{32};
  CAPTURE(DTypeName(kDTypeOf<T>));
  const Tensor x = Large<T>(pictures, 1), y = Large<T>(pictures, 2), z = Large<T>(planes, 5), bias = Large<T>(channels, 3);
  CheckBothWays(BlockTester(Catalog(), "Square").Input("x", x));
  CheckBothWays(BlockTester(Catalog(), "ReluGrad").Input("gradients", x).Input("features", y));
  CheckBothWays(BlockTester(Catalog(), "Add").Input("x", x).Input("y", bias));
  CheckBothWays(BlockTester(Catalog(), "Softmax").Input("logits", x));
  CheckBothWays(BlockTester(Catalog(), "Transpose").Input("x", x).Input("perm", Tensor::Of<int32_t>({0, 3, 1, 2})));
  const std::string window = "ksize_ = {1,2,2,1}; strides_ = {1,1,1,1}; padding_ = SAME;";
  CheckBothWays(BlockTester(Catalog(), "MaxPool").Attrs(window).Input("input", x));
  CheckBothWays(BlockTester(Catalog(), "AvgPool").Attrs(window).Input("value", x));
  CheckBothWays(BlockTester(Catalog(), "BiasAdd").Attrs("data_format_ = NHWC;").Input("value", x).Input("bias", bias));
  CheckBothWays(BlockTester(Catalog(), "BiasAdd").Attrs("data_format_ = NCHW;").Input("value", z).Input("bias", bias));
  CheckNorm<T>(pictures, "NHWC");
  CheckNorm<T>(planes, "NCHW");
  CheckNorm<T>(Shape{6, 48, 64, 64}, "NCHW");   // groups of channels, with pipelined passes
  CheckNorm<T>(Shape{17, 1024, 8, 8}, "NCHW");  // short planes, of which many are folded at once
}

}  // namespace

TEST_CASE("large results are the same bits past the cache and through it", "[stream]") {
  CheckType<float>();
  CheckType<half>();
  CheckType<bfloat16>();
}

TEST_CASE("results go past the cache where most of them and their inputs does not stay there", "[stream]") {
  using kernels::IsStreamed;
  CHECK_FALSE(IsStreamed(kernels::kStreamBytes - 1, int64_t{1} << 40));
  CHECK(kernels::ResultCacheBytes() >= 0);
  kernels::SetResultCacheBytes(16 << 20);
  CHECK_FALSE(IsStreamed(8 << 20, 16 << 20));  // half as much again as the cache has
  CHECK(IsStreamed(8 << 20, (16 << 20) + 1));
  CHECK(IsStreamed(8 << 20, (8 << 20) + 1, kernels::ResultCacheBytes()));
  kernels::SetResultCacheBytes(0);
  CHECK(IsStreamed(kernels::kStreamBytes, 0));
  kernels::SetResultCacheBytes(-1);
}

}  // namespace weft::kit
