// StridedSlice, its gradient, and the assignment to a slice of a variable.
#include "blocks/array/strided_slice.h"

#include "blocks/gradient_block.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using namespace strided;

constexpr auto kSliceIndices = kIndices + TypeList<int16_t>{};

constexpr const char* kBegin = "[k]: for each of the first k axes where the slice begins; a negative number counts from the end";
constexpr const char* kEnd = "[k]: where it ends, one past the last element; a negative number counts from the end";
constexpr const char* kStrides = "[k]: the distance of its elements, not 0; a negative one walks backward";

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> begin{"begin", "Index", kBegin};
constexpr In<2> end{"end", "Index", kEnd};
constexpr In<3> strides{"strides", "Index", kStrides};
constexpr Out<0> output{"output", "T", "the slice"};

constexpr In<0> shape{"shape", "Index", "[rank]: the sizes of the tensor that was sliced"};
constexpr In<0> like{"like", "T", "the tensor that was sliced: gives its shape"};
constexpr In<4> dy{"dy", "T", "the gradient of the slice, in its shape"};
constexpr Out<0> whole{"output", "T", "the shape of the tensor: the gradient in its place, zeros elsewhere"};

constexpr RefIn<0> ref{"ref", "T", "the variable"};
constexpr In<4> value{"value", "T", "the slice's new elements: its shape, or one that can be stretched to it"};
constexpr RefOut<0, 0> output_ref{"output_ref", "T", "the variable after the update"};

Result<Selection> SelectFrom(const PlanContext& ctx, const Shape& from) {
  WEFT_ASSIGN_OR_RETURN(const Numbers numbers, ReadNumbers(ctx, begin, end, strides));
  return Select(ctx, from, numbers);
}

// ---- StridedSlice ----------------------------------------------------------------------------------------------------------

Result<BoxMove> PlanSlice(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Selection selection, SelectFrom(ctx, ctx.shape(input)));
  Shape slice = selection.shape();
  const std::vector<int64_t> out_steps = kernels::DenseSteps(slice.dims());
  std::vector<kernels::Axis> box;
  for (size_t i = 0; i < selection.axes.size(); ++i) box.push_back({selection.axes[i].size, selection.axes[i].step, out_steps[i]});
  ctx.set(output, std::move(slice));
  return MoveOf(std::move(box), ctx.dtype(input), selection.start);
}

std::vector<std::string_view> Masks() {
  return {begin_mask.name, end_mask.name, ellipsis_mask.name, new_axis_mask.name, shrink_axis_mask.name};
}

// ---- its gradient ----------------------------------------------------------------------------------------------------------

Result<BoxMove> PlanGradInto(PlanContext& ctx, const Shape& from) {
  WEFT_ASSIGN_OR_RETURN(const Selection selection, SelectFrom(ctx, from));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, dy, selection.shape(), "the slice"));
  return MoveIntoSlice(selection, ctx.shape(dy), ctx.dtype(dy), dy.name);
}

Result<BoxMove> PlanGrad(PlanContext& ctx) {
  if (ctx.shape(shape).rank() != 1) return ctx.Error(shape, "needs a vector of sizes, found ", ctx.shape(shape));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(whole, ctx.ints(shape), shape));
  return PlanGradInto(ctx, ctx.planned().outputs[0]);
}

Result<BoxMove> PlanGradLike(PlanContext& ctx) {
  ctx.set(whole, ctx.shape(like));
  return PlanGradInto(ctx, ctx.shape(like));
}

constexpr auto RunGrad = [](const BoxMove& move, RunContext& ctx) {
  const auto out = ctx.out<std::byte>(whole);
  move.moves->FillLong(out.data(), static_cast<int64_t>(out.size()), nullptr, ctx.workers());
  move.Run(ctx.in<std::byte>(dy).data(), out.data(), ctx.workers());
};

GradientFunction GradGradient() {
  return GradientBlock(dy, "StridedSlice", {{"input", Grad(whole)}, {"begin", begin}, {"end", end}, {"strides", strides}}, Masks());
}

// ---- StridedSliceAssign ----------------------------------------------------------------------------------------------------

Result<BoxMove> PlanAssign(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Selection selection, SelectFrom(ctx, ctx.shape(ref)));
  ctx.set(output_ref, ctx.shape(ref));
  return MoveIntoSlice(selection, ctx.shape(value), ctx.dtype(value), value.name);
}

constexpr auto RunAssign = [](const BoxMove& move, RunContext& ctx) {
  const auto to = ctx.update<std::byte>(ref);
  move.moves->CopyLong(ctx.in<std::byte>(ref).data(), to.data(), static_cast<int64_t>(to.size()), ctx.workers());
  move.Run(ctx.in<std::byte>(value).data(), to.data(), ctx.workers());
};

/// What the blocks of the family have in common.
auto SliceBlock(const char* name, const char* summary, auto indices, const auto&... ports) {
  return Block(name, summary)
      .Ports(ports...).Types("T", kAllTypes).Types("Index", indices)
      .Attrs(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask).ShapedBy(begin, end, strides);
}

}  // namespace

BlockDef StridedSlice() {
  return SliceBlock("StridedSlice", "Takes elements at regular distances out of a tensor, along each axis on its own.", kSliceIndices,
                    input, begin, end, strides, output)
      .Details("As numpy's x[begin:end:stride, ...], with the masks for what a slice of numpy may leave out or add.")
      .Gradient(GradientBlock(input, "StridedSliceGradLike",
                              {{"like", input}, {"begin", begin}, {"end", end}, {"strides", strides}, {"dy", Grad(output)}}, Masks()))
      .Kernel(PlanSlice, RunBoxMove);
}

BlockDef StridedSliceGrad() {
  return SliceBlock("StridedSliceGrad", "The gradient of StridedSlice: the gradient of the slice in its place, zeros elsewhere.", kIndices,
                    shape, begin, end, strides, dy, whole)
      .ShapedBy(shape).Gradient(GradGradient()).Kernel(PlanGrad, RunGrad);
}

BlockDef StridedSliceGradLike() {
  return SliceBlock("StridedSliceGradLike", "StridedSliceGrad that takes the shape from the tensor that was sliced.", kSliceIndices, like,
                    begin, end, strides, dy, whole)
      .Internal().Gradient(GradGradient()).Kernel(PlanGradLike, RunGrad);
}

BlockDef ResourceStridedSliceAssign() {
  return SliceBlock("ResourceStridedSliceAssign", "Gives the elements of a slice of the variable of a handle new values.", kIndices,
                    AsResource(ref), begin, end, strides, value)
      .Updates(ref).Stateful().Kernel(PlanAssign, RunAssign);
}

BlockDef StridedSliceAssign() {
  return SliceBlock("StridedSliceAssign", "Gives the elements of a slice of a variable new values.", kIndices, ref, begin, end, strides,
                    value, output_ref)
      .Updates(ref).Kernel(PlanAssign, RunAssign);
}

}  // namespace weft::blocks
