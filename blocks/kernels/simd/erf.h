// Gauss's error function and its complement, of whole registers of floats or doubles of any width.
#pragma once

#include "blocks/kernels/simd/exp.h"

namespace weft::kernels {
namespace parts {

/// Up to there ShortErf is right.
template <class V>
inline constexpr ElementOf<V> kShortErf = sizeof(ElementOf<V>) == 4 ? ElementOf<V>(1.25) : ElementOf<V>(1);
/// erf(x) for |x| <= kShortErf.
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

/// erf(x) for x >= kShortErf. For floats erfc need not be right to its own digits: its eighth root is a polynomial, and nothing divides.
template <class V>
[[gnu::always_inline]] inline V LongErf(V x) {
  if constexpr (sizeof(ElementOf<V>) == 4) {
    const V root = Polynomial(AtMost(x, 4.1f), Coefficients<float>::kRootErfc);  // erf of that is 1
    const V square = root * root, fourth = square * square;
    return TurnSign(MulLess(fourth, fourth, V{} + 1), SignBit<V>());
  } else {
    return 1 - UpperErfc(x);
  }
}

}  // namespace parts

struct Erf {
  template <class V>
  static V Of(V a) {
    const V x = parts::Abs(a);
    return parts::TurnSign(x < parts::kShortErf<V> ? parts::ShortErf(x) : parts::LongErf(x), a);
  }
  static auto One(const auto& a) { return std::erf(a); }
};

/// 1 - erf(x).
struct Erfc {
  template <class V>
  static V Of(V a) {
    using T = parts::ElementOf<V>;
    const V x = parts::Abs(a), upper = parts::UpperErfc(x), great = a < 0 ? 2 - upper : upper;
    const V y = x < T(0.5) ? 1 - parts::ShortErf(a) : great;
    return a == a ? y : a;  // of two NaN that are multiplied the compiler chooses one, and they have different signs
  }
  static auto One(const auto& a) { return std::erfc(a); }
};

}  // namespace weft::kernels
