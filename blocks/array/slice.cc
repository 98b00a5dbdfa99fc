// Slice and its gradient.
#include "blocks/array/pad.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> begin{"begin", "Index", "[rank]: where the slice begins on each axis"};
constexpr In<2> size{"size", "Index", "[rank]: how many elements it takes of each axis; -1: all that are left"};
constexpr Out<0> output{"output", "T", "the slice"};

constexpr In<0> grad{"grad", "T", "the gradient of a slice"};
constexpr In<3> like{"like", "T", "the tensor that was sliced: gives its shape"};
constexpr Out<0> whole{"output", "T", "the shape of like: the gradient in its place, zeros round it"};

// Where the slice of a tensor of `shape` lies, as a frame round it.
Result<std::vector<FramedAxis>> ReadSlice(const PlanContext& ctx, const Shape& shape) {
  const Shape rank{shape.rank()};
  for (const Shape* numbers : {&ctx.shape(begin), &ctx.shape(size)}) {
    if (*numbers == rank) continue;
    const char* port = numbers == &ctx.shape(begin) ? begin.name : size.name;
    return InvalidArgument("needs a vector of ", rank[0], " numbers for ", shape, ", found ", *numbers).WithPort(port);
  }
  const std::vector<int64_t> from = ctx.ints(begin), counts = ctx.ints(size);
  std::vector<FramedAxis> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (from[i] < 0 || from[i] > shape[i]) return ctx.Error(begin, "needs 0 to ", shape[i], " for axis ", i, ", found ", from[i]);
    const int64_t left = shape[i] - from[i];
    if (counts[i] < -1 || counts[i] > left) {
      return ctx.Error(size, "needs -1, or 0 to ", left, ", for axis ", i, " of ", shape, " from ", from[i], " on, found ", counts[i]);
    }
    const int64_t count = counts[i] < 0 ? left : counts[i];
    axes.push_back({from[i], count, left - count});
  }
  return axes;
}

Result<BoxMove> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<FramedAxis> axes, ReadSlice(ctx, ctx.shape(input)));
  ctx.set(output, InnerShape(axes));
  return MoveOutOfFrame(axes, ctx.dtype(input));
}

Result<Frame> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(std::vector<FramedAxis> axes, ReadSlice(ctx, ctx.shape(like)));
  const Shape shape = InnerShape(axes);
  if (!(ctx.shape(grad) == shape)) return ctx.Error(grad, "needs the shape of the slice, ", shape, ", found ", ctx.shape(grad));
  ctx.set(whole, ctx.shape(like));
  return MakeFrame(std::move(axes), ctx.dtype(grad));
}

constexpr auto RunGrad = [](const Frame& frame, RunContext& ctx) {
  RunFrame(frame, ctx.in<std::byte>(grad).data(), ctx.out<std::byte>(whole).data(), nullptr, ctx.workers());
};

void Gradient(GradientBuilder& g) {
  g.Set(input, g.Add("SliceGrad", {{"grad", {g.grad(output)}}, {"begin", {g.in(begin)}}, {"size", {g.in(size)}}, {"like", {g.in(input)}}}));
}

}  // namespace

BlockDef Slice() {
  return Block("Slice", "Takes a box out of a tensor.")
      .Ports(input, begin, size, output)
      .Types("T", kAllTypes)
      .Types("Index", kIndices)
      .ShapedBy(begin, size)
      .Gradient(Gradient)
      .Kernel(Plan, RunBoxMove);
}

BlockDef SliceGrad() {
  return Block("SliceGrad", "Puts the gradient of a slice in its place among zeros.")
      .Ports(grad, begin, size, like, whole)
      .Types("T", kAllTypes)
      .Types("Index", kIndices)
      .ShapedBy(begin, size)
      .Internal()
      .Gradient([](GradientBuilder& g) {
        g.Set(grad, g.Add("Slice", {{"input", {g.grad(whole)}}, {"begin", {g.in(begin)}}, {"size", {g.in(size)}}}));
      })
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
