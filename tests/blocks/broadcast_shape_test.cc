// What is said of operands whose common shape has more elements than can be counted: that, and not that they do not fit.
#include <catch2/catch.hpp>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

Tensor Empty(std::initializer_list<int64_t> dims) { return Tensor::Allocate(DType::kFloat, Shape(dims)).value(); }

std::string Refusal(const BlockTester& tester) {
  const BlockResult result = tester.Run();
  CHECK(result.status.code() == Code::kInvalidArgument);
  return ToString(result.status);
}

constexpr int64_t kHuge = int64_t{1} << 40;

}  // namespace

TEST_CASE("a common shape of too many elements is refused as such", "[broadcast]") {
  const Tensor tall = Empty({0, kHuge, 1}), wide = Empty({0, 1, kHuge});
  for (const char* block : {"Add", "Multiply", "Pow", "Equal", "Less"}) {
    CAPTURE(block);
    CHECK_THAT(Refusal(BlockTester(Catalog(), block).Input("x", tall).Input("y", wide)), Catch::Contains("2^63"));
  }
  CHECK_THAT(Refusal(BlockTester(Catalog(), "Equal").Attrs("incompatible_shape_error_ = false;").Input("x", tall).Input("y", wide)),
             Catch::Contains("2^63"));
  const Tensor condition = Tensor::Allocate(DType::kBool, Shape{0, 1, 1}).value();
  CHECK_THAT(Refusal(BlockTester(Catalog(), "SelectV2").Input("condition", condition).Input("t", tall).Input("e", wide)),
             Catch::Contains("2^63"));
  CHECK_THAT(Refusal(BlockTester(Catalog(), "BatchMatMulV2").Input("x", Empty({0, kHuge, 1, 1, 1})).Input("y", Empty({0, 1, kHuge, 1, 1}))),
             Catch::Contains("2^63"));
}

TEST_CASE("shapes that do not fit are refused as such", "[broadcast]") {
  CHECK_THAT(Refusal(BlockTester(Catalog(), "Add").Input("x", Empty({0, 2})).Input("y", Empty({0, 3}))), Catch::Contains("sizes equal or 1"));
}

}  // namespace weft::kit
