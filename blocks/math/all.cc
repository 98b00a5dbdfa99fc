// All and Any: reductions of booleans.
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_BOOL", "of any shape"};
constexpr Out<0> output{"output", "DT_BOOL", "the input's shape without the reduced axes; with size 1 for them where keep_dims"};

template <uint8_t kFlip>
constexpr auto Run = [](const kernels::ReduceLayout& layout, RunContext& ctx) { reduction::Reduce<bool>(layout, ctx, kernels::AllOf{kFlip}); };

BlockDef DeclareFlags(const char* name, const char* summary, const char* details, auto run) {
  return Block(name, summary)
      .Details(details)
      .Ports(input, reduction::axis, output).Attrs(reduction::keep_dims).Types("Tidx", kIndices)
      .ShapedBy(reduction::axis)
      .NotDifferentiable().Kernel(reduction::Plan, run);
}

}  // namespace

BlockDef All() { return DeclareFlags("All", "Says along some axes whether all elements are true.", "Of no elements, true.", Run<0>); }

BlockDef Any() { return DeclareFlags("Any", "Says along some axes whether any element is true.", "Of no elements, false.", Run<1>); }

}  // namespace weft::blocks
