// What ResizeArea and QuantizedResizeBilinear share: ports, attributes and sizes.
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

/// Checks both inputs and sets the shape of `resized`.
template <OutputPort P>
Result<kernels::ResizePlan> PlanResized(PlanContext& ctx, const P& resized, bool half_pixel_centers) {
  const Shape& shape = ctx.shape(kPictures);
  if (shape.rank() != 4) return ctx.Error(kPictures, "needs rank 4, found shape ", shape);
  if (shape[1] < 1 || shape[2] < 1 || shape[3] < 1) {
    return ctx.Error(kPictures, "needs pictures of at least one pixel and channel, found shape ", shape);
  }
  if (ctx.shape(kNewSize) != Shape{2}) return ctx.Error(kNewSize, "needs 2 numbers, height and width, found shape ", ctx.shape(kNewSize));
  const Ints sizes = ctx.ints(kNewSize);
  if (sizes[0] < 1 || sizes[1] < 1) return ctx.Error(kNewSize, "needs sizes of 1 or more, found ", sizes[0], " and ", sizes[1]);
  const int64_t dims[] = {shape[0], sizes[0], sizes[1], shape[3]};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(resized, dims, kNewSize));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, kPictures.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(Shape(dims), kNewSize.name));
  kernels::ResizePlan plan;
  plan.batch = shape[0];
  plan.channels = shape[3];
  for (auto [axis, i] : {std::pair(&plan.y, 1), std::pair(&plan.x, 2)}) {
    const bool aligned = ctx.attr(kAlignCorners) && shape[i] > 1;  // one pixel is not a corner to each side
    *axis = {shape[i], dims[i], kernels::ResizeScale(shape[i], dims[i], aligned), aligned, half_pixel_centers};
  }
  return plan;
}

}  // namespace weft::blocks
