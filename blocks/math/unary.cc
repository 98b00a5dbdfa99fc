// Log, Negate, Reciprocal, Sigmoid, Square, Tanh and the blocks of their gradients: one result for each element.
#include <complex>

#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/kernels/simd/vector_math.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> y{"y", "T", "the shape of x"};

constexpr auto kAnalytic = kFloats + kComplexes;
constexpr auto kNegatable = kFloats + kSigned + kComplexes;

using LogOp = kernels::VectorOp<kernels::Log>;
using TanhOp = kernels::VectorOp<kernels::Tanh>;
using SigmoidOp = kernels::VectorOp<kernels::Sigmoid>;

struct NegateOp {
  template <class T>
  T operator()(T a) const {
    if constexpr (Integer<T>) return WrapSubtract(T{0}, a);
    else return -a;
  }
  template <class V>
  static V Of(V a) { return -a; }
};
struct SquareOp {
  template <class T>
  T operator()(T a) const { return kernels::Multiplied(a, a); }
  template <class V>
  static V Of(V a) { return a * a; }
};
struct ReciprocalOp {
  template <class T>
  T operator()(T a) const { return T(1) / a; }
  template <class V>
  static V Of(V a) { return 1 / a; }
};

GradientValue Twice(GradientBuilder& g, GradientValue v) { return Times(g, v, g.Scalar(v, 2)); }
/// An internal gradient block of the function's result and the incoming gradient.
GradientValue FromResult(GradientBuilder& g, std::string_view block, GradientValue result, GradientValue grad) {
  return g.Add(block, {{"y", {result}}, {"dy", {grad}}});
}

Status LogGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), g.Add("Reciprocal", {{"x", {Conjugate(g, g.in(x))}}})));
  return {};
}
Status NegateGradient(GradientBuilder& g) {
  g.Set(x, Negated(g, g.grad(y)));
  return {};
}
Status SquareGradient(GradientBuilder& g) {
  g.Set(x, Times(g, g.grad(y), Twice(g, Conjugate(g, g.in(x)))));
  return {};
}
Status SigmoidGradient(GradientBuilder& g) {
  g.Set(x, FromResult(g, "SigmoidGrad", Conjugate(g, g.out(y)), g.grad(y)));
  return {};
}
Status TanhGradient(GradientBuilder& g) {
  g.Set(x, FromResult(g, "TanhGrad", Conjugate(g, g.out(y)), g.grad(y)));
  return {};
}
Status ReciprocalGradient(GradientBuilder& g) {
  g.Set(x, FromResult(g, "ReciprocalGrad", g.out(y), g.grad(y)));
  return {};
}

}  // namespace

BlockDef Log() {
  return Block("Log", "The natural logarithm of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(LogGradient).Kernel(PlanMap, RunMap<LogOp>);
}

BlockDef Negate() {
  return Block("Negate", "The negative of each element.")
      .Alias("Neg").Ports(x, y).Types("T", kNegatable).Elementwise().Gradient(NegateGradient).Kernel(PlanMap, RunMap<NegateOp>);
}

BlockDef Reciprocal() {
  return Block("Reciprocal", "1 / x for each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(ReciprocalGradient).Kernel(PlanMap, RunMap<ReciprocalOp>);
}

BlockDef Sigmoid() {
  return Block("Sigmoid", "1 / (1 + exp(-x)) for each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(SigmoidGradient).Kernel(PlanMap, RunMap<SigmoidOp>);
}

BlockDef Square() {
  return Block("Square", "The square of each element.")
      .Ports(x, y).Types("T", kNumbers).Elementwise().Gradient(SquareGradient).Kernel(PlanMap, RunMap<SquareOp>);
}

BlockDef Tanh() {
  return Block("Tanh", "The hyperbolic tangent of each element.")
      .Ports(x, y).Types("T", kAnalytic).Elementwise().Gradient(TanhGradient).Kernel(PlanMap, RunMap<TanhOp>);
}

}  // namespace weft::blocks
