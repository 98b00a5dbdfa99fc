// Powers of whole registers: e^(y log(x)), the logarithm of floats in double, that of doubles to some 68 bits.
#pragma once

#include <array>

#include "blocks/kernels/simd/log.h"

namespace weft::kernels {
namespace parts {

/// A sum of two numbers, `low` less than a unit of the last place of `high`.
template <class V>
struct Sum {
  V high, low;
};
/// |a| >= |b|.
template <class V>
[[gnu::always_inline]] inline Sum<V> TwoSum(V a, V b) {
  const V high = a + b;
  return {high, b - (high - a)};
}

/// log(2^e (1 + f)): s = f / (2 + f) and its cube to twice the digits, the rest of the series as it is.
template <class V>
[[gnu::always_inline]] inline Sum<V> LongLog(LogReduced<V> x) {
  using Of = Coefficients<double>;
  const V below = 2 + x.f, s = x.f / below, back = s * below;
  const V s_low = (((x.f - back) - ProductRest(s, below, back)) - s * (x.f - (below - 2))) / below;
  const V z = s * s, z_low = ProductRest(s, s, z) + 2 * s * s_low;
  const V cube = z * s, cube_low = ProductRest(z, s, cube) + z * s_low + z_low * s;
  const V third = cube * Of::kTwoThirds[0];
  const V third_low = ProductRest(cube, V{} + Of::kTwoThirds[0], third) + cube * Of::kTwoThirds[1] + cube_low * Of::kTwoThirds[0];
  const Sum<V> powers = TwoSum(2 * s, third), all = TwoSum(x.e * Of::kLog2[0], powers.high);
  return TwoSum(all.high, all.low + (powers.low + (2 * s_low + third_low + cube * z * Polynomial(z, Of::kLogRest) + x.e * Of::kLog2[1])));
}

/// The power of doubles to a float's digits: of a base above 0 and finite.
template <class V>
[[gnu::always_inline]] inline V ShortPow(V base, V exponent) {
  using Of = Coefficients<double>;
  constexpr double kMost = 200, kLog2 = 0.693147180559945309;  // as a float, e^200 is infinite and e^-200 is 0
  const LogReduced<V> reduced = ReduceNormalLog(base);
  const V s = reduced.f / (2 + reduced.f), z = s * s, series = MulAdd(s * z, Polynomial(z, Of::kShortLog), 2 * s);
  const V log = MulAdd(reduced.e, V{} + kLog2, series), x = AtLeast(AtMost(exponent * log, kMost), -kMost);
  const V shifted = MulAdd(x, 1 / kLog2, kRounder<V>), one = V{} + 1;
  const V r = MulAdd(shifted - kRounder<V>, V{} - kLog2, x), y = MulAdd(MulAdd(Polynomial(r, Of::kShortExp), r, one), r, one);
  return FromBits<V>(Bits(y) + (Bits(shifted) << kFractionBits<V>));
}

}  // namespace parts

/// 1 to any power and anything to the power of 0 is 1, NaN too.
struct Pow {
  static constexpr int kCost = 8;
  template <class V>
  static V Of(V base, V exponent) {
    const V x = parts::Abs(base), size = parts::Abs(exponent), power = OfPositive(x, exponent);
    const auto whole = IsWhole(size), odd = whole & ~IsWhole(size * parts::ElementOf<V>(0.5));
    const V real = (base < 0) & ~whole & (x < parts::kInfinity<V>) ? V{} + parts::kNan<V> : power;
    return odd ? parts::TurnSign(real, base) : real;
  }
  static auto One(const auto& a, const auto& b) { return std::pow(a, b); }

 private:
  template <class V>
  [[gnu::always_inline]] static auto IsWhole(V size) {
    constexpr auto kUnit = 1 / std::numeric_limits<parts::ElementOf<V>>::epsilon();  // from here on all numbers are
    return (size >= kUnit) | ((size + kUnit) - kUnit == size);
  }
  template <class V>
  [[gnu::always_inline]] static V OfPositive(V base, V exponent) {
    V power;
    if constexpr (sizeof(parts::ElementOf<V>) == 4) {
      const auto bases = DoublesOf(base), exponents = DoublesOf(exponent);
      power = FloatsOf(std::array{parts::ShortPow(bases[0], exponents[0]), parts::ShortPow(bases[1], exponents[1])});
      const V edge = (base == 0) == (exponent > 0) ? V{} : V{} + parts::kInfinity<V>;  // of 0 or infinity
      power = (base > 0) & (base < parts::kInfinity<V>) ? power : edge;
      power = (base == base) & (exponent == exponent) ? power : V{} + parts::kNan<V>;
    } else {
      const parts::Sum<V> log = parts::LongLog(parts::ReduceLog(base));
      const V high = parts::LogOrSpecial(log.high, base), product = exponent * high;
      // Beyond the exponents of doubles, what is low may be NaN.
      const V low = parts::ProductRest(exponent, high, product) + exponent * log.low;
      power = Exp::OfAtMost(parts::AtMost(product, parts::kExpMost<double>), parts::Abs(product) < 800 ? low : V{});
    }
    return (base == 1) | (exponent == 0) ? V{} + 1 : power;
  }
};

}  // namespace weft::kernels
