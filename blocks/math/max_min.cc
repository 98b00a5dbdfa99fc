// Max and Min over any axes.
#include "blocks/gradients.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

using namespace reduction;

template <bool kGreatest>
constexpr auto Run = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  using U = kernels::UnsignedOf<T>;
  const auto op = kernels::ExtremeOf<U>::template Make<T>(kGreatest);
  const U* from = reinterpret_cast<const U*>(ctx.in<T>(input).data());
  kernels::Reduce(layout, from, reinterpret_cast<U*>(ctx.out<T>(output).data()), ctx.scratch().data(), ctx.workers(), op);
};

/// Elements that equal the extreme share its gradient evenly.
Status Gradient(GradientBuilder& g) {
  const GradientValue x = g.in(input), axes = g.in(axis);
  const AttrValue& keep = g.AttrOf("keep_dims");
  const auto spread = [&](GradientValue v) {
    return g.Add("SpreadLike", {{"grad", {v}}, {"like", {x}}, {"axis", {axes}}}, {{"keep_dims", keep}});
  };
  const GradientValue equal = g.Add("Equal", {{"x", {x}}, {"y", {spread(g.out(output))}}});
  const GradientValue chosen = g.Add("Cast", {{"x", {equal}}}, {{"DstT", g.dtype(x)}});
  const GradientValue count = g.Add("Sum", {{"input", {chosen}}, {"axis", {axes}}}, {{"keep_dims", keep}});
  g.Set(input, Times(g, chosen, spread(g.Add("Div", {{"x", {g.grad(output)}}, {"y", {count}}}))));
  return {};
}

template <class Run>
BlockDef Declare(const char* name, const char* summary, const char* details, Run run) {
  return Block(name, summary)
      .Details(details)
      .Ports(input, axis, output)
      .Attrs(keep_dims)
      .Types("T", kReals + kQuantized)
      .Types("Tidx", kIndices)
      .ShapedBy(axis)
      .Gradient(Gradient)
      .Kernel(reduction::Plan, run);
}

}  // namespace

BlockDef Max() {
  return Declare("Max", "The greatest element along some axes.", "NaN where there is one. Of no elements, the lowest value of the type.",
                 Run<true>);
}

BlockDef Min() {
  return Declare("Min", "The least element along some axes.", "NaN where there is one. Of no elements, the highest value of the type.",
                 Run<false>);
}

}  // namespace weft::blocks
