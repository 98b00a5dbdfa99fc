// Max and Min over any axes.
#include "blocks/gradients.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

using namespace reduction;

template <bool kGreatest>
constexpr auto Run = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  Reduce<T>(layout, ctx, kernels::ExtremeOf<kernels::UnsignedOf<T>>::template Make<T>(kGreatest));
};

/// Elements that equal the extreme share its gradient evenly.
void Gradient(GradientBuilder& g) {
  const GradientValue chosen = OneWhereEqual(g, g.in(input), Spread(g, g.out(output)));
  const GradientValue count = g.Add("Sum", {{"input", {chosen}}, {"axis", {g.in(axis)}}}, {{"keep_dims", g.AttrOf("keep_dims")}});
  g.Set(input, Times(g, chosen, Spread(g, g.Add("Div", {{"x", {g.grad(output)}}, {"y", {count}}}))));
}

}  // namespace

BlockDef Max() {
  constexpr const char* kDetails = "NaN where there is one. Of no elements, the lowest value of the type.";
  return Declare("Max", "The greatest element along some axes.", kDetails, kReals + kQuantized, Gradient, Run<true>);
}

BlockDef Min() {
  constexpr const char* kDetails = "NaN where there is one. Of no elements, the highest value of the type.";
  return Declare("Min", "The least element along some axes.", kDetails, kReals + kQuantized, Gradient, Run<false>);
}

}  // namespace weft::blocks
