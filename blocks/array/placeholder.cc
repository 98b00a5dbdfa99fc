// Placeholder and PlaceholderV2: an output that a session feeds. PlaceholderWithDefault: one that it may feed.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "dtype", "the value where none is fed, of a shape that the attribute shape takes"};
constexpr Out<0> output{"output", "dtype", "the value that was fed"};
constexpr Out<0> fed_or_input{"output", "dtype", "the value that was fed, or else the input"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the elements"};
constexpr Attr<PartialShape> shape{"shape", "?", "the shape that a fed value must have; unknown sizes take any"};
constexpr Attr<PartialShape> needed{"shape", kRequired, "the shape that the value must have; unknown sizes take any"};

Status Plan(PlanContext& ctx) {
  PartialShape wanted = ctx.attr(shape);
  if (auto known = wanted.shape()) ctx.set(output, *known);
  else ctx.set_unknown(output, 0, std::move(wanted));
  return {};
}

constexpr auto Run = [](const NoParameters&, ProduceContext& ctx) {
  return ctx.Error(output, "needs a value for this run, found none").WithHint("feed it: a placeholder has no value of its own");
};

BlockDef FedOutput(const char* name) {
  return Block(name, "An output whose value a session feeds.")
      .Details("A run that reads it without feeding it fails.")
      .Ports(output).Attrs(dtype, shape).Types("dtype", kAllTypes).Stateful().Producer(Plan, Run);
}

Status PlanDefault(PlanContext& ctx) {
  if (!ctx.attr(needed).Accepts(ctx.shape(input))) {
    return ctx.Error(input, "needs the shape ", ctx.attr(needed), ", found ", ctx.shape(input));
  }
  ctx.set(fed_or_input, ctx.shape(input));
  return {};
}

}  // namespace

BlockDef Placeholder() { return FedOutput("Placeholder"); }

BlockDef PlaceholderV2() { return FedOutput("PlaceholderV2"); }

BlockDef PlaceholderWithDefault() {
  return Block("PlaceholderWithDefault", "An output whose value a session may feed; its input where none is fed.")
      .Ports(input, fed_or_input).Types("dtype", kAllTypes).Attrs(needed)
      .WithFlow(Flow::kForward).Gradient([](GradientBuilder& g) { g.Set(input, g.grad(fed_or_input)); })
      .PlanOnly(PlanDefault);
}

}  // namespace weft::blocks
