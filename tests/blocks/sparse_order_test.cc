// The order of places against a stable sort by comparison, and maps of sparse tensors: what they give back, and their state.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "blocks/sparse/place_order.h"
#include "blocks/sparse/tensors_map.h"
#include "tests/kit/test_services.h"

namespace weft {
namespace {

using blocks::PlaceOrder;
using blocks::SparseTensorsMap;
using blocks::SparseValue;

struct IndexSample {
  int64_t count, rank;
  int64_t low, high;  // of the indices
};

std::vector<int64_t> IndicesOf(const IndexSample& sample, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> numbers(sample.low, sample.high);
  std::vector<int64_t> indices(static_cast<size_t>(sample.count * sample.rank));
  std::ranges::generate(indices, [&] { return numbers(random); });
  return indices;
}

std::vector<int64_t> OrderByComparison(const std::vector<int64_t>& indices, const IndexSample& sample, const std::vector<int64_t>& axes) {
  std::vector<int64_t> order(static_cast<size_t>(sample.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    for (int64_t axis : axes) {
      const int64_t x = indices[static_cast<size_t>(a * sample.rank + axis)], y = indices[static_cast<size_t>(b * sample.rank + axis)];
      if (x != y) return x < y;
    }
    return false;
  });
  return order;
}

void CheckOrder(const IndexSample& sample, const std::vector<int64_t>& axes, int threads) {
  INFO(sample.count << " places of rank " << sample.rank << " in [" << sample.low << ", " << sample.high << "], threads " << threads);
  const std::vector<int64_t> indices = IndicesOf(sample, 7);
  const auto bytes = blocks::OrderScratchBytes(sample.count, sample.rank);
  REQUIRE(bytes.ok());
  std::vector<int64_t> scratch(static_cast<size_t>(*bytes / 8 + 1));
  kit::TestWorkers workers(threads);
  const auto order =
      blocks::OrderPlaces(indices.data(), sample.count, sample.rank, axes, reinterpret_cast<std::byte*>(scratch.data()), workers);
  REQUIRE(order.ok());
  const std::vector<int64_t> expected = OrderByComparison(indices, sample, axes);
  for (int64_t i = 0; i < sample.count; ++i) {
    if (order->at(i) != expected[static_cast<size_t>(i)])
      FAIL("place " << i << " is " << order->at(i) << ", not " << expected[static_cast<size_t>(i)]);
  }
}

SparseValue Make(float value) {
  return {Tensor::Of<int64_t>({0, 1}, Shape{1, 2}), Tensor::Of<float>({value}), Tensor::Of<int64_t>({2, 3})};
}

}  // namespace

TEST_CASE("Places are sorted as a stable sort by comparison sorts them", "[sparse]") {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  for (const IndexSample& sample : {IndexSample{0, 2, 0, 9},
                                    {1, 2, 0, 9},
                                    {2, 1, 0, 1},
                                    {20, 3, 0, 2},
                                    {33, 2, -4, 4},
                                    {1000, 1, 7, 7},
                                    {5000, 3, 0, 15},
                                    {70000, 2, 0, 300},
                                    {140000, 2, 0, 1 << 20},
                                    {3000, 4, 0, int64_t{1} << 40},
                                    {3000, 2, kLeast, kMost}}) {
    for (const int threads : {1, 3}) {
      std::vector<int64_t> axes(static_cast<size_t>(sample.rank));
      std::iota(axes.begin(), axes.end(), int64_t{0});
      CheckOrder(sample, axes, threads);
      std::ranges::reverse(axes);
      CheckOrder(sample, axes, threads);
      CheckOrder(sample, {sample.rank - 1}, threads);
    }
  }
  CheckOrder({100, 3, 0, 9}, {}, 1);
}

TEST_CASE("A map of sparse tensors gives all that is asked for, or nothing", "[sparse]") {
  SparseTensorsMap map;
  std::vector<SparseValue> tensors;
  for (float value : {1.0f, 2.0f, 3.0f}) tensors.push_back(Make(value));
  CHECK(map.Add(std::move(tensors)) == 0);
  for (const std::vector<int64_t>& bad : {std::vector<int64_t>{0, 7}, {1, 1}, {0, -1}, {2, 1, 0, 3}}) {
    CHECK(map.Take(bad).status().code() == Code::kInvalidArgument);
  }
  const std::vector<int64_t> wanted = {2, 0};
  const auto taken = map.Take(wanted);
  REQUIRE(taken.ok());
  CHECK((*taken)[0].values.values<float>()[0] == 3);
  CHECK((*taken)[1].values.values<float>()[0] == 1);
  CHECK(map.Take(wanted).status().code() == Code::kInvalidArgument);
  std::vector<SparseValue> another;
  another.push_back(Make(4));
  CHECK(map.Add(std::move(another)) == 3);
}

TEST_CASE("A map of sparse tensors comes back from its state", "[sparse]") {
  SparseTensorsMap map, other;
  std::vector<SparseValue> tensors;
  for (float value : {1.0f, 2.0f}) tensors.push_back(Make(value));
  map.Add(std::move(tensors));
  REQUIRE(map.Take(std::vector<int64_t>{0}).ok());
  StateWriter writer;
  REQUIRE(map.Save(writer).ok());
  const std::string bytes = std::move(writer).Take();
  const kit::TestFiles files(".");
  for (size_t size = 0; size < bytes.size(); ++size) {
    StateReader cut(std::string_view(bytes).substr(0, size), files, nullptr);
    CHECK(!other.Load(cut).ok());
  }
  StateReader reader(bytes, files, nullptr);
  auto load = other.Load(reader);
  REQUIRE(load.ok());
  CHECK(reader.End().ok());
  (*load)();
  CHECK(!other.Take(std::vector<int64_t>{0}).ok());
  const auto taken = other.Take(std::vector<int64_t>{1});
  REQUIRE(taken.ok());
  CHECK((*taken)[0].values.values<float>()[0] == 2);
  std::vector<SparseValue> more;
  more.push_back(Make(5));
  CHECK(other.Add(std::move(more)) == 2);
  other.Reset();
  more.clear();
  more.push_back(Make(6));
  CHECK(other.Add(std::move(more)) == 0);
}

}  // namespace weft
