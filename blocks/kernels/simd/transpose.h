// Transpositions in registers: as many registers as one has lanes transposed, or the lanes of each summed to a lane of one; and matrices by
// squares of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {
namespace transposes {

/// Of a and b, groups of `kStep` lanes in turn, the `kHigh` ones of each pair of groups.
template <int kStep, bool kHigh, class V, int... kLane>
V InterleaveLanes(V a, V b, std::integer_sequence<int, kLane...>) {
  constexpr int kCount = sizeof...(kLane);
  return __builtin_shufflevector(a, b,
                                 (kLane / kStep % 2 * kCount + kLane / (2 * kStep) * 2 * kStep + kLane % kStep + (kHigh ? kStep : 0))...);
}

template <class A, int kStep, bool kHigh>
Vec<A> Interleave(Vec<A> a, Vec<A> b) {
  return InterleaveLanes<kStep, kHigh>(a, b, std::make_integer_sequence<int, kLanes<A>>());
}

template <bool kUpper, class V, size_t... I>
V InterleaveHalves(V a, V b, std::index_sequence<I...>) {
  constexpr size_t kCount = sizeof...(I), kFirst = kUpper ? kCount / 2 : 0;
  return __builtin_shufflevector(a, b, static_cast<int>(kFirst + I / 2 + I % 2 * kCount)...);
}

// In registers only where it is a part of its callers.
template <class A, int kStep, int kCount>
[[gnu::always_inline]] inline void SumSteps(Vec<A>* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kStep && i < kCount; ++i) {
    const Vec<A> a = rows[i];
    if (i + kStep < kCount) rows[i] = Interleave<A, kStep, false>(a, rows[i + kStep]) + Interleave<A, kStep, true>(a, rows[i + kStep]);
    else rows[i] = a + Interleave<A, kStep, true>(a, a);
  }
  if constexpr (kStep > 1) SumSteps<A, kStep / 2, (kCount < kStep ? kCount : kStep)>(rows);
}

}  // namespace transposes

/// rows[i][j] becomes rows[j][i]: log2(N) rounds of interleaving each row with the one half the square below. (In registers only where it is
/// a part of its callers.)
template <class V, int N>
[[gnu::always_inline]] inline void TransposeVecs(V (&rows)[N]) {
  constexpr auto kAll = std::make_index_sequence<N>{};
  static_assert(sizeof(V) == N * sizeof(rows[0][0]));
#pragma GCC unroll 8
  for (int width = 1; width < N; width *= 2) {
    V next[N];
#pragma GCC unroll 16
    for (int i = 0; i < N / 2; ++i) {
      next[2 * i] = transposes::InterleaveHalves<false>(rows[i], rows[i + N / 2], kAll);
      next[2 * i + 1] = transposes::InterleaveHalves<true>(rows[i], rows[i + N / 2], kAll);
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) rows[i] = next[i];
  }
}

/// A square: lane j of out's rows comes from in's row j, for j < wide; where that is less than all lanes, In and Out are the same.
template <bool kWhole, class In, class Out>
void TransposeSquare(const In* in, int64_t in_step, Out* out, int64_t out_step, int64_t wide) {
  constexpr int kN = kLanes<VecElement<In>>;
  Vec<VecElement<In>> square[kN];
#pragma GCC unroll 16
  for (int k = 0; k < kN; ++k) {
    square[k] = LoadVec(in);
    if (kWhole || k + 1 < wide) in += in_step;  // else the last row again
  }
  TransposeVecs(square);
#pragma GCC unroll 16
  for (int k = 0; k < kN; ++k, out += out_step) {
    if constexpr (kWhole) StoreVec(out, square[k]);
    else StoreSome<Out, Out>(out, square[k], wide);
  }
}

/// out[i * out_step + j] = in[j * in_step + i] for i < rows, j < columns, widened or narrowed on the way: one of the two types is computed in
/// the other.
template <class In, class Out>
void TransposeMatrix(const In* in, int64_t in_step, Out* out, int64_t out_step, int64_t rows, int64_t columns) {
  static_assert(std::is_same_v<VecElement<In>, VecElement<Out>>);
  constexpr int64_t kN = kLanes<VecElement<In>>;
  constexpr bool kPart = std::is_same_v<In, Out>;  // half a square and more pays, too
  if (rows < kN || columns < (kPart ? kN / 2 : kN)) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) out[i * out_step + j] = FromVecElement<Out>(ToVecElement(in[j * in_step + i]));
    }
    return;
  }
  // The last squares overlap those before.
  if constexpr (kPart) {
    if (columns < kN) {
      for (int64_t row = 0; row < rows; row += kN) {
        const int64_t i = std::min(row, rows - kN);
        TransposeSquare<false>(in + i, in_step, out + i * out_step, out_step, columns);
      }
      return;
    }
  }
  for (int64_t column = 0; column < columns; column += kN) {
    const int64_t j = std::min(column, columns - kN);
    for (int64_t row = 0; row < rows; row += kN) {
      const int64_t i = std::min(row, rows - kN);
      TransposeSquare<true>(in + j * in_step + i, in_step, out + i * out_step + j, out_step, kN);
    }
  }
}

/// Lane i of the result is the sum of the lanes of rows[i], for i < kCount; those beyond hold anything. `rows` is used up.
template <class A, int kCount>
[[gnu::always_inline]] inline Vec<A> SumEach(Vec<A>* rows) {
  static_assert(kCount <= kLanes<A>);
  transposes::SumSteps<A, kLanes<A> / 2, kCount>(rows);
  return rows[0];
}

}  // namespace weft::kernels
