// Shape, ShapeN, Size, Rank: what is known of a tensor without its elements.
#include <limits>

#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr InList<0> inputs{"input", "T", "N", "tensors of any shapes"};
constexpr Out<0> sizes{"output", "out_type", "[rank]: the sizes of the input"};
constexpr OutList<0> all_sizes{"output", "out_type", "N", "[rank]: the sizes of each input"};
constexpr Out<0> size{"output", "out_type", "a scalar: how many elements the input has"};
constexpr Out<0> rank{"output", "DT_INT32", "a scalar: how many axes the input has"};
constexpr Attr<int64_t> length{"N", kRequired, "how many tensors there are", nullptr, 1};
constexpr Attr<DType> element{"T", kRequired, "the type of the input"};
constexpr Attr<DType> out_type{"out_type", "DT_INT32", "the type of the output"};

// A number that out_type cannot hold is refused rather than wrapped.
Status CheckFits(const PlanContext& ctx, const auto& port, int64_t number) {
  if (ctx.attr(out_type) == DType::kInt64 || number <= std::numeric_limits<int32_t>::max()) return {};
  return ctx.Error(port, "has ", number, ", which needs out_type DT_INT64");
}

Status PlanShapes(PlanContext& ctx) {
  for (int k = 0; k < ctx.count(inputs); ++k) {
    for (int64_t dim : ctx.shape(inputs, k).dims()) WEFT_RETURN_IF_ERROR(CheckFits(ctx, inputs, dim));
    ctx.set(all_sizes, Shape{ctx.shape(inputs, k).rank()}, k);
  }
  return {};
}

Status PlanSize(PlanContext& ctx) { return CheckFits(ctx, input, ctx.shape(input).count()); }
Status PlanRank(PlanContext&) { return {}; }

constexpr auto RunShapes = []<class T>(const NoParameters&, RunContext& ctx) {
  for (int k = 0; k < ctx.count(inputs); ++k) {
    auto out = ctx.out<T>(all_sizes, k);
    const Shape& shape = ctx.shape(inputs, k);
    for (int i = 0; i < shape.rank(); ++i) out[i] = static_cast<T>(shape[i]);
  }
};
constexpr auto RunSize = []<class T>(const NoParameters&, RunContext& ctx) {
  ctx.out<T>(size)[0] = static_cast<T>(ctx.shape(input).count());
};
constexpr auto RunRank = [](const NoParameters&, RunContext& ctx) { ctx.out<int32_t>(rank)[0] = ctx.shape(input).rank(); };

}  // namespace

BlockDef Shape() {
  return Block("Shape", "The sizes of a tensor.")
      .Ports(input, sizes).Attrs(element, out_type).Inferred(element).Types("out_type", kIndices).Types("T", kAllTypes).NotDifferentiable()
      .Kernel(PlanShapes, RunShapes);
}

BlockDef ShapeN() {
  return Block("ShapeN", "The sizes of several tensors.")
      .Ports(inputs, all_sizes).Attrs(length, element, out_type).Inferred(length, element).Types("out_type", kIndices).Types("T", kAllTypes)
      .NotDifferentiable().Kernel(PlanShapes, RunShapes);
}

BlockDef Size() {
  return Block("Size", "How many elements a tensor has.")
      .Ports(input, size).Attrs(element, out_type).Inferred(element).Types("out_type", kIndices).Types("T", kAllTypes)
      .NotDifferentiable().Kernel(PlanSize, RunSize);
}

BlockDef Rank() {
  return Block("Rank", "How many axes a tensor has.")
      .Ports(input, rank).Types("T", kAllTypes).NotDifferentiable().Kernel(PlanRank, RunRank);
}

}  // namespace weft::blocks
