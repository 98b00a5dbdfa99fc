// Relu and ReluGrad.
#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> features{"features", "T", "any shape"};
constexpr Out<0> activations{"activations", "T", "the shape of features"};

constexpr In<0> gradients{"gradients", "T", "the gradient with respect to Relu's output, any shape"};
constexpr In<1> grad_features{"features", "T", "Relu's input, or its output, of the shape of gradients"};
constexpr Out<0> backprops{"backprops", "T", "the gradient with respect to Relu's input, of that shape"};

/// NaN stays NaN, and -0 becomes 0.
struct ReluOp {
  template <class T>
  T operator()(T a) const { return a <= T(0) ? T(0) : a; }
};
/// A product, so that a gradient that is not finite shows even where the feature is not positive.
struct ReluGradOp {
  template <class T>
  T operator()(T gradient, T feature) const { return WrapMultiply(gradient, feature > T(0) ? T(1) : T(0)); }
};

GradientValue ReluGradOf(GradientBuilder& g, GradientValue gradient, GradientValue feature) {
  return g.Add("ReluGrad", {{"gradients", {gradient}}, {"features", {feature}}});
}

Status ReluGradient(GradientBuilder& g) {
  g.Set(features, ReluGradOf(g, g.grad(activations), g.out(activations)));
  return {};
}

Status ReluGradGradient(GradientBuilder& g) {
  if (g.wanted(gradients)) g.Set(gradients, ReluGradOf(g, g.grad(backprops), g.in(grad_features)));
  if (g.wanted(grad_features)) g.Set(grad_features, g.Add("ZerosLike", {{"x", {g.in(grad_features)}}}));
  return {};
}

}  // namespace

BlockDef Relu() {
  return Block("Relu", "The larger of 0 and the element, for each element.")
      .Ports(features, activations).Types("T", kReals).Elementwise().Gradient(ReluGradient).Kernel(PlanMap, RunMap<ReluOp>);
}

BlockDef ReluGrad() {
  return Block("ReluGrad", "The gradient of Relu: passes gradients where features are positive.")
      .Ports(gradients, grad_features, backprops).Types("T", kReals).Elementwise().Gradient(ReluGradGradient)
      .Kernel(PlanPairs, RunPairs<ReluGradOp>);
}

}  // namespace weft::blocks
