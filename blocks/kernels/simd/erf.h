// Gauss's error function and its complement, of whole registers of floats or doubles of any width.
#pragma once

#include "blocks/kernels/simd/exp.h"

namespace weft::kernels {
namespace parts {

/// erf(x) for |x| <= 1.
template <class V>
[[gnu::always_inline]] inline V ShortErf(V x) {
  return MulAdd(x, Polynomial(x * x, Coefficients<ElementOf<V>>::kErf), x);
}
/// erfc(x) for x >= 0, to its own digits also where it is tiny.
template <class V>
[[gnu::always_inline]] inline V UpperErfc(V a) {
  using T = ElementOf<V>;
  const V x = AtMost(a, sizeof(T) == 4 ? T(10.6) : T(28)), z = x * x;  // erfc is 0 there
  const V bell = Exp::OfAtMost(-z, -ProductRest(x, x, z));
  return bell * Polynomial((x - 4) / (x + 4), Coefficients<T>::kErfc) / (1 + 2 * x);
}

/// erf(x) for x >= 1, of floats: erfc need not be right to its own digits, so that the logarithm of it is a polynomial and nothing divides.
template <class V>
[[gnu::always_inline]] inline V LongErf(V a) {
  using Of = Coefficients<float>;
  const V x = AtMost(a, 4), one = V{} + 1;  // erf of that is 1
  const auto [shifted, r] = ReduceExp(-x * Polynomial(x, Of::kErfcLog));
  const V y = MulAdd(MulAdd(Polynomial(r, Of::kExp), r, one), r, one);
  return MulAdd(-y, PowerOfTwo<V>(Bits(shifted)), one);
}

}  // namespace parts

struct Erf {
  template <class V>
  static V Of(V a) {
    const V x = parts::Abs(a);
    if constexpr (sizeof(parts::ElementOf<V>) == 4) return parts::TurnSign(x < 1 ? parts::ShortErf(x) : parts::LongErf(x), a);
    return parts::TurnSign(x < 1 ? parts::ShortErf(x) : 1 - parts::UpperErfc(x), a);
  }
  template <class T>
  static T One(const T& a) { return std::erf(a); }
};

/// 1 - erf(x).
struct Erfc {
  template <class V>
  static V Of(V a) {
    using T = parts::ElementOf<V>;
    const V x = parts::Abs(a), upper = parts::UpperErfc(x), great = a < 0 ? 2 - upper : upper;
    return x < T(0.5) ? 1 - parts::ShortErf(a) : great;
  }
  template <class T>
  static T One(const T& a) { return std::erfc(a); }
};

}  // namespace weft::kernels
