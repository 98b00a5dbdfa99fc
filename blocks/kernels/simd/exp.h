// Exponentials of whole vectors, as those of vector_math.h. Those of floats in registers of 16 are quicker and closer: right to 1.2 units in
// the last place, the sigmoid to 3.1.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/simd/vector_math.h"

namespace weft::kernels {

struct Exp {
  static Doubles Of(Doubles a) { return vectors::Exp::Of(a); }
#if defined(__AVX512F__)
  static constexpr __mmask16 kAll = 0xFFFF;  // the functions without a mask give warnings
  static Floats Of(Floats a) { return OfAtMost(_mm512_maskz_min_ps(kAll, _mm512_set1_ps(90), a)); }  // exp(90) is infinite
  /// Of numbers that are at most 90.
  static Floats OfAtMost(Floats a) {
    constexpr float kLogarithmOfTwo = 0.693359375f, kLogarithmOfTwoLow = -2.1219444e-4f;
    constexpr float kRounds = 12582912;  // 1.5 * 2^23: what is added to it becomes a whole number
    const Floats x = _mm512_maskz_max_ps(kAll, _mm512_set1_ps(-105), a);  // exp(-105) is 0; NaN stays
    const Floats twos = (x * 1.44269504f + kRounds) - kRounds;
    const Floats r = (x - twos * kLogarithmOfTwo) - twos * kLogarithmOfTwoLow;
    // exp(r) to a thirtieth of a unit, for |r| up to half of log(2)
    Floats y = 0.0013788695f * r + 0.008368685f;
    y = y * r + 0.0416689f;
    y = y * r + 0.16666521f;
    y = y * r + 0.4999999f;
    y = y * r + 1;
    y = y * r + 1;
    return _mm512_maskz_scalef_ps(kAll, y, twos);
  }
#else
  static Floats Of(Floats a) { return vectors::Exp::Of(a); }
#endif
  template <class T>
  static T One(const T& a) { return std::exp(a); }
};

/// 1 / (1 + exp(-x)).
struct Sigmoid {
  template <class V>
  static V Of(V a) { return 1 / (1 + Exp::Of(-a)); }
#if defined(__AVX512F__)
  /// Without a division: by the processor's estimate, which one step of Newton's makes right.
  static Floats Of(Floats a) {
    const auto negative = std::bit_cast<Floats>(std::bit_cast<Vec<uint32_t>>(a) | 0x80000000);
    const Floats small = Exp::OfAtMost(negative), sum = 1 + small;
    Floats inverse = _mm512_maskz_rcp14_ps(Exp::kAll, sum);
    inverse = inverse + inverse * (1 - sum * inverse);
    return a < 0 ? small * inverse : inverse;
  }
#endif
  template <class T>
  static T One(const T& a) { return T(1) / (T(1) + std::exp(-a)); }
};

}  // namespace weft::kernels
