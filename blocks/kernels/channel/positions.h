// Parameters of channels written out for neighbouring positions of planes, and sums of positions joined to those of channels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "blocks/kernels/simd/transpose.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// The lanes of a before `end`, then those of b.
template <class A>
inline Vec<A> BlendLanes(Vec<A> a, Vec<A> b, int end) {
  static constexpr auto kIota = [] {
    std::array<A, kLanes<A>> iota{};
    for (int i = 0; i < kLanes<A>; ++i) iota[i] = static_cast<A>(i);
    return iota;
  }();
  return LoadVec(kIota.data()) < Broadcast<A>(static_cast<A>(end)) ? a : b;
}

/// A channel's parameter for each of its positions. Planes of a register and more are filled by registers, of which the last overlaps.
template <class P>
void BroadcastParameter(const P* from, int64_t channels, int64_t inner, P* to) {
  using A = VecElement<P>;
  constexpr int kN = kLanes<A>;
  for (int64_t c = 0; c < channels; ++c, to += inner) {
    if (inner < kN) {
      std::fill_n(to, inner, from[c]);
      continue;
    }
    const Vec<A> all = Broadcast<A>(ToVecElement(from[c]));
    for (int64_t i = 0; i + kN <= inner; i += kN) StoreVec(to + i, all);
    StoreVec(to + inner - kN, all);
  }
}

/// The sum of a plane's registers; the odd lanes (`odd` is then not 0) by a register that overlaps the one before.
template <class A>
inline Vec<A> SumPlane(const A* plane, int64_t inner, Vec<A> odd) {
  constexpr int kN = kLanes<A>;
  const Vec<A> none{};
  Vec<A> sum = odd != none ? LoadVec(plane + inner - kN) : none;
  for (int64_t i = 0; i < inner / kN; ++i) sum += LoadVec(plane + i * kN);
  return sum;
}

template <class A>
void FoldPlanes(const A* from, int64_t channels, int64_t inner, A* to) {
  constexpr int kN = kLanes<A>;
  const Vec<A> odd = BlendLanes<A>(Vec<A>{}, Broadcast<A>(1), kN - static_cast<int>(inner % kN));
  if constexpr (kN <= 16) {
    for (; channels >= kN; channels -= kN, from += kN * inner, to += kN) {
      Vec<A> sums[kN];
#pragma GCC unroll 16
      for (int c = 0; c < kN; ++c) sums[c] = SumPlane(from + c * inner, inner, odd);
      StoreVec(to, SumEach<A, kN>(sums));
    }
  }
  for (; channels > 0; --channels, from += inner, ++to) SumLanes<1, A>(SumPlane(from, inner, odd), to);
}

/// to[c]: the sum of a channel's `inner` positions.
template <class A>
void FoldPositions(const A* from, int64_t channels, int64_t inner, A* to) {
  if (inner == 1) {
    std::copy_n(from, channels, to);
    return;
  }
  if (inner >= kLanes<A>) return FoldPlanes(from, channels, inner, to);
  for (int64_t c = 0; c < channels; ++c, from += inner) {
    A sum{};
    for (int64_t i = 0; i < inner; ++i) sum += from[i];
    to[c] = sum;
  }
}

}  // namespace weft::kernels
