// Large results are the same bits whether they are written past the cache or through it, which is the machine's choice.
#include <catch2/catch.hpp>

#include "blocks/kernels/stream.h"
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

template <class T>
void CheckType() {
  const Shape pictures{10, 59, 61, 32}, channels{32};
  CAPTURE(DTypeName(kDTypeOf<T>));
  const Tensor x = Large<T>(pictures, 1), y = Large<T>(pictures, 2), bias = Large<T>(channels, 3), each = Large<float>(channels, 4);
  Tensor positive = Large<float>(channels, 5);
  for (float& value : positive.values<float>()) value += 1.5f;
  CheckBothWays(BlockTester(Catalog(), "Square").Input("x", x));
  CheckBothWays(BlockTester(Catalog(), "ReluGrad").Input("gradients", x).Input("features", y));
  CheckBothWays(BlockTester(Catalog(), "Add").Input("x", x).Input("y", bias));
  CheckBothWays(BlockTester(Catalog(), "Softmax").Input("logits", x));
  CheckBothWays(BlockTester(Catalog(), "Transpose").Input("x", x).Input("perm", Tensor::Of<int32_t>({0, 3, 1, 2})));
  const std::string window = "ksize_ = {1,2,2,1}; strides_ = {1,1,1,1}; padding_ = SAME;";
  CheckBothWays(BlockTester(Catalog(), "MaxPool").Attrs(window).Input("input", x));
  CheckBothWays(BlockTester(Catalog(), "AvgPool").Attrs(window).Input("value", x));
  for (const char* layout : {"NHWC", "NCHW"}) {
    CAPTURE(layout);
    const std::string format = std::string("data_format_ = ") + layout + ";";
    const bool last = layout[1] == 'H';
    const Tensor in = last ? x : Large<T>(Shape{10, 32, 59, 61}, 5), g = last ? y : Large<T>(Shape{10, 32, 59, 61}, 6);
    CheckBothWays(BlockTester(Catalog(), "BiasAdd").Attrs(format).Input("value", in).Input("bias", bias));
    const Tensor none = Tensor::Allocate(DType::kFloat, Shape{0}).value();
    for (const char* training : {"is_training_ = true;", "is_training_ = false;"}) {
      CAPTURE(training);
      const bool trains = training[15] == 't';
      CheckBothWays(BlockTester(Catalog(), "FusedBatchNormV2").Attrs(format + training).Input("x", in).Input("scale", each).Input("offset", each)
                        .Input("mean", trains ? none : each).Input("variance", trains ? none : positive));
      CheckBothWays(BlockTester(Catalog(), "FusedBatchNormGradV2").Attrs(format + training).Input("y_backprop", g).Input("x", in)
                        .Input("scale", each).Input("reserve_space_1", each).Input("reserve_space_2", positive));
    }
  }
}

}  // namespace

TEST_CASE("large results are the same bits past the cache and through it", "[stream]") {
  CheckType<float>();
  CheckType<half>();
  CheckType<bfloat16>();
}

TEST_CASE("results go past the cache where they and their inputs do not stay there", "[stream]") {
  using kernels::IsStreamed;
  CHECK_FALSE(IsStreamed(kernels::kStreamBytes - 1, int64_t{1} << 40));
  CHECK(kernels::ResultCacheBytes() >= 0);
  kernels::SetResultCacheBytes(16 << 20);
  CHECK_FALSE(IsStreamed(8 << 20, 8 << 20));
  CHECK(IsStreamed(8 << 20, (8 << 20) + 1));
  kernels::SetResultCacheBytes(0);
  CHECK(IsStreamed(kernels::kStreamBytes, 0));
  kernels::SetResultCacheBytes(-1);
}

}  // namespace weft::kit
