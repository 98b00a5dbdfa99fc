// SumLike, BroadcastLike, ReshapeLike, TileGrad: a tensor brought to the shape of another one; gradients are made of them. And Tile.
#include "blocks/broadcast.h"
#include "blocks/element_moves.h"
#include "blocks/gradient_block.h"
#include "blocks/kernels/reduce/sum.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> grad{"grad", "T", "a shape that like can be stretched to"};
constexpr In<0> input{"input", "T", "a shape that can be stretched to that of like"};
constexpr In<0> tensor{"tensor", "T", "as many elements as like"};
constexpr In<1> like{"like", "L", "gives its shape"};
constexpr Out<0> output{"output", "T", "the shape of like"};

// ---- SumLike ---------------------------------------------------------------------------------------------------------------

Result<kernels::ReduceLayout> PlanSum(PlanContext& ctx) {
  const Shape& from = ctx.shape(grad);
  const Shape& to = ctx.shape(like);
  if (!BroadcastsTo(to, from)) return ctx.Error(like, "needs a shape that can be stretched to that of grad, ", from, ", found ", to);
  std::vector<bool> summed(from.rank());
  for (int d = 0; d < from.rank(); ++d) {
    const int own = d - (from.rank() - to.rank());
    summed[d] = own < 0 || to[own] != from[d];
  }
  auto layout = kernels::ReduceLayout::Make(from.dims(), summed);
  ctx.set_scratch(layout.ScratchBytes());
  ctx.set(output, to);
  return layout;
}

constexpr auto RunSum = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  const T* from = ctx.in<T>(grad).data();
  T* to = ctx.out<T>(output).data();
  if (layout.count == 1) {
    if (from == to) return;  // in place, nothing to sum
    if (layout.outputs == 1) {
      to[0] = from[0];
      return;
    }
  }
  kernels::ReduceSum(layout, from, to, ctx.scratch().data(), ctx.workers());
};

// ---- TileGrad --------------------------------------------------------------------------------------------------------------

constexpr In<1> multiples{"multiples", "Tmultiples", "[rank]: how often the tensor was repeated along each axis"};
constexpr In<2> tiled{"like", "T", "the tensor that was repeated: gives its shape"};

Result<kernels::ReduceLayout> PlanUntile(PlanContext& ctx) {
  const Shape &from = ctx.shape(grad), &to = ctx.shape(tiled);
  const std::vector<int64_t> times = ctx.ints(multiples);
  bool fits = from.rank() == to.rank() && ctx.shape(multiples) == Shape{to.rank()};
  // Each axis of the gradient is two: which repetition, and the place in it.
  std::vector<int64_t> dims;
  std::vector<bool> summed;
  for (int i = 0; fits && i < to.rank(); ++i) {
    const auto size = times[i] < 0 ? std::nullopt : CheckedMultiply(times[i], to[i]);
    fits = size.has_value() && from[i] == *size;
    dims.insert(dims.end(), {times[i], to[i]});
    summed.insert(summed.end(), {true, false});
  }
  if (!fits) return ctx.Error(grad, "needs the shape ", to, " repeated by multiples, found ", from);
  auto layout = kernels::ReduceLayout::Make(dims, summed);
  ctx.set_scratch(layout.ScratchBytes());
  ctx.set(output, to);
  return layout;
}

// ---- BroadcastLike ---------------------------------------------------------------------------------------------------------

Result<StretchMove> PlanStretch(PlanContext& ctx) {
  const Shape& to = ctx.shape(like);
  if (!BroadcastsTo(ctx.shape(input), to)) {
    return ctx.Error(input, "needs a shape that can be stretched to that of like, ", to, ", found ", ctx.shape(input));
  }
  ctx.set(output, to);
  return StretchMove{kernels::MakeBroadcastLoops(ctx.shape(input).dims(), to.dims()), &MovesOf(ctx.dtype(input))};
}

// ---- ReshapeLike -----------------------------------------------------------------------------------------------------------

Status PlanReshape(PlanContext& ctx) {
  if (ctx.shape(tensor).count() != ctx.shape(like).count()) {
    return ctx.Error(tensor, "needs as many elements as like ", ctx.shape(like), ", found ", ctx.shape(tensor));
  }
  ctx.set(output, ctx.shape(like));
  return {};
}

// ---- Tile ------------------------------------------------------------------------------------------------------------------

constexpr In<0> repeated{"input", "T", "of any shape"};
constexpr In<1> times_each{"multiples", "Tmultiples", "[rank]: how often the input is repeated along each axis"};
constexpr Out<0> tiles{"output", "T", "the sizes of the input times the multiples"};

Result<StretchMove> PlanTile(PlanContext& ctx) {
  const Shape& shape = ctx.shape(repeated);
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, times_each, shape.rank(), "axis of the input"));
  const std::vector<int64_t> times = ctx.ints(times_each);
  // Each axis becomes two, of which the first is stretched.
  std::vector<int64_t> dims, from, to;
  for (int i = 0; i < shape.rank(); ++i) {
    if (times[i] < 0) return ctx.Error(times_each, "needs numbers of 0 or more, found ", times[i]);
    const auto size = CheckedMultiply(times[i], shape[i]);
    if (!size) return ctx.Error(times_each, "needs sizes that fit 63 bits, found ", times[i], " times ", shape[i]);
    dims.push_back(*size);
    from.insert(from.end(), {1, shape[i]});
    to.insert(to.end(), {times[i], shape[i]});
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(tiles, dims, times_each));
  return StretchMove{kernels::MakeBroadcastLoops(from, to), &MovesOf(ctx.dtype(repeated))};
}

}  // namespace

BlockDef SumLike() {
  return Block("SumLike", "Sums a gradient over the axes along which an operand was repeated.")
      .Ports(grad, like, output).Types("T", kNumbers).Types("L", kAllTypes).Internal().Elementwise()
      .Gradient(GradientBlock(grad, "BroadcastLike", {{"input", Grad(output)}, {"like", grad}}))
      .Kernel(PlanSum, RunSum);
}

BlockDef TileGrad() {
  return Block("TileGrad", "Sums the gradient of a Tile over the repetitions.")
      .Ports(grad, multiples, tiled, output).Types("T", kNumbers).Types("Tmultiples", kIndices).ShapedBy(multiples).Internal()
      .Gradient(GradientBlock(grad, "Tile", {{"input", Grad(output)}, {"multiples", multiples}}))
      .Kernel(PlanUntile, RunSum);
}

BlockDef BroadcastLike() {
  return Block("BroadcastLike", "Repeats a tensor along the axes where another one is larger.")
      .Ports(input, like, output).Types("T", kNumbers).Types("L", kAllTypes).Internal().Elementwise()
      .Gradient(GradientBlock(input, "SumLike", {{"grad", Grad(output)}, {"like", input}}))
      .Kernel(PlanStretch, RunStretchMove);
}

BlockDef ReshapeLike() {
  return Block("ReshapeLike", "The same elements in the shape of another tensor.")
      .Ports(tensor, like, output).Types("T", kAllTypes).Types("L", kAllTypes).Internal().WithFlow(Flow::kForward)
      .Gradient(GradientBlock(tensor, "ReshapeLike", {{"tensor", Grad(output)}, {"like", tensor}}))
      .PlanOnly(PlanReshape);
}

BlockDef Tile() {
  return Block("Tile", "Repeats a tensor along its axes.")
      .Ports(repeated, times_each, tiles).Types("T", kAllTypes).Types("Tmultiples", kIndices).ShapedBy(times_each)
      .Gradient(GradientBlock(repeated, "TileGrad", {{"grad", Grad(tiles)}, {"multiples", times_each}, {"like", repeated}}))
      .Kernel(PlanTile, RunStretchMove);
}

}  // namespace weft::blocks
