// SparseSoftmax: softmax along the last axis, over the places that a sparse tensor has there; and the sums of its gradient.
#include <algorithm>

#include "blocks/gradients.h"
#include "blocks/kernels/reduce/softmax.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> sp_indices{"sp_indices", "DT_INT64", "[places, rank], in row-major order"};
constexpr In<1> sp_values{"sp_values", "T", "[places]"};
constexpr In<2> sp_shape{"sp_shape", "DT_INT64", "[rank]: the shape of the sparse tensor, of 2 axes or more"};
constexpr Out<0> output{"output", "T", "[places]: the values of the result, at the same places"};

Result<Places> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanSparse(ctx, sp_indices, sp_values, sp_shape));
  if (p.rank() < 2) return ctx.Error(sp_shape, "needs 2 sizes or more, found ", p.rank());
  ctx.set(output, ctx.shape(sp_values));
  ctx.set_scratch(p.offset_bytes);
  return p;
}

/// The ends of the rows, which follow one another.
Result<std::span<const int64_t>> RowEnds(const Places& p, RunContext& ctx) {
  const int64_t* index = ctx.in<int64_t>(sp_indices).data();
  WEFT_RETURN_IF_ERROR(p.Check(index, nullptr, ctx.workers()));
  WEFT_RETURN_IF_ERROR(p.CheckOrder(index, false, ctx.workers()));
  int64_t* ends = ctx.scratch<int64_t>().data();
  size_t rows = 0;
  kernels::StopCheck stop(ctx.workers());
  for (int64_t place = 1; place <= p.count; ++place, index += p.rank()) {
    if (stop(static_cast<int64_t>(p.rank()))) return kernels::RunStopped();
    if (place == p.count || CompareIndices(index, index + p.rank(), p.rank() - 1) != 0) ends[rows++] = place;
  }
  return std::span<const int64_t>(ends, rows);
}

/// Calls row(begin, end) for the places of each row.
Status OverRows(const Places& p, RunContext& ctx, auto&& row) {
  WEFT_ASSIGN_OR_RETURN(const auto ends, RowEnds(p, ctx));
  const int64_t rows = static_cast<int64_t>(ends.size());
  kernels::ForEach(ctx.workers(), rows, 1 + 8192 * rows / std::max<int64_t>(p.count, 1), [&](int64_t i) {
    row(i == 0 ? 0 : ends[i - 1], ends[i]);
  });
  return {};
}

constexpr auto Run = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T* from = ctx.in<T>(sp_values).data();
  T* to = ctx.out<T>(output).data();
  return OverRows(p, ctx, [&](int64_t begin, int64_t end) {
    kernels::Softmax(from + begin, end - begin, to + begin, &ctx.workers());
  });
};

constexpr auto RunSums = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T* from = ctx.in<T>(sp_values).data();
  T* to = ctx.out<T>(output).data();
  return OverRows(p, ctx, [&](int64_t begin, int64_t end) {
    double total = 0;
    kernels::ForTiles(ctx.workers(), end - begin, kernels::kItemsBetweenLooks, [&](int64_t first, int64_t last) {
      for (int64_t i = begin + first; i < begin + last; ++i) total += static_cast<double>(from[i]);
    });
    kernels::FillLong(ctx.workers(), to + begin, end - begin, static_cast<T>(total));
  });
};

GradientValue RowSums(GradientBuilder& g, GradientValue values) {
  return g.Add("SparseRowSums", {{"sp_indices", {g.in(sp_indices)}}, {"sp_values", {values}}, {"sp_shape", {g.in(sp_shape)}}});
}

void Gradient(GradientBuilder& g) {
  const GradientValue dy = g.grad(output), y = g.out(output);
  g.Set(sp_values, Times(g, Minus(g, dy, RowSums(g, Times(g, dy, y))), y));
}

auto RowBlock(const char* name, const char* summary) {
  return Block(name, summary).Ports(sp_indices, sp_values, sp_shape, output).Types("T", TypeList<half, float, double>{}).ShapedBy(sp_shape);
}

}  // namespace

BlockDef SparseSoftmax() {
  return RowBlock("SparseSoftmax", "Softmax along the last axis of a sparse tensor, over the places that are there.")
      .Details("Where there is no place nothing counts: it is not taken for a 0.")
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef SparseRowSums() {
  return RowBlock("SparseRowSums", "At each place of a sparse tensor the sum of all values of its row, along the last axis.")
      .Internal()
      // A value counts in the sums of its own row, each alike.
      .Gradient([](GradientBuilder& g) { g.Set(sp_values, RowSums(g, g.grad(output))); })
      .Kernel(Plan, RunSums);
}

}  // namespace weft::blocks
