#include "blocks/gradients.h"
#include "blocks/kernels/reduce/reduce.h"
#include "blocks/partial_reduction.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> t{"t", "T", "of any shape"};
constexpr Out<0> output{"output", "T", "a scalar"};

Result<kernels::ReduceLayout> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(t);
  ctx.set(output, Shape{});
  auto layout = kernels::ReduceLayout::Make(shape.dims(), std::vector<bool>(shape.rank(), true));
  ctx.set_scratch(layout.ScratchBytes());
  return layout;
}

constexpr auto Run = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  kernels::Reduce<kernels::HalfSquaresOf<T>>(layout, ctx.in<T>(t).data(), ctx.out<T>(output).data(), ctx.scratch().data(), ctx.workers());
};

constexpr auto SquaresFor = []<class T>(const kernels::ReduceLayout&) { return kernels::HalfSquaresOf<T>{}; };

void Gradient(GradientBuilder& g) { g.Set(t, Times(g, g.in(t), g.grad(output))); }

}  // namespace

BlockDef L2Loss() {
  BlockDef def = Block("L2Loss", "Half the sum of the squares of all elements.")
                     .Details("Summed in double and rounded once; 0 for no elements.")
                     .Ports(t, output).Types("T", kFloats).Gradient(Gradient).Kernel(Plan, Run);
  return WithPartialReduction(std::move(def), SquaresFor);
}

}  // namespace weft::blocks
