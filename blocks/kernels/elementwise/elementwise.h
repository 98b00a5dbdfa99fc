// One result for each element. An operation is a struct with `T operator()(T) const`; one that has, besides, a static `V Of(V)` is
// computed by whole registers where the elements are float or double. Half and bfloat16 go through float. The result of an element does
// not depend on its position or on the number of elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/simd/widen.h"
#include "weft/base/float16.h"

namespace weft::kernels {

/// Elements that are converted to float and back at a time; small enough for the nearest cache.
inline constexpr int64_t kFloatBlock = 512;

/// Maps n elements; `to` may be `from` where the element sizes agree.
using MapFunction = void (*)(const void* from, void* to, int64_t n);

/// Fewer elements than a register has lanes.
template <class Op, class T>
void MapSomeVec(const T* from, T* to, int64_t n) {
  const size_t bytes = static_cast<size_t>(n) * sizeof(T);
  Vec<T> v = Opaque(Broadcast(from[0]));  // lanes without an element repeat one that is there
  if (n > 1) std::memcpy(&v, from, bytes);
  v = Opaque(Op::Of(v));
  if (n > 1) std::memcpy(to, &v, bytes);
  else to[0] = v[0];
}

/// Every element goes through a register: with kStream past the cache, so that memory and cores work at once (`to` is not `from` then).
template <class Op, bool kStream = false, class T>
void MapVecs(const T* from, T* to, int64_t n) {
  constexpr int kSide = 4, kLane = kLanes<T>;
  int64_t i = 0;
  if constexpr (kStream) {
    i = std::min(n, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % 64 / sizeof(T)));
    if (i > 0) MapVecs<Op>(from, to, i);
  }
  for (; i + kSide * kLane <= n; i += kSide * kLane) {
    for (int k = 0; k < kSide; ++k) StoreVec<kStream>(to + i + k * kLane, Op::Of(LoadVec(from + i + k * kLane)));
  }
  for (; i + kLane <= n; i += kLane) StoreVec(to + i, Op::Of(LoadVec(from + i)));
  if (i < n) MapSomeVec<Op>(from + i, to + i, n - i);
  if constexpr (kStream) StreamFence();
}

template <class Op, class T, class R>
void MapElements(const T* from, R* to, int64_t n) {
  if constexpr (MapsVec<Op, T> && std::is_same_v<R, T>) {
    MapVecs<Op>(from, to, n);
  } else if constexpr (ShortFloat<T>) {
    float block[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      const int64_t length = std::min(kFloatBlock, n - i);
      Widen(from + i, block, length);
      if constexpr (std::is_same_v<R, T>) {
        MapElements<Op, float, float>(block, block, length);
        Narrow(block, to + i, length);
      } else {
        MapElements<Op, float, R>(block, to + i, length);
      }
    }
  } else if constexpr (Real<T> || std::is_same_v<T, bool>) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = Op{}(from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = Op{}(from[i]);
  }
}

/// Complex numbers by the formula, as vectorised code computes it: without the repairs for infinities that the language asks for.
template <class T>
inline T Multiplied(const T& a, const T& b) {
  if constexpr (Complex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return WrapMultiply(a, b);
  }
}

/// Complex numbers by the formula where nothing overflows or vanishes on the way, else as the language has it. Integers towards zero, the
/// lowest by -1 giving itself; up to 32 bits through floats that are wide enough to be exact, which vectorises. `b` is no integer 0.
template <class T>
inline T Quotient(const T& a, const T& b) {
  if constexpr (Complex<T>) {
    const double c = b.real(), d = b.imag(), norm = c * c + d * d;
    if (norm > 1e-280 && norm < 1e280) {
      using Part = typename T::value_type;
      const double re = (a.real() * c + a.imag() * d) / norm, im = (a.imag() * c - a.real() * d) / norm;
      if (std::isfinite(re) && std::isfinite(im)) return T(static_cast<Part>(re), static_cast<Part>(im));
    }
    return a / b;
  } else if constexpr (Integer<T>) {
    constexpr bool kSigned = std::is_signed_v<T>;
    const bool negates = kSigned && b == static_cast<T>(-1);
    const T divisor = negates ? T{1} : b;
    T quotient;
    if constexpr (sizeof(T) <= 2) quotient = static_cast<T>(static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(divisor)));
    else if constexpr (sizeof(T) == 4) quotient = static_cast<T>(static_cast<double>(a) / static_cast<double>(divisor));
    else quotient = a / divisor;
    return negates ? WrapSubtract(T{0}, quotient) : quotient;
  } else {
    return a / b;
  }
}

}  // namespace weft::kernels
