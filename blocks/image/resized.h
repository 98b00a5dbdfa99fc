// What the blocks that bring pictures to another size share: ports, attributes and sizes.
#pragma once

#include "blocks/kernels/image/resize.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {

inline constexpr In<0> kPictures{"images", "T", "[batch, height, width, channels]"};
inline constexpr In<1> kNewSize{"size", "DT_INT32", "[2]: the new height and width"};
inline constexpr char kResizedDoc[] = "[batch, new height, new width, channels]";
inline constexpr Attr<bool> kAlignCorners{"align_corners", "false",
    "whether the corner pixels of both sizes are the same, rather than their outer edges"};

/// The values of a port that gives a height and a width.
Result<Ints> HeightAndWidth(const PlanContext& ctx, const InputPort auto& sizes, int64_t least = 1) {
  if (ctx.shape(sizes) != Shape{2}) return ctx.Error(sizes, "needs 2 numbers, height and width, found shape ", ctx.shape(sizes));
  Ints given = ctx.ints(sizes);
  if (given[0] < least || given[1] < least) return ctx.Error(sizes, "needs sizes of ", least, " or more, found ", given[0], " and ", given[1]);
  return given;
}

/// The shape of `pictures` with the height and width that the values of `sizes` give.
Result<Shape> ShapeWith(const PlanContext& ctx, const InputPort auto& pictures, const InputPort auto& sizes) {
  const Shape& shape = ctx.shape(pictures);
  if (shape.rank() != 4) return ctx.Error(pictures, "needs rank 4, found shape ", shape);
  WEFT_ASSIGN_OR_RETURN(const Ints given, HeightAndWidth(ctx, sizes));
  return AtPort(sizes, Shape::Make(Ints{shape[0], given[0], given[1], shape[3]}));
}

/// Checks both inputs and sets the shape of `resized`.
Result<kernels::ResizePlan> PlanResized(PlanContext& ctx, const OutputPort auto& resized, bool half_pixel_centers) {
  WEFT_ASSIGN_OR_RETURN(const Shape out, ShapeWith(ctx, kPictures, kNewSize));
  const Shape& shape = ctx.shape(kPictures);
  if (shape[1] < 1 || shape[2] < 1 || shape[3] < 1) {
    return ctx.Error(kPictures, "needs pictures of at least one pixel and channel, found shape ", shape);
  }
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, kPictures.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(out, kNewSize.name));
  ctx.set(resized, out);
  kernels::ResizePlan plan;
  plan.batch = shape[0];
  plan.channels = shape[3];
  for (auto [axis, i] : {std::pair(&plan.y, 1), std::pair(&plan.x, 2)}) {
    const bool aligned = ctx.attr(kAlignCorners) && shape[i] > 1;  // one pixel is not a corner to each side
    *axis = {shape[i], out[i], kernels::ResizeScale(shape[i], out[i], aligned), aligned, half_pixel_centers};
  }
  return plan;
}

}  // namespace weft::blocks
