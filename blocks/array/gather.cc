// Gather, GatherV2, GatherNd and the blocks of their gradients; ScatterNd and ScatterNdNonAliasingAdd: slices added to where tuples of
// indices say.
#include "blocks/gradient_block.h"
#include "blocks/limits.h"
#include "blocks/rows.h"

namespace weft::blocks {
namespace {

constexpr auto kRowIndices = TypeList<int16_t, int32_t, int64_t>{};

constexpr In<0> params{"params", "Tparams", "the table, of rank 1 or more"};
constexpr In<1> indices{"indices", "Tindices", "which rows, of any shape; each from 0 and below the size of the axis"};
constexpr Out<0> output{"output", "Tparams", "the shape of indices, then that of a row"};
constexpr Attr<bool> validate_indices{"validate_indices", "true", "accepted and not used: indices are always checked"};

constexpr In<2> axis{"axis", "Taxis", "a scalar: the axis of params that indices count along; negative counts from the end"};
constexpr Out<0> output_v2{"output", "Tparams", "the shape of params with the axis replaced by the shape of indices after the batch axes"};
constexpr Attr<int64_t> batch_dims{"batch_dims", "0",
                                   "how many first axes of params and indices go together; negative counts from the end of indices"};

constexpr In<1> tuples{"indices", "Tindices", "[..., K]: tuples of indices into the first K axes of params"};
constexpr Out<0> output_nd{"output", "Tparams", "the shape of indices without its last axis, then params' from axis K"};

// Gradients. The indices are those of the block, the output has the shape of `like`.
constexpr In<0> grad{"grad", "Tparams", "the gradient of what was gathered"};
constexpr In<3> like{"like", "Tparams", "what was gathered from; only its shape counts"};
constexpr In<2> like_nd{"like", "Tparams", "what was gathered from; only its shape counts"};
constexpr Out<0> summed{"output", "Tparams", "the shape of like: rows of grad added up where they came from, zeros elsewhere"};

struct AxisRows {
  RowUpdatePlan plan;
  std::vector<int64_t> gathered;  // the shape of the output
};

/// How indices of shape `names` count along an axis of a table of shape `table`.
Result<AxisRows> PlanAxis(PlanContext& ctx, const auto& port, const Shape& table, int64_t at, int64_t batch) {
  const Shape& names = ctx.shape(indices);
  AxisRows found;
  kernels::RowTables& t = found.plan.tables;
  const int first = static_cast<int>(batch), along = static_cast<int>(at);
  for (int k = 0; k < first; ++k) {
    if (table[k] != names[k]) return ctx.Error(indices, "needs the first ", batch, " sizes of ", port.name, ", ", table, ", found ", names);
  }
  t.batches = table.count(0, first);
  t.outer = table.count(first, along);
  t.rows = table[along];
  t.width = table.count(along + 1, table.rank());
  t.count = names.count(first, names.rank());
  found.plan.limits = {t.rows};
  found.plan.strides = {1};
  found.plan.index_bytes = static_cast<int>(ElementSize(ctx.dtype(indices)));
  found.plan.dtype = ctx.dtype(port);
  for (int k = 0; k < along; ++k) found.gathered.push_back(table[k]);
  for (int k = first; k < names.rank(); ++k) found.gathered.push_back(names[k]);
  for (int k = along + 1; k < table.rank(); ++k) found.gathered.push_back(table[k]);
  return found;
}

Result<AxisRows> PlanAxisInput(PlanContext& ctx, const auto& port) {
  const Shape &table = ctx.shape(port), &names = ctx.shape(indices);
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, axis, table));
  const int64_t wanted = ctx.attr(batch_dims);
  if (wanted < -names.rank() || wanted > names.rank()) {
    return ctx.Error(batch_dims, "needs at most the rank of indices, ", names.rank(), ", found ", wanted);
  }
  const int64_t batch = wanted < 0 ? wanted + names.rank() : wanted;
  if (batch > at) return ctx.Error(batch_dims, "needs at most the axis, ", at, ", found ", batch);
  return PlanAxis(ctx, port, table, at, batch);
}

Result<RowPlan> PlanGather(PlanContext& ctx) {
  if (ctx.shape(params).rank() == 0) return ctx.Error(params, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(AxisRows rows, PlanAxis(ctx, params, ctx.shape(params), 0, 0));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, rows.gathered, indices));
  return RowPlan(std::move(rows.plan));
}

Result<RowPlan> PlanGatherV2(PlanContext& ctx) {
  if (ctx.shape(params).rank() == 0) return ctx.Error(params, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(AxisRows rows, PlanAxisInput(ctx, params));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output_v2, rows.gathered, indices));
  return RowPlan(std::move(rows.plan));
}

Result<RowPlan> PlanGatherNd(PlanContext& ctx) {
  RowPlan plan;
  plan.dtype = ctx.dtype(params);
  std::vector<int64_t> named;
  const Shape& table = ctx.shape(params);
  if (table.rank() == 0) return ctx.Error(params, "needs rank 1 or more, found a scalar");
  WEFT_RETURN_IF_ERROR(PlanTuples(ctx, tuples, table, plan, named));
  if (plan.tables.count > 0 && table.count() == 0) {
    return ctx.Error(params, "needs elements for the ", plan.tables.count, " tuples of indices, found the empty shape ", table);
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output_nd, named, tuples));
  return plan;
}

Result<RowUpdatePlan> PlanGatherV2Grad(PlanContext& ctx) {
  if (ctx.shape(like).rank() == 0) return ctx.Error(like, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(AxisRows rows, PlanAxisInput(ctx, like));
  WEFT_RETURN_IF_ERROR(CheckNamed(ctx, grad, rows.gathered));
  ctx.set(summed, ctx.shape(like));
  PlanUpdateScratch(ctx, rows.plan);
  return std::move(rows.plan);
}

Result<RowUpdatePlan> PlanGatherNdGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(RowUpdatePlan plan, PlanTupleUpdates(ctx, tuples, grad, ctx.shape(like_nd)));
  ctx.set(summed, ctx.shape(like_nd));
  return plan;
}

constexpr auto RunRows = [](const RowPlan& plan, RunContext& ctx) -> Status {
  if (ctx.out<std::byte>(output).empty()) return {};  // no row is looked up, whatever the indices
  return CheckFound(plan, ctx, indices, RunGather(plan, ctx, DataOf(ctx, params), DataOf(ctx, indices), ctx.out<std::byte>(output).data()));
};

constexpr auto RunSums = [](const RowUpdatePlan& plan, RunContext& ctx) -> Status {
  std::byte* sums = ctx.out<std::byte>(summed).data();
  return CheckFound(plan, ctx, indices, RunUpdate(plan, ctx, nullptr, DataOf(ctx, indices), DataOf(ctx, grad), sums));
};

/// Gather has no batch_dims, and so takes the default.
GradientFunction GatherGradient(GradientSource along) {
  return GradientBlock(params, "GatherV2Grad", {{"grad", Grad(output)}, {"indices", indices}, {"axis", along}, {"like", params}},
                       {batch_dims.name});
}

constexpr In<0> places{"indices", "Tindices", "[..., K]: tuples of indices into the first K axes of the output"};
constexpr In<1> updates{"updates", "T", "the shape of indices without its last axis, then the output's from axis K"};
constexpr In<2> sizes{"shape", "Tindices", "a vector: the shape of the output"};
constexpr Out<0> scattered{"output", "T", "zeros, with the updates added; strings are joined"};

constexpr In<0> base{"input", "T", "what is added to"};
constexpr In<1> base_places{"indices", "Tindices", "[..., K]: tuples of indices into the first K axes of input"};
constexpr In<2> base_updates{"updates", "T", "the shape of indices without its last axis, then input's from axis K"};
constexpr Out<0> base_sum{"output", "T", "input with the updates added"};

Result<RowUpdatePlan> PlanScatter(PlanContext& ctx) {
  if (ctx.shape(sizes).rank() != 1) return ctx.Error(sizes, "needs a vector, found ", ctx.shape(sizes));
  WEFT_ASSIGN_OR_RETURN(weft::Shape wanted, AtPort(sizes, weft::Shape::Make(ctx.ints(sizes))));
  WEFT_ASSIGN_OR_RETURN(RowUpdatePlan plan, PlanTupleUpdates(ctx, places, updates, wanted));
  WEFT_RETURN_IF_ERROR(CheckScattered(ctx, places, updates, wanted));
  ctx.set(scattered, std::move(wanted));
  return plan;
}

Result<RowUpdatePlan> PlanAdd(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(RowUpdatePlan plan, PlanTupleUpdates(ctx, base_places, base_updates, ctx.shape(base)));
  WEFT_RETURN_IF_ERROR(CheckScattered(ctx, base_places, base_updates, ctx.shape(base)));
  ctx.set(base_sum, ctx.shape(base));
  return plan;
}

constexpr auto RunScatter = [](const RowUpdatePlan& plan, RunContext& ctx) -> Status {
  std::byte* to = ctx.out<std::byte>(scattered).data();
  return CheckFound(plan, ctx, places, RunUpdate(plan, ctx, nullptr, DataOf(ctx, places), DataOf(ctx, updates), to));
};

constexpr auto RunAdd = [](const RowUpdatePlan& plan, RunContext& ctx) -> Status {
  std::byte* to = ctx.out<std::byte>(base_sum).data();
  return CheckFound(plan, ctx, base_places,
                    RunUpdate(plan, ctx, DataOf(ctx, base), DataOf(ctx, base_places), DataOf(ctx, base_updates), to));
};

void AddGradient(GradientBuilder& g) {
  const GradientValue sum = g.grad(base_sum);
  g.Set(base, sum);
  if (!g.wanted(base_updates)) return;
  g.Set(base_updates, g.Add("GatherNd", {{"params", {sum}}, {"indices", {g.in(base_places)}}}, SameAttrs(g, {kBadIndices.name})));
}

}  // namespace

BlockDef Gather() {
  return Block("Gather", "Rows of a table, by index.")
      .Ports(params, indices, output).Attrs(validate_indices).Types("Tparams", kAllTypes).Types("Tindices", kRowIndices)
      .Gradient(GatherGradient(GradientSource([](GradientBuilder& g) { return g.Constant(Tensor::Scalar<int32_t>(0)); })))
      .Kernel(PlanGather, RunRows);
}

BlockDef GatherV2() {
  return Block("GatherV2", "Slices along an axis, by index.")
      .Ports(params, indices, axis, output_v2).Attrs(batch_dims).Types("Tparams", kAllTypes)
      .Types("Tindices", kRowIndices).Types("Taxis", kIndices).ShapedBy(axis)
      .Gradient(GatherGradient(axis)).Kernel(PlanGatherV2, RunRows);
}

BlockDef GatherV2Grad() {
  return Block("GatherV2Grad", "The gradient of GatherV2: slices added up where they came from.")
      .Ports(grad, indices, axis, like, summed).Attrs(batch_dims).Types("Tparams", kNumbers)
      .Types("Tindices", kRowIndices).Types("Taxis", kIndices).ShapedBy(axis)
      .Internal()
      .Gradient(GradientBlock(grad, "GatherV2", {{"params", Grad(summed)}, {"indices", indices}, {"axis", axis}}, {batch_dims.name}))
      .Kernel(PlanGatherV2Grad, RunSums);
}

BlockDef GatherNd() {
  return Block("GatherNd", "Slices of a table, by tuples of indices.")
      .Ports(params, tuples, output_nd).Types("Tparams", kAllTypes).Types("Tindices", kRowIndices).Attrs(kBadIndices)
      .Gradient(GradientBlock(params, "GatherNdGrad", {{"grad", Grad(output_nd)}, {"indices", tuples}, {"like", params}},
                              {kBadIndices.name}))
      .Kernel(PlanGatherNd, RunRows);
}

BlockDef GatherNdGrad() {
  return Block("GatherNdGrad", "The gradient of GatherNd: slices added up where they came from.")
      .Ports(grad, tuples, like_nd, summed).Types("Tparams", kNumbers).Types("Tindices", kRowIndices).Attrs(kBadIndices)
      .Internal().Gradient(GradientBlock(grad, "GatherNd", {{"params", Grad(summed)}, {"indices", tuples}}, {kBadIndices.name}))
      .Kernel(PlanGatherNdGrad, RunSums);
}

BlockDef ScatterNd() {
  return Block("ScatterNd", "Adds slices to zeros where tuples of indices say.")
      .Ports(places, updates, sizes, scattered).Types("T", kNumbers + TypeList<bool, String>{})
      .Types("Tindices", kIndices).Attrs(kBadIndices).ShapedBy(sizes)
      .Gradient(GradientBlock(updates, "GatherNd", {{"params", Grad(scattered)}, {"indices", places}}, {kBadIndices.name}))
      .Kernel(PlanScatter, RunScatter);
}

BlockDef ScatterNdNonAliasingAdd() {
  return Block("ScatterNdNonAliasingAdd", "Adds slices to a copy of the input where tuples of indices say.")
      .Ports(base, base_places, base_updates, base_sum).Types("T", kNumbers + TypeList<bool>{})
      .Types("Tindices", kIndices).Attrs(kBadIndices)
      .Gradient(AddGradient).Kernel(PlanAdd, RunAdd);
}

}  // namespace weft::blocks
