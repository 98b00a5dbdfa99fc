// The hyperbolic tangent of whole registers of floats or doubles of any width.
#pragma once

#include "blocks/kernels/simd/exp.h"

namespace weft::kernels {

/// Odd, and never beyond 1.
struct Tanh {
  template <class V>
  [[gnu::always_inline]] static V Of(V a) {
    using T = parts::ElementOf<V>;
    if constexpr (sizeof(T) == 4) {
      // By half the argument, 2 t / (1 + t^2), which forgives t's errors where tanh is near 1.
      using Of = Coefficients<T>;
      const V x = parts::AtMost(parts::Abs(a), T(9.2)), z = x * x;  // tanh of that is 1
      const V above = x * parts::Polynomial(z, Of::kTanhAbove), below = parts::Polynomial(z, Of::kTanhBelow);
      const V y = above * (below + below) / (below * below + above * above);
      return parts::TurnSign(parts::AtMost(y, 1), a);
    } else {
      const V quarter = parts::QuarterExpm1(2 * parts::AtMost(parts::Abs(a), T(20)));
      return parts::IsSmall(a) ? a : parts::TurnSign(quarter / (quarter + T(0.5)), a);
    }
  }
  template <class T>
  static T One(const T& a) { return std::tanh(a); }
};

}  // namespace weft::kernels
