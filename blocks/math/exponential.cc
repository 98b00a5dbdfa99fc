// Exp, Expm1, Log1p, Cosh, Sinh: one result for each element.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/kernels/simd/vector_math.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> y{"y", "T", "the shape of x"};

constexpr auto kAnalytic = kFloats + kComplexes;

using ExpOp = kernels::VectorOp<kernels::Exp>;
using CoshOp = kernels::VectorOp<kernels::Cosh>;
using SinhOp = kernels::VectorOp<kernels::Sinh>;

struct Expm1Op : kernels::VectorOp<kernels::Expm1> {
  /// exp(a + bi) - 1 without losing the digits of a small argument: expm1(a) cos(b) + (cos(b) - 1) + i exp(a) sin(b).
  template <class T>
  T operator()(const T& z) const {
    if constexpr (Complex<T>) {
      const auto half_sine = std::sin(z.imag() / 2);
      return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine, std::exp(z.real()) * std::sin(z.imag())};
    } else {
      return std::expm1(z);
    }
  }
};

struct Log1pOp : kernels::VectorOp<kernels::Log1p> {
  /// log|1 + z| from |1 + z|^2 - 1 = a (2 + a) + b^2 where that neither overflows nor comes near -1.
  template <class T>
  T operator()(const T& z) const {
    if constexpr (Complex<T>) {
      using Part = typename T::value_type;
      const double a = z.real(), b = z.imag(), square = a * (2 + a) + b * b;
      if (!(square > -0.5 && square < 1e300)) return std::log(T(1) + z);
      return {static_cast<Part>(std::log1p(square) / 2), static_cast<Part>(std::atan2(b, 1 + a))};
    } else {
      return std::log1p(z);
    }
  }
};

Status ExpGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Conjugate(g, g.out(y))));
  return {};
}
Status Expm1Gradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Applied(g, "Exp", Conjugate(g, g.in(x)))));
  return {};
}
Status Log1pGradient(GradientBuilder& g) {
  const GradientValue at = Conjugate(g, g.in(x));
  g.Set(x, Times(g, g.grad(y), Applied(g, "Reciprocal", Plus(g, g.Scalar(at, 1), at))));
  return {};
}
Status CoshGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Applied(g, "Sinh", Conjugate(g, g.in(x)))));
  return {};
}
Status SinhGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Applied(g, "Cosh", Conjugate(g, g.in(x)))));
  return {};
}

}  // namespace

BlockDef Exp() {
  return Block("Exp", "e to the power of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(ExpGradient).Kernel(PlanMap, RunMap<ExpOp>);
}

BlockDef Expm1() {
  return Block("Expm1", "exp(x) - 1 for each element, exact also near 0.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(Expm1Gradient).Kernel(PlanMap, RunMap<Expm1Op>);
}

BlockDef Log1p() {
  return Block("Log1p", "The natural logarithm of 1 + x for each element, exact also near 0.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(Log1pGradient).Kernel(PlanMap, RunMap<Log1pOp>);
}

BlockDef Cosh() {
  return Block("Cosh", "The hyperbolic cosine of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(CoshGradient).Kernel(PlanMap, RunMap<CoshOp>);
}

BlockDef Sinh() {
  return Block("Sinh", "The hyperbolic sine of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(SinhGradient).Kernel(PlanMap, RunMap<SinhOp>);
}

}  // namespace weft::blocks
