// Rows of a map and reduction by channel (map_reduce.h): a register holds neighbouring positions, of whatever channels, and what belongs to a
// channel is written out for each of its positions.
//
// Memory is read fastest in its order. Passes with sums leave it for blocks of neighbouring registers, whose sums stay in registers from
// row to row, while what comes after is fetched in order: from memory and the last-level cache 1.3 to 2 times as fast as several rows side
// by side, register by register.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "blocks/kernels/channel/map_reduce_parts.h"
#include "blocks/kernels/channel/partition.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// The template arguments are those of ChannelMapReduce. Parameters and sums are by position here.
template <class T, class P, int kIn, int kPar, int kSums, class Term, bool kWrites>
class MapReduceRows {
 public:
  using A = VecElement<T>;
  using V = Vec<A>;
  using Memory = MapReduceMemory<T, kIn, Term, kWrites>;
  using ParameterRows = std::array<const P*, kPar>;
  static constexpr int kN = kLanes<A>;
  static constexpr int64_t kTile = int64_t{kTileRegisters} * kN;

  /// A value for each position of a tile, in the first-level cache: 8 KB each.
  template <class E, int kCount>
  struct Tile {
    alignas(64) std::array<E, static_cast<size_t>(kTile)> of[kCount > 0 ? kCount : 1];
  };
  using SumTile = Tile<A, kSums>;

  /// `count`: elements of the whole tensor.
  MapReduceRows(const Memory& memory, int64_t count) : memory_(memory), far_(count * kSize * kIn >= kFar) {}

  /// `rows` rows, `stride` apart, of `length` elements from `at`. Sums are put into `tile`.
  template <bool kStream>
  void Run(int64_t at, int64_t rows, int64_t stride, int64_t length, const ParameterRows& par, SumTile& tile) const {
    if constexpr (kSums > 0) {
      // Side by side, the parameters of few rows are loaded once or twice in all. Two inputs would be eight streams and more, which lie at
      // one place of a page where planes fill whole pages: blocks are 1.06 times as fast where elements need no conversion.
      constexpr int64_t kFew = kIn > 1 && std::is_same_v<T, A> ? 4 : 16;
      if (rows > kFew) ManyRows<kStream>(at, rows, stride, length, par, tile);
      else RowGroups<kStream>(at, rows, stride, length, par, tile);
    } else if (length == kNarrow * kN) {
      MapBlock<kStream, kNarrow>(at, rows, stride, par);
    } else if (!kStream && kPar > 0 && (!std::is_same_v<T, A> || stride * kSize >= kPage)) {
      MapSideBySide(at, rows, stride, length, par, tile);
    } else {
      for (int64_t row = 0; row < rows; ++row) MapRow<kStream>(at + row * stride, length, par, tile);
    }
  }

 private:
  template <class E>
  using Values = std::array<E, kIn>;
  template <class E>
  using Params = std::array<E, kPar>;
  template <class E>
  using Sums = std::array<E, kSums>;

  static constexpr int64_t kSize = sizeof(T), kPage = 4096;
  /// Inputs so large do not stay in the nearer caches.
  static constexpr int64_t kFar = 8 << 20;

  static ParameterRows From(ParameterRows par, int64_t position) {
    for (int i = 0; i < kPar; ++i) par[i] += position;
    return par;
  }
  static Params<V> LoadParams(const ParameterRows& par, int64_t position) {
    Params<V> p;
    for (int i = 0; i < kPar; ++i) p[i] = LoadVec(par[i] + position);
    return p;
  }

  // ---- sums ----

  /// Fetches the rows that come after, in memory's order whatever that of those at hand; from a near cache it would only take time.
  struct Ahead {
    bool on;
    int64_t length, stride, at, column = 0;

    void Fetch(const Memory& memory, int64_t count) {
      constexpr int64_t kLine = 64 / kSize;
      if (!on) return;
      if (column + count <= length) {
        for (int64_t i = 0; i < count; i += kLine) memory.Fetch(at + column + i);
        column += count;
      } else {  // to the end of the row, and on with the next
        const int64_t rest = column + count - length;
        for (; column < length; column += kLine) memory.Fetch(at + column);
        at += stride;
        for (column = 0; column < rest; column += kLine) memory.Fetch(at + column);
      }
      if (column < length) return;
      column = 0;
      at += stride;
    }
  };

  /// kWidth registers of `rows` rows from `at`; the sums are added to the tile at `position` or, where `put`, put there.
  template <bool kStream, int kWidth>
  [[gnu::always_inline]] static void SumBlock(const Memory& memory, int64_t at, int64_t rows, int64_t stride, const ParameterRows& par,
                                              SumTile& tile, int64_t position, bool put, Ahead& ahead) {
    Sums<V> sum[kWidth] = {};
    at += position;
    for (int64_t row = 0; row < rows; ++row, at += stride) {
      ahead.Fetch(memory, kWidth * kN);
#pragma GCC unroll 8
      for (int k = 0; k < kWidth; ++k) memory.template Vector<kStream>(at + k * kN, LoadParams(par, position + k * kN), sum[k]);
    }
    for (int k = 0; k < kWidth; ++k) {
      for (int s = 0; s < kSums; ++s) {
        A* const to = &tile.of[s][position + k * kN];
        StoreVec(to, put ? sum[k][s] : LoadVec(to) + sum[k][s]);
      }
    }
  }

  /// Rows few enough for one chain of additions.
  template <bool kStream>
  static void SumRows(const Memory& memory, int64_t at, int64_t rows, int64_t stride, int64_t length, const ParameterRows& par,
                      SumTile& tile, bool put, Ahead ahead) {
    constexpr int kWide = kVecBytes == 64 ? 8 : 4, kHalf = kWide / 2;
    int64_t c = 0;
    for (; c + kWide * kN <= length; c += kWide * kN) SumBlock<kStream, kWide>(memory, at, rows, stride, par, tile, c, put, ahead);
    for (; c + kHalf * kN <= length; c += kHalf * kN) SumBlock<kStream, kHalf>(memory, at, rows, stride, par, tile, c, put, ahead);
    for (; c + kN <= length; c += kN) SumBlock<kStream, 1>(memory, at, rows, stride, par, tile, c, put, ahead);
    if (c < length) Odd(memory, at, rows, stride, c, length, par, put, tile);
  }

  /// As many rows at a time as the nearest cache still has when the next registers of theirs are read.
  template <bool kStream>
  void ManyRows(int64_t at, int64_t rows, int64_t stride, int64_t length, const ParameterRows& par, SumTile& tile) const {
    constexpr int64_t kNear = 8 << 10, kLeast = 8;
    const int64_t most = std::clamp<int64_t>(kNear / (length * kSize), kLeast, ChannelAccumulators<A, kSums>::kChain);
    const Memory memory = memory_;
    for (int64_t row = 0; row < rows; row += most, at += most * stride) {
      const Ahead ahead{far_, length, stride, at + most * stride};
      SumRows<kStream>(memory, at, std::min(most, rows - row), stride, length, par, tile, row == 0, ahead);
    }
  }

  /// Positions [first, length) that fill no register.
  [[gnu::noinline]] static void Odd(const Memory& memory, int64_t at, int64_t rows, int64_t stride, int64_t first, int64_t length,
                                    const ParameterRows& par, bool put, SumTile& tile) {
    for (int64_t c = first; c < length; ++c) {
      Params<A> p;
      for (int i = 0; i < kPar; ++i) p[i] = ToVecElement(par[i][c]);
      Sums<A> sum{};
      for (int64_t row = 0; row < rows; ++row) memory.Scalar(at + row * stride + c, p, sum);
      for (int s = 0; s < kSums; ++s) tile.of[s][c] = static_cast<A>(put ? sum[s] : tile.of[s][c] + sum[s]);
    }
  }

  // ---- rows side by side ----

  /// Parameters are loaded, and sums joined, once for so many rows: more streams than eight, or registers than there are, are slower.
  static constexpr int kRowGroup = kIn == 1 && !kWrites ? 8 : 4;

  /// kRowGroup rows, or `rows` where that is fewer; the sums are added to the tile or put there.
  template <bool kStream, bool kPut, bool kWhole>
  void RowGroup(int64_t at, int64_t rows, int64_t stride, int64_t length, const ParameterRows& par, SumTile& tile) const {
    const Memory memory = memory_;
    int64_t c = 0;
    for (; c + kN <= length; c += kN) {
      const Params<V> p = LoadParams(par, c);
      Sums<V> sum{};
      if constexpr (kWhole) {
        // All rows are loaded before the first is stored: a load that is a multiple of 4 KB from a store on its way would wait for it.
        Values<V> x[kRowGroup];
        for (int row = 0; row < kRowGroup; ++row) memory.Load(at + row * stride + c, x[row]);
        for (int row = 0; row < kRowGroup; ++row) memory.template Store<kStream>(at + row * stride + c, x[row], p, sum);
      } else {
        for (int64_t row = 0; row < rows; ++row) memory.template Vector<kStream>(at + row * stride + c, p, sum);
      }
      for (int s = 0; s < kSums; ++s) StoreVec(&tile.of[s][c], kPut ? sum[s] : LoadVec(&tile.of[s][c]) + sum[s]);
    }
    if (c < length) Odd(memory, at, rows, stride, c, length, par, kPut, tile);
  }

  template <bool kStream>
  void RowGroups(int64_t at, int64_t rows, int64_t stride, int64_t length, const ParameterRows& par, SumTile& tile) const {
    if (rows < kRowGroup) return RowGroup<kStream, true, false>(at, rows, stride, length, par, tile);
    RowGroup<kStream, true, true>(at, kRowGroup, stride, length, par, tile);  // begins the sums
    int64_t row = kRowGroup;
    for (; row + kRowGroup <= rows; row += kRowGroup) {
      RowGroup<kStream, false, true>(at + row * stride, kRowGroup, stride, length, par, tile);
    }
    if (row < rows) RowGroup<kStream, false, false>(at + row * stride, rows - row, stride, length, par, tile);
  }

  // ---- maps ----

  /// A row from one end to the other, the order in which stores past the cache are fastest.
  template <bool kStream>
  void MapRow(int64_t at, int64_t length, const ParameterRows& par, SumTile& no_tile) const {
    const Memory memory = memory_;
    constexpr int kSide = 4;
    Sums<V> no_sums;
    int64_t c = 0;
    for (; c + kSide * kN <= length; c += kSide * kN) {
      memory.template Map<kStream, kSide, Sums<V>>(at + c, [&](int k) { return LoadParams(par, c + k * kN); });
    }
    for (; c + kN <= length; c += kN) memory.template Vector<kStream>(at + c, LoadParams(par, c), no_sums);
    if (c < length) Odd(memory, at, 1, 0, c, length, par, true, no_tile);
  }

  /// Rows of so few registers that the parameters stay in others: 1.12 times as fast from memory.
  static constexpr int kNarrow = 4;

  template <bool kStream, int kWidth>
  void MapBlock(int64_t at, int64_t rows, int64_t stride, const ParameterRows& par) const {
    const Memory memory = memory_;
    Params<V> p[kWidth];
    for (int k = 0; k < kWidth; ++k) p[k] = LoadParams(par, k * kN);
    for (int64_t row = 0; row < rows; ++row, at += stride) {
      for (int k = 0; k < kWidth; k += 4) {
        memory.template Map<kStream, 4, Sums<V>>(at + k * kN, [&](int i) -> const Params<V>& { return p[k + i]; });
      }
    }
  }

  /// Parameters are loaded once for several rows, up to 1.5 times as fast from the last-level cache. But floats that are read to and fro
  /// between the lines of one page come at half the rate.
  void MapSideBySide(int64_t at, int64_t rows, int64_t stride, int64_t length, const ParameterRows& par, SumTile& no_tile) const {
    constexpr int kWide = 8;
    int64_t c = 0;
    if constexpr (kPar * kWide <= 24 && kVecBytes == 64) {
      for (; c + kWide * kN <= length; c += kWide * kN) MapBlock<false, kWide>(at + c, rows, stride, From(par, c));
    }
    if (c < length) RowGroups<false>(at + c, rows, stride, length - c, From(par, c), no_tile);
  }

  Memory memory_;
  bool far_;
};

}  // namespace weft::kernels
