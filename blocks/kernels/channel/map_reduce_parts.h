// What maps and reductions by channel (map_reduce.h) are made of: the memory that they go through, and the sums of a channel.
#pragma once

#include <array>
#include <cstring>
#include <type_traits>

#include "blocks/kernels/simd/prefetch.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// bfloat16 widens without moving: LoadTwo gives a register of the elements at even places, and one of those at odd ones.
template <class T>
inline constexpr bool kInterleaved = std::is_same_v<T, bfloat16>;

template <class T>
void LoadTwo(const T* p, Vec<VecElement<T>>& a, Vec<VecElement<T>>& b) {
  if constexpr (kInterleaved<T>) {
    Vec<uint32_t> bits;
    std::memcpy(&bits, p, sizeof bits);
    const Vec<uint32_t> even = bits << 16, odd = bits & 0xffff0000;
    std::memcpy(&a, &even, sizeof a);
    std::memcpy(&b, &odd, sizeof b);
  } else {
    a = LoadVec(p);
    b = LoadVec(p + kLanes<VecElement<T>>);
  }
}

/// The inputs and the output in a function's own variables, which stores of elements cannot change: they stay in registers.
template <class T, int kIn, class Term, bool kWrites>
struct MapReduceMemory {
  using A = VecElement<T>;
  using V = Vec<A>;

  std::array<const T*, kIn> in;
  T* out;
  Term term;

  void Load(int64_t at, std::array<V, kIn>& x) const {
    for (int i = 0; i < kIn; ++i) x[i] = LoadVec(in[i] + at);
  }
  /// Into the second-level cache, wherever that is: what is not there or nobody's is no error.
  void Fetch(int64_t at) const {
    for (int i = 0; i < kIn; ++i) PrefetchAfter<2>(in[i], at * static_cast<int64_t>(sizeof(T)));
  }
  template <bool kStream, class Params, class Sums>
  void Store(int64_t at, const std::array<V, kIn>& x, const Params& p, Sums& sum) const {
    if constexpr (kWrites) StoreVec<kStream>(out + at, term(x, p, sum));
    else term(x, p, sum);
  }
  template <bool kStream = false, class Params, class Sums>
  void Vector(int64_t at, const Params& p, Sums& sum) const {
    std::array<V, kIn> x;
    Load(at, x);
    Store<kStream>(at, x, p, sum);
  }
  /// Two neighbouring registers of which nothing is stored.
  template <class Params, class Sums>
  void SumTwo(int64_t at, const Params& p, Sums& first, Sums& second) const {
    std::array<V, kIn> x, y;
    for (int i = 0; i < kIn; ++i) LoadTwo(in[i] + at, x[i], y[i]);
    term(x, p, first);
    term(y, p, second);
  }
  /// kCount neighbouring registers without sums, all loaded before the first is stored; `params_of(k)` are the parameters of register k.
  template <bool kStream, int kCount, class Sums, class ParamsOf>
  void Map(int64_t at, const ParamsOf& params_of) const {
    constexpr int kN = kLanes<A>;
    std::array<V, kIn> x[kCount];
    std::array<V, kCount> y;
    Sums no_sums;
    for (int k = 0; k < kCount; ++k) Load(at + k * kN, x[k]);
    for (int k = 0; k < kCount; ++k) y[k] = term(x[k], params_of(k), no_sums);
    StoreVecs<kStream>(out + at, y);
  }
  template <class Params, class Sums>
  void Scalar(int64_t at, const Params& p, Sums& sum) const {
    std::array<A, kIn> x;
    for (int i = 0; i < kIn; ++i) x[i] = ToVecElement(in[i][at]);
    if constexpr (kWrites) out[at] = FromVecElement<T>(term(x, p, sum));
    else term(x, p, sum);
  }
};

/// The sums of a channel: `near` those of the last runs, `far` of what went before; of floats in double.
template <class A, int kSums>
struct ChannelAccumulators {
  /// Additions before a sum goes to a total of its own: long chains, and so short registers, lose digits.
  static constexpr int64_t kChain = 32;
  static constexpr bool kInDouble = std::is_same_v<A, float>;
  using V = Vec<A>;
  using R = std::conditional_t<kInDouble, double, A>;

  std::array<V, kSums> near{};
  std::array<Vec<R>, kSums> far{};

  /// Moves the sums of a long run.
  void AddAll(std::array<V, kSums> (&sum)[4]) {
    for (int k = 0; k < 4; ++k) Add(sum[k]);
  }
  void Add(std::array<V, kSums>& sum) {
    for (int s = 0; s < kSums; ++s) {
      if constexpr (kInDouble) {
        typename VecOf<A, kVecBytes / 2>::Type half[2];
        std::memcpy(half, &sum[s], sizeof half);
        far[s] += __builtin_convertvector(half[0], Vec<R>) + __builtin_convertvector(half[1], Vec<R>);
      } else {
        far[s] += sum[s];
      }
      sum[s] = V{};
    }
  }
  /// The sum of all lanes.
  void Fold(int s, A* to) const {
    R total;
    SumLanes<1, R>(far[s], &total);
    *to = static_cast<A>(total);
  }
};

}  // namespace weft::kernels
