// UnsortedSegmentSum and UnsortedSegmentMax, where rows with the same id may stand anywhere; SegmentSumLike and SegmentSpread, the two ways
// between rows and segments that gradients are made of.
#include <algorithm>

#include "blocks/gradient_block.h"
#include "blocks/limits.h"
#include "blocks/math/segment_gradients.h"
#include "blocks/segments.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "[ids..., ...]: the shape of segment_ids and that of a row"};
constexpr In<1> segment_ids{"segment_ids", "Tindices", "of any shape: where in the output each row of data goes; below 0: nowhere"};
constexpr In<2> num_segments{"num_segments", "Tnumsegments", "a scalar: the number of rows of the output, above all ids"};
constexpr Out<0> output{"output", "T", "[num_segments, ...]"};

constexpr TypeList<int16_t, int32_t, int64_t> kIdTypes;

/// The sizes of a row: what is left of the shape after those of the ids.
Result<std::vector<int64_t>> RowDims(PlanContext& ctx, const InputPort auto& port) {
  const Shape &shape = ctx.shape(port), &ids = ctx.shape(segment_ids);
  bool fits = ids.rank() <= shape.rank();
  for (int d = 0; fits && d < ids.rank(); ++d) fits = ids[d] == shape[d];
  if (!fits) return ctx.Error(segment_ids, "needs a shape that ", port.name, ", ", shape, ", begins with, found ", ids);
  const auto rest = shape.dims().subspan(ids.rank());
  return std::vector<int64_t>(rest.begin(), rest.end());
}

struct Parameters {
  SegmentKernel kernel;
  UnsortedSegments segments;
  int64_t inner;
};

/// Sets the output and the scratch memory for rows of these sizes.
template <InputPort P>
Result<Parameters> PlanRows(PlanContext& ctx, SegmentKernel kernel, int64_t segments, std::vector<int64_t> dims, const P& blame) {
  dims.insert(dims.begin(), segments);
  WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(blame, Shape::Make(dims)));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, blame.name));
  Parameters p{kernel, {ctx.dtype(segment_ids), ctx.shape(segment_ids).count(), segments}, shape.count(1, shape.rank())};
  if (shape.count() > 0) ctx.set_scratch(p.segments.ScratchBytes());
  ctx.set(output, std::move(shape));
  return p;
}

template <SegmentOp kOp>
Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, num_segments));
  const int64_t count = ctx.ints(num_segments)[0];
  if (count < 0) return ctx.Error(num_segments, "needs 0 or more, found ", count);
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> dims, RowDims(ctx, data));
  return PlanRows(ctx, MakeSegmentKernel(kOp, ctx.dtype(data), true), count, std::move(dims), num_segments);
}

constexpr auto RunValid = [](const Parameters& p, RunContext& ctx) {
  if (p.segments.segments == 0 || p.inner == 0) return;
  std::byte* scratch = ctx.scratch().data();
  const int64_t* order = p.segments.Group(ctx.in<std::byte>(segment_ids).data(), nullptr, scratch, ctx.workers());
  if (order == nullptr) return;  // the run is to end
  const kernels::SegmentRows rows{ctx.in<std::byte>(data).data(), p.inner, order};
  ReduceSegments(p.kernel, p.segments, rows, scratch, ctx.out<std::byte>(output).data(), ctx.workers());
};

constexpr auto Run = [](const Parameters& p, RunContext& ctx) -> Status {
  if (p.inner == 0) return {};  // TensorFlow looks at no id then
  WEFT_ASSIGN_OR_RETURN(const int64_t bad, p.segments.FirstTooLarge(ctx.in<std::byte>(segment_ids).data(), ctx.workers()));
  if (bad >= 0) {
    return ctx.Error(segment_ids, "needs ids below num_segments, ", p.segments.segments, ", found a larger one at position ", bad);
  }
  RunValid(p, ctx);
  return {};
};

template <SegmentOp kOp, class Types>
BlockDef Declare(const char* name, const char* summary, const char* details, Types types, void (*gradient)(GradientBuilder&)) {
  return Block(name, summary)
      .Details(details)
      .Ports(data, segment_ids, num_segments, output).Types("T", types).Types("Tindices", kIdTypes)
      .Types("Tnumsegments", kIndices).ShapedBy(num_segments)
      .Gradient(gradient).Kernel(Plan<kOp>, Run);
}

// ---- SegmentSumLike ----------------------------------------------------------------------------------------------------------

constexpr In<2> like{"like", "T", "[segments, ...]: gives its shape"};
constexpr Out<0> sums{"output", "T", "the shape of like"};
constexpr Attr<std::string> scale{"scale", "one", "divide by the number of rows with the id (mean), or by its root (sqrt_n)",
                                  "one|mean|sqrt_n"};

auto DeclareInternal(const char* name, const char* summary, const auto&... ports) {
  return Block(name, summary).Ports(ports...).Attrs(scale).Types("T", kFloats + kComplexes).Types("Tindices", kIdTypes).Internal();
}

SegmentOp OpOf(const std::string& scale_text) {
  return scale_text == "mean" ? SegmentOp::kMean : scale_text == "sqrt_n" ? SegmentOp::kSqrtN : SegmentOp::kSum;
}

Result<Parameters> PlanSumLike(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> dims, RowDims(ctx, data));
  const Shape& shape = ctx.shape(like);
  if (shape.rank() == 0 || !std::ranges::equal(shape.dims().subspan(1), dims)) {
    return ctx.Error(like, "needs rows of the shape of those of data, found shape ", shape, " for data of ", ctx.shape(data));
  }
  return PlanRows(ctx, MakeSegmentKernel(OpOf(ctx.attr(scale)), ctx.dtype(data)), shape[0], std::move(dims), like);
}

void SumLikeGradient(GradientBuilder& g) { g.Set(data, SegmentSpread(g, g.grad(sums), g.in(segment_ids), g.attr(scale).c_str())); }

// ---- SegmentSpread -----------------------------------------------------------------------------------------------------------

constexpr In<0> values{"values", "T", "[segments, ...]"};
constexpr Out<0> spread{"output", "T", "[ids..., ...]: for each id its row of values; zeros for an id that is no row"};

struct SpreadParameters {
  const ElementMoves* moves;
  SegmentScale scale;
  DType id_type;
  int64_t ids;
};

Result<SpreadParameters> PlanSpread(PlanContext& ctx) {
  const Shape &shape = ctx.shape(values), &ids = ctx.shape(segment_ids);
  if (shape.rank() == 0) return ctx.Error(values, "needs rank 1 or more, found a scalar");
  std::vector<int64_t> dims(ids.dims().begin(), ids.dims().end());
  dims.insert(dims.end(), shape.dims().begin() + 1, shape.dims().end());
  WEFT_RETURN_IF_ERROR(ctx.set_checked(spread, dims, segment_ids));
  const DType dtype = ctx.dtype(values);
  SpreadParameters p{&MovesOf(dtype), {OpOf(ctx.attr(scale)), dtype, shape[0], 0}, ctx.dtype(segment_ids), ids.count()};
  if (ctx.planned().outputs[0].count() == 0) return p;
  p.scale.inner = ctx.planned().outputs[0].count() / p.ids;
  ctx.set_scratch(p.scale.ScratchBytes() + p.ids * static_cast<int64_t>(sizeof(int64_t)));
  return p;
}

constexpr auto RunSpread = [](const SpreadParameters& p, RunContext& ctx) {
  const int64_t inner = p.scale.inner, segments = p.scale.segments, bytes = inner * p.moves->size;
  if (inner == 0) return;
  std::byte* scratch = ctx.scratch().data();
  int64_t* ids = reinterpret_cast<int64_t*>(scratch + p.scale.ScratchBytes());
  if (!WidenIds(p.id_type, ctx.in<std::byte>(segment_ids).data(), p.ids, ids, segments, ctx.workers()).ok()) return;
  const auto* rows = static_cast<const std::byte*>(
      p.scale.Apply({ids, static_cast<size_t>(p.ids)}, ctx.in<std::byte>(values).data(), scratch, ctx.workers()));
  std::byte* to = ctx.out<std::byte>(spread).data();
  kernels::ForEach(ctx.workers(), p.ids, 32768 / inner, [&](int64_t i) {
    std::byte* const row = to + i * bytes;
    if (ids[i] >= 0 && ids[i] < segments) p.moves->CopyLong(rows + ids[i] * bytes, row, inner, ctx.workers());
    else p.moves->FillLong(row, inner, nullptr, ctx.workers());
  });
};

}  // namespace

BlockDef UnsortedSegmentSum() {
  constexpr const char* kDetails = "Integers wrap; floats are summed in double. Rows of the output that no id names are 0.";
  return Declare<SegmentOp::kSum>("UnsortedSegmentSum", "Adds the rows with the same id, wherever they stand.", kDetails, kNumbers,
                                  SegmentSumGradient);
}

BlockDef UnsortedSegmentMax() {
  constexpr const char* kSummary = "The greatest of the rows with the same id, wherever they stand, element by element.";
  constexpr const char* kDetails = "Rows of the output that no id names have the lowest finite value of the type.";
  return Declare<SegmentOp::kGreatest>("UnsortedSegmentMax", kSummary, kDetails, kReals, SegmentExtremeGradient);
}

BlockDef SegmentSumLike() {
  constexpr const char* kSummary = "Adds the rows with the same id to as many rows as another tensor has; other ids count for nothing.";
  return DeclareInternal("SegmentSumLike", kSummary, data, segment_ids, like, sums).Gradient(SumLikeGradient).Kernel(PlanSumLike, RunValid);
}

BlockDef SegmentSpread() {
  constexpr const char* kSummary = "For each id a row of values: the way back of a segment sum.";
  return DeclareInternal("SegmentSpread", kSummary, values, segment_ids, spread)
      .Gradient(GradientBlock(values, "SegmentSumLike", {{"data", Grad(spread)}, {"segment_ids", segment_ids}, {"like", values}},
                              {scale.name}))
      .Kernel(PlanSpread, RunSpread);
}

}  // namespace weft::blocks
