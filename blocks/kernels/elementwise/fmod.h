// Remainders of the division of floating-point numbers, by whole vectors; exact, as std::fmod is.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "blocks/kernels/simd/rounding.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

#ifdef __FMA__
inline constexpr bool kFastFmod = true;
#else
inline constexpr bool kFastFmod = false;  // a library call each time
#endif

/// The remainder has the sign of a. A quotient that its type holds to the unit is cut to a whole number, which is right or 1 too large, and the
/// fused product makes the remainder exact; the others go to std::fmod.
template <class T>
void FmodRow(const T* a, const T* b, T* remainder, int n) {
  constexpr T kLimit = T(1) / std::numeric_limits<T>::epsilon(), kInfinity = std::numeric_limits<T>::infinity();
  int slow = !kFastFmod;
  if constexpr (kFastFmod) {
#pragma omp simd reduction(| : slow)
    for (int i = 0; i < n; ++i) {
      const T quotient = a[i] / b[i], r = std::fma(-TruncateOf(quotient), b[i], a[i]), back = r + std::copysign(b[i], a[i]);
      const bool beyond = ((r < 0) & (a[i] > 0)) | ((r > 0) & (a[i] < 0));
      remainder[i] = std::copysign(beyond ? back : r, a[i]);
      slow |= !(std::abs(quotient) < kLimit) | !(std::abs(b[i]) < kInfinity);
    }
  }
  if (!slow) return;
  for (int i = 0; i < n; ++i) remainder[i] = std::fmod(a[i], b[i]);
}

struct TruncatedFmod {
  static constexpr int kCost = 8;
  template <class V>
  static V Of(V a, V b) {
    using T = std::remove_reference_t<decltype(a[0])>;
    constexpr int kCount = sizeof(V) / sizeof(T);
    T as[kCount], bs[kCount], remainders[kCount];
    std::memcpy(as, &a, sizeof a);
    std::memcpy(bs, &b, sizeof b);
    FmodRow(as, bs, remainders, kCount);
    std::memcpy(&a, remainders, sizeof a);
    return a;
  }
};

/// The remainder has the sign of b.
struct FlooredFmod {
  static constexpr int kCost = 8;
  template <class V>
  static V Of(V a, V b) {
    const V remainder = TruncatedFmod::Of(a, b);
    return ((remainder < 0) & (b > 0)) | ((remainder > 0) & (b < 0)) ? remainder + b : remainder;
  }
};

}  // namespace weft::kernels
