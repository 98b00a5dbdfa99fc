// RefSelect: one of several variables.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> index{"index", "DT_INT32", "a scalar: which of the inputs, from 0"};
constexpr RefInList<1> inputs{"inputs", "T", "N", "variables of any shapes"};
constexpr RefOut<0, 1> output{"output", "T", "the variable that index names"};
constexpr Attr<int64_t> length{"N", kRequired, "how many inputs there are", nullptr, 1};

Status PlanSelect(PlanContext& ctx) {
  if (!ctx.shape(index).scalar()) return ctx.Error(index, "needs a scalar, found ", ctx.shape(index));
  if (ctx.count(inputs) == 0) return ctx.Error(inputs, "needs one variable or more, found none");
  bool same = true;
  for (int k = 1; k < ctx.count(inputs); ++k) same &= ctx.shape(inputs, k) == ctx.shape(inputs);
  if (same) ctx.set(output, ctx.shape(inputs));
  else ctx.set_unknown(output);
  return {};
}

}  // namespace

BlockDef RefSelect() {
  return Block("RefSelect", "Chooses one of several variables; an update of its output changes that one.")
      .Ports(index, inputs, output)
      .Types("T", kAllTypes)
      .Attrs(length)
      .Inferred(length)
      .WithFlow(Flow::kSelect)
      .PlanOnly(PlanSelect);
}

}  // namespace weft::blocks
