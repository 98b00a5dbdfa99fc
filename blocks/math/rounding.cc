// Ceil, Floor, Rint, Round; Abs, Sign; IsFinite, IsInf, IsNan: one result for each element.
#include <cmath>
#include <limits>

#include "blocks/kernels/simd/rounding.h"
#include "blocks/math/functions.h"

namespace weft::blocks {
namespace {

using namespace functions;

constexpr Out<0> answer{"y", "DT_BOOL", "the shape of x"};

constexpr auto kMagnitudes = kFloats + kSigned;
constexpr auto kSignTypes = kFloats + kSigned + kComplexes;

struct FloorOp {
  template <class T>
  T operator()(T a) const { return kernels::FloorOf(a); }
};
struct CeilOp {
  template <class T>
  T operator()(T a) const { return kernels::CeilOf(a); }
};
/// Ties go to the even number. Whole numbers stay.
struct RintOp {
  template <class T>
  T operator()(T a) const {
    if constexpr (Integer<T>) return a;
    else return std::rint(a);
  }
};

/// The lowest integer stays.
struct AbsOp {
  template <class T>
  T operator()(T a) const {
    if constexpr (Integer<T>) return a < 0 ? WrapSubtract(T{0}, a) : a;
    else return std::abs(a);
  }
};
/// -1, 0 or 1; z / |z| of a complex number. NaN stays.
struct SignOp {
  template <class T>
  T operator()(T a) const {
    if constexpr (Complex<T>) {
      if (a == T(0)) return T(0);
      const auto size = std::abs(a);
      return {a.real() / size, a.imag() / size};
    } else {
      const T sign = static_cast<T>(static_cast<T>(a > T(0)) - static_cast<T>(a < T(0)));
      return a == a ? sign : a;
    }
  }
};

struct IsFiniteOp {
  template <class T>
  bool operator()(T a) const { return std::abs(a) < std::numeric_limits<T>::infinity(); }
};
struct IsInfOp {
  template <class T>
  bool operator()(T a) const { return std::abs(a) == std::numeric_limits<T>::infinity(); }
};
struct IsNanOp {
  bool operator()(auto a) const { return a != a; }
};

template <class Op>
BlockDef Question(const char* name, const char* summary) {
  return Block(name, summary).Ports(x, answer).Types("T", kFloats).NotDifferentiable().Kernel(PlanMap, RunMap<Op>);
}

}  // namespace

BlockDef Ceil() { return Function<CeilOp>("Ceil", "The smallest whole number that is not less than each element.", kFloats); }
BlockDef Floor() { return Function<FloorOp>("Floor", "The largest whole number that is not greater than each element.", kFloats); }
BlockDef Rint() {
  return Function<RintOp>("Rint", "The whole number nearest to each element; of two equally near, the even one.", kFloats);
}
BlockDef Round() {
  return Function<RintOp>("Round", "The whole number nearest to each element; of two equally near, the even one. Integers stay.",
                          kMagnitudes);
}

BlockDef Abs() {
  return Function<AbsOp>("Abs", "The absolute value of each element; the lowest integer stays.", kMagnitudes,
                         [](Term x, Term, Term dy) { return dy * Of("Sign", x); });
}

BlockDef Sign() {
  return Function<SignOp>("Sign", "-1, 0 or 1 by the sign of each element; z / |z| of a complex number, 0 of 0.", kSignTypes,
                          [](Term x, Term, Term) { return Of("ZerosLike", x); });
}

BlockDef IsFinite() { return Question<IsFiniteOp>("IsFinite", "Whether each element is neither infinite nor NaN."); }
BlockDef IsInf() { return Question<IsInfOp>("IsInf", "Whether each element is infinite."); }
BlockDef IsNan() { return Question<IsNanOp>("IsNan", "Whether each element is NaN."); }

}  // namespace weft::blocks
