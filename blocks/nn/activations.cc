// Relu, Relu6, Elu, Softplus, Softsign and the blocks of their gradients.
#include "blocks/elementwise.h"
#include "blocks/gradients.h"
#include "blocks/kernels/simd/vector_math.h"

namespace weft::blocks {
namespace {

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

struct EluFunction {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V a) { return a < 0 ? kernels::Expm1::Of(a < 0 ? a : V{}) : a; }
};
/// max(a, 0) + log(1 + exp(-|a|)), which neither overflows nor loses digits.
struct SoftplusFunction {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V a) { return (a > 0 ? a : V{}) + kernels::Log1p::Of(kernels::Exp::Of(a < 0 ? a : -a)); }
};
struct SoftsignFunction {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V a) { return a / (1 + (a < 0 ? -a : a)); }
};

struct EluGradFunction {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V gradient, V output) { return output < 0 ? (output + 1) * gradient : gradient; }
};
struct SoftplusGradFunction {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V gradient, V feature) { return gradient * kernels::Sigmoid::Of(feature); }
};
struct SoftsignGradFunction {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V gradient, V feature) {
    const V slope = 1 + (feature < 0 ? -feature : feature);
    return gradient / (slope * slope);
  }
};

constexpr In<0> features{"features", "T", "any shape"};
constexpr Out<0> activations{"activations", "T", "the shape of features"};

constexpr In<0> gradients{"gradients", "T", "the gradient with respect to the function's output, any shape"};
constexpr In<1> either{"features", "T", "the function's input, or its output, of the shape of gradients"};
constexpr In<1> grad_features{"features", "T", "the function's input, of the shape of gradients"};
constexpr In<1> grad_outputs{"outputs", "T", "Elu's output, of the shape of gradients"};
constexpr Out<0> backprops{"backprops", "T", "the gradient with respect to the function's input, of that shape"};

GradientValue GradOf(GradientBuilder& g, const char* block, const In<1>& value_port, GradientValue gradient, GradientValue value) {
  return g.Add(block, {{"gradients", {gradient}}, {value_port.name, {value}}});
}

/// Its gradient is `grad_block` of the activations, where `from_result`, or of the features, at `value_port`.
BlockDef Activation(const char* name, const char* summary, auto types, auto run, const char* grad_block, const In<1>& value_port,
                    bool from_result) {
  const auto gradient = [=](GradientBuilder& g) -> Status {
    g.Set(features, GradOf(g, grad_block, value_port, g.grad(activations), from_result ? g.out(activations) : g.in(features)));
    return {};
  };
  return Block(name, summary).Ports(features, activations).Types("T", types).Elementwise().Gradient(gradient).Kernel(PlanMap, run);
}

/// The gradient of a gradient with respect to the features or activations that it is of; `grad` is that of the backprops.
using Second = Term (*)(Term gradient, Term value, Term grad);

auto ActivationGrad(const char* name, const char* summary, auto types, const In<1>& value_port, Second of_value) {
  const auto gradient = [=](GradientBuilder& g) -> Status {
    const Term value{&g, g.in(value_port)}, grad{&g, g.grad(backprops)};
    if (g.wanted(gradients)) g.Set(gradients, GradOf(g, name, value_port, grad, value));
    if (g.wanted(value_port)) g.Set(value_port, of_value({&g, g.in(gradients)}, value, grad));
    return {};
  };
  auto block = Block(name, summary).Ports(gradients, value_port, backprops).Types("T", types).Elementwise();
  return of_value == nullptr ? std::move(block) : std::move(block).Gradient(gradient);
}

constexpr Second kZeros = [](Term, Term value, Term) { return Of("ZerosLike", value); };

}  // namespace

BlockDef Relu() {
  return Activation("Relu", "The larger of 0 and the element, for each element.", kReals, RunMap<ReluOp>, "ReluGrad", either, true);
}

BlockDef ReluGrad() {
  constexpr const char* kSummary = "The gradient of Relu: passes gradients where features are positive.";
  return ActivationGrad("ReluGrad", kSummary, kReals, either, kZeros).Kernel(PlanPairs, RunPairs<ReluGradOp>);
}

BlockDef Relu6() {
  return Activation("Relu6", "Each element, but at least 0 and at most 6.", kReals, RunMap<Relu6Op>, "Relu6Grad", either, true);
}

BlockDef Relu6Grad() {
  constexpr const char* kSummary = "The gradient of Relu6: passes gradients where features are between 0 and 6.";
  return ActivationGrad("Relu6Grad", kSummary, kReals, either, kZeros).Internal().Kernel(PlanPairs, RunPairs<Relu6GradOp>);
}

BlockDef Elu() {
  constexpr const char* kSummary = "The element where it is positive, exp(x) - 1 elsewhere.";
  return Activation("Elu", kSummary, kFloats, RunMap<EluFunction>, "EluGrad", grad_outputs, true);
}

BlockDef EluGrad() {
  constexpr const char* kSummary = "The gradient of Elu, from its output: gradients, times outputs + 1 where that is below 1.";
  constexpr Second kSecond = [](Term gradient, Term output, Term grad) {
    GradientBuilder& g = *grad.builder;
    const GradientValue bent = g.Add("Less", {{"x", {output}}, {"y", {output.Scalar(0)}}});
    return Term{&g, Chosen(g, bent, grad * gradient, grad.Scalar(0))};
  };
  return ActivationGrad("EluGrad", kSummary, kFloats, grad_outputs, kSecond).Internal().Kernel(PlanPairs, RunPairs<EluGradFunction>);
}

BlockDef Softplus() {
  constexpr auto kRun = RunMap<SoftplusFunction>;
  return Activation("Softplus", "log(1 + exp(x)) for each element.", kFloats, kRun, "SoftplusGrad", grad_features, false);
}

BlockDef SoftplusGrad() {
  constexpr const char* kSummary = "The gradient of Softplus: gradients / (1 + exp(-features)).";
  // The second derivative of Softplus is 1 / (exp(-x) + 2 + exp(x)).
  constexpr Second kSecond = [](Term gradient, Term x, Term grad) { return grad * gradient / (Of("Exp", -x) + 2 + Of("Exp", x)); };
  return ActivationGrad("SoftplusGrad", kSummary, kFloats, grad_features, kSecond)
      .Internal().Kernel(PlanPairs, RunPairs<SoftplusGradFunction>);
}

BlockDef Softsign() {
  constexpr auto kRun = RunMap<SoftsignFunction>;
  return Activation("Softsign", "x / (1 + |x|) for each element.", kFloats, kRun, "SoftsignGrad", grad_features, false);
}

BlockDef SoftsignGrad() {
  constexpr const char* kSummary = "The gradient of Softsign: gradients / (1 + |features|)^2.";
  return ActivationGrad("SoftsignGrad", kSummary, kFloats, grad_features, nullptr)
      .Internal().Kernel(PlanPairs, RunPairs<SoftsignGradFunction>);
}

}  // namespace weft::blocks
