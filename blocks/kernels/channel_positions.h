// Parameters of channels written out for neighbouring positions of planes, and sums of positions joined to those of channels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "blocks/kernels/lanes.h"
#include "blocks/kernels/register_square.h"

namespace weft::kernels {

/// The lanes of a before `end`, then those of b.
template <class A>
inline Lanes<A> JoinLanes(Lanes<A> a, Lanes<A> b, int end) {
  static constexpr auto kIota = [] {
    std::array<A, kLanes<A>> iota{};
    for (int i = 0; i < kLanes<A>; ++i) iota[i] = static_cast<A>(i);
    return iota;
  }();
  return LoadLanes(kIota.data()) < Broadcast<A>(static_cast<A>(end)) ? a : b;
}

/// A channel's parameter for each of its positions. Planes of a register and more are filled by registers, of which the last overlaps.
template <int kPair, class P>
void SpreadParameter(const P* from, int64_t channels, int64_t inner, P* to) {
  using A = LaneElement<P>;
  constexpr int kN = kLanes<A>;
  for (int64_t c = 0; c < channels; ++c, to += inner) {
    if (kPair > 1 || inner < kN) {
      for (int64_t i = 0; i < inner; ++i) to[i] = from[c * kPair + i % kPair];
      continue;
    }
    const Lanes<A> all = Broadcast<A>(ToLaneElement(from[c]));
    for (int64_t i = 0; i + kN <= inner; i += kN) StoreLanes(to + i, all);
    StoreLanes(to + inner - kN, all);
  }
}

/// to[c]: the sum of a channel's `inner` positions.
template <int kPair, class A>
void FoldPositions(const A* from, int64_t channels, int64_t inner, A* to) {
  using V = Lanes<A>;
  constexpr int kN = kLanes<A>;
  if (inner == 1) {
    std::copy_n(from, channels, to);
    return;
  }
  if (inner < kN) {
    for (int64_t c = 0; c < channels; ++c, from += inner, to += kPair) {
      std::array<A, kPair> sum{};
      for (int64_t i = 0; i < inner; ++i) sum[i % kPair] += from[i];
      std::copy_n(sum.data(), kPair, to);
    }
    return;
  }
  // The odd ones at the end of a plane are taken by a register that overlaps the one before.
  const int odd = static_cast<int>(inner % kN);
  const V none{}, odd_lanes = JoinLanes<A>(none, Broadcast<A>(1), kN - odd);
  const auto join = [=](const A* plane) {
    V sum = odd_lanes != none ? LoadLanes(plane + inner - kN) : none;
    for (int64_t i = 0; i + kN <= inner; i += kN) sum += LoadLanes(plane + i);
    return sum;
  };
  if constexpr (kPair == 1 && kN <= 16) {
    for (; channels >= kN; channels -= kN, from += kN * inner, to += kN) {
      V joined[kN];
      for (int c = 0; c < kN; ++c) joined[c] = join(from + c * inner);
      StoreLanes(to, SumOfEach<A, kN>(joined));
    }
  }
  for (; channels > 0; --channels, from += inner, to += kPair) FoldLanes<kPair, A>(join(from), to);
}

}  // namespace weft::kernels
