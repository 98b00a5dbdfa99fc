// What the functions of whole registers are made of: bits of numbers, polynomials, powers of 2, products to twice the digits. V is a
// register of floats or doubles of any width.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "blocks/kernels/simd/coefficients.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

using Doubles = Vec<double>;
using Floats = Vec<float>;

namespace parts {

template <class V>
using ElementOf = std::remove_cvref_t<decltype(std::declval<V>()[0])>;
/// A register of V's lanes as unsigned or signed integers.
template <class V>
using BitsOf = typename VecOf<std::conditional_t<sizeof(ElementOf<V>) == 4, uint32_t, uint64_t>, sizeof(V)>::Type;

template <class V>
inline constexpr int kFractionBits = std::numeric_limits<ElementOf<V>>::digits - 1;
/// What is added to a number, far smaller, becomes a whole one, which the lowest bits then tell as an integer.
template <class V>
inline constexpr ElementOf<V> kRounder = ElementOf<V>(3) / std::numeric_limits<ElementOf<V>>::epsilon() / 2;
template <class V>
inline constexpr ElementOf<V> kInfinity = std::numeric_limits<ElementOf<V>>::infinity();
template <class V>
inline constexpr ElementOf<V> kNan = std::numeric_limits<ElementOf<V>>::quiet_NaN();

template <class V>
[[gnu::always_inline]] inline V SignBit() { return -V{}; }
template <class V>
[[gnu::always_inline]] inline BitsOf<V> Bits(V a) { return std::bit_cast<BitsOf<V>>(a); }
template <class V>
[[gnu::always_inline]] inline V FromBits(BitsOf<V> a) { return std::bit_cast<V>(a); }
template <class V>
[[gnu::always_inline]] inline V Abs(V a) { return FromBits<V>(Bits(a) & ~Bits(SignBit<V>())); }
template <class V>
[[gnu::always_inline]] inline V NegativeAbs(V a) { return FromBits<V>(Bits(a) | Bits(SignBit<V>())); }
/// The sign of `a` is turned where `sign` is negative.
template <class V>
[[gnu::always_inline]] inline V TurnSign(V a, V sign) {
  return FromBits<V>(Bits(a) ^ (Bits(sign) & Bits(SignBit<V>())));
}
#if defined(__x86_64__)
/// What the compiler does not make of plain vectors: Least and Most give b where one is NaN, as a < b ? a : b does.
template <class T, int kBytes>
struct Instructions;
#if defined(__FMA__)
#define WEFT_FUSED(prefix, suffix, ...)                                                             \
  static V Fused(V a, V b, V c) { return prefix##_fmadd_##suffix(__VA_ARGS__ a, b, c); }            \
  static V FusedLess(V a, V b, V c) { return prefix##_fmsub_##suffix(__VA_ARGS__ a, b, c); }
#else
#define WEFT_FUSED(prefix, suffix, ...)
#endif
// (g++ 12 warns of its own functions of 64 bytes that take no mask.)
#define WEFT_INSTRUCTIONS(T, bytes, prefix, suffix, ...)                         \
  template <>                                                                    \
  struct Instructions<T, bytes> {                                                \
    using V = VecOf<T, bytes>::Type;                                             \
    static V Least(V a, V b) { return prefix##_min_##suffix(__VA_ARGS__ a, b); } \
    static V Most(V a, V b) { return prefix##_max_##suffix(__VA_ARGS__ a, b); }  \
    static V SquareRoot(V a) { return prefix##_sqrt_##suffix(__VA_ARGS__ a); }   \
    WEFT_FUSED(prefix, suffix, __VA_ARGS__)                                      \
  }
WEFT_INSTRUCTIONS(float, 16, _mm, ps);
WEFT_INSTRUCTIONS(double, 16, _mm, pd);
#if defined(__AVX__)
WEFT_INSTRUCTIONS(float, 32, _mm256, ps);
WEFT_INSTRUCTIONS(double, 32, _mm256, pd);
#endif
#if defined(__AVX512F__)
WEFT_INSTRUCTIONS(float, 64, _mm512_maskz, ps, 0xFFFF, );
WEFT_INSTRUCTIONS(double, 64, _mm512_maskz, pd, 0xFF, );
#endif
#undef WEFT_INSTRUCTIONS
#undef WEFT_FUSED
#else
template <class T, int kBytes>
struct Instructions {
  using V = typename VecOf<T, kBytes>::Type;
  static V Least(V a, V b) { return a < b ? a : b; }
  static V Most(V a, V b) { return a > b ? a : b; }
  static V SquareRoot(V a) {
    for (int i = 0; i < static_cast<int>(kBytes / sizeof(T)); ++i) a[i] = std::sqrt(a[i]);
    return a;
  }
  static V FusedLess(V a, V b, V c) {
    for (int i = 0; i < static_cast<int>(kBytes / sizeof(T)); ++i) c[i] = std::fma(a[i], b[i], -c[i]);
    return c;
  }
};
#endif
template <class V>
using InstructionsOf = Instructions<ElementOf<V>, sizeof(V)>;

/// a b + c, fused wherever the processor can: were that left to the compiler, it would be so in one place and not in another.
template <class V>
[[gnu::always_inline]] inline V MulAdd(V a, V b, V c) {
#if defined(__FMA__)
  return InstructionsOf<V>::Fused(a, b, c);
#else
  return a * b + c;
#endif
}
template <class V>
[[gnu::always_inline]] inline V MulAdd(V a, ElementOf<V> b, ElementOf<V> c) { return MulAdd(a, V{} + b, V{} + c); }
/// a b - c, fused likewise. NaN keeps its sign, which in c + -a b is the compiler's choice.
template <class V>
[[gnu::always_inline]] inline V MulLess(V a, V b, V c) {
#if defined(__FMA__)
  return InstructionsOf<V>::FusedLess(a, b, c);
#else
  return a * b - c;
#endif
}

/// NaN stays.
template <class V>
[[gnu::always_inline]] inline V AtMost(V a, ElementOf<V> most) { return InstructionsOf<V>::Least(V{} + most, a); }
template <class V>
[[gnu::always_inline]] inline V AtLeast(V a, ElementOf<V> least) { return InstructionsOf<V>::Most(V{} + least, a); }

template <size_t kFirst, size_t kStep, class V, size_t kCount, size_t... kIndex>
[[gnu::always_inline]] inline V Horner(V x, const ElementOf<V> (&factors)[kCount], std::index_sequence<kIndex...>) {
  constexpr size_t kLast = kFirst + sizeof...(kIndex) * kStep;
  V y = V{} + factors[kLast];
  ((y = MulAdd(y, x, V{} + factors[kLast - (kIndex + 1) * kStep])), ...);
  return y;
}
/// factors[0] + factors[1] x + ...; long ones in two halves, which a processor computes at the same time.
template <class V, size_t kCount>
[[gnu::always_inline]] inline V Polynomial(V x, const ElementOf<V> (&factors)[kCount]) {
  if constexpr (kCount <= 8) {
    return Horner<0, 1>(x, factors, std::make_index_sequence<kCount - 1>{});
  } else {
    const V square = x * x;
    return MulAdd(Horner<1, 2>(square, factors, std::make_index_sequence<kCount / 2 - 1>{}), x,
                  Horner<0, 2>(square, factors, std::make_index_sequence<(kCount - 1) / 2>{}));
  }
}

/// 2^n for `shifted` = n + kRounder, |n| within the exponents of normal numbers.
template <class V>
[[gnu::always_inline]] inline V PowerOfTwo(BitsOf<V> shifted) {
  return FromBits<V>((shifted << kFractionBits<V>) + Bits(V{} + 1));
}

/// y 2^n for `shifted` = n + kRounder and y near 1, rounded once; 0 or infinite where that is out of range.
template <class V>
[[gnu::always_inline]] inline V Scale(V y, V shifted) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && std::is_same_v<ElementOf<V>, float>) return _mm512_maskz_scalef_ps(0xFFFF, y, shifted - kRounder<V>);
  if constexpr (sizeof(V) == 64 && std::is_same_v<ElementOf<V>, double>) return _mm512_maskz_scalef_pd(0xFF, y, shifted - kRounder<V>);
#endif
  const BitsOf<V> bits = Bits(shifted), half = bits >> 1;
  return FromBits<V>(Bits(y) + (half << kFractionBits<V>)) * PowerOfTwo<V>(bits - half);
}

/// What `product`, a b rounded, lacks.
template <class V>
[[gnu::always_inline]] inline V ProductRest(V a, V b, V product) {
#if defined(__FMA__) || defined(__aarch64__)
  return InstructionsOf<V>::FusedLess(a, b, product);
#else
  // Halves of the digits, whose products are exact.
  const auto upper = [](V v) {
    constexpr int kLow = (kFractionBits<V> + 2) / 2;
    return FromBits<V>(Bits(v) >> kLow << kLow);
  };
  const V ah = upper(a), al = a - ah, bh = upper(b), bl = b - bh;
  return ((ah * bh - product) + ah * bl + al * bh) + al * bl;
#endif
}

/// Whether a lane of `mask`, the result of a comparison, is set.
template <class M>
[[gnu::always_inline]] inline bool AnyLane(M mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(M) == 64) return _mm512_test_epi32_mask(std::bit_cast<__m512i>(mask), std::bit_cast<__m512i>(mask)) != 0;
#endif
#if defined(__AVX__)
  if constexpr (sizeof(M) == 32) return !_mm256_testz_si256(std::bit_cast<__m256i>(mask), std::bit_cast<__m256i>(mask));
#endif
  uint64_t words[sizeof(M) / 8];
  std::memcpy(words, &mask, sizeof mask);
  return std::any_of(words, words + sizeof(M) / 8, [](uint64_t word) { return word != 0; });
}

}  // namespace parts

/// By the processor's own instruction, which std::sqrt in a loop does not become (it reports errors).
struct Sqrt {
  template <class V>
  static V Of(V a) { return parts::InstructionsOf<V>::SquareRoot(a); }
  static auto One(const auto& a) { return std::sqrt(a); }
};

/// values[i] = 1 / sqrt(values[i]), rounded as that. (Eigen's square root of whole registers is an approximation, and NaN for infinity.)
template <ChainElement A>
void ReciprocalRoots(A* values, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes<A> <= count; i += kLanes<A>) StoreVec(values + i, A(1) / Sqrt::Of(LoadVec(values + i)));
  for (; i < count; ++i) values[i] = A(1) / std::sqrt(values[i]);
}

}  // namespace weft::kernels
