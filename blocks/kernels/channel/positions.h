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
template <int kPair, class P>
void BroadcastParameter(const P* from, int64_t channels, int64_t inner, P* to) {
  using A = VecElement<P>;
  constexpr int kN = kLanes<A>;
  for (int64_t c = 0; c < channels; ++c, to += inner) {
    if (kPair > 1 || inner < kN) {
      for (int64_t i = 0; i < inner; ++i) to[i] = from[c * kPair + i % kPair];
      continue;
    }
    const Vec<A> all = Broadcast<A>(ToVecElement(from[c]));
    for (int64_t i = 0; i + kN <= inner; i += kN) StoreVec(to + i, all);
    StoreVec(to + inner - kN, all);
  }
}

/// The sum of a plane's registers. The odd ones at its end are taken by a register that overlaps the one before; `odd` is not 0 where they
/// are. kRegisters: how many are whole, 0 for any number.
template <int kRegisters, class A>
inline Vec<A> SumPlane(const A* plane, int64_t inner, Vec<A> odd) {
  constexpr int kN = kLanes<A>;
  const Vec<A> none{};
  Vec<A> sum = odd != none ? LoadVec(plane + inner - kN) : none;
  const int64_t whole = kRegisters > 0 ? kRegisters : inner / kN;
  for (int64_t i = 0; i < whole; ++i) sum += LoadVec(plane + i * kN);
  return sum;
}

template <int kRegisters, int kPair, class A>
void FoldPlanes(const A* from, int64_t channels, int64_t inner, A* to) {
  constexpr int kN = kLanes<A>;
  const Vec<A> odd = BlendLanes<A>(Vec<A>{}, Broadcast<A>(1), kN - static_cast<int>(inner % kN));
  if constexpr (kPair == 1 && kN <= 16) {
    for (; channels >= kN; channels -= kN, from += kN * inner, to += kN) {
      Vec<A> sums[kN];
#pragma GCC unroll 16
      for (int c = 0; c < kN; ++c) sums[c] = SumPlane<kRegisters>(from + c * inner, inner, odd);
      StoreVec(to, SumEach<A, kN>(sums));
    }
  }
  for (; channels > 0; --channels, from += inner, to += kPair) SumLanes<kPair, A>(SumPlane<kRegisters>(from, inner, odd), to);
}

/// to[c]: the sum of a channel's `inner` positions.
template <int kPair, class A>
void FoldPositions(const A* from, int64_t channels, int64_t inner, A* to) {
  if (inner == 1) {
    std::copy_n(from, channels, to);
    return;
  }
  switch (inner / kLanes<A>) {
    case 0: break;
    case 1: return FoldPlanes<1, kPair>(from, channels, inner, to);
    case 2: return FoldPlanes<2, kPair>(from, channels, inner, to);
    case 3: return FoldPlanes<3, kPair>(from, channels, inner, to);
    default: return FoldPlanes<0, kPair>(from, channels, inner, to);
  }
  for (int64_t c = 0; c < channels; ++c, from += inner, to += kPair) {
    std::array<A, kPair> sum{};
    for (int64_t i = 0; i < inner; ++i) sum[i % kPair] += from[i];
    std::copy_n(sum.data(), kPair, to);
  }
}

}  // namespace weft::kernels
