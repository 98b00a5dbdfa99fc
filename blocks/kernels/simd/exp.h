// The exponential function and its kin, of whole registers of floats or doubles of any width: e^x = 2^n e^r with |r| up to half of log(2).
#pragma once

#include "blocks/kernels/simd/math_parts.h"

namespace weft::kernels {
namespace parts {

/// x = n log(2) + r; `shifted` is n + kRounder.
template <class V>
struct ExpReduced {
  V shifted, r;
};
template <class V>
[[gnu::always_inline]] inline ExpReduced<V> ReduceExp(V x) {
  constexpr auto& kLog2 = Coefficients<ElementOf<V>>::kLog2;
  constexpr auto kPerLog2 = static_cast<ElementOf<V>>(1.4426950408889634);
  const V shifted = MulAdd(x, kPerLog2, kRounder<V>), n = shifted - kRounder<V>;
  return {shifted, MulAdd(n, V{} - kLog2[1], MulAdd(n, V{} - kLog2[0], x))};
}

/// A quarter of e^x - 1, for x up to where a half of e^x is infinite. Digits of denormals get lost.
template <class V>
[[gnu::always_inline]] inline V QuarterExpm1(V x) {
  using T = ElementOf<V>;
  const ExpReduced<V> reduced = ReduceExp(AtLeast(x, sizeof(T) == 4 ? -18 : -40));  // from there on -1
  const V r = reduced.r, p = MulAdd(r * r, Polynomial(r, Coefficients<T>::kExpm1), r);
  const V quarter = FromBits<V>((Bits(reduced.shifted) << kFractionBits<V>) + Bits(V{} + T(0.25)));  // of 2^n
  return MulAdd(quarter, p, quarter - T(0.25));
}
/// The greatest argument of QuarterExpm1; the half of its exponential is infinite.
template <class T>
inline constexpr T kExpm1Most = sizeof(T) == 4 ? T(89.5) : T(710.6);
/// Numbers whose square is less than half a unit of their last place, and zeros: many a function is the number itself there.
template <class V>
[[gnu::always_inline]] inline auto IsSmall(V a) {
  return Abs(a) < (sizeof(ElementOf<V>) == 4 ? ElementOf<V>(0x1p-26) : ElementOf<V>(0x1p-56));
}

/// The exponential of that is infinite.
template <class T>
inline constexpr T kExpMost = sizeof(T) == 4 ? T(90) : T(711);

}  // namespace parts

struct Exp {
  template <class V>
  [[gnu::always_inline]] static V Of(V a) { return OfAtMost(parts::AtMost(a, parts::kExpMost<parts::ElementOf<V>>)); }
  /// Of a + low: a at most kExpMost, low a few units of its last place.
  template <class V>
  [[gnu::always_inline]] static V OfAtMost(V a, V low = -V{}) {
    using T = parts::ElementOf<V>;
    const auto reduced = parts::ReduceExp(parts::AtLeast(a, sizeof(T) == 4 ? T(-105) : T(-746)));  // exp of that is 0
    const V r = reduced.r + low, shifted = reduced.shifted;
    const V one = V{} + 1, y = parts::MulAdd(parts::MulAdd(parts::Polynomial(r, Coefficients<T>::kExp), r, one), r, one);
    return parts::Scale(y, shifted);
  }
  static auto One(const auto& a) { return std::exp(a); }
};

/// e^x - 1.
struct Expm1 {
  template <class V>
  static V Of(V a) {
    const V y = parts::QuarterExpm1(parts::AtMost(a, parts::kExpm1Most<parts::ElementOf<V>>)) * 4;
    return parts::IsSmall(a) ? a : y;
  }
  static auto One(const auto& a) { return std::expm1(a); }
};

/// 1 / (1 + e^-x).
struct Sigmoid {
  template <class V>
  [[gnu::always_inline]] static V Of(V a) {
    const V small = Exp::OfAtMost(parts::NegativeAbs(a)), sum = 1 + small;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<V, Vec<float>>) {
      // The processor's estimate, which one step of Newton's makes right, is quicker than its division.
      V inverse = _mm512_maskz_rcp14_ps(0xFFFF, sum);
      inverse = parts::Abs(parts::MulLess(inverse, parts::MulLess(sum, inverse, V{} + 1), inverse));
      return a < 0 ? small * inverse : inverse;
    }
#endif
    return (a < 0 ? small : V{} + 1) / sum;
  }
  template <class T>
  static T One(const T& a) { return T(1) / (T(1) + std::exp(-a)); }
};

struct Sinh {
  template <class V>
  static V Of(V a) {
    const V quarter = parts::QuarterExpm1(parts::AtMost(parts::Abs(a), parts::kExpm1Most<parts::ElementOf<V>>));
    const V y = (quarter + quarter / (4 * quarter + 1)) * 2;
    return parts::IsSmall(a) ? a : parts::TurnSign(y, a);
  }
  static auto One(const auto& a) { return std::sinh(a); }
};

struct Cosh {
  template <class V>
  static V Of(V a) {
    using T = parts::ElementOf<V>;
    const V half = parts::QuarterExpm1(parts::AtMost(parts::Abs(a), parts::kExpm1Most<T>)) * 2 + T(0.5);
    return half + T(0.25) / half;
  }
  static auto One(const auto& a) { return std::cosh(a); }
};

}  // namespace weft::kernels
