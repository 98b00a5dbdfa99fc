// What blocks share that gather or update rows of tables by index: what Plan finds out, and the runs.
#pragma once

#include <vector>

#include "blocks/kernels/index/gather_scatter.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// Which rows the indices name, in tables of which size.
struct RowPlan {
  kernels::RowTables tables;
  std::vector<int64_t> limits, strides;  // of one tuple of indices
  int index_bytes = 4;
  DType dtype = DType::kInvalid;  // of the elements
  bool skips = false;             // bad indices are left out, and are no error
  kernels::RowNames names() const { return {static_cast<int>(limits.size()), limits.data(), strides.data()}; }
};

struct RowUpdatePlan : RowPlan {
  kernels::RowUpdate op = kernels::RowUpdate::kAdd;
  bool replaces = false;     // op does not count
  bool one_update = false;   // a scalar serves all rows
  int64_t sums_offset = 0;   // in the scratch memory: the sums of short floats, the sizes of strings
};

/// What happens to indices that name no row.
inline constexpr Attr<std::string> kBadIndices{
    "bad_indices_policy", "", "ERROR, DEFAULT or empty: a bad index is an error; IGNORE: it is left out", "|ERROR|DEFAULT|IGNORE"};

/// Tuples of as many indices as the last axis of `indices` is long, which name rows of the `table`. `named` gets the shape of what they name:
/// that of all tuples, and then that of a row. Fails at `port`.
Status PlanTuples(PlanContext& ctx, const auto& port, const Shape& table, RowPlan& plan, std::vector<int64_t>& named) {
  const Shape& indices = ctx.shape(port);
  if (indices.rank() == 0) return ctx.Error(port, "needs rank 1 or more, found a scalar");
  const int64_t depth = indices[indices.rank() - 1];
  if (depth > table.rank()) {
    return ctx.Error(port, "needs tuples of at most ", table.rank(), " indices, the rank of what they name, found ", depth);
  }
  plan.index_bytes = static_cast<int>(ElementSize(ctx.dtype(port)));
  plan.skips = ctx.attr(kBadIndices) == "IGNORE";
  plan.tables.width = table.count(static_cast<int>(depth), table.rank());
  plan.limits.resize(static_cast<size_t>(depth));
  plan.strides.resize(static_cast<size_t>(depth));
  plan.tables.rows = 1;
  for (int k = static_cast<int>(depth) - 1; k >= 0; --k) {
    plan.limits[k] = table[k];
    plan.strides[k] = plan.tables.rows;
    plan.tables.rows *= table[k];
  }
  plan.tables.count = indices.count(0, indices.rank() - 1);
  for (int k = 0; k + 1 < indices.rank(); ++k) named.push_back(indices[k]);
  for (int k = static_cast<int>(depth); k < table.rank(); ++k) named.push_back(table[k]);
  return {};
}

/// Refuses a value at `port` that has not the shape that the indices name.
Status CheckNamed(PlanContext& ctx, const auto& port, const std::vector<int64_t>& named) {
  const auto found = ctx.shape(port).dims();
  if (std::equal(found.begin(), found.end(), named.begin(), named.end())) return {};
  auto needed = Shape::Make(named);
  std::string text = needed.ok() ? ToString(*needed) : "which is larger than any tensor";
  return ctx.Error(port, "needs the shape that the indices name, ", text, ", found ", ctx.shape(port));
}

/// Asks for the scratch memory of RunUpdate.
void PlanUpdateScratch(PlanContext& ctx, RowUpdatePlan& plan);

/// The plan of updates of what tuples of indices name in `table`.
Result<RowUpdatePlan> PlanTupleUpdates(PlanContext& ctx, const auto& indices, const auto& updates, const Shape& table) {
  RowUpdatePlan plan;
  plan.dtype = ctx.dtype(updates);
  std::vector<int64_t> named;
  WEFT_RETURN_IF_ERROR(PlanTuples(ctx, indices, table, plan, named));
  WEFT_RETURN_IF_ERROR(CheckNamed(ctx, updates, named));
  PlanUpdateScratch(ctx, plan);
  return plan;
}

/// What scattering asks for beyond PlanTuples: an axis, tuples of one index or more, and that what takes part is all empty or not at all.
/// A vector is no tuple for it, but an empty one does for an empty first axis.
Status CheckScattered(const PlanContext& ctx, const auto& indices, const auto& updates, const Shape& table) {
  const Shape &places = ctx.shape(indices), &slices = ctx.shape(updates);
  if (table.rank() == 0) return ctx.Error(indices, "needs an axis to count along, found none in a scalar");
  if (places.rank() == 1 && !(places[0] == 0 && table[0] == 0)) return ctx.Error(indices, "needs rank 2 or more, [..., K], found ", places);
  const bool nothing = places.count() == 0 && slices.count() == 0;
  if (nothing && table.count() == 0) return {};
  if (places[places.rank() - 1] == 0) return ctx.Error(indices, "needs tuples of one index or more, found ", places);
  if (nothing || (table.count() > 0 && places.count() > 0 && slices.count() > 0)) return {};
  return ctx.Error(updates, "needs indices, updates and room for them, or none of them, found indices ", places, ", updates ", slices,
                   " and room ", table);
}

/// What is wrong with tuple number `tuple`: "needs indices in [0, 4), found 7, number 2".
std::string BadIndexText(const RowPlan& plan, const void* indices, int64_t tuple);

/// Gives the number of the first bad tuple, or -1.
int64_t RunGather(const RowPlan& plan, RunContext& ctx, const void* from, const void* indices, void* to);

/// to = from (or zeros) with the rows updated; the first bad tuple's number, or -1. Nothing is written where bad tuples are an error.
/// resource_exhausted where the memory of the page lacks the bytes of joined strings.
Result<int64_t> RunUpdate(const RowUpdatePlan& plan, RunContext& ctx, const void* from, const void* indices, const void* updates, void* to);

/// The elements of an input, whatever they are.
const void* DataOf(const RunContext& ctx, const auto& port) { return ctx.in<std::byte>(port).data(); }

Status CheckFound(const RowPlan& plan, RunContext& ctx, const auto& port, Result<int64_t> missing) {
  if (!missing.ok()) return missing.status();
  if (*missing < 0 || plan.skips) return {};
  return ctx.Error(port, BadIndexText(plan, DataOf(ctx, port), *missing));
}

}  // namespace weft::blocks
