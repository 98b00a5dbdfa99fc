// Long running sums and segment sums are as accurate as a sum in double that is rounded once.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// Term i is a part of 0.1 that looks random.
template <class T>
Tensor Terms(int64_t count) {
  Tensor terms = Tensor::Allocate(kDTypeOf<T>, Shape{count}).value();
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t mixed = (static_cast<uint64_t>(i) * 2654435761u + 40503u) & 0xFFFFFFu;
    terms.values<T>()[i] = static_cast<T>(static_cast<float>(mixed) / 16777216.0f * 0.1f);
  }
  return terms;
}

/// Ids that are all the same, or which turn back and forth between two.
Tensor Ids(int64_t count, bool two) {
  Tensor ids = Tensor::Allocate(DType::kInt32, Shape{count}).value();
  for (int64_t i = 0; i < count; ++i) ids.values<int32_t>()[i] = two && i % 3 == 0 ? 1 : 0;
  return ids;
}

template <class T>
void CheckClose(const BlockResult& result, const char* port, size_t element, double expected) {
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  const double got = static_cast<double>(result.outputs.at(port).template values<T>()[element]);
  const double epsilon = std::is_same_v<T, half> ? 0x1p-10 : std::is_same_v<T, bfloat16> ? 0x1p-7 : 0x1p-23;
  CHECK(std::fabs(got - expected) <= 0.51 * epsilon * expected);
}

template <class T>
void CheckSums(int64_t count) {
  INFO(DTypeName(kDTypeOf<T>) << " " << count);
  const Tensor terms = Terms<T>(count);
  double total = 0, thirds = 0;
  for (int64_t i = 0; i < count; ++i) {
    total += static_cast<double>(terms.values<T>()[i]);
    if (i % 3 == 0) thirds += static_cast<double>(terms.values<T>()[i]);
  }
  BlockTester cumulative(Catalog(), "Cumsum");
  cumulative.Input("x", terms).Input("axis", Tensor::Scalar<int32_t>(0));
  CheckClose<T>(cumulative.Run(), "out", static_cast<size_t>(count - 1), total);
  BlockTester sorted(Catalog(), "SegmentSum");
  sorted.Input("data", terms).Input("segment_ids", Ids(count, false));
  CheckClose<T>(sorted.Run(), "output", 0, total);
  BlockTester mean(Catalog(), "SegmentMean");
  mean.Input("data", terms).Input("segment_ids", Ids(count, false));
  CheckClose<T>(mean.Run(), "output", 0, total / static_cast<double>(count));
  BlockTester unsorted(Catalog(), "UnsortedSegmentSum");
  unsorted.Input("data", terms).Input("segment_ids", Ids(count, true)).Input("num_segments", Tensor::Scalar<int32_t>(2));
  const BlockResult result = unsorted.Run();
  CheckClose<T>(result, "output", 0, total - thirds);
  CheckClose<T>(result, "output", 1, thirds);
}

}  // namespace

TEST_CASE("Long running sums and segment sums are rounded once", "[accuracy]") {
  for (const int64_t count : {3000, 300000}) {
    CheckSums<float>(count);
    CheckSums<half>(count);
    CheckSums<bfloat16>(count);
  }
}

}  // namespace weft::kit
