// A tile of a product held in registers: a few rows of the left operand times a vector or two of the right one, summed over a list of
// segments. What matrix products and convolutions are made of.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <utility>

#include "weft/base/dtype.h"

namespace weft::kernels::panels {

// As many rows of two vectors as there are registers for, with three left for the operands. Of one vector there may be twice as many.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kRows = 14;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kRows = 6;
#else
inline constexpr int kVectorBytes = 16, kRows = 6;
#endif

/// Elements of a register.
template <class A>
inline constexpr int kLanesOf = kVectorBytes / static_cast<int>(sizeof(A));

/// What elements of T are computed as: a real type, complex numbers being pairs of it, and integers unsigned words.
template <class T>
struct ComputedAs {
  using Type = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;
};
template <>
struct ComputedAs<float> {
  using Type = float;
};
template <>
struct ComputedAs<double> {
  using Type = double;
};
template <>
struct ComputedAs<half> : ComputedAs<float> {};
template <>
struct ComputedAs<bfloat16> : ComputedAs<float> {};
template <class A>
struct ComputedAs<std::complex<A>> : ComputedAs<A> {};
template <class T>
using Computed = typename ComputedAs<T>::Type;

/// Where the operands of some steps start.
template <class A>
struct Segment {
  const A* left;
  const A* right;
};

/// What a sum is added to: nothing, what is there at the end, or what is there from the start, going on with a sum that was cut.
enum class Onto { kNothing, kThere, kOn };

/// out(r, c) = or += the sum over `count` segments and the `depth` steps of each of left(r, step) * right(step, c).
template <class A>
struct TileSum {
  const Segment<A>* segments;
  int64_t count, depth;
  int64_t left_row, left_step;  // strides of the left operand: one of them is 1
  int64_t right_step;           // columns of the right operand lie side by side
  A* out;
  int64_t out_row;
  Onto onto;
};

/// Steps of the right operand that are fetched in advance: its rows may lie far apart, where nothing else would.
inline constexpr int64_t kStepsAhead = 16;

/// `first` is added to where each segment's left operand starts, and the sums go to `out`. kTogether: the rows of the left operand lie side
/// by side (left_row is 1); else its steps do.
template <bool kTogether, int kHeight, int kVectors, class A>
void SumTile(const TileSum<A>& t, int64_t first, A* out) {
  constexpr int kLanes = kLanesOf<A>, kReach = 5, kBases = kTogether ? 1 : (kHeight + kReach - 1) / kReach;
  constexpr int kVectorsALine = kVectorBytes < 64 ? 64 / kVectorBytes : 1;
  typedef A Vector __attribute__((vector_size(kVectorBytes)));
  const int64_t left_row = kTogether ? 1 : t.left_row, left_step = kTogether ? t.left_step : 1, right_step = t.right_step;
  const int64_t ahead = kStepsAhead * right_step;
  Vector sum[kHeight][kVectors] = {};
  if (t.onto == Onto::kOn) {
#pragma GCC unroll 28
    for (int r = 0; r < kHeight; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) __builtin_memcpy(&sum[r][v], out + r * t.out_row + v * kLanes, sizeof(Vector));
    }
  } else {  // the lines are there when the sums are
#pragma GCC unroll 1
    for (int r = 0; r < kHeight; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; v += kVectorsALine) __builtin_prefetch(out + r * t.out_row + v * kLanes, 1);
    }
  }
  for (int64_t s = 0; s < t.count; ++s) {
    const A* right = t.segments[s].right;
    // A base for each five rows: the stride and three times the stride then reach them all.
    const A* base[kBases];
    base[0] = t.segments[s].left + first;
#pragma GCC unroll 8
    for (int i = 1; i < kBases; ++i) {
      base[i] = base[i - 1] + kReach * left_row;
      asm("" : "+r"(base[i]));
    }
    for (int64_t p = 0; p < t.depth; ++p, right += right_step) {
      Vector row[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        __builtin_memcpy(&row[v], right + v * kLanes, sizeof(Vector));
        if (v % kVectorsALine == 0) __builtin_prefetch(right + ahead + v * kLanes);
      }
#pragma GCC unroll 28
      for (int r = 0; r < kHeight; ++r) {
        const A x = kTogether ? base[0][r] : base[r / kReach % kBases][r % kReach * left_row];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sum[r][v] += x * row[v];
      }
#pragma GCC unroll 8
      for (int i = 0; i < kBases; ++i) base[i] += left_step;
    }
  }
#pragma GCC unroll 28
  for (int r = 0; r < kHeight; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      A* to = out + r * t.out_row + v * kLanes;
      if (t.onto == Onto::kThere) {
        Vector before;
        __builtin_memcpy(&before, to, sizeof(Vector));
        sum[r][v] += before;
      }
      __builtin_memcpy(to, &sum[r][v], sizeof(Vector));
    }
  }
}

template <class A>
using SumTileFunction = void (*)(const TileSum<A>&, int64_t first, A* out);

/// Rows of a tile at most.
template <int kVectors>
inline constexpr int kMostRows = kVectors == 1 ? 2 * kRows : kRows;

template <bool kTogether, int kVectors, class A>
inline constexpr auto kSumTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<SumTileFunction<A>, sizeof...(kIndex)>{&SumTile<kTogether, static_cast<int>(kIndex) + 1, kVectors, A>...};
}
(std::make_index_sequence<kMostRows<kVectors>>());

/// Rows [0, rows) in tiles of about the same height.
template <bool kTogether, int kVectors, class A>
void SumRows(const TileSum<A>& t, int64_t rows) {
  const int64_t pieces = (rows + kMostRows<kVectors> - 1) / kMostRows<kVectors>, left_row = kTogether ? 1 : t.left_row;
  for (int64_t i = 0, begin = 0; i < pieces; ++i) {
    const int64_t end = (i + 1) * rows / pieces;
    kSumTiles<kTogether, kVectors, A>[static_cast<size_t>(end - begin - 1)](t, begin * left_row, t.out + begin * t.out_row);
    begin = end;
  }
}

}  // namespace weft::kernels::panels
