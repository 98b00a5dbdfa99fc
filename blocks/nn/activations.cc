// Elu, Softplus, Softsign and the blocks of their gradients. The functions are of whole vectors of floats or doubles.
#include "blocks/gradients.h"
#include "blocks/vector_broadcast.h"

namespace weft::blocks {
namespace {

constexpr In<0> features{"features", "T", "any shape"};
constexpr Out<0> activations{"activations", "T", "the shape of features"};

constexpr In<0> gradients{"gradients", "T", "the gradient with respect to the function's output, any shape"};
constexpr In<1> grad_features{"features", "T", "the function's input, of the shape of gradients"};
constexpr In<1> grad_outputs{"outputs", "T", "Elu's output, of the shape of gradients"};
constexpr Out<0> backprops{"backprops", "T", "the gradient with respect to the function's input, of that shape"};

struct EluFunction {
  template <class V>
  static V Of(V a) { return a < 0 ? kernels::Expm1::Of(a < 0 ? a : V{}) : a; }
};
/// max(a, 0) + log(1 + exp(-|a|)), which neither overflows nor loses digits.
struct SoftplusFunction {
  template <class V>
  static V Of(V a) { return (a > 0 ? a : V{}) + kernels::Log1p::Of(kernels::Exp::Of(a < 0 ? a : -a)); }
};
struct SoftsignFunction {
  template <class V>
  static V Of(V a) { return a / (1 + (a < 0 ? -a : a)); }
};

struct EluGradFunction {
  template <class V>
  static V Of(V gradient, V output) { return output < 0 ? (output + 1) * gradient : gradient; }
};
struct SoftplusGradFunction {
  template <class V>
  static V Of(V gradient, V feature) { return gradient * kernels::Sigmoid::Of(feature); }
};
struct SoftsignGradFunction {
  template <class V>
  static V Of(V gradient, V feature) {
    const V slope = 1 + (feature < 0 ? -feature : feature);
    return gradient / (slope * slope);
  }
};

GradientValue GradOf(GradientBuilder& g, std::string_view block, GradientValue gradient, GradientValue feature) {
  return g.Add(block, {{"gradients", {gradient}}, {"features", {feature}}});
}
GradientValue EluGradOf(GradientBuilder& g, GradientValue gradient, GradientValue output) {
  return g.Add("EluGrad", {{"gradients", {gradient}}, {"outputs", {output}}});
}

Status EluGradient(GradientBuilder& g) {
  g.Set(features, EluGradOf(g, g.grad(activations), g.out(activations)));
  return {};
}
Status SoftplusGradient(GradientBuilder& g) {
  g.Set(features, GradOf(g, "SoftplusGrad", g.grad(activations), g.in(features)));
  return {};
}
Status SoftsignGradient(GradientBuilder& g) {
  g.Set(features, GradOf(g, "SoftsignGrad", g.grad(activations), g.in(features)));
  return {};
}

Status EluGradGradient(GradientBuilder& g) {
  const GradientValue output = g.in(grad_outputs), grad = g.grad(backprops);
  if (g.wanted(gradients)) g.Set(gradients, EluGradOf(g, grad, output));
  if (g.wanted(grad_outputs)) {
    const GradientValue bent = g.Add("Less", {{"x", {output}}, {"y", {g.Scalar(output, 0)}}});
    g.Set(grad_outputs, Chosen(g, bent, Times(g, grad, g.in(gradients)), g.Scalar(grad, 0)));
  }
  return {};
}
/// The second derivative of Softplus is 1 / (exp(-x) + 2 + exp(x)).
Status SoftplusGradGradient(GradientBuilder& g) {
  const GradientValue x = g.in(grad_features), grad = g.grad(backprops);
  if (g.wanted(gradients)) g.Set(gradients, GradOf(g, "SoftplusGrad", grad, x));
  if (g.wanted(grad_features)) {
    const GradientValue falling = Applied(g, "Exp", Negated(g, x)), rising = Applied(g, "Exp", x);
    const GradientValue sum = Plus(g, Plus(g, falling, g.Scalar(x, 2)), rising);
    g.Set(grad_features, Divided(g, Times(g, grad, g.in(gradients)), sum));
  }
  return {};
}

}  // namespace

BlockDef Elu() {
  return Block("Elu", "The element where it is positive, exp(x) - 1 elsewhere.")
      .Ports(features, activations).Types("T", kFloats).Elementwise().Gradient(EluGradient).Kernel(PlanMap, RunMapVectors<EluFunction>);
}

BlockDef EluGrad() {
  return Block("EluGrad", "The gradient of Elu, from its output: gradients, times outputs + 1 where that is below 1.")
      .Ports(gradients, grad_outputs, backprops).Types("T", kFloats).Internal().Elementwise().Gradient(EluGradGradient)
      .Kernel(PlanPairs, RunPairVectors<EluGradFunction>);
}

BlockDef Softplus() {
  return Block("Softplus", "log(1 + exp(x)) for each element.")
      .Ports(features, activations).Types("T", kFloats).Elementwise().Gradient(SoftplusGradient)
      .Kernel(PlanMap, RunMapVectors<SoftplusFunction>);
}

BlockDef SoftplusGrad() {
  return Block("SoftplusGrad", "The gradient of Softplus: gradients / (1 + exp(-features)).")
      .Ports(gradients, grad_features, backprops).Types("T", kFloats).Internal().Elementwise().Gradient(SoftplusGradGradient)
      .Kernel(PlanPairs, RunPairVectors<SoftplusGradFunction>);
}

BlockDef Softsign() {
  return Block("Softsign", "x / (1 + |x|) for each element.")
      .Ports(features, activations).Types("T", kFloats).Elementwise().Gradient(SoftsignGradient)
      .Kernel(PlanMap, RunMapVectors<SoftsignFunction>);
}

BlockDef SoftsignGrad() {
  return Block("SoftsignGrad", "The gradient of Softsign: gradients / (1 + |features|)^2.")
      .Ports(gradients, grad_features, backprops).Types("T", kFloats).Internal().Elementwise()
      .Kernel(PlanPairs, RunPairVectors<SoftsignGradFunction>);
}

}  // namespace weft::blocks
