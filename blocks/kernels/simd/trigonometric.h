// Sine, cosine and tangent of whole registers of floats or doubles of any width: x = n pi/2 + r with |r| up to pi/4.
#pragma once

#include "blocks/kernels/simd/math_parts.h"

namespace weft::kernels {
namespace parts {

/// n's lowest bits tell the quadrant.
template <class V>
struct Quadrant {
  BitsOf<V> n;
  V sine, cosine;  // of r
};
/// Up to here the products with the parts of pi/2 are exact.
template <class T>
inline constexpr T kMostQuadrants = sizeof(T) == 4 ? T(0x1p11 * 1.57) : T(0x1p20 * 1.57);

/// Of |x| up to kMostQuadrants.
template <class V>
[[gnu::always_inline]] inline Quadrant<V> ReduceQuadrant(V x) {
  using T = ElementOf<V>;
  using Of = Coefficients<T>;
  constexpr auto kPerHalfPi = static_cast<T>(0.63661977236758134);
  const V shifted = MulAdd(x, kPerHalfPi, kRounder<V>), n = shifted - kRounder<V>;
  V r = x;
  for (const T part : Of::kHalfPi) r = MulAdd(n, V{} - part, r);
  const V z = r * r, sine = MulAdd(r * z, Polynomial(z, Of::kSin), r);
  return {Bits(shifted), sine, MulAdd(z * z, Polynomial(z, Of::kCos), MulAdd(z, T(-0.5), T(1)))};
}

/// function(x), by lanes where |x| is so great that ReduceQuadrant cannot take it.
template <class F, class V>
[[gnu::always_inline]] inline V ByQuadrant(V x) {
  using T = ElementOf<V>;
  const V y = F::OfQuadrant(ReduceQuadrant(x));
  const auto great = Abs(x) > kMostQuadrants<T>;
  if (!AnyLane(great)) [[likely]] return y;
  V exact = y;
  for (size_t i = 0; i < sizeof(V) / sizeof(T); ++i) {
    if (great[i]) exact[i] = F::One(T(x[i]));
  }
  return exact;
}

/// The lanes of `a` where the lowest bit of n is set, else those of `b`.
template <class V>
[[gnu::always_inline]] inline V OfOddQuadrant(BitsOf<V> n, V a, V b) {
  return (n << (8 * sizeof(ElementOf<V>) - 1)) != 0 ? a : b;
}

}  // namespace parts

struct Sin {
  template <class V>
  static V Of(V a) { return parts::TurnSign(parts::ByQuadrant<Sin>(parts::Abs(a)), a); }
  template <class V>
  [[gnu::always_inline]] static V OfQuadrant(const parts::Quadrant<V>& at) {
    return parts::TurnSign(parts::OfOddQuadrant(at.n, at.cosine, at.sine),
                           parts::FromBits<V>(at.n << (8 * sizeof(parts::ElementOf<V>) - 2)));
  }
  static auto One(const auto& a) { return std::sin(a); }
};

struct Cos {
  template <class V>
  static V Of(V a) { return parts::ByQuadrant<Cos>(a); }
  template <class V>
  [[gnu::always_inline]] static V OfQuadrant(const parts::Quadrant<V>& at) {
    return Sin::OfQuadrant(parts::Quadrant<V>{at.n + 1, at.sine, at.cosine});
  }
  static auto One(const auto& a) { return std::cos(a); }
};

struct Tan {
  template <class V>
  static V Of(V a) { return parts::TurnSign(parts::ByQuadrant<Tan>(parts::Abs(a)), a); }
  template <class V>
  [[gnu::always_inline]] static V OfQuadrant(const parts::Quadrant<V>& at) {
    return parts::OfOddQuadrant(at.n, -at.cosine, at.sine) / parts::OfOddQuadrant(at.n, at.sine, at.cosine);
  }
  static auto One(const auto& a) { return std::tan(a); }
};

}  // namespace weft::kernels
