// SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN: segments of rows that indices pick out, and the gradients of the last two.
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/math/segment_gradients.h"
#include "blocks/segments.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "[rows, ...]"};
constexpr In<1> indices{"indices", "Tidx", "[n]: the rows of data to take"};
constexpr In<2> segment_ids{"segment_ids", "Tsegmentids", "[n]: the row of the output that each of them goes to; in ascending order"};
constexpr Out<0> output{"output", "T", "[last id + 1, ...]"};
constexpr Attr<bool> sparse_gradient{"sparse_gradient", "false", "a hint for how to compute the gradient; changes nothing"};

Status CheckVectors(PlanContext& ctx) {
  const Shape &rows = ctx.shape(indices), &ids = ctx.shape(segment_ids);
  if (rows.rank() != 1) return ctx.Error(indices, "needs a vector, found shape ", rows);
  if (ids.rank() != 1 || ids[0] != rows[0]) {
    return ctx.Error(segment_ids, "needs a vector of ", rows[0], " ids, one for each of indices, found shape ", ids);
  }
  return {};
}

struct Parameters {
  SegmentKernel kernel;
  SortedSegments segments;
  DType index_type;
  int64_t count, rows, inner;
};

template <SegmentOp kOp>
Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(data);
  if (shape.rank() == 0) return ctx.Error(data, "needs rank 1 or more, found a scalar");
  WEFT_RETURN_IF_ERROR(CheckVectors(ctx));
  auto sorted = SortedSegmentsOf(ctx.ints(segment_ids));
  if (!sorted.ok()) return std::move(sorted).status().WithPort(segment_ids.name);
  const int64_t count = ctx.shape(indices)[0];
  Parameters p{MakeSegmentKernel(kOp, ctx.dtype(data)), std::move(*sorted), ctx.dtype(indices), count, shape[0], 0};
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = p.segments.segments;
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, segment_ids));
  p.inner = ctx.planned().outputs[0].count() / std::max<int64_t>(dims[0], 1);
  ctx.set_scratch(count * static_cast<int64_t>(sizeof(int64_t)));
  return p;
}

constexpr auto Run = [](const Parameters& p, RunContext& ctx) -> Status {
  int64_t* rows = ctx.scratch<int64_t>().data();
  const int64_t bad = WidenIds(p.index_type, ctx.in<std::byte>(indices).data(), p.count, rows, p.rows);
  if (bad >= 0) return ctx.Error(indices, "needs rows of data, 0 to ", p.rows - 1, ", found ", rows[bad], " at position ", bad);
  ReduceSegments(p.kernel, p.segments, {ctx.in<std::byte>(data).data(), p.inner, rows}, ctx.out<std::byte>(output).data(), ctx.workers());
  return {};
};

Status Gradient(GradientBuilder& g, const char* scale) {
  const GradientValue rows = SegmentSpread(g, g.grad(output), g.in(segment_ids), scale);
  g.Set(data, SegmentSumLike(g, rows, g.in(indices), g.in(data)));
  return {};
}

template <SegmentOp kOp, class Types>
BlockDef Declare(const char* name, const char* summary, const char* details, Types types, GradientFunction gradient) {
  return Block(name, summary)
      .Details(details)
      .Ports(data, indices, segment_ids, output)
      .Types("T", types)
      .Types("Tidx", kIndices)
      .Types("Tsegmentids", kIndices)
      .Attrs(sparse_gradient)
      .ShapedBy(segment_ids)
      .Gradient(gradient)
      .Kernel(Plan<kOp>, Run);
}

// ---- SparseSegmentMeanGrad, SparseSegmentSqrtNGrad -----------------------------------------------------------------------------

constexpr In<0> grad{"grad", "T", "[segments, ...]: the gradient of the output"};
constexpr In<3> output_dim0{"output_dim0", "DT_INT32", "a scalar: the rows of data"};
constexpr Out<0> data_grad{"output", "T", "[output_dim0, ...]"};

struct GradParameters {
  SegmentKernel sum;
  SegmentScale scale;
  DType index_type, id_type;
  int64_t count, rows;  // of indices, of the output

  UnsortedSegments targets() const { return {DType::kInt64, count, rows}; }
  int64_t ScratchBytes() const { return scale.ScratchBytes() + 2 * count * 8 + targets().ScratchBytes(); }
};

template <SegmentOp kOp>
Result<GradParameters> PlanGrad(PlanContext& ctx) {
  const Shape& shape = ctx.shape(grad);
  if (shape.rank() == 0) return ctx.Error(grad, "needs rank 1 or more, found a scalar");
  WEFT_RETURN_IF_ERROR(CheckVectors(ctx));
  if (!ctx.shape(output_dim0).scalar()) return ctx.Error(output_dim0, "needs a scalar, found shape ", ctx.shape(output_dim0));
  const int64_t rows = ctx.ints(output_dim0)[0];
  if (rows < 0) return ctx.Error(output_dim0, "needs 0 or more, found ", rows);
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  WEFT_RETURN_IF_ERROR(ctx.set_checked(data_grad, dims, output_dim0));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.planned().outputs[0], output_dim0.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, grad.name));
  const DType dtype = ctx.dtype(grad);
  const SegmentScale scale{kOp, dtype, shape[0], shape.count(1, shape.rank())};
  const GradParameters p{MakeSegmentKernel(SegmentOp::kSum, dtype), scale, ctx.dtype(indices), ctx.dtype(segment_ids), ctx.shape(indices)[0],
                         rows};
  ctx.set_scratch(p.ScratchBytes());
  return p;
}

constexpr auto RunGrad = [](const GradParameters& p, RunContext& ctx) -> Status {
  std::byte* scratch = ctx.scratch().data();
  int64_t* ids = reinterpret_cast<int64_t*>(scratch + p.scale.ScratchBytes());
  int64_t* targets = ids + p.count;
  std::byte* groups = reinterpret_cast<std::byte*>(targets + p.count);
  const int64_t bad_id = WidenIds(p.id_type, ctx.in<std::byte>(segment_ids).data(), p.count, ids, p.scale.segments);
  if (bad_id >= 0) {
    return ctx.Error(segment_ids, "needs rows of grad, 0 to ", p.scale.segments - 1, ", found ", ids[bad_id], " at position ", bad_id);
  }
  const int64_t bad = WidenIds(p.index_type, ctx.in<std::byte>(indices).data(), p.count, targets, p.rows);
  if (bad >= 0) return ctx.Error(indices, "needs rows of the output, 0 to ", p.rows - 1, ", found ", targets[bad], " at position ", bad);
  if (p.scale.inner == 0) return {};
  const void* scaled = p.scale.Apply({ids, static_cast<size_t>(p.count)}, ctx.in<std::byte>(grad).data(), scratch, ctx.workers());
  const int64_t* order = p.targets().Group(targets, ids, groups, ctx.workers());
  if (order == nullptr) return kernels::RunStopped();
  ReduceSegments(p.sum, p.targets(), {scaled, p.scale.inner, order}, groups, ctx.out<std::byte>(data_grad).data(), ctx.workers());
  return {};
};

template <SegmentOp kOp>
BlockDef DeclareGrad(const char* name, const char* summary) {
  return Block(name, summary)
      .Details("Rows of the output that no index names are 0.")
      .Ports(grad, indices, segment_ids, output_dim0, data_grad)
      .Types("T", kFloats)
      .Types("Tidx", kIndices)
      .Types("Tsegmentids", kIndices)
      .ShapedBy(output_dim0)
      .Kernel(PlanGrad<kOp>, RunGrad);
}

constexpr const char* kMissing = "Rows of the output that no id names are 0.";

}  // namespace

BlockDef SparseSegmentSum() {
  return Declare<SegmentOp::kSum>("SparseSegmentSum", "Adds rows that indices pick out, those with the same id.", kMissing, kReals,
                                  [](GradientBuilder& g) { return Gradient(g, "one"); });
}

BlockDef SparseSegmentMean() {
  return Declare<SegmentOp::kMean>("SparseSegmentMean", "Averages rows that indices pick out, those with the same id.", kMissing, kFloats,
                                   [](GradientBuilder& g) { return Gradient(g, "mean"); });
}

BlockDef SparseSegmentSqrtN() {
  return Declare<SegmentOp::kSqrtN>("SparseSegmentSqrtN",
                                    "Adds rows that indices pick out, those with the same id, and divides by the root of their number.",
                                    kMissing, kFloats, [](GradientBuilder& g) { return Gradient(g, "sqrt_n"); });
}

BlockDef SparseSegmentMeanGrad() {
  return DeclareGrad<SegmentOp::kMean>("SparseSegmentMeanGrad", "The gradient of SparseSegmentMean with respect to data.");
}

BlockDef SparseSegmentSqrtNGrad() {
  BlockDef def = DeclareGrad<SegmentOp::kSqrtN>("SparseSegmentSqrtNGrad", "The gradient of SparseSegmentSqrtN with respect to data.");
  def.port_aliases.emplace_back("data", "grad");
  return def;
}

}  // namespace weft::blocks
