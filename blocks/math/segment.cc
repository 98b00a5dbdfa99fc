// SegmentSum, SegmentMean, SegmentProd, SegmentMax, SegmentMin: rows with the same id, which stand together, reduced to one.
#include "blocks/gradients.h"
#include "blocks/math/segment_gradients.h"
#include "blocks/segments.h"

namespace weft::blocks {
namespace {

constexpr In<0> data{"data", "T", "[n, ...]"};
constexpr In<1> segment_ids{"segment_ids", "Tindices", "[n]: the row of the output that each row of data goes to; in ascending order"};
constexpr Out<0> output{"output", "T", "[last id + 1, ...]"};

struct Parameters {
  SegmentKernel kernel;
  SortedSegments segments;
  int64_t inner;
};

template <SegmentOp kOp>
Result<Parameters> Plan(PlanContext& ctx) {
  const Shape &shape = ctx.shape(data), &ids = ctx.shape(segment_ids);
  if (shape.rank() == 0) return ctx.Error(data, "needs rank 1 or more, found a scalar");
  if (ids.rank() != 1 || ids[0] != shape[0]) {
    return ctx.Error(segment_ids, "needs a vector of ", shape[0], " ids, one for each row of data, found shape ", ids);
  }
  auto sorted = SortedSegmentsOf(ctx.ints(segment_ids));
  if (!sorted.ok()) return std::move(sorted).status().WithPort(segment_ids.name);
  Parameters p{MakeSegmentKernel(kOp, ctx.dtype(data)), std::move(*sorted), 0};
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = p.segments.segments;
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, segment_ids));
  p.inner = ctx.planned().outputs[0].count() / std::max<int64_t>(dims[0], 1);
  return p;
}

constexpr auto Run = [](const Parameters& p, RunContext& ctx) {
  const kernels::SegmentRows rows{ctx.in<std::byte>(data).data(), p.inner, nullptr};
  ReduceSegments(p.kernel, p.segments, rows, ctx.out<std::byte>(output).data(), ctx.workers());
};

Status SumGradient(GradientBuilder& g) {
  g.Set(data, SegmentSpread(g, g.grad(output), g.in(segment_ids)));
  return {};
}
Status MeanGradient(GradientBuilder& g) {
  g.Set(data, SegmentSpread(g, g.grad(output), g.in(segment_ids), "mean"));
  return {};
}
Status ExtremeGradient(GradientBuilder& g) {
  g.Set(data, SegmentExtremeGradient(g, g.in(data), g.in(segment_ids), g.out(output), g.grad(output)));
  return {};
}

/// Each element's gradient is the product of the others: that of all which are not 0, divided by its own where it is not 0. It is 0 where
/// another one is.
Status ProductGradient(GradientBuilder& g) {
  const GradientValue x = g.in(data), ids = g.in(segment_ids);
  const GradientValue is_zero = g.Add("Cast", {{"x", {g.Add("Equal", {{"x", {x}}, {"y", {g.Scalar(x, 0)}}})}}}, {{"DstT", g.dtype(x)}});
  const GradientValue without_zeros = g.Add("AddV2", {{"x", {x}}, {"y", {is_zero}}});
  const GradientValue product = g.Add("SegmentProd", {{"data", {without_zeros}}, {"segment_ids", {ids}}});
  const GradientValue zeros = g.Add("SegmentSum", {{"data", {is_zero}}, {"segment_ids", {ids}}});
  const GradientValue no_other =
      g.Add("Cast", {{"x", {g.Add("Equal", {{"x", {is_zero}}, {"y", {SegmentSpread(g, zeros, ids)}}})}}}, {{"DstT", g.dtype(x)}});
  const GradientValue total = Times(g, g.grad(output), Conjugate(g, product));
  const GradientValue others = g.Add("RealDiv", {{"x", {SegmentSpread(g, total, ids)}}, {"y", {Conjugate(g, without_zeros)}}});
  g.Set(data, Times(g, others, no_other));
  return {};
}

template <SegmentOp kOp, class Types>
BlockDef Declare(const char* name, const char* summary, const char* details, Types types, GradientFunction gradient) {
  return Block(name, summary)
      .Details(details)
      .Ports(data, segment_ids, output)
      .Types("T", types)
      .Types("Tindices", kIndices)
      .ShapedBy(segment_ids)
      .Gradient(gradient)
      .Kernel(Plan<kOp>, Run);
}

}  // namespace

BlockDef SegmentMax() {
  return Declare<SegmentOp::kGreatest>("SegmentMax", "The greatest of the rows with the same id, element by element.",
                                       "Rows of the output that no id names are 0.", kReals, ExtremeGradient);
}

BlockDef SegmentMin() {
  return Declare<SegmentOp::kLeast>("SegmentMin", "The least of the rows with the same id, element by element.",
                                    "Rows of the output that no id names are 0.", kReals, ExtremeGradient);
}

BlockDef SegmentSum() {
  return Declare<SegmentOp::kSum>("SegmentSum", "Adds the rows with the same id.",
                                  "Integers wrap; floats are summed in double. Rows of the output that no id names are 0.", kNumbers,
                                  SumGradient);
}

BlockDef SegmentMean() {
  return Declare<SegmentOp::kMean>("SegmentMean", "Averages the rows with the same id.",
                                   "Sums do not wrap on the way; means of integers are cut towards zero. Rows that no id names are 0.",
                                   kNumbers, MeanGradient);
}

BlockDef SegmentProd() {
  return Declare<SegmentOp::kProduct>("SegmentProd", "Multiplies the rows with the same id, element by element.",
                                      "Integers wrap; floats are multiplied in double. Rows of the output that no id names are 1.",
                                      kNumbers, ProductGradient);
}

}  // namespace weft::blocks
