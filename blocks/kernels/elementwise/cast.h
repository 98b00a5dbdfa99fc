// Between element types. What C++ leaves undefined is settled as x86 does it: a float that does not fit an integer, NaN included, gives the
// lowest int32 or int64; smaller integers take the low bits of that int32, uint32 those of the int64; uint64 takes the bits of an int64
// for negative numbers and 2^63 for what does not fit.
#pragma once

#include <bit>
#include <complex>

#include "blocks/kernels/elementwise/elementwise.h"

namespace weft::kernels {

template <class D, class F>
inline D FloatToInteger(F v) {
  if constexpr (std::is_same_v<D, int32_t> || std::is_same_v<D, int64_t>) {
    constexpr F kLimit = static_cast<F>(std::is_same_v<D, int32_t> ? 0x1p31 : 0x1p63);
    // In double -2147483648.5 is still cut to the lowest int32.
    const bool low = std::is_same_v<F, double> && std::is_same_v<D, int32_t> ? v > -kLimit - 1 : v >= -kLimit;
    const bool fits = low && v < kLimit;
    const D cut = static_cast<D>(fits ? v : F(0));
    return fits ? cut : std::numeric_limits<D>::min();
  } else if constexpr (std::is_same_v<D, uint64_t>) {
    const bool upper = v >= F(0x1p63) && v < F(0x1p64);
    const int64_t cut = FloatToInteger<int64_t>(upper ? v - F(0x1p63) : v);
    return static_cast<uint64_t>(cut) + (upper ? uint64_t{1} << 63 : 0);
  } else if constexpr (std::is_same_v<D, uint32_t>) {
    return static_cast<uint32_t>(FloatToInteger<int64_t>(v));
  } else {
    return static_cast<D>(FloatToInteger<int32_t>(v));
  }
}

/// S and D are neither half nor bfloat16.
template <class D, class S>
inline D CastOne(S v) {
  if constexpr (Complex<S> && Complex<D>) {
    using Part = typename D::value_type;
    return D(static_cast<Part>(v.real()), static_cast<Part>(v.imag()));
  } else if constexpr (Complex<S>) {
    return CastOne<D>(v.real());
  } else if constexpr (Complex<D>) {
    return D(CastOne<typename D::value_type>(v), 0);
  } else if constexpr (std::is_same_v<D, bool>) {
    return v != S(0);
  } else if constexpr (Float<S> && Integer<D>) {
    return FloatToInteger<D>(v);
  } else {
    return static_cast<D>(v);
  }
}

template <class S, class D>
void CastElements(const S* from, D* to, int64_t n) {
  if constexpr (std::is_same_v<S, D>) {
    if (from != to) std::copy_n(from, n, to);
  } else if constexpr (ShortFloat<S> && std::is_same_v<D, bool>) {  // by its bits: a subnormal bfloat16 is true, though floats flush it
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = (std::bit_cast<uint16_t>(from[i]) & 0x7fff) != 0;
  } else if constexpr (ShortFloat<S> || ShortFloat<D>) {
    float block[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      const int64_t length = std::min(kFloatBlock, n - i);
      if constexpr (ShortFloat<S>) Widen(from + i, block, length);
      else CastElements<S, float>(from + i, block, length);
      if constexpr (ShortFloat<D>) Narrow(block, to + i, length);
      else CastElements<float, D>(block, to + i, length);
    }
  } else if constexpr (Complex<S> || Complex<D>) {
    for (int64_t i = 0; i < n; ++i) to[i] = CastOne<D>(from[i]);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = CastOne<D>(from[i]);
  }
}

/// Clears the bits of a float that the narrower type does not keep, so that the cast cuts where it would round.
template <class S, class Bits, int kDropped>
inline S DropBits(S v) {
  return __builtin_bit_cast(S, static_cast<Bits>(__builtin_bit_cast(Bits, v) & ~((Bits{1} << kDropped) - 1)));
}

/// A cast that cuts, for the pairs of types that have one.
template <class S, class D>
inline constexpr int kDroppedBits = 0;
template <>
inline constexpr int kDroppedBits<float, half> = 13;
template <>
inline constexpr int kDroppedBits<double, half> = 42;
template <>
inline constexpr int kDroppedBits<float, bfloat16> = 16;
template <>
inline constexpr int kDroppedBits<double, float> = 29;
template <>
inline constexpr int kDroppedBits<complex128, complex64> = 29;
template <>
inline constexpr int kDroppedBits<complex64, half> = 13;
template <>
inline constexpr int kDroppedBits<complex128, half> = 42;
template <>
inline constexpr int kDroppedBits<complex128, float> = 29;

template <class S, class D>
void TruncateElements(const S* from, D* to, int64_t n) {
  constexpr int kDropped = kDroppedBits<S, D>;
  if constexpr (Complex<S> && Complex<D>) {
    TruncateElements(reinterpret_cast<const double*>(from), reinterpret_cast<float*>(to), 2 * n);
  } else {
    using F = decltype(std::real(S()));
    F block[kFloatBlock];
    using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      const int64_t length = std::min(kFloatBlock, n - i);
      for (int64_t j = 0; j < length; ++j) block[j] = DropBits<F, Bits, kDropped>(std::real(from[i + j]));
      CastElements(block, to + i, length);
    }
  }
}

}  // namespace weft::kernels
