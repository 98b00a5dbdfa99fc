// ArgMax and ArgMin.
#include "blocks/kernels/reduce/arg_extreme.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of rank 1 or more"};
constexpr In<1> dimension{"dimension", "Tidx", "a scalar in [-rank, rank): the axis to search"};
constexpr Out<0> output{"output", "output_type", "the input's shape without that axis"};
constexpr Attr<DType> output_type{"output_type", "DT_INT64", "the type of the positions"};

constexpr auto kSearched = kReals + kQuantized + TypeList<bool>{};

/// The input seen as [outer, size, inner].
struct Box {
  int64_t outer;
  kernels::ArgTasks cut;
  size_t position_bytes;
};

Result<Box> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  const int rank = shape.rank();
  if (rank == 0) return ctx.Error(input, "needs rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, dimension, shape));
  if (shape[at] == 0) return ctx.Error(input, "needs elements along axis ", at, ", found shape ", shape);
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + at);
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, input));
  const int64_t outer = shape.count() == 0 ? 0 : shape.count(0, at), inner = shape.count() == 0 ? 1 : shape.count(at + 1, rank);
  const auto element_bytes = static_cast<int64_t>(ElementSize(ctx.dtype(input)));
  const Box box{outer, {outer, shape[at], inner, element_bytes}, ElementSize(ctx.dtype(output))};
  ctx.set_scratch(box.cut.ScratchBytes());
  return box;
}

template <bool kGreatest>
constexpr auto Run = []<class T>(const Box& box, RunContext& ctx) {
  using U = kernels::UnsignedOf<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
  const auto order = kernels::ExtremeOf<U>::template Make<T>(kGreatest);
  const U* in = reinterpret_cast<const U*>(ctx.in<T>(input).data());
  const kernels::Positions out{ctx.out<std::byte>(output).data(), box.position_bytes};
  if (box.cut.parts > 1) return kernels::ArgExtremeInParts(order, in, box.outer, box.cut, ctx.scratch<std::byte>().data(), out, ctx.workers());
  ctx.workers().For(box.outer * box.cut.inner, box.cut.columns, [&](int64_t begin, int64_t end) {
    kernels::ArgExtreme(order, in, box.cut, begin, end, out, ctx.workers());
  });
};

BlockDef Declare(const char* name, const char* summary, auto axes, auto positions, auto run) {
  return Block(name, summary)
      .Details("Of equals the first. NaN is passed over; where nothing else is left, the position is 0.")
      .Ports(input, dimension, output).Types("T", kSearched).Types("Tidx", axes).Attrs(output_type)
      .Types("output_type", positions).ShapedBy(dimension)
      .NotDifferentiable().Kernel(Plan, run);
}

}  // namespace

BlockDef ArgMax() {
  constexpr TypeList<int16_t, int32_t, int64_t> kAxes;
  constexpr TypeList<int16_t, uint16_t, int32_t, int64_t> kPositions;
  return Declare("ArgMax", "Finds the position of the greatest element along an axis.", kAxes, kPositions, Run<true>);
}

BlockDef ArgMin() {
  return Declare("ArgMin", "Finds the position of the least element along an axis.", kIndices, kIndices, Run<false>);
}

}  // namespace weft::blocks
