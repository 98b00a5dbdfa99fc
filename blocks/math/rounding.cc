// Ceil, Floor, Rint, Round; Abs, Sign; IsFinite, IsInf, IsNan: one result for each element.
#include <cmath>
#include <limits>

#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/kernels/simd/rounding.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> y{"y", "T", "the shape of x"};
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
  template <class T>
  bool operator()(T a) const { return a != a; }
};

Status AbsGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Applied(g, "Sign", g.in(x))));
  return {};
}
Status SignGradient(GradientBuilder& g) {
  g.Set(x, Applied(g, "ZerosLike", g.in(x)));
  return {};
}
}  // namespace

BlockDef Ceil() {
  return Block("Ceil", "The smallest whole number that is not less than each element.")
      .Ports(x, y).Types("T", kFloats).Elementwise().NotDifferentiable().Kernel(PlanMap, RunMap<CeilOp>);
}

BlockDef Floor() {
  return Block("Floor", "The largest whole number that is not greater than each element.")
      .Ports(x, y).Types("T", kFloats).Elementwise().NotDifferentiable().Kernel(PlanMap, RunMap<FloorOp>);
}

BlockDef Rint() {
  return Block("Rint", "The whole number nearest to each element; of two equally near, the even one.")
      .Ports(x, y).Types("T", kFloats).Elementwise().NotDifferentiable().Kernel(PlanMap, RunMap<RintOp>);
}

BlockDef Round() {
  return Block("Round", "The whole number nearest to each element; of two equally near, the even one. Integers stay.")
      .Ports(x, y).Types("T", kMagnitudes).Elementwise().NotDifferentiable().Kernel(PlanMap, RunMap<RintOp>);
}

BlockDef Abs() {
  return Block("Abs", "The absolute value of each element; the lowest integer stays.")
      .Ports(x, y).Types("T", kMagnitudes).Elementwise().Gradient(AbsGradient).Kernel(PlanMap, RunMap<AbsOp>);
}

BlockDef Sign() {
  return Block("Sign", "-1, 0 or 1 by the sign of each element; z / |z| of a complex number, 0 of 0.")
      .Ports(x, y).Types("T", kSignTypes).Elementwise().Gradient(SignGradient).Kernel(PlanMap, RunMap<SignOp>);
}

BlockDef IsFinite() {
  return Block("IsFinite", "Whether each element is neither infinite nor NaN.")
      .Ports(x, answer).Types("T", kFloats).NotDifferentiable().Kernel(PlanMap, RunMap<IsFiniteOp>);
}

BlockDef IsInf() {
  return Block("IsInf", "Whether each element is infinite.")
      .Ports(x, answer).Types("T", kFloats).NotDifferentiable().Kernel(PlanMap, RunMap<IsInfOp>);
}

BlockDef IsNan() {
  return Block("IsNan", "Whether each element is NaN.")
      .Ports(x, answer).Types("T", kFloats).NotDifferentiable().Kernel(PlanMap, RunMap<IsNanOp>);
}

}  // namespace weft::blocks
