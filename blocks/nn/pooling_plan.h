// What the poolings share: their settings, and the geometry that follows.
#pragma once

#include "blocks/kernels/pool/pooling.h"
#include "blocks/nn/window_plan.h"

namespace weft::blocks {

/// Attributes of poolings, as declarations and gradients name them.
namespace pooling {
inline constexpr char kSizeDoc[] = "size of the window, one number an axis in the order of data_format; 1 for the batch";
inline constexpr char kStepDoc[] = "steps of the window, one number an axis; 1 for the batch";
inline constexpr Attr<Ints> ksize{"ksize", kRequired, kSizeDoc, nullptr, 4};
inline constexpr Attr<Ints> strides{"strides", kRequired, kStepDoc, nullptr, 4};
inline constexpr Attr<Ints> ksize_3d{"ksize", kRequired, kSizeDoc, nullptr, 5};
inline constexpr Attr<Ints> strides_3d{"strides", kRequired, kStepDoc, nullptr, 5};
/// SAME or VALID.
inline constexpr Attr<Padding> padding{"padding", kRequired, "SAME pads so that a stride of 1 keeps the size, VALID not at all",
    "SAME|VALID"};
inline constexpr Attr<Padding> any_padding{"padding", kRequired,
    "SAME pads so that a stride of 1 keeps the size, VALID not at all, EXPLICIT as explicit_paddings says"};
inline constexpr Attr<Ints> explicit_paddings{"explicit_paddings", "{}",
    "for EXPLICIT: padding in front of and behind each axis, 8 numbers"};
inline constexpr Attr<Layout> data_format{"data_format", "NHWC", "order of the axes", "NHWC|NCHW"};
inline constexpr Attr<Layout> data_format_3d{"data_format", "NDHWC", "order of the axes", "NDHWC|NCDHW"};
}  // namespace pooling

struct PoolingSettings {
  PictureOrder order;
  Ints ksize, strides;
  Paddings paddings;
  bool over_channels = false;  // whether windows over channels alone are allowed
};
/// The settings of a block with ksize, strides and padding SAME or VALID.
PoolingSettings ReadPooling(const PlanContext& ctx, PictureOrder order);

struct PooledPicture {
  kernels::Pooling pooling;
  Shape shape;  // of the output
};
/// The geometry of pooling pictures of `shape`, the shape of `port`. Errors are placed there or at the attribute at fault; windows over
/// the batch, over channels and over both channels and space are unsupported.
Result<PooledPicture> PlanPooling(const PoolingSettings& settings, const Shape& shape, const char* port);

}  // namespace weft::blocks
