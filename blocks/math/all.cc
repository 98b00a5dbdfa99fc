// Reductions of booleans.
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_BOOL", "of any shape"};
constexpr Out<0> output{"output", "DT_BOOL", "the input's shape without the reduced axes; with size 1 for them where keep_dims"};

constexpr auto Run = [](const kernels::ReduceLayout& layout, RunContext& ctx) {
  kernels::Reduce<kernels::AllOf>(layout, ctx.in<bool>(input).data(), ctx.out<bool>(output).data(), ctx.scratch().data(), ctx.workers());
};

}  // namespace

BlockDef All() {
  return Block("All", "Says along some axes whether all elements are true.")
      .Details("Of no elements, true.")
      .Ports(input, reduction::axis, output)
      .Attrs(reduction::keep_dims)
      .Types("Tidx", kIndices)
      .ShapedBy(reduction::axis)
      .NotDifferentiable()
      .Kernel(reduction::Plan, Run);
}

}  // namespace weft::blocks
