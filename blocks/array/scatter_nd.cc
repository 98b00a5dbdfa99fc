// ScatterNd, ScatterNdNonAliasingAdd: slices added to where tuples of indices say.
#include "blocks/limits.h"
#include "blocks/rows.h"

namespace weft::blocks {
namespace {

constexpr In<0> indices{"indices", "Tindices", "[..., K]: tuples of indices into the first K axes of the output"};
constexpr In<1> updates{"updates", "T", "the shape of indices without its last axis, then the output's from axis K"};
constexpr In<2> shape{"shape", "Tindices", "a vector: the shape of the output"};
constexpr Out<0> output{"output", "T", "zeros, with the updates added; strings are joined"};

constexpr In<0> input{"input", "T", "what is added to"};
constexpr In<1> input_indices{"indices", "Tindices", "[..., K]: tuples of indices into the first K axes of input"};
constexpr In<2> input_updates{"updates", "T", "the shape of indices without its last axis, then input's from axis K"};
constexpr Out<0> sum{"output", "T", "input with the updates added"};

Result<RowUpdatePlan> PlanScatter(PlanContext& ctx) {
  if (ctx.shape(shape).rank() != 1) return ctx.Error(shape, "needs a vector, found ", ctx.shape(shape));
  WEFT_ASSIGN_OR_RETURN(weft::Shape wanted, AtPort(shape, weft::Shape::Make(ctx.ints(shape))));
  WEFT_ASSIGN_OR_RETURN(RowUpdatePlan plan, PlanTupleUpdates(ctx, indices, updates, wanted));
  if (wanted.count() == 0 && ctx.shape(indices).count() > 0) {
    return ctx.Error(shape, "needs room for ", plan.tables.count, " updates, found the empty shape ", wanted);
  }
  ctx.set(output, std::move(wanted));
  return plan;
}

Result<RowUpdatePlan> PlanAdd(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(RowUpdatePlan plan, PlanTupleUpdates(ctx, input_indices, input_updates, ctx.shape(input)));
  ctx.set(sum, ctx.shape(input));
  return plan;
}

constexpr auto RunScatter = [](const RowUpdatePlan& plan, RunContext& ctx) -> Status {
  std::byte* to = ctx.out<std::byte>(output).data();
  return CheckFound(plan, ctx, indices, RunUpdate(plan, ctx, nullptr, DataOf(ctx, indices), DataOf(ctx, updates), to));
};

constexpr auto RunAdd = [](const RowUpdatePlan& plan, RunContext& ctx) -> Status {
  std::byte* to = ctx.out<std::byte>(sum).data();
  return CheckFound(plan, ctx, input_indices,
                    RunUpdate(plan, ctx, DataOf(ctx, input), DataOf(ctx, input_indices), DataOf(ctx, input_updates), to));
};

template <class P>
GradientValue Gathered(GradientBuilder& g, const P& names) {
  return g.Add("GatherNd", {{"params", {g.grad(output)}}, {"indices", {g.in(names)}}},
               {{"bad_indices_policy", g.AttrOf("bad_indices_policy")}});
}

void AddGradient(GradientBuilder& g) {
  g.Set(input, g.grad(sum));
  if (g.wanted(input_updates)) g.Set(input_updates, Gathered(g, input_indices));
}

}  // namespace

BlockDef ScatterNd() {
  return Block("ScatterNd", "Adds slices to zeros where tuples of indices say.")
      .Ports(indices, updates, shape, output)
      .Types("T", kNumbers + TypeList<bool, String>{})
      .Types("Tindices", kIndices)
      .Attrs(kBadIndices)
      .ShapedBy(shape)
      .Gradient([](GradientBuilder& g) { g.Set(updates, Gathered(g, indices)); })
      .Kernel(PlanScatter, RunScatter);
}

BlockDef ScatterNdNonAliasingAdd() {
  return Block("ScatterNdNonAliasingAdd", "Adds slices to a copy of the input where tuples of indices say.")
      .Ports(input, input_indices, input_updates, sum)
      .Types("T", kNumbers + TypeList<bool>{})
      .Types("Tindices", kIndices)
      .Attrs(kBadIndices)
      .Gradient(AddGradient)
      .Kernel(PlanAdd, RunAdd);
}

}  // namespace weft::blocks
