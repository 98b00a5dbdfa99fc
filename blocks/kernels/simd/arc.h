// Arcsine, arccosine and arctangent of whole registers of floats or doubles of any width.
#pragma once

#include "blocks/kernels/simd/math_parts.h"

namespace weft::kernels {
namespace parts {

constexpr double kPi = 3.14159265358979324;
/// What the double lacks, and what the nearest float lacks.
template <class T>
inline constexpr T kPiRest = sizeof(T) == 4 ? T(-8.74227765734758577e-8) : T(1.22464679914735318e-16);

/// The angle of a point with x >= y >= 0; 0 for (0, 0).
template <class V>
[[gnu::always_inline]] inline V ArcOfFlat(V y, V x) {
  using T = ElementOf<V>;
  constexpr T kTangent = static_cast<T>(0.41421356237309505), kQuarterPi = static_cast<T>(kPi / 4);
  const auto steep = y > x * kTangent;
  const V above = steep ? y - x : y, below = steep ? y + x : x;
  const V r = below == 0 ? above : above / below, z = r * r;
  const V arc = MulAdd(r * z, Polynomial(z, Coefficients<T>::kAtan), r);
  return steep ? kQuarterPi + (arc + kPiRest<T> / 4) : arc;
}

/// The arcsine of |a|, or where that is over 1/2, of the root of (1 - |a|) / 2: half the arccosine.
template <class V>
[[gnu::always_inline]] inline V ArcSine(V a) {
  using T = ElementOf<V>;
  const V x = Abs(a);
  const auto great = x > T(0.5);
  const V z = great ? (1 - x) * T(0.5) : x * x, s = great ? Sqrt::Of(z) : x;
  return MulAdd(s * z, Polynomial(z, Coefficients<T>::kAsin), s);
}

}  // namespace parts

struct Asin {
  template <class V>
  static V Of(V a) {
    using T = parts::ElementOf<V>;
    const V arc = parts::ArcSine(a), y = parts::Abs(a) > T(0.5) ? T(parts::kPi / 2) - (2 * arc - parts::kPiRest<T> / 2) : arc;
    return parts::TurnSign(y, a);
  }
  static auto One(const auto& a) { return std::asin(a); }
};

struct Acos {
  template <class V>
  static V Of(V a) {
    using T = parts::ElementOf<V>;
    constexpr T kRest = parts::kPiRest<T>;
    const V arc = parts::ArcSine(a);
    const V great = a > 0 ? 2 * arc : T(parts::kPi) - (2 * arc - kRest);
    return parts::Abs(a) > T(0.5) ? great : T(parts::kPi / 2) - (parts::TurnSign(arc, a) - kRest / 2);
  }
  static auto One(const auto& a) { return std::acos(a); }
};

struct Atan {
  template <class V>
  static V Of(V a) {
    using T = parts::ElementOf<V>;
    const V x = parts::Abs(a), one = V{} + 1;
    const auto great = x > 1;
    const V arc = parts::ArcOfFlat(great ? one : x, great ? x : one);
    return parts::TurnSign(great ? T(parts::kPi / 2) - (arc - parts::kPiRest<T> / 2) : arc, a);
  }
  static auto One(const auto& a) { return std::atan(a); }
};

struct Atan2 {
  static constexpr int kCost = 8;
  template <class V>
  static V Of(V y, V x) {
    using T = parts::ElementOf<V>;
    constexpr T kRest = parts::kPiRest<T>, kHuge = std::numeric_limits<T>::max() / 4;
    const V up = parts::Abs(y), along = parts::Abs(x);
    const auto great = up > along;
    V low = great ? along : up, high = great ? up : along;
    const V scale = high > kHuge ? V{} + T(0.25) : V{} + 1;  // their sum would be infinite
    low = low == parts::kInfinity<V> ? high : low * scale;
    high *= scale;
    const V ratio = low == parts::kInfinity<V> ? V{} + T(parts::kPi / 4) : parts::ArcOfFlat(low, high);
    const V arc = great ? T(parts::kPi / 2) - (ratio - kRest / 2) : ratio;
    const auto backward = parts::Bits(x) > parts::Bits(parts::Abs(x));
    return parts::TurnSign(backward ? T(parts::kPi) - (arc - kRest) : arc, y);
  }
  static auto One(const auto& a, const auto& b) { return std::atan2(a, b); }
};

}  // namespace weft::kernels
