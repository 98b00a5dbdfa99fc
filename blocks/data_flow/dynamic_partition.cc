// DynamicPartition and DynamicStitch: rows dealt out to several tensors, and put together again.
#include <algorithm>

#include "blocks/element_moves.h"
#include "blocks/gradients.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "the shape of partitions, then that of a row"};
constexpr In<1> partitions{"partitions", "DT_INT32", "the number of the output that each row goes to"};
constexpr OutList<0> outputs{"outputs", "T", "num_partitions", "[rows, ...]: the rows of each number, in their order"};
constexpr Attr<int64_t> num_partitions{"num_partitions", kRequired, "how many outputs there are", nullptr, 1};

constexpr InList<0> indices{"indices", "DT_INT32", "N", "where in the output each row goes, 0 or more"};
constexpr InList<1> pieces{"data", "T", "N", "the shape of its indices, then that of a row, the same in all"};
constexpr Out<0> merged{"merged", "T", "[rows, ...], rows being the largest index and one"};

/// Sizes of `shape` behind its first `axes`, in front of them an unknown number of rows.
PartialShape RowsOf(const Shape& shape, int axes) {
  std::vector<int64_t> dims{-1};
  for (int i = axes; i < shape.rank(); ++i) dims.push_back(shape[i]);
  return PartialShape::Make(std::move(dims)).value();
}

bool BeginsWith(const Shape& shape, const Shape& first) {
  return shape.rank() >= first.rank() && std::ranges::equal(first.dims(), shape.dims().first(static_cast<size_t>(first.rank())));
}

struct Rows {
  DType dtype = DType::kInvalid;
  PartialShape shape;  // of the outputs
  int64_t width = 0;   // elements of a row
};

Rows RowsFrom(DType dtype, const Shape& shape, int axes) { return {dtype, RowsOf(shape, axes), shape.count(axes, shape.rank())}; }

Result<Tensor> AllocateRows(const Rows& rows, int64_t count, const ProduceContext& ctx) {
  std::vector<int64_t> dims = rows.shape.dims();
  dims[0] = count;
  WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  return ctx.Allocate(rows.dtype, std::move(shape));
}

// ---- DynamicPartition --------------------------------------------------------------------------------------------------------

Result<Rows> PlanPartition(PlanContext& ctx) {
  const Shape &shape = ctx.shape(data), &numbers = ctx.shape(partitions);
  if (!BeginsWith(shape, numbers)) {
    return ctx.Error(partitions, "needs a shape that the shape of data, ", shape, ", begins with, found ", numbers);
  }
  Rows rows = RowsFrom(ctx.dtype(data), shape, numbers.rank());
  for (int k = 0; k < ctx.count(outputs); ++k) ctx.set_unknown(outputs, k, rows.shape);
  return rows;
}

constexpr auto RunPartition = [](const Rows& rows, ProduceContext& ctx) -> Status {
  const auto numbers = ctx.in<int32_t>(partitions);
  const int count = ctx.count(outputs);
  WEFT_ASSIGN_OR_RETURN(Tensor memory, ctx.Allocate(DType::kInt64, Shape{count}));
  const auto sizes = memory.values<int64_t>();
  std::ranges::fill(sizes, int64_t{0});
  kernels::StopCheck stop(ctx.workers());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    if (numbers[i] < 0 || numbers[i] >= count) {
      return ctx.Error(partitions, "needs numbers in [0, ", count, "), found ", numbers[i], " at position ", i);
    }
    ++sizes[static_cast<size_t>(numbers[i])];
  }
  std::vector<std::byte*> ends;
  for (int k = 0; k < count; ++k) {
    WEFT_ASSIGN_OR_RETURN(Tensor part, AllocateRows(rows, sizes[static_cast<size_t>(k)], ctx));
    ends.push_back(static_cast<std::byte*>(part.data()));
    ctx.Emit(outputs, std::move(part), k);
  }
  const ElementMoves& moves = MovesOf(rows.dtype);
  const int64_t bytes = rows.width * moves.size;
  const std::byte* from = ctx.in<std::byte>(data).data();
  for (size_t i = 0; i < numbers.size() && bytes != 0;) {
    size_t next = i + 1;  // rows that stay together move together
    while (next < numbers.size() && numbers[next] == numbers[i]) ++next;
    const auto run = static_cast<int64_t>(next - i);
    if (stop(run * rows.width + 4)) return kernels::RunStopped();
    std::byte*& end = ends[static_cast<size_t>(numbers[i])];
    moves.CopyLong(from, end, run * rows.width, ctx.workers());
    from += run * bytes;
    end += run * bytes;
    i = next;
  }
  return {};
};

/// The positions are dealt out like the rows, and say where the gradient of each row belongs.
void PartitionGradient(GradientBuilder& g) {
  const GradientValue zero = g.Constant(Tensor::Scalar<int32_t>(0)), one = g.Constant(Tensor::Scalar<int32_t>(1));
  const GradientValue size = g.Add("Size", {{"input", {g.in(partitions)}}});
  const GradientValue range = g.Add("Range", {{"start", {zero}}, {"limit", {size}}, {"delta", {one}}});
  const GradientValue positions = g.Add("ReshapeLike", {{"tensor", {range}}, {"like", {g.in(partitions)}}});
  const GradientValue dealt = g.Add("DynamicPartition", {{"data", {positions}}, {"partitions", {g.in(partitions)}}},
                                    {{"num_partitions", g.AttrOf("num_partitions")}});
  std::vector<GradientValue> where;
  for (int k = 0; k < g.count(outputs); ++k) where.push_back(GradientBuilder::Output(dealt, k));
  const GradientValue stitched = g.Add("DynamicStitch", {{"indices", where}, {"data", GradientsOrZeros(g, outputs)}});
  g.Set(data, g.Add("ReshapeLike", {{"tensor", {stitched}}, {"like", {g.in(data)}}}));
}

// ---- DynamicStitch -----------------------------------------------------------------------------------------------------------

Result<Rows> PlanStitch(PlanContext& ctx) {
  Rows rows;
  for (int k = 0; k < ctx.count(pieces); ++k) {
    const Shape &shape = ctx.shape(pieces, k), &names = ctx.shape(indices, k);
    if (!BeginsWith(shape, names)) {
      return ctx.Error(pieces, "needs a shape that begins with that of its indices, ", names, ", found ", shape, ", number ", k);
    }
    Rows own = RowsFrom(ctx.dtype(pieces), shape, names.rank());
    if (k > 0 && own.shape != rows.shape) {
      return ctx.Error(pieces, "needs rows of one shape, found ", own.shape, " after ", rows.shape, ", number ", k);
    }
    rows = std::move(own);
  }
  ctx.set_unknown(merged, 0, rows.shape);
  return rows;
}

constexpr auto RunStitch = [](const Rows& rows, ProduceContext& ctx) -> Status {
  int64_t count = 0;
  kernels::StopCheck stop(ctx.workers());
  for (int k = 0; k < ctx.count(indices); ++k) {
    for (int32_t index : ctx.in<int32_t>(indices, k)) {
      if (stop()) return kernels::RunStopped();
      if (index < 0) return ctx.Error(indices, "needs indices of 0 or more, found ", index, " in number ", k);
      count = std::max<int64_t>(count, int64_t{index} + 1);
    }
  }
  WEFT_ASSIGN_OR_RETURN(Tensor output, AllocateRows(rows, count, ctx));
  WEFT_ASSIGN_OR_RETURN(Tensor memory, ctx.Allocate(DType::kBool, Shape{count}));
  const auto written = memory.values<bool>();
  kernels::FillLong(ctx.workers(), written.data(), count, false);
  const ElementMoves& moves = MovesOf(rows.dtype);
  const int64_t bytes = rows.width * moves.size;
  auto* to = static_cast<std::byte*>(output.data());
  if (bytes != 0) {
    for (int k = 0; k < ctx.count(indices); ++k) {
      const std::byte* from = ctx.in<std::byte>(pieces, k).data();
      for (int32_t index : ctx.in<int32_t>(indices, k)) {
        if (stop(rows.width + 4)) return kernels::RunStopped();
        moves.CopyLong(from, to + index * bytes, rows.width, ctx.workers());
        from += bytes;
        written[static_cast<size_t>(index)] = true;
      }
    }
    kernels::ForEach(ctx.workers(), count, 1 + 32768 / rows.width, [&](int64_t i) {
      if (!written[static_cast<size_t>(i)]) moves.FillLong(to + i * bytes, rows.width, nullptr, ctx.workers());
    });
  }
  return Emitted(ctx, merged, std::move(output));
};

void StitchGradient(GradientBuilder& g) {
  for (int k = 0; k < g.count(pieces); ++k) {
    if (g.wanted(pieces, k)) g.Set(pieces, g.Add("Gather", {{"params", {g.grad(merged)}}, {"indices", {g.in(indices, k)}}}), k);
  }
}

}  // namespace

BlockDef DynamicPartition() {
  return Block("DynamicPartition", "Deals the rows of a tensor out to several tensors, by a number for each row.")
      .Ports(data, partitions, outputs)
      .Attrs(num_partitions)
      .Types("T", kAllTypes)
      .Gradient(PartitionGradient)
      .Producer(PlanPartition, RunPartition);
}

BlockDef DynamicStitch() {
  return Block("DynamicStitch", "Puts rows of several tensors together in one, each where its index says.")
      .Details("Of equal indices the last one counts; rows that no index names are zeros, or empty strings.")
      .Ports(indices, pieces, merged)
      .Types("T", kAllTypes)
      .Gradient(StitchGradient)
      .Producer(PlanStitch, RunStitch);
}

}  // namespace weft::blocks
