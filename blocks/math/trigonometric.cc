// Sin, Cos, Tan, Asin, Acos, Atan: one result for each element; Atan2 of two operands that are stretched over one another.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/vector_broadcast.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape; radians"};
constexpr Out<0> y{"y", "T", "the shape of x"};
constexpr In<0> ratio{"x", "T", "any shape"};
constexpr Out<0> angle{"y", "T", "the shape of x; radians"};

constexpr In<0> rise{"y", "T", "any shape"};
constexpr In<1> run{"x", "T", "a shape that fits y: sizes equal or 1, from the last axis on"};
constexpr Out<0> direction{"z", "T", "the common shape of y and x; radians"};

constexpr auto kAnalytic = kFloats + kComplexes;

template <class F>
constexpr auto RunFunction = RunMap<kernels::VectorOp<F>>;

/// The gradient times a function of the argument.
Status TimesFunction(GradientBuilder& g, std::string_view block) {
  g.Set(x, Times(g, g.grad(y), Applied(g, block, Conjugate(g, g.in(x)))));
  return {};
}
Status SinGradient(GradientBuilder& g) { return TimesFunction(g, "Cos"); }
Status CosGradient(GradientBuilder& g) {
  g.Set(x, Times(g, Negated(g, g.grad(y)), Applied(g, "Sin", Conjugate(g, g.in(x)))));
  return {};
}
Status TanGradient(GradientBuilder& g) {
  const GradientValue secant = Applied(g, "Reciprocal", Applied(g, "Cos", Conjugate(g, g.in(x))));
  g.Set(x, Times(g, Applied(g, "Square", secant), g.grad(y)));
  return {};
}

/// 1 / sqrt(1 - x^2)
GradientValue ArcSlope(GradientBuilder& g) {
  const GradientValue square = Applied(g, "Square", Conjugate(g, g.in(ratio)));
  return Applied(g, "Reciprocal", Applied(g, "Sqrt", Minus(g, g.Scalar(square, 1), square)));
}
Status AsinGradient(GradientBuilder& g) {
  g.Set(ratio, Times(g, g.grad(angle), ArcSlope(g)));
  return {};
}
Status AcosGradient(GradientBuilder& g) {
  g.Set(ratio, Times(g, Negated(g, g.grad(angle)), ArcSlope(g)));
  return {};
}
Status AtanGradient(GradientBuilder& g) {
  const GradientValue square = Applied(g, "Square", Conjugate(g, g.in(ratio)));
  g.Set(ratio, Times(g, g.grad(angle), Applied(g, "Reciprocal", Plus(g, g.Scalar(square, 1), square))));
  return {};
}

Status Atan2Gradient(GradientBuilder& g) {
  const GradientValue a = g.in(rise), b = g.in(run);
  const GradientValue part = Divided(g, g.grad(direction), Plus(g, Applied(g, "Square", a), Applied(g, "Square", b)));
  if (g.wanted(rise)) g.Set(rise, SumLike(g, Times(g, b, part), a));
  if (g.wanted(run)) g.Set(run, SumLike(g, Times(g, Negated(g, a), part), b));
  return {};
}

}  // namespace

BlockDef Sin() {
  return Block("Sin", "The sine of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(SinGradient).Kernel(PlanMap, RunFunction<kernels::Sin>);
}

BlockDef Cos() {
  return Block("Cos", "The cosine of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(CosGradient).Kernel(PlanMap, RunFunction<kernels::Cos>);
}

BlockDef Tan() {
  return Block("Tan", "The tangent of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(TanGradient).Kernel(PlanMap, RunFunction<kernels::Tan>);
}

BlockDef Asin() {
  return Block("Asin", "The angle whose sine each element is; NaN of real numbers beyond -1 and 1.")
      .Ports(ratio, angle).Types("T", kAnalytic).Elementwise().Gradient(AsinGradient).Kernel(PlanMap, RunFunction<kernels::Asin>);
}

BlockDef Acos() {
  return Block("Acos", "The angle whose cosine each element is; NaN of real numbers beyond -1 and 1.")
      .Ports(ratio, angle).Types("T", kAnalytic).Elementwise().Gradient(AcosGradient).Kernel(PlanMap, RunFunction<kernels::Acos>);
}

BlockDef Atan() {
  return Block("Atan", "The angle whose tangent each element is.")
      .Ports(ratio, angle).Types("T", kAnalytic).Elementwise().Gradient(AtanGradient).Kernel(PlanMap, RunFunction<kernels::Atan>);
}

BlockDef Atan2() {
  return Block("Atan2", "The angle of the point (x, y), from -pi to pi, element by element.")
      .Ports(rise, run, direction).Types("T", kFloats).Elementwise().Gradient(Atan2Gradient)
      .Kernel(PlanBroadcast, RunVectors<kernels::Atan2>);
}

}  // namespace weft::blocks
