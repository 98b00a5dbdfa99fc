// Relu, Relu6 and the blocks of their gradients.
#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> features{"features", "T", "any shape"};
constexpr Out<0> activations{"activations", "T", "the shape of features"};

constexpr In<0> gradients{"gradients", "T", "the gradient with respect to the function's output, any shape"};
constexpr In<1> grad_features{"features", "T", "the function's input, or its output, of the shape of gradients"};
constexpr Out<0> backprops{"backprops", "T", "the gradient with respect to the function's input, of that shape"};

/// NaN stays NaN, and -0 becomes 0.
struct ReluOp {
  template <class T>
  T operator()(T a) const { return a <= T(0) ? T(0) : a; }
  template <class V>
  static V Of(V a) { return a <= V{} ? V{} : a; }
};
struct Relu6Op {
  template <class T>
  T operator()(T a) const { return a <= T(0) ? T(0) : a >= T(6) ? T(6) : a; }
  template <class V>
  static V Of(V a) { return a <= V{} ? V{} : a >= V{} + 6 ? V{} + 6 : a; }
};
/// A product, so that a gradient that is not finite shows even where the feature is not positive.
struct ReluGradOp {
  template <class T>
  T operator()(T gradient, T feature) const { return WrapMultiply(gradient, feature > T(0) ? T(1) : T(0)); }
  template <class V>
  static V Of(V gradient, V feature) { return gradient * (feature > V{} ? V{} + 1 : V{}); }
};

struct Relu6GradOp {
  template <class T>
  T operator()(T gradient, T feature) const { return WrapMultiply(gradient, feature > T(0) && feature < T(6) ? T(1) : T(0)); }
  template <class V>
  static V Of(V gradient, V feature) { return gradient * ((feature > V{}) & (feature < V{} + 6) ? V{} + 1 : V{}); }
};

GradientValue GradOf(GradientBuilder& g, std::string_view block, GradientValue gradient, GradientValue feature) {
  return g.Add(block, {{"gradients", {gradient}}, {"features", {feature}}});
}

/// `grad_block` computes it from the output.
Status FromOutput(GradientBuilder& g, std::string_view grad_block) {
  g.Set(features, GradOf(g, grad_block, g.grad(activations), g.out(activations)));
  return {};
}
Status ReluGradient(GradientBuilder& g) { return FromOutput(g, "ReluGrad"); }
Status Relu6Gradient(GradientBuilder& g) { return FromOutput(g, "Relu6Grad"); }

Status SecondGradient(GradientBuilder& g, std::string_view grad_block) {
  if (g.wanted(gradients)) g.Set(gradients, GradOf(g, grad_block, g.grad(backprops), g.in(grad_features)));
  if (g.wanted(grad_features)) g.Set(grad_features, g.Add("ZerosLike", {{"x", {g.in(grad_features)}}}));
  return {};
}
Status ReluGradGradient(GradientBuilder& g) { return SecondGradient(g, "ReluGrad"); }
Status Relu6GradGradient(GradientBuilder& g) { return SecondGradient(g, "Relu6Grad"); }

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

BlockDef Relu6() {
  return Block("Relu6", "Each element, but at least 0 and at most 6.")
      .Ports(features, activations).Types("T", kReals).Elementwise().Gradient(Relu6Gradient).Kernel(PlanMap, RunMap<Relu6Op>);
}

BlockDef Relu6Grad() {
  return Block("Relu6Grad", "The gradient of Relu6: passes gradients where features are between 0 and 6.")
      .Ports(gradients, grad_features, backprops).Types("T", kReals).Internal().Elementwise().Gradient(Relu6GradGradient)
      .Kernel(PlanPairs, RunPairs<Relu6GradOp>);
}

}  // namespace weft::blocks
