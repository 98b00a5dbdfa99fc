// The logarithm of whole registers of floats or doubles of any width: x = 2^e m with m between the root of 1/2 and that of 2.
#pragma once

#include "blocks/kernels/simd/exp.h"

namespace weft::kernels {
namespace parts {

/// x = 2^e (1 + f).
template <class V>
struct LogReduced {
  V e, f;
};
/// Of normal numbers above 0.
template <class V>
[[gnu::always_inline]] inline LogReduced<V> ReduceNormalLog(V x) {
  using T = ElementOf<V>;
  constexpr int kFraction = kFractionBits<V>;
  constexpr T kRootOfHalf = static_cast<T>(0.70710678118654752), kUnit = T(1) / std::numeric_limits<T>::epsilon();
  constexpr T kBias = std::numeric_limits<T>::max_exponent - 1;
  const BitsOf<V> shifted = Bits(x) + (Bits(V{} + 1) - Bits(V{} + kRootOfHalf));
  const BitsOf<V> fraction = shifted << (8 * sizeof(T) - kFraction) >> (8 * sizeof(T) - kFraction);
  const V e = FromBits<V>((shifted >> kFraction) | Bits(V{} + kUnit)) - (kUnit + kBias);
  return {e, FromBits<V>(fraction + Bits(V{} + kRootOfHalf)) - 1};
}

/// Of numbers above 0.
template <class V>
[[gnu::always_inline]] inline LogReduced<V> ReduceLog(V x) {
  using T = ElementOf<V>;
  constexpr T kUnit = T(1) / std::numeric_limits<T>::epsilon();
  const auto is_denormal = x < std::numeric_limits<T>::min();
  LogReduced<V> reduced = ReduceNormalLog(is_denormal ? x * kUnit : x);
  reduced.e -= is_denormal ? V{} + kFractionBits<V> : V{};
  return reduced;
}

/// log(1 + f) + e log(2) + more; `more` small.
template <class V>
[[gnu::always_inline]] inline V LogOfReduced(LogReduced<V> x, V more) {
  using Of = Coefficients<ElementOf<V>>;
  const V s = x.f / (2 + x.f), half_square = Opaque(x.f * x.f * ElementOf<V>(0.5)), z = s * s;
  const V rest = MulAdd(s, MulAdd(z, Polynomial(z, Of::kLog), half_square), MulAdd(x.e, V{} + Of::kLog2[1], more));
  return MulAdd(x.e, V{} + Of::kLog2[0], x.f - (half_square - rest));
}

/// y, where it is not the logarithm of zero, a negative number, infinity or NaN that `a` has.
template <class V>
[[gnu::always_inline]] inline V LogOrSpecial(V y, V a) {
  const V positive = a < kInfinity<V> ? y : a;
  return a > 0 ? positive : a == 0 ? V{} - kInfinity<V> : V{} + kNan<V>;
}

}  // namespace parts

struct Log {
  template <class V>
  [[gnu::always_inline]] static V Of(V a) {
    using T = parts::ElementOf<V>;
    const V y = parts::LogOfReduced(parts::ReduceNormalLog(a), V{});
    constexpr T kNormal = std::numeric_limits<T>::min();
    if (!parts::AnyLane(~((a >= kNormal) & (a < parts::kInfinity<V>)))) [[likely]] return y;
    return parts::AnyLane((a > 0) & (a < kNormal)) ? OfDenormals(a) : parts::LogOrSpecial(y, a);
  }
  static auto One(const auto& a) { return std::log(a); }

 private:
  /// To the same bits; also of denormals.
  template <class V>
  [[gnu::noinline]] static V OfDenormals(V a) { return parts::LogOrSpecial(parts::LogOfReduced(parts::ReduceLog(a), V{}), a); }
};

/// log(1 + x).
struct Log1p {
  template <class V>
  static V Of(V a) {
    const V sum = 1 + a, lost = a < 1 ? a - (sum - 1) : 1 - (sum - a);
    return parts::IsSmall(a) ? a : parts::LogOrSpecial(parts::LogOfReduced(parts::ReduceNormalLog(sum), lost / sum), sum);
  }
  static auto One(const auto& a) { return std::log1p(a); }
};

}  // namespace weft::kernels
