// Identity; Fill, ZerosLike, OnesLike: a tensor of one value; StopGradient, PreventGradient, DebugGradientIdentity, which have something to
// say about the gradient.
#include <algorithm>

#include "blocks/elementwise.h"
#include "blocks/gradient_block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "any shape"};
constexpr Out<0> output{"output", "T", "the shape of input"};
constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> y{"y", "T", "the shape of x"};

constexpr auto kOneTypes = kNumbers + TypeList<bool>{};
constexpr auto kZeroTypes = kNumbers + kQuantized + TypeList<bool, String>{};

/// Output 0 gets one value.
template <class T>
void FillWith(RunContext& ctx, const T& value) {
  const auto out = ctx.out<T>(y);
  T* to = out.data();
  ctx.workers().For(static_cast<int64_t>(out.size()), (int64_t{1} << 18) / static_cast<int64_t>(sizeof(T)),
                    [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
}
constexpr auto RunZeros = []<class T>(const NoParameters&, RunContext& ctx) { FillWith(ctx, T{}); };
constexpr auto RunOnes = []<class T>(const NoParameters&, RunContext& ctx) { FillWith(ctx, T(1)); };

constexpr Attr<std::string> message{"message", "", "said when a gradient is asked for"};

Status Refuse(GradientBuilder& g) {
  const std::string reason = g.attr(message);
  return Unsupported("lets no gradient through", reason.empty() ? "" : ": ", reason);
}

constexpr In<0> dims{"dims", "index_type", "[rank]: the sizes of the output"};
constexpr In<1> value{"value", "T", "a scalar"};
constexpr Out<0> filled{"output", "T", "the value in every element, of shape dims"};

Status PlanFill(PlanContext& ctx) {
  if (ctx.shape(dims).rank() != 1) return ctx.Error(dims, "needs a vector of sizes, found ", ctx.shape(dims));
  if (!ctx.shape(value).scalar()) return ctx.Error(value, "needs a scalar, found ", ctx.shape(value));
  return ctx.set_checked(filled, ctx.ints(dims), dims);
}

constexpr auto RunFill = []<class T>(const NoParameters&, RunContext& ctx) { FillWith(ctx, ctx.in<T>(value)[0]); };

}  // namespace

BlockDef Identity() {
  return Block("Identity", "The input as it is.")
      .Ports(input, output).Types("T", kAllTypes)
      .WithFlow(Flow::kForward).Gradient([](GradientBuilder& g) { g.Set(input, g.grad(output)); }).PlanOnly(PlanMap);
}

BlockDef ZerosLike() {
  return Block("ZerosLike", "Zeros (empty strings, false) in the shape of x.")
      .Ports(x, y).Types("T", kZeroTypes).NotDifferentiable().Kernel(PlanMap, RunZeros, kBySize);
}

BlockDef OnesLike() {
  return Block("OnesLike", "Ones (true) in the shape of x.")
      .Ports(x, y).Types("T", kOneTypes).NotDifferentiable().Kernel(PlanMap, RunOnes);
}

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
      .Ports(input, output).Types("T", kAllTypes)
      .WithFlow(Flow::kForward).Gradient([](GradientBuilder& g) { g.Set(input, g.grad(output)); }).PlanOnly(PlanMap);
}

BlockDef Fill() {
  return Block("Fill", "A tensor of one value.")
      .Ports(dims, value, filled).Types("T", kAllTypes).Types("index_type", kIndices).ShapedBy(dims)
      .Gradient(GradientBlock(value, "SumLike", {{"grad", Grad(filled)}, {"like", value}})).Kernel(PlanFill, RunFill, kBySize);
}

}  // namespace weft::blocks
