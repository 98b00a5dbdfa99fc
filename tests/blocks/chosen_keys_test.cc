// Elements chosen so that a table with a known hash would keep them all in one place: looking them up takes no longer than others.
#include <catch2/catch.hpp>
#include <ctime>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

constexpr int64_t kElements = 100000;

/// Elements that (x ^ x >> 32) * C, folded once more, takes to places which begin alike.
Tensor Chosen() {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;
  uint64_t inverse = kFactor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
  REQUIRE(inverse * kFactor == 1);
  Tensor tensor = Tensor::Allocate(DType::kInt64, Shape{kElements}).value();
  for (int64_t i = 0; i < kElements; ++i) {
    const uint64_t high = static_cast<uint64_t>(i), mixed = high << 32 | high;
    const uint64_t word = mixed * inverse;
    tensor.values<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(word ^ word >> 32);
  }
  return tensor;
}

double Seconds(const BlockTester& tester) {
  const std::clock_t start = std::clock();
  const BlockResult result = tester.Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("elements chosen against a hash are looked up as fast as others", "[unique]") {
  const Tensor chosen = Chosen(), few = Tensor::Of<int64_t>({1, 2, 3});
  CHECK(Seconds(BlockTester(Catalog(), "Unique").Input("x", chosen).Once(int64_t{1} << 30)) < 1);
  CHECK(Seconds(BlockTester(Catalog(), "UniqueWithCounts").Input("x", chosen).Once(int64_t{1} << 30)) < 1);
  CHECK(Seconds(BlockTester(Catalog(), "SetDiff1D").Input("x", few).Input("y", chosen).Once(int64_t{1} << 30)) < 1);
}

TEST_CASE("strings of all lengths are told apart", "[unique]") {
  Tensor strings = Tensor::Allocate(DType::kString, Shape{64}).value();
  for (size_t i = 0; i < 64; ++i) strings.values<String>()[i] = std::string(i % 32, 'a');
  BlockResult result = BlockTester(Catalog(), "Unique").Input("x", strings).Run();
  REQUIRE(result.status.ok());
  REQUIRE(result.outputs.at("y").shape() == Shape{32});
  for (size_t i = 0; i < 64; ++i) CHECK(result.outputs.at("idx").values<int32_t>()[i] == static_cast<int32_t>(i % 32));
}

}  // namespace weft::kit
