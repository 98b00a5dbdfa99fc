// What reductions compute: sums, means, products, extremes, all and any. A new reduction is a struct like SumOf below.
//
// T is the element type; In what Add sees (float for half and bfloat16); Acc the running value. kOneIsItself: a reduction of one element is
// that element. Finish gets the number of elements that were reduced. kPlain: not worth the loops that are made for speed. Registers: the
// running values in registers (accumulators.h), where the compiler needs help. An operation may have parameters; integers that wrap are
// reduced as unsigned ones (UnsignedOf), which saves every other instance.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/reduce/accumulators.h"
#include "weft/base/float16.h"

namespace weft::kernels {

template <class T>
struct UnsignedOfType {
  using Type = T;
};
template <Integer T>
struct UnsignedOfType<T> {
  using Type = std::make_unsigned_t<T>;
};
/// The unsigned integer of the same size; other types as they are.
template <class T>
using UnsignedOf = typename UnsignedOfType<T>::Type;

template <class Op>
inline constexpr bool kIsPlain = requires { Op::kPlain; };

template <class Op>
inline constexpr bool kHasRegisters = false;
template <class Op>
  requires(!std::is_void_v<typename Op::Registers>)
inline constexpr bool kHasRegisters<Op> = true;

template <class T>
using ReduceIn = Accumulator<T>;

template <class T>
struct SumAccumulator {
  using Type = T;
};
template <Float T>
struct SumAccumulator<T> {
  using Type = double;
};
template <Complex T>
struct SumAccumulator<T> {
  using Type = complex128;
};

template <class T, Fold kFold>
using FoldRegistersOf = std::conditional_t<Float<T> || (Complex<T> && kFold == Fold::kSum),
                                           FoldRegisters<T, typename SumAccumulator<T>::Type, kFold>, void>;

/// A sum, divided by `divisor`: the mean of floats and complex numbers.
template <class T>
struct SumOf {
  using In = ReduceIn<T>;
  using Acc = typename SumAccumulator<T>::Type;
  using Registers = FoldRegistersOf<T, Fold::kSum>;
  static constexpr bool kOneIsItself = true;
  double divisor = 1;        // for integers always 1
  double one = kUnknownOne;  // see FoldRegisters

  static constexpr Acc Identity() { return Acc(0); }
  static Acc Add(Acc a, In x) { return WrapAdd(a, static_cast<Acc>(x)); }
  static Acc Join(Acc a, Acc b) { return WrapAdd(a, b); }
  T Finish(Acc a, int64_t) const {
    if constexpr (Integer<T>) return a;
    else return Round(divisor == 1 ? a : Divide(a, divisor));
  }

  static Acc Divide(Acc a, double n) {
    if constexpr (Complex<T>) return Acc(a.real() / n, a.imag() / n);
    else return a / static_cast<Acc>(n);
  }
  /// To T, once.
  static T Round(Acc a) {
    if constexpr (ShortFloat<T>) return RoundToShort(a);
    else return static_cast<T>(a);
  }
  /// From double to half or bfloat16 without rounding twice: the float in between is rounded to odd.
  static T RoundToShort(double a) {
    float f = static_cast<float>(a);
    if (f != a && std::isfinite(f)) {
      uint32_t bits = __builtin_bit_cast(uint32_t, f);
      // Step back towards zero where rounding went past, then set the lowest bit: what is inexact can no longer be a tie.
      if (std::fabs(static_cast<double>(f)) > std::fabs(a)) --bits;
      f = __builtin_bit_cast(float, bits | 1u);
    }
    return static_cast<T>(f);
  }
};

/// Integers are averaged without wrapping and cut towards zero; the mean of none is 0.
template <Integer T>
struct IntegerMeanOf {
  using In = T;
  using Acc = std::conditional_t<(sizeof(T) < 8), int64_t, __int128>;
  static constexpr bool kOneIsItself = true, kPlain = true;
  static constexpr Acc Identity() { return 0; }
  static Acc Add(Acc a, In x) { return a + static_cast<Acc>(x); }
  static Acc Join(Acc a, Acc b) { return a + b; }
  static T Finish(Acc a, int64_t count) { return count == 0 ? T{0} : static_cast<T>(a / count); }
};

/// What a mean of `count` elements is divided by: the mean of no floats is NaN, of no complex numbers 0.
template <class T>
double MeanDivisor(int64_t count) { return static_cast<double>(Complex<T> ? std::max<int64_t>(count, 1) : count); }

/// Half the sum of squares.
template <Float T>
struct HalfSquaresOf : SumOf<T> {
  using Registers = FoldRegistersOf<T, Fold::kSquares>;
  static constexpr bool kOneIsItself = false;
  static double Add(double a, ReduceIn<T> x) { return a + static_cast<double>(x) * static_cast<double>(x); }
  static T Finish(double a, int64_t) { return SumOf<T>::Round(0.5 * a); }
};

/// Integers wrap; floats multiply in double.
template <class T>
struct ProductOf {
  using In = ReduceIn<T>;
  using Acc = typename SumAccumulator<T>::Type;
  using Registers = FoldRegistersOf<T, Fold::kProduct>;
  static constexpr bool kOneIsItself = true;
  double one = 1;
  static constexpr Acc Identity() { return Acc(1); }
  static Acc Add(Acc a, In x) { return Join(a, static_cast<Acc>(x)); }
  static Acc Join(Acc a, Acc b) { return Multiplied(a, b); }
  static T Finish(Acc a, int64_t) { return SumOf<T>::Round(a); }
};

/// The greatest or the least element, of floats and unsigned integers: the greatest x * sign, or x ^ flip. NaN goes before all, and comes
/// out as the quiet one, whichever was met. Of no elements, the worst value of the type.
template <class T>
struct ExtremeOf {
  using In = ReduceIn<T>;
  using Acc = In;
  using Registers = std::conditional_t<Float<T>, ExtremeRegisters<T>, void>;
  static constexpr bool kOneIsItself = true;
  Acc key = 1;  // the sign, or the bits to flip

  static constexpr Acc Identity() {
    if constexpr (Integer<T>) return 0;
    else return -std::numeric_limits<Acc>::infinity();
  }
  Acc Key(In x) const {
    if constexpr (Integer<T>) return x ^ key;
    else return x * key;
  }
  Acc Add(Acc a, In x) const { return Join(a, Key(x)); }
  static Acc Join(Acc a, Acc b) {
    if constexpr (Integer<T>) return a < b ? b : a;
    else return a > b || a != a ? a : b;
  }
  /// Registers keep no NaN's own bits (accumulators.h), and which elements go through them depends on where they lie.
  T Finish(Acc a, int64_t) const {
    if constexpr (Float<T>) return static_cast<T>(a == a ? Key(a) : std::numeric_limits<Acc>::quiet_NaN());
    else return static_cast<T>(Key(a));
  }

  /// For elements of type T, which may be signed.
  template <class Signed>
  static ExtremeOf Make(bool greatest) {
    if constexpr (!Integer<T>) return {greatest ? Acc(1) : Acc(-1)};
    else {
      constexpr T kTop = std::is_signed_v<Signed> ? static_cast<T>(std::numeric_limits<Signed>::min()) : T{0};
      return {greatest ? kTop : static_cast<T>(~kTop)};
    }
  }
};

/// Of bool: whether all are true; with `flip`, whether any is.
struct AllOf {
  using In = bool;
  using Acc = uint8_t;
  static constexpr bool kOneIsItself = true;
  uint8_t flip = 0;
  static constexpr Acc Identity() { return 1; }
  Acc Add(Acc a, bool x) const { return a & (static_cast<Acc>(x) ^ flip); }
  static Acc Join(Acc a, Acc b) { return a & b; }
  bool Finish(Acc a, int64_t) const { return (a ^ flip) != 0; }
};

}  // namespace weft::kernels
