// Reshape: the same elements under another shape. ExpandDims, Squeeze: axes of size 1 put in and taken out.
#include "blocks/array/reshape.h"

#include "blocks/gradient_block.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> tensor{"tensor", "T", "of any shape"};
constexpr In<1> shape{"shape", "Tshape", "[rank]: the new sizes; one of them may be -1, and is then what the others leave"};
constexpr Out<0> output{"output", "T", "the same elements in the new shape"};

// The size that stands for -1. A size of 0 leaves the zero sizes of the input out of account, as TensorFlow does: [6,0] becomes [0,6]
// under [0,-1].
Status FillFreeSize(PlanContext& ctx, std::vector<int64_t>& sizes, size_t free) {
  int64_t known = 1;
  bool has_zero = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i == free) continue;
    if (sizes[i] == 0) {
      has_zero = true;
      continue;
    }
    auto product = CheckedMultiply(known, sizes[i]);
    if (!product) return ctx.Error(shape, "needs sizes whose product fits 63 bits");
    known = *product;
  }
  int64_t elements = 1;
  bool empty = false;
  for (int64_t size : ctx.shape(tensor).dims()) {
    empty |= size == 0;
    if (size > 0 || !has_zero) {
      // Sizes beside a zero need not have a product that fits.
      auto product = CheckedMultiply(elements, size);
      if (!product) return ctx.Error(shape, "cannot tell the size for -1 from ", ctx.shape(tensor));
      elements = *product;
    }
  }
  if (!empty && (has_zero || elements % known != 0)) {
    return ctx.Error(shape, "needs sizes that divide the ", elements, " elements of ", ctx.shape(tensor), ", found ", has_zero ? 0 : known,
                     " for the known ones");
  }
  sizes[free] = elements / known;
  return {};
}

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> axis{"axis", "Tdim", "a scalar: where the new axis goes, from -rank - 1 to rank"};
constexpr Out<0> same_elements{"output", "T", "the same elements; the shape has that axis, or lacks those"};
constexpr Attr<Ints> squeezed{"axis", "{}", "the axes to take out, each of size 1; none: every axis of size 1"};

Status PlanExpand(PlanContext& ctx) {
  if (ctx.shape(axis).count() != 1) return ctx.Error(axis, "needs a single number, found ", ctx.shape(axis));
  const Shape& shape = ctx.shape(input);
  WEFT_ASSIGN_OR_RETURN(const int at, NewAxisOf(ctx, axis, ctx.ints(axis)[0], shape));
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + at, 1);
  return ctx.set_checked(same_elements, dims, input);
}

Status PlanSqueeze(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  const int rank = shape.rank();
  const Ints axes = ctx.attr(squeezed);
  std::vector<bool> goes(rank);
  for (int i = 0; i < rank && axes.empty(); ++i) goes[i] = shape[i] == 1;
  for (int64_t given : axes) {
    WEFT_ASSIGN_OR_RETURN(const int at, AxisOf(ctx, squeezed, given, shape));
    if (shape[at] != 1) return ctx.Error(squeezed, "needs axes of size 1, found axis ", at, " of ", shape);
    goes[at] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    if (!goes[i]) dims.push_back(shape[i]);
  }
  ctx.set(same_elements, Shape(std::span<const int64_t>(dims)));
  return {};
}

GradientFunction Gradient() { return GradientBlock(input, "ReshapeLike", {{"tensor", Grad(same_elements)}, {"like", input}}); }

}  // namespace

Status PlanReshape(PlanContext& ctx) {
  if (ctx.shape(shape).rank() != 1) return ctx.Error(shape, "needs a vector of sizes, found ", ctx.shape(shape));
  std::vector<int64_t> sizes = ctx.ints(shape);
  size_t free = sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < -1) return ctx.Error(shape, "needs sizes of 0 or more, or one -1, found ", sizes[i]);
    if (sizes[i] == -1 && free < sizes.size()) return ctx.Error(shape, "needs one -1 at most, found them at ", free, " and ", i);
    if (sizes[i] == -1) free = i;
  }
  if (free < sizes.size()) WEFT_RETURN_IF_ERROR(FillFreeSize(ctx, sizes, free));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, sizes, shape));
  const Shape& result = ctx.planned().outputs[0];
  if (result.count() != ctx.shape(tensor).count()) {
    return ctx.Error(shape, "needs the ", ctx.shape(tensor).count(), " elements of ", ctx.shape(tensor), ", found ", result, " with ",
                     result.count());
  }
  return {};
}

BlockDef Reshape() {
  return Block("Reshape", "The same elements under another shape.")
      .Details("A size of -1 is what the others leave.")
      .Ports(tensor, shape, output).Types("T", kAllTypes).Types("Tshape", kIndices).ShapedBy(shape)
      .WithFlow(Flow::kForward).Gradient(GradientBlock(tensor, "ReshapeLike", {{"tensor", Grad(output)}, {"like", tensor}}))
      .PlanOnly(PlanReshape);
}

BlockDef ExpandDims() {
  return Block("ExpandDims", "Puts an axis of size 1 into the shape of a tensor.")
      .Ports(input, axis, same_elements).Types("T", kAllTypes).Types("Tdim", kIndices).ShapedBy(axis)
      .WithFlow(Flow::kForward).Gradient(Gradient()).PlanOnly(PlanExpand);
}

BlockDef Squeeze() {
  return Block("Squeeze", "Takes axes of size 1 out of the shape of a tensor.")
      .Ports(input, same_elements).Types("T", kAllTypes).Attrs(squeezed)
      .WithFlow(Flow::kForward).Gradient(Gradient()).PlanOnly(PlanSqueeze);
}

}  // namespace weft::blocks
