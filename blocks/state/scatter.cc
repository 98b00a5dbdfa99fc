// ScatterAdd, ScatterSub, ScatterMul, ScatterDiv, ScatterUpdate and, by tuples of indices, ScatterNdAdd, ScatterNdSub, ScatterNdUpdate:
// rows of a variable that indices name are updated, one after another.
#include "blocks/kernels/first_where.h"
#include "blocks/rows.h"

namespace weft::blocks {
namespace {

using kernels::RowUpdate;

constexpr RefIn<0> ref{"ref", "T", "the variable, of rank 1 or more"};
constexpr In<1> indices{"indices", "Tindices", "which rows, of any shape; each from 0 and below the variable's first size"};
constexpr In<2> updates{"updates", "T", "the shape of indices, then that of a row; or a scalar for all rows"};
constexpr RefOut<0, 0> output_ref{"output_ref", "T", "the variable after the update"};
constexpr Attr<bool> use_locking{"use_locking", "false", "accepted and not used: updates never interleave"};
constexpr Attr<bool> locks{"use_locking", "true", "accepted and not used: updates never interleave"};

constexpr RefIn<0> table{"ref", "T", "the variable"};
constexpr In<1> tuples{"indices", "Tindices", "[..., K]: tuples of indices into the first K axes of the variable"};
constexpr In<2> slices{"updates", "T", "the shape of indices without its last axis, then the variable's from axis K"};

/// What is done to each row.
struct Change {
  RowUpdate op;
  bool replaces;
};
constexpr Change kAdds{RowUpdate::kAdd, false}, kSubtracts{RowUpdate::kSubtract, false}, kMultiplies{RowUpdate::kMultiply, false},
    kDivides{RowUpdate::kDivide, false}, kReplaces{RowUpdate::kAdd, true};

void Apply(PlanContext& ctx, Change change, RowUpdatePlan& plan) {
  plan.op = change.op;
  plan.replaces = change.replaces;
  PlanUpdateScratch(ctx, plan);
  ctx.set(output_ref, ctx.shape(ref));
}

Result<RowUpdatePlan> PlanRows(PlanContext& ctx, Change change) {
  const Shape &shape = ctx.shape(ref), &names = ctx.shape(indices);
  if (shape.rank() == 0) return ctx.Error(ref, "needs rank 1 or more, found a scalar");
  RowUpdatePlan plan;
  plan.dtype = ctx.dtype(ref);
  plan.index_bytes = static_cast<int>(ElementSize(ctx.dtype(indices)));
  plan.limits = {shape[0]};
  plan.strides = {1};
  plan.tables.rows = shape[0];
  plan.tables.width = shape.count(1, shape.rank());
  plan.tables.count = names.count();
  plan.one_update = ctx.shape(updates).scalar();
  std::vector<int64_t> named(names.dims().begin(), names.dims().end());
  named.insert(named.end(), shape.dims().begin() + 1, shape.dims().end());
  if (!plan.one_update) WEFT_RETURN_IF_ERROR(CheckNamed(ctx, updates, named));
  Apply(ctx, change, plan);
  return plan;
}

Result<RowUpdatePlan> PlanTupleChange(PlanContext& ctx, Change change) {
  WEFT_ASSIGN_OR_RETURN(RowUpdatePlan plan, PlanTupleUpdates(ctx, tuples, slices, ctx.shape(table)));
  WEFT_RETURN_IF_ERROR(CheckScattered(ctx, tuples, slices, ctx.shape(table)));
  Apply(ctx, change, plan);
  return plan;
}

template <Change change>
Result<RowUpdatePlan> Plan(PlanContext& ctx) { return PlanRows(ctx, change); }
template <Change change>
Result<RowUpdatePlan> PlanNd(PlanContext& ctx) { return PlanTupleChange(ctx, change); }

/// Integers are not divided by zero.
Status CheckDivisors(const RowUpdatePlan& plan, RunContext& ctx) {
  if (plan.op != RowUpdate::kDivide || !IsInteger(plan.dtype)) return {};
  Result<int64_t> zero = -1;
  Dispatch(plan.dtype, kIntegers, [&]<class T>() {
    const auto divisors = ctx.in<T>(updates);
    zero = kernels::FirstWhere(ctx.workers(), std::ssize(divisors), [&](int64_t i) { return divisors[static_cast<size_t>(i)] == T{0}; });
  });
  if (!zero.ok()) return zero.status();
  if (*zero < 0) return {};
  return ctx.Error(updates, "needs integers other than 0 to divide by, found 0 at position ", *zero);
}

constexpr auto Run = [](const RowUpdatePlan& plan, RunContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(CheckDivisors(plan, ctx));
  std::byte* to = ctx.update<std::byte>(ref).data();
  return CheckFound(plan, ctx, indices, RunUpdate(plan, ctx, DataOf(ctx, ref), DataOf(ctx, indices), DataOf(ctx, updates), to));
};

/// A block of rows.
auto Rows(const char* name, const char* summary) {
  return Block(name, summary).Ports(ref, indices, updates, output_ref).Updates(ref);
}
auto ArithmeticOnRows(const char* name, const char* summary) {
  return Rows(name, summary).Types("T", kNumbers).Types("Tindices", kIndices).Attrs(use_locking).NotDifferentiable();
}
/// A block of tuples.
auto Tuples(const char* name, const char* summary) {
  return Block(name, summary).Ports(table, tuples, slices, output_ref).Updates(table).NotDifferentiable();
}
auto ArithmeticOnTuples(const char* name, const char* summary) {
  return Tuples(name, summary).Types("T", kNumbers + TypeList<bool>{}).Types("Tindices", kIndices).Attrs(use_locking, kBadIndices);
}

}  // namespace

BlockDef ScatterAdd() { return ArithmeticOnRows("ScatterAdd", "Adds to rows of a variable, by index.").Kernel(Plan<kAdds>, Run); }
BlockDef ScatterSub() { return ArithmeticOnRows("ScatterSub", "Subtracts from rows of a variable, by index.").Kernel(Plan<kSubtracts>, Run); }
BlockDef ScatterMul() { return ArithmeticOnRows("ScatterMul", "Multiplies rows of a variable, by index.").Kernel(Plan<kMultiplies>, Run); }
BlockDef ScatterDiv() { return ArithmeticOnRows("ScatterDiv", "Divides rows of a variable, by index.").Kernel(Plan<kDivides>, Run); }

BlockDef ScatterUpdate() {
  return Rows("ScatterUpdate", "Replaces rows of a variable, by index; of several updates of a row the last counts.")
      .Types("T", kAllTypes).Types("Tindices", kIndices).Attrs(locks).Kernel(Plan<kReplaces>, Run);
}

BlockDef ScatterNdAdd() {
  return ArithmeticOnTuples("ScatterNdAdd", "Adds to slices of a variable, by tuples of indices.").Kernel(PlanNd<kAdds>, Run);
}

BlockDef ScatterNdSub() {
  return ArithmeticOnTuples("ScatterNdSub", "Subtracts from slices of a variable, by tuples of indices.").Kernel(PlanNd<kSubtracts>, Run);
}

BlockDef ScatterNdUpdate() {
  return Tuples("ScatterNdUpdate", "Replaces slices of a variable, by tuples of indices; of several updates of a slice the last counts.")
      .Types("T", kAllTypes).Types("Tindices", kIndices).Attrs(locks, kBadIndices).Kernel(PlanNd<kReplaces>, Run);
}

}  // namespace weft::blocks
