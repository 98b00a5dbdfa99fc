// Sums by channel of one tensor alone, as of a bias's gradient. There is so little to compute that memory is the limit, and that is read
// fastest from one end to the other: what jumps to and fro between the lines of a page takes twice as long past the cache.
#pragma once

#include <algorithm>

#include "blocks/kernels/channel/map_reduce.h"
#include "blocks/kernels/channel/partition.h"
#include "blocks/kernels/channel/positions.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

// ---- how work is cut ----

/// Rows of so many registers stay in registers, with some left over for what is loaded.
inline constexpr int64_t kRowInRegisters = kVecBytes == 64 ? 24 : 12;

/// The tasks of SumByChannel.
template <class T>
ChannelPartition PartitionForSums(ChannelBox box, int64_t task_elements) {
  constexpr int lanes = kLanes<VecElement<T>>;
  ChannelPartition cut = PartitionChannels(box, lanes, task_elements);
  if (cut.runs || cut.blocks == 0 || cut.tiles > 1) return cut;
  // Neighbouring rows are taken as one as long as that makes whole fours of registers, of which the task has many.
  constexpr int64_t kMany = 32;
  const int64_t row = box.channels * box.inner;
  const auto fours = [&] { return cut.group * row % (4 * lanes) == 0; };
  while (!fours() && 2 * cut.group * row <= kRowInRegisters * lanes && 2 * kMany * cut.group <= cut.block_rows) cut.group *= 2;
  cut.block_rows = DivideUp(cut.block_rows, cut.group) * cut.group;
  cut.blocks = DivideUp(box.outer, cut.block_rows);
  return cut;
}

// ---- the sums ----

/// `sums` is [cut.blocks, channels]. The sum of an element's block depends on sizes alone.
template <class T>
class SumByChannel {
 public:
  using A = VecElement<T>;

  const T* in;
  A* sums;

  /// Does one of cut.tasks().
  void Run(const ChannelPartition& cut, int64_t task) const {
    const ChannelPartition::Part part = cut.part(task);
    if (!cut.runs) return Rows(cut, part);
    constexpr auto add = [](const auto& v, const auto&, auto& sum) { sum[0] += v[0]; };
    ChannelMapReduce<T, A, 1, 0, 1, decltype(add)>{{in}, {}, {sums}}.template Runs<false>(cut, part);
  }

 private:
  using V = Vec<A>;
  static constexpr int kN = kLanes<A>;
  static constexpr int64_t kChain = ChannelAccumulators<A, 1>::kChain;

  // ---- rows: neighbouring positions in a register ----

  /// Positions of a row; a pair of registers at a time, which kInterleaved leaves as the even and the odd ones.
  static constexpr int64_t kTile = int64_t{kTileRegisters} * kN;
  static constexpr int64_t kTwo = 2 * kN;

  static void AddTwo(const T* x, V& first, V& second) {
    V a, b;
    LoadTwo(x, a, b);
    first += a;
    second += b;
  }

  /// Positions of kRows rows, or of `rows` where kRows is 0, joined before they are added to the tile or, where `put`, put there.
  template <int kRows>
  [[gnu::always_inline]] static void JoinRows(const T* x, int64_t rows, int64_t stride, int64_t length, bool put, A* tile) {
    if (kRows > 0) rows = kRows;
    int64_t c = 0;
    for (; kInterleaved<T> && c + kTwo <= length; c += kTwo) {
      V sum[2];
      LoadTwo(x + c, sum[0], sum[1]);
#pragma GCC unroll 8
      for (int64_t row = 1; row < rows; ++row) AddTwo(x + row * stride + c, sum[0], sum[1]);
      StoreVec(tile + c, put ? sum[0] : LoadVec(tile + c) + sum[0]);
      StoreVec(tile + c + kN, put ? sum[1] : LoadVec(tile + c + kN) + sum[1]);
    }
    for (; c + kN <= length; c += kN) {
      V sum = LoadVec(x + c);
#pragma GCC unroll 8
      for (int64_t row = 1; row < rows; ++row) sum += LoadVec(x + row * stride + c);
      StoreVec(tile + c, put ? sum : LoadVec(tile + c) + sum);
    }
    if (c < length) AddOdd(x, rows, stride, c, length, put, tile);
  }
  /// The same for positions that fill no register.
  [[gnu::noinline]] static void AddOdd(const T* x, int64_t rows, int64_t stride, int64_t first, int64_t length, bool put, A* tile) {
    for (int64_t c = first; c < length; ++c) {
      A sum = ToVecElement(x[c]);
      for (int64_t row = 1; row < rows; ++row) sum = static_cast<A>(sum + ToVecElement(x[row * stride + c]));
      tile[c] = put ? sum : static_cast<A>(tile[c] + sum);
    }
  }

  /// Rows of kRegisters, and of less than four more, memory in its order: a load and an addition each. Sums go to the tile before their
  /// chains are long.
  template <int kRegisters>
  static void NarrowRows(const T* x, int64_t rows, int64_t length, A* tile) {
    constexpr int64_t kInRegisters = kRegisters * kN;
    alignas(64) A more[4 * kN];
    std::fill_n(tile, length, A{});
    for (int64_t row = 0; row < rows;) {
      V sum[kRegisters] = {};
      bool put = true;
      for (const int64_t stop = std::min(rows, row + kChain); row < stop; ++row, x += length, put = false) {
#pragma GCC unroll 12
        for (int k = 0; k < kRegisters; k += 2) AddTwo(x + k * kN, sum[k], sum[k + 1]);
        JoinRows<1>(x + kInRegisters, 1, 0, length - kInRegisters, put, more);
      }
#pragma GCC unroll 24
      for (int k = 0; k < kRegisters; ++k) StoreVec(tile + k * kN, LoadVec(tile + k * kN) + sum[k]);
      for (int64_t c = kInRegisters; c < length; ++c) tile[c] = static_cast<A>(tile[c] + more[c - kInRegisters]);
    }
  }

  /// Rows side by side are as many streams, each in its order.
  static void WideRows(const T* x, int64_t rows, int64_t stride, int64_t length, A* tile) {
    constexpr int64_t kSide = 8;
    int64_t row = 0;
    for (; row + kSide <= rows; row += kSide) JoinRows<kSide>(x + row * stride, kSide, stride, length, row == 0, tile);
    if (row < rows) JoinRows<0>(x + row * stride, rows - row, stride, length, row == 0, tile);
  }

  /// rows > 0.
  static void SumRows(const T* x, int64_t rows, int64_t stride, int64_t length, A* tile) {
    const int64_t fours = length == stride ? length / (4 * kN) : 0;
    if (fours == 1) return NarrowRows<4>(x, rows, length, tile);
    if (fours == 2) return NarrowRows<8>(x, rows, length, tile);
    if (fours == 3) return NarrowRows<12>(x, rows, length, tile);
    if constexpr (kRowInRegisters >= 24) {
      if (fours == 4) return NarrowRows<16>(x, rows, length, tile);
      if (fours == 5) return NarrowRows<20>(x, rows, length, tile);
      if (fours == 6) return NarrowRows<24>(x, rows, length, tile);
    }
    WideRows(x, rows, stride, length, tile);
  }

  void Rows(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    const int64_t channels = part.end - part.first, positions = channels * cut.box.inner, width = cut.box.channels * cut.box.inner;
    const int64_t rows = part.end_row - part.first_row, whole = rows / cut.group, length = positions * cut.group;
    const T* const x = in + part.first_row * width + part.first * cut.box.inner;
    alignas(64) A tile[kTile];
    if (whole == 0) std::fill_n(tile, length, A{});
    else SumRows(x, whole, width * cut.group, length, tile);
    if constexpr (kInterleaved<T>) Deinterleave(tile, length);
    const int64_t grouped = whole * cut.group;  // of narrow rows, some may be left over
    if (grouped < rows) AddOdd(x + grouped * width, 1, 0, 0, (rows - grouped) * width, false, tile);
    for (int64_t g = cut.group, half = g / 2; g > 1; g -= half, half = g / 2) {
      const A* const upper = tile + (g - half) * positions;
#pragma omp simd
      for (int64_t c = 0; c < half * positions; ++c) tile[c] += upper[c];
    }
    FoldPositions(tile, channels, cut.box.inner, sums + part.block * cut.box.channels + part.first);
  }

  template <int... kLane>
  static void DeinterleaveTwo(A* at, std::integer_sequence<int, kLane...>) {
    const V even = LoadVec(at), odd = LoadVec(at + kN);
    StoreVec(at, __builtin_shufflevector(even, odd, (kLane / 2 + kLane % 2 * kN)...));
    StoreVec(at + kN, __builtin_shufflevector(even, odd, (kLane / 2 + kLane % 2 * kN + kN / 2)...));
  }
  static void Deinterleave(A* tile, int64_t length) {
    for (int64_t c = 0; c + kTwo <= length; c += kTwo) DeinterleaveTwo(tile + c, std::make_integer_sequence<int, kN>());
  }

};

}  // namespace weft::kernels
