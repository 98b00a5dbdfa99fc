// StopGradient, PreventGradient, DebugGradientIdentity: the input as it is, with something to say about its gradient.
#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "any shape"};
constexpr Out<0> output{"output", "T", "the shape of input"};
constexpr Attr<std::string> message{"message", "", "said when a gradient is asked for"};

Status Refuse(GradientBuilder& g) {
  const std::string reason = g.attr(message);
  return Unsupported("lets no gradient through", reason.empty() ? "" : ": ", reason);
}

}  // namespace

BlockDef StopGradient() {
  return Block("StopGradient", "The input as it is; gradients take it for a constant.")
      .Ports(input, output).Types("T", kAllTypes).WithFlow(Flow::kForward).NotDifferentiable().PlanOnly(PlanMap);
}

BlockDef PreventGradient() {
  return Block("PreventGradient", "The input as it is; to ask for a gradient through it is an error.")
      .Ports(input, output).Types("T", kAllTypes).Attrs(message).WithFlow(Flow::kForward).Gradient(Refuse).PlanOnly(PlanMap);
}

BlockDef DebugGradientIdentity() {
  return Block("DebugGradientIdentity", "The input as it is; its gradient passes through and can be watched there.")
      .Ports(input, output).Types("T", kAllTypes).WithFlow(Flow::kForward)
      .Gradient([](GradientBuilder& g) { g.Set(input, g.grad(output)); })
      .PlanOnly(PlanMap);
}

}  // namespace weft::blocks
