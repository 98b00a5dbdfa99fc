// All and Any: reductions of booleans.
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_BOOL", "of any shape"};
constexpr Out<0> output{"output", "DT_BOOL", "the input's shape without the reduced axes; with size 1 for them where keep_dims"};

void Reduce(const kernels::ReduceLayout& layout, RunContext& ctx, kernels::AllOf op) {
  kernels::Reduce(layout, ctx.in<bool>(input).data(), ctx.out<bool>(output).data(), ctx.scratch().data(), ctx.workers(), op);
}

constexpr auto RunAll = [](const kernels::ReduceLayout& layout, RunContext& ctx) { Reduce(layout, ctx, {0}); };
constexpr auto RunAny = [](const kernels::ReduceLayout& layout, RunContext& ctx) { Reduce(layout, ctx, {1}); };

template <class Run>
BlockDef Declare(const char* name, const char* summary, const char* details, Run run) {
  return Block(name, summary)
      .Details(details)
      .Ports(input, reduction::axis, output)
      .Attrs(reduction::keep_dims)
      .Types("Tidx", kIndices)
      .ShapedBy(reduction::axis)
      .NotDifferentiable()
      .Kernel(reduction::Plan, run);
}

}  // namespace

BlockDef All() { return Declare("All", "Says along some axes whether all elements are true.", "Of no elements, true.", RunAll); }

BlockDef Any() { return Declare("Any", "Says along some axes whether any element is true.", "Of no elements, false.", RunAny); }

}  // namespace weft::blocks
