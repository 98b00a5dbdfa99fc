// ExpandDims, Squeeze: axes of size 1 put in and taken out. The elements stay where they are.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> axis{"axis", "Tdim", "a scalar: where the new axis goes, from -rank - 1 to rank"};
constexpr Out<0> output{"output", "T", "the same elements; the shape has that axis, or lacks those"};
constexpr Attr<Ints> squeezed{"axis", "{}", "the axes to take out, each of size 1; none: every axis of size 1"};

Status PlanExpand(PlanContext& ctx) {
  if (ctx.shape(axis).count() != 1) return ctx.Error(axis, "needs a single number, found ", ctx.shape(axis));
  const Shape& shape = ctx.shape(input);
  int64_t at = ctx.ints(axis)[0];
  if (at < -shape.rank() - 1 || at > shape.rank()) {
    return ctx.Error(axis, "needs ", -shape.rank() - 1, " to ", shape.rank(), " for an input of shape ", shape, ", found ", at);
  }
  if (at < 0) at += shape.rank() + 1;
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + at, 1);
  return ctx.set_checked(output, dims, input);
}

Status PlanSqueeze(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  const int rank = shape.rank();
  const Ints axes = ctx.attr(squeezed);
  std::vector<bool> goes(rank);
  for (int i = 0; i < rank && axes.empty(); ++i) goes[i] = shape[i] == 1;
  for (int64_t at : axes) {
    if (at < -rank || at >= rank) {
      return ctx.Error(squeezed, "needs axes from ", -rank, " to ", rank - 1, " for an input of shape ", shape, ", found ", at);
    }
    if (at < 0) at += rank;
    if (shape[static_cast<int>(at)] != 1) return ctx.Error(squeezed, "needs axes of size 1, found axis ", at, " of ", shape);
    goes[at] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    if (!goes[i]) dims.push_back(shape[i]);
  }
  ctx.set(output, Shape(std::span<const int64_t>(dims)));
  return {};
}

void Gradient(GradientBuilder& g) {
  g.Set(input, g.Add("ReshapeLike", {{"tensor", {g.grad(output)}}, {"like", {g.in(input)}}}));
}

}  // namespace

BlockDef ExpandDims() {
  return Block("ExpandDims", "Puts an axis of size 1 into the shape of a tensor.")
      .Ports(input, axis, output)
      .Types("T", kAllTypes)
      .Types("Tdim", kIndices)
      .ShapedBy(axis)
      .WithFlow(Flow::kForward)
      .Gradient(Gradient)
      .PlanOnly(PlanExpand);
}

BlockDef Squeeze() {
  return Block("Squeeze", "Takes axes of size 1 out of the shape of a tensor.")
      .Ports(input, output)
      .Types("T", kAllTypes)
      .Attrs(squeezed)
      .WithFlow(Flow::kForward)
      .Gradient(Gradient)
      .PlanOnly(PlanSqueeze);
}

}  // namespace weft::blocks
