// Transpositions in registers: as many registers as one has lanes transposed, or the lanes of each summed to a lane of one.
#pragma once

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

// In registers only where they are parts of their callers.
template <class A, int kStep>
[[gnu::always_inline]] inline void TransposeSteps(Vec<A>* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes<A>; ++i) {
    if (i / kStep % 2 != 0) continue;
    const Vec<A> a = rows[i], b = rows[i + kStep];
    rows[i] = Interleave<A, kStep, false>(a, b);
    rows[i + kStep] = Interleave<A, kStep, true>(a, b);
  }
  if constexpr (kStep > 1) TransposeSteps<A, kStep / 2>(rows);
}

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

/// rows[i][j] becomes rows[j][i].
template <class A>
[[gnu::always_inline]] inline void TransposeVecs(Vec<A>* rows) {
  transposes::TransposeSteps<A, kLanes<A> / 2>(rows);
}

/// Lane i of the result is the sum of the lanes of rows[i], for i < kCount; those beyond hold anything. `rows` is used up.
template <class A, int kCount>
[[gnu::always_inline]] inline Vec<A> SumEach(Vec<A>* rows) {
  static_assert(kCount <= kLanes<A>);
  transposes::SumSteps<A, kLanes<A> / 2, kCount>(rows);
  return rows[0];
}

}  // namespace weft::kernels
