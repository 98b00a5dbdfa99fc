// Sums of one tensor by channel: exact at sizes that fill no register, no group of rows and no line, and no chain of additions is long.
#include "blocks/kernels/channel/sums.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

using namespace weft;
using namespace weft::kernels;

namespace {

constexpr int64_t kTask = 64 * 1024;

/// The sums of all blocks, added up.
template <class T>
std::vector<double> Totals(const ChannelPartition& cut, const T* x) {
  std::vector<VecElement<T>> partial(static_cast<size_t>(cut.partials()), static_cast<VecElement<T>>(77));
  const SumByChannel<T> plain{x, partial.data()};
  for (int64_t task = 0; task < cut.tasks(); ++task) plain.Run(cut, task);
  std::vector<double> totals(static_cast<size_t>(cut.box.channels));
  for (size_t i = 0; i < partial.size(); ++i) totals[i % totals.size()] += static_cast<double>(partial[i]);
  return totals;
}

/// Small whole numbers, from an odd place to exactly the end, so that a sanitizer sees the first that is read beyond them.
template <class T>
void CheckExact(const ChannelBox& box) {
  CAPTURE(box.outer, box.channels, box.inner, sizeof(T));
  const std::unique_ptr<T[]> room(new T[static_cast<size_t>(box.count() + 3)]);
  T* const x = room.get() + 3;
  std::vector<double> sums(static_cast<size_t>(box.channels));
  for (int64_t i = 0; i < box.count(); ++i) {
    const int value = static_cast<int>(i * 7 % 13);
    x[i] = static_cast<T>(static_cast<float>(value));
    sums[static_cast<size_t>(i / box.inner % box.channels)] += value;
  }
  CHECK(Totals(PartitionForSums<T>(box, kTask), x) == sums);
}

/// Additions in a row that element `i` of a channel goes through. It is 2^100, each other one in turn -2^100, and all others are 1, which
/// are lost beside either: what comes out are those added after the two met, another number for each addition on the way.
template <class T>
size_t Depth(const ChannelPartition& cut, std::vector<T>& x, int64_t channel, int64_t i) {
  const int64_t inner = cut.box.inner, channels = cut.box.channels;
  const auto at = [&](int64_t k) { return static_cast<size_t>((k / inner * channels + channel) * inner + k % inner); };
  std::set<double> met;
  x[at(i)] = static_cast<T>(0x1p100f);
  for (int64_t k = 0; k < cut.box.per_channel(); ++k) {
    if (k == i) continue;
    x[at(k)] = static_cast<T>(-0x1p100f);
    met.insert(Totals(cut, x.data())[static_cast<size_t>(channel)]);
    x[at(k)] = static_cast<T>(1.0f);
  }
  x[at(i)] = static_cast<T>(1.0f);
  return met.size();
}

template <class T>
void CheckChains(const ChannelBox& box) {
  CAPTURE(box.outer, box.channels, box.inner, sizeof(T));
  constexpr size_t kLongest = 80;  // 32, and as many for each 32 rows, or planes of 32 registers
  std::vector<T> x(static_cast<size_t>(box.count()), static_cast<T>(1.0f));
  const ChannelPartition cut = PartitionForSums<T>(box, kTask);
  CHECK(Depth(cut, x, 0, 0) <= kLongest);
  CHECK(Depth(cut, x, box.channels - 1, box.inner) <= kLongest);  // of the second row
}

}  // namespace

TEST_CASE("sums of one tensor by channel at every odd size") {
  for (const int64_t outer : {1, 3, 4, 8, 17, 63, 100, 333}) {
    for (const int64_t channels : {1, 3, 15, 33, 49, 64, 80}) {
      for (const int64_t inner : {1, 2, 7, 15, 16, 17, 33, 49, 131, 196}) {
        if (outer * channels * inner > 200000) continue;
        CheckExact<float>({outer, channels, inner});
        CheckExact<double>({outer, channels, inner});
        CheckExact<half>({outer, channels, inner});
        CheckExact<bfloat16>({outer, channels, inner});
        CheckExact<uint32_t>({outer, channels, inner});
      }
    }
  }
  for (const ChannelBox& box : {ChannelBox{40, 300, 131}, {21, 270, 128}, {700, 453, 1}, {9500, 450, 1}, {20011, 3, 1}, {3, 3, 100003}}) {
    CheckExact<float>(box);
    CheckExact<bfloat16>(box);
  }
}

TEST_CASE("no chain of additions is long where one tensor is summed by channel") {
  constexpr int64_t n = kLanes<float>;
  const std::vector<ChannelBox> boxes = {
      {600, 7 * n, 1},       // narrow rows in registers, and some beside them
      {500, 13 * n, 1},      // the same, row by row
      {250, 28 * n + 5, 1},  // rows side by side
      {300, 3, 7},           // small planes, many rows as one
      {2000, 3, 1},          // many narrow rows as one, and some left over
      {63, 1, 1},            // too few for that
      {300, 8, 3 * n + 1},   // planes in rows
      {4, 4, 32 * n},        // few rows of planes
      {8, 3, 25 * n + 3},
  };
  for (const ChannelBox& box : boxes) {
    CheckChains<float>(box);
    CheckChains<bfloat16>(box);
  }
}
