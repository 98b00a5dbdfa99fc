// SigmoidGrad, TanhGrad, ReciprocalGrad: the gradient of a function with respect to its argument, from the function's result y.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"

namespace weft::blocks {
namespace {

constexpr In<0> y{"y", "T", "the function's result, any shape"};
constexpr In<1> dy{"dy", "T", "the gradient with respect to y, of its shape"};
constexpr Out<0> z{"z", "T", "the gradient with respect to the argument, of that shape"};

constexpr auto kAnalytic = kFloats + kComplexes;

struct SigmoidGradOp {
  template <class T>
  T operator()(T y, T dy) const { return kernels::Multiplied(kernels::Multiplied(dy, y), T(1) - y); }
  template <class V>
  static V Of(V y, V dy) { return dy * y * (1 - y); }
};
struct TanhGradOp {
  template <class T>
  T operator()(T y, T dy) const { return kernels::Multiplied(dy, T(1) - kernels::Multiplied(y, y)); }
  template <class V>
  static V Of(V y, V dy) { return dy * (1 - y * y); }
};
/// Takes the conjugate of y itself. A gradient of 0 stays 0, also where y is infinite.
struct ReciprocalGradOp {
  template <class T>
  T operator()(T y, T dy) const {
    if constexpr (Complex<T>) y = std::conj(y);
    const T slope = -kernels::Multiplied(kernels::Multiplied(dy, y), y);
    return dy == T(0) ? T(0) : slope;
  }
  template <class V>
  static V Of(V y, V dy) { return dy == V{} ? V{} : -(dy * y * y); }
};

GradientValue Again(GradientBuilder& g, std::string_view block, GradientValue result, GradientValue grad) {
  return g.Add(block, {{"y", {result}}, {"dy", {grad}}});
}

Status SigmoidGradGradient(GradientBuilder& g) {
  const GradientValue a = Conjugate(g, g.in(y)), grad = g.grad(z);
  if (g.wanted(y)) {
    const GradientValue gb = Times(g, grad, Conjugate(g, g.in(dy)));
    g.Set(y, Minus(g, gb, Times(g, Times(g, g.Scalar(gb, 2), gb), a)));
  }
  if (g.wanted(dy)) g.Set(dy, Again(g, "SigmoidGrad", a, grad));
  return {};
}

Status TanhGradGradient(GradientBuilder& g) {
  const GradientValue a = Conjugate(g, g.in(y)), grad = g.grad(z);
  if (g.wanted(y)) g.Set(y, Times(g, Times(g, Times(g, grad, g.Scalar(grad, -2)), Conjugate(g, g.in(dy))), a));
  if (g.wanted(dy)) g.Set(dy, Again(g, "TanhGrad", a, grad));
  return {};
}

Status ReciprocalGradGradient(GradientBuilder& g) {
  const GradientValue ca = Conjugate(g, g.in(y)), grad = g.grad(z);
  if (g.wanted(y)) {
    const GradientValue cg = Conjugate(g, grad);
    g.Set(y, Times(g, Times(g, Times(g, cg, g.Scalar(cg, -2)), g.in(dy)), ca));
  }
  if (g.wanted(dy)) g.Set(dy, Again(g, "ReciprocalGrad", ca, grad));
  return {};
}

}  // namespace

BlockDef SigmoidGrad() {
  return Block("SigmoidGrad", "The gradient of Sigmoid: dy * y * (1 - y).")
      .Ports(y, dy, z).Types("T", kAnalytic).Internal().Elementwise().Gradient(SigmoidGradGradient)
      .Kernel(PlanPairs, RunPairs<SigmoidGradOp>);
}

BlockDef TanhGrad() {
  return Block("TanhGrad", "The gradient of Tanh: dy * (1 - y * y).")
      .Ports(y, dy, z).Types("T", kAnalytic).Internal().Elementwise().Gradient(TanhGradGradient)
      .Kernel(PlanPairs, RunPairs<TanhGradOp>);
}

BlockDef ReciprocalGrad() {
  return Block("ReciprocalGrad", "The gradient of Reciprocal: -dy * y * y.")
      .Ports(y, dy, z).Types("T", kAnalytic).Internal().Elementwise().Gradient(ReciprocalGradGradient)
      .Kernel(PlanPairs, RunPairs<ReciprocalGradOp>);
}

}  // namespace weft::blocks
