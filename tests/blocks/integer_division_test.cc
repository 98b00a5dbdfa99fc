// Divisors and exponents that integers do not take are found wherever they lie, by whichever task sees them.
#include <catch2/catch.hpp>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

Tensor Ones(Shape shape, int64_t at, int32_t value) {
  Tensor tensor = Tensor::Allocate(DType::kInt32, shape).value();
  std::fill_n(tensor.values<int32_t>().data(), tensor.count(), 1);
  if (at >= 0) tensor.values<int32_t>()[static_cast<size_t>(at)] = value;
  return tensor;
}

void CheckRefused(const char* block, Shape x, Shape y, int64_t at, int32_t value, const char* needed) {
  INFO(block << " of " << ToString(x) << " and " << ToString(y) << ", refused at " << at);
  const BlockResult result = BlockTester(Catalog(), block).Input("x", Ones(x, -1, 0)).Input("y", Ones(y, at, value)).Run();
  REQUIRE(!result.status.ok());
  CHECK(result.status.code() == Code::kInvalidArgument);
  CHECK(result.status.place().port == "y");
  CHECK(ToString(result.status).find(needed) != std::string::npos);
  const BlockResult fine = BlockTester(Catalog(), block).Input("x", Ones(x, -1, 0)).Input("y", Ones(y, -1, 0)).Run();
  CHECK(fine.status.ok());
}

TEST_CASE("A divisor of zero is refused wherever it lies", "[division]") {
  for (const char* block : {"Div", "FloorDiv", "TruncateDiv", "Mod", "FloorMod", "TruncateMod"}) {
    for (int64_t at : {0, 40000, 99999}) {
      CheckRefused(block, {100000}, {100000}, at, 0, "divisors other than 0");
      CheckRefused(block, {2, 100000}, {100000}, at, 0, "divisors other than 0");
      CheckRefused(block, {1}, {100000}, at, 0, "divisors other than 0");
    }
    CheckRefused(block, {100000}, {1}, 0, 0, "divisors other than 0");
    CheckRefused(block, {1}, {1}, 0, 0, "divisors other than 0");
  }
}

TEST_CASE("A negative exponent of integers is refused wherever it lies", "[division]") {
  for (int64_t at : {0, 40000, 99999}) {
    CheckRefused("Pow", {100000}, {100000}, at, -1, "exponents of 0 or more");
    CheckRefused("Pow", {2, 100000}, {100000}, at, -1, "exponents of 0 or more");
  }
  CheckRefused("Pow", {1}, {1}, 0, -1, "exponents of 0 or more");
}

}  // namespace
}  // namespace weft::kit
