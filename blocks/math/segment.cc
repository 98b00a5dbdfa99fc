// SegmentSum, SegmentMean, SegmentProd, SegmentMax, SegmentMin: rows with the same id, which stand together, reduced to one.
// SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN: the same of rows that indices pick out; and the gradients of the last two.
#include "blocks/limits.h"
#include "blocks/math/segment_gradients.h"
#include "blocks/segments.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "[n, ...]"};
constexpr In<1> segment_ids{"segment_ids", "Tindices", "[n]: the row of the output that each row of data goes to; in ascending order"};
constexpr Out<0> output{"output", "T", "[last id + 1, ...]"};

constexpr In<0> table{"data", "T", "[rows, ...]"};
constexpr In<1> indices{"indices", "Tidx", "[n]: the rows of data to take"};
constexpr In<2> picked_ids{"segment_ids", "Tsegmentids", "[n]: the row of the output that each of them goes to; in ascending order"};
constexpr Attr<bool> sparse_gradient{"sparse_gradient", "false", "a hint for how to compute the gradient; changes nothing"};

/// Numbers of rows that an input holds.
struct RowNumbers {
  DType dtype = DType::kInvalid;
  int64_t count = 0, rows = 0;  // how many there are, and each is below `rows`

  Status Read(RunContext& ctx, const InputPort auto& port, const char* of, int64_t* to) const {
    WEFT_ASSIGN_OR_RETURN(const int64_t bad, WidenIds(dtype, ctx.in<std::byte>(port).data(), count, to, rows, ctx.workers()));
    return bad < 0 ? Status() : ctx.Error(port, "needs rows of ", of, ", 0 to ", rows - 1, ", found ", to[bad], " at position ", bad);
  }
};

struct Parameters {
  SegmentKernel kernel;
  SortedSegments segments;
  int64_t inner;           // elements of a row
  RowNumbers picked = {};  // of the sparse ones
};

Status CheckPicked(PlanContext& ctx) {
  const Shape& rows = ctx.shape(indices);
  if (rows.rank() != 1) return ctx.Error(indices, "needs a vector, found shape ", rows);
  return CheckVector(ctx, picked_ids, rows[0], "of indices");
}
Status CheckRank(PlanContext& ctx, const In<0>& port) {
  return ctx.shape(port).rank() > 0 ? Status() : ctx.Error(port, "needs rank 1 or more, found a scalar");
}

/// The shape of the data with another number of rows.
std::vector<int64_t> WithRows(const Shape& shape, int64_t rows) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  return dims;
}

Result<Parameters> PlanSorted(PlanContext& ctx, SegmentOp op, const InputPort auto& ids) {
  const Shape& shape = ctx.shape(data);
  WEFT_ASSIGN_OR_RETURN(SortedSegments sorted, AtPort(ids, SortedSegmentsOf(ctx.value(ids))));
  const int64_t segments = sorted.segments;
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, WithRows(shape, segments), ids));
  const int64_t inner = ctx.planned().outputs[0].count() / std::max<int64_t>(segments, 1);
  return Parameters{MakeSegmentKernel(op, ctx.dtype(data)), std::move(sorted), inner};
}

template <SegmentOp kOp>
Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRank(ctx, data));
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, segment_ids, ctx.shape(data)[0], "row of data"));
  return PlanSorted(ctx, kOp, segment_ids);
}
constexpr auto Run = [](const Parameters& p, RunContext& ctx) {
  const kernels::SegmentRows rows{ctx.in<std::byte>(data).data(), p.inner, nullptr};
  ReduceSegments(p.kernel, p.segments, rows, ctx.out<std::byte>(output).data(), ctx.workers());
};

template <SegmentOp kOp>
Result<Parameters> PlanPicked(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRank(ctx, table));
  WEFT_RETURN_IF_ERROR(CheckPicked(ctx));
  WEFT_ASSIGN_OR_RETURN(Parameters p, PlanSorted(ctx, kOp, picked_ids));
  p.picked = {ctx.dtype(indices), ctx.shape(indices)[0], ctx.shape(table)[0]};
  ctx.set_scratch(p.picked.count * static_cast<int64_t>(sizeof(int64_t)));
  return p;
}
constexpr auto RunPicked = [](const Parameters& p, RunContext& ctx) -> Status {
  int64_t* rows = ctx.scratch<int64_t>().data();
  WEFT_RETURN_IF_ERROR(p.picked.Read(ctx, indices, "data", rows));
  ReduceSegments(p.kernel, p.segments, {ctx.in<std::byte>(table).data(), p.inner, rows}, ctx.out<std::byte>(output).data(), ctx.workers());
  return {};
};

// ---- gradients ---------------------------------------------------------------------------------------------------------------

void MeanGradient(GradientBuilder& g) { g.Set(data, SegmentSpread(g, g.grad(output), g.in(segment_ids), "mean")); }

/// Each element's gradient is the product of the others: of one that is 0 that of all which are not, or 0 where another one is 0, too; of
/// the rest that of all, divided by its own. So the product of all keeps its own gradient with respect to an element that is 0.
void ProductGradient(GradientBuilder& g) {
  const Term x{&g, g.in(data)}, grad{&g, g.grad(output)}, zero = x.Scalar(0);
  const GradientValue ids = g.in(segment_ids), is_zero = g.Add("Equal", {{"x", {x}}, {"y", {zero}}});
  const auto reduced = [&](const char* block, Term rows) { return Term{&g, g.Add(block, {{"data", {rows}}, {"segment_ids", {ids}}})}; };
  const auto spread = [&](Term rows) { return Term{&g, SegmentSpread(g, rows, ids)}; };
  const Term without_zeros{&g, Chosen(g, is_zero, x.Scalar(1), x)}, counted{&g, OneWhereEqual(g, x, zero)};
  const Term product = reduced("SegmentProd", without_zeros), zeros = reduced("SegmentSum", counted);
  const Term no_other{&g, OneWhereEqual(g, counted, spread(zeros))};
  const Term of_zero = spread(grad * Conj(product)) * no_other;
  const Term of_rest = spread(grad * Conj(Term{&g, g.out(output)})) / Conj(without_zeros);
  g.Set(data, Chosen(g, is_zero, of_zero, of_rest));
}

/// `scale` as SegmentSpread has it.
GradientFunction PickedGradient(const char* scale) {
  return [scale](GradientBuilder& g) -> Status {
    const GradientValue rows = SegmentSpread(g, g.grad(output), g.in(picked_ids), scale);
    g.Set(table, SegmentSumLike(g, rows, g.in(indices), g.in(table)));
    return {};
  };
}

// ---- SparseSegmentMeanGrad, SparseSegmentSqrtNGrad -----------------------------------------------------------------------------

constexpr In<0> grad{"grad", "T", "[segments, ...]: the gradient of the output"};
constexpr In<3> output_dim0{"output_dim0", "DT_INT32", "a scalar: the rows of data"};
constexpr Out<0> data_grad{"output", "T", "[output_dim0, ...]"};

struct GradParameters {
  SegmentKernel sum;
  SegmentScale scale;
  RowNumbers ids, targets;  // of grad, of the output

  UnsortedSegments segments() const { return {DType::kInt64, targets.count, targets.rows}; }
  int64_t ScratchBytes() const { return scale.ScratchBytes() + 2 * ids.count * 8 + segments().ScratchBytes(); }
};

template <SegmentOp kOp>
Result<GradParameters> PlanGrad(PlanContext& ctx) {
  const Shape& shape = ctx.shape(grad);
  WEFT_RETURN_IF_ERROR(CheckRank(ctx, grad));
  WEFT_RETURN_IF_ERROR(CheckPicked(ctx));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, output_dim0));
  const int64_t rows = ctx.ints(output_dim0)[0], count = ctx.shape(indices)[0];
  if (rows < 0) return ctx.Error(output_dim0, "needs 0 or more, found ", rows);
  WEFT_RETURN_IF_ERROR(ctx.set_checked(data_grad, WithRows(shape, rows), output_dim0));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.planned().outputs[0], output_dim0.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, grad.name));
  const DType dtype = ctx.dtype(grad);
  const GradParameters p{MakeSegmentKernel(SegmentOp::kSum, dtype),
                         {kOp, dtype, shape[0], shape.count(1, shape.rank())},
                         {ctx.dtype(picked_ids), count, shape[0]},
                         {ctx.dtype(indices), count, rows}};
  ctx.set_scratch(p.ScratchBytes());
  return p;
}

constexpr auto RunGrad = [](const GradParameters& p, RunContext& ctx) -> Status {
  if (p.targets.rows == 0) return {};  // TensorFlow looks at no index then
  std::byte* scratch = ctx.scratch().data();
  int64_t* ids = reinterpret_cast<int64_t*>(scratch + p.scale.ScratchBytes());
  int64_t* targets = ids + p.ids.count;
  std::byte* groups = reinterpret_cast<std::byte*>(targets + p.targets.count);
  WEFT_RETURN_IF_ERROR(p.ids.Read(ctx, picked_ids, "grad", ids));
  WEFT_RETURN_IF_ERROR(p.targets.Read(ctx, indices, "the output", targets));
  if (p.scale.inner == 0) return {};
  const void* scaled = p.scale.Apply({ids, static_cast<size_t>(p.ids.count)}, ctx.in<std::byte>(grad).data(), scratch, ctx.workers());
  const int64_t* order = p.segments().Group(targets, ids, groups, ctx.workers());
  if (order == nullptr) return kernels::RunStopped();
  ReduceSegments(p.sum, p.segments(), {scaled, p.scale.inner, order}, groups, ctx.out<std::byte>(data_grad).data(), ctx.workers());
  return {};
};

constexpr const char* kMissing = "Rows of the output that no id names are 0.";

template <SegmentOp kOp, class Types, class Gradient>
BlockDef Declare(const char* name, const char* summary, const char* details, Types types, Gradient gradient) {
  return Block(name, summary)
      .Details(details)
      .Ports(data, segment_ids, output).Types("T", types).Types("Tindices", kIndices).ShapedBy(segment_ids)
      .Gradient(gradient).Kernel(Plan<kOp>, Run);
}

auto DeclareSparse(const char* name, const char* summary, const char* details, auto types, const auto&... ports) {
  return Block(name, summary).Details(details).Ports(ports...).Types("T", types).Types("Tidx", kIndices).Types("Tsegmentids", kIndices);
}
template <SegmentOp kOp, class Types>
BlockDef DeclarePicked(const char* name, const char* summary, Types types, const char* scale) {
  return DeclareSparse(name, summary, kMissing, types, table, indices, picked_ids, output)
      .Attrs(sparse_gradient).ShapedBy(picked_ids).Gradient(PickedGradient(scale)).Kernel(PlanPicked<kOp>, RunPicked);
}
template <SegmentOp kOp>
BlockDef DeclareGrad(const char* name, const char* summary) {
  return DeclareSparse(name, summary, "Rows of the output that no index names are 0.", kFloats, grad, indices, picked_ids, output_dim0, data_grad)
      .ShapedBy(output_dim0).Kernel(PlanGrad<kOp>, RunGrad);
}

}  // namespace

BlockDef SegmentMax() {
  constexpr const char* kSummary = "The greatest of the rows with the same id, element by element.";
  return Declare<SegmentOp::kGreatest>("SegmentMax", kSummary, kMissing, kReals, SegmentExtremeGradient);
}

BlockDef SegmentMin() {
  constexpr const char* kSummary = "The least of the rows with the same id, element by element.";
  return Declare<SegmentOp::kLeast>("SegmentMin", kSummary, kMissing, kReals, SegmentExtremeGradient);
}

BlockDef SegmentSum() {
  constexpr const char* kDetails = "Integers wrap; floats are summed in double. Rows of the output that no id names are 0.";
  return Declare<SegmentOp::kSum>("SegmentSum", "Adds the rows with the same id.", kDetails, kNumbers, SegmentSumGradient);
}

BlockDef SegmentMean() {
  constexpr const char* kDetails = "Sums do not wrap on the way; means of integers are cut towards zero. Rows that no id names are 0.";
  return Declare<SegmentOp::kMean>("SegmentMean", "Averages the rows with the same id.", kDetails, kNumbers, MeanGradient);
}

BlockDef SegmentProd() {
  constexpr const char* kSummary = "Multiplies the rows with the same id, element by element.";
  constexpr const char* kDetails = "Integers wrap; floats are multiplied in double. Rows of the output that no id names are 1.";
  return Declare<SegmentOp::kProduct>("SegmentProd", kSummary, kDetails, kNumbers, ProductGradient);
}

BlockDef SparseSegmentSum() {
  constexpr const char* kSummary = "Adds rows that indices pick out, those with the same id.";
  return DeclarePicked<SegmentOp::kSum>("SparseSegmentSum", kSummary, kReals, "one");
}

BlockDef SparseSegmentMean() {
  constexpr const char* kSummary = "Averages rows that indices pick out, those with the same id.";
  return DeclarePicked<SegmentOp::kMean>("SparseSegmentMean", kSummary, kFloats, "mean");
}

BlockDef SparseSegmentSqrtN() {
  constexpr const char* kSummary = "Adds rows that indices pick out, those with the same id, and divides by the root of their number.";
  return DeclarePicked<SegmentOp::kSqrtN>("SparseSegmentSqrtN", kSummary, kFloats, "sqrt_n");
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
