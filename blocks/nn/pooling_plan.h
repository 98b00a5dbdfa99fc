// What the poolings share: their attributes, their settings, and the geometry that follows.
#pragma once

#include "blocks/gradient_block.h"
#include "blocks/kernels/pool/pooling.h"
#include "blocks/nn/window_plan.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// Attributes and texts of poolings, as declarations and gradients name them.
namespace pooling {
inline constexpr char kPictureDoc[] = "[batch, height, width, channels]; for NCHW [batch, channels, height, width]";
inline constexpr char kBodyDoc[] = "[batch, depth, height, width, channels]; for NCDHW [batch, channels, depth, height, width]";
inline constexpr char kPooledDoc[] = "the same axes, with a size of one number a window";

constexpr Attr<Ints> SizesOf(int rank) {
  return {"ksize", kRequired, "size of the window, one number an axis in the order of data_format; 1 for the batch", nullptr, rank};
}
constexpr Attr<Ints> StepsOf(int rank) { return {"strides", kRequired, "steps of the window, one number an axis; 1 for the batch", nullptr, rank}; }
inline constexpr Attr<Ints> ksize = SizesOf(4), strides = StepsOf(4);
inline constexpr Attr<Padding> padding{"padding", kRequired, "SAME pads so that a stride of 1 keeps the size, VALID not at all",
    "SAME|VALID"};
inline constexpr Attr<Layout> data_format{"data_format", "NHWC", "order of the axes", "NHWC|NCHW"};
inline constexpr Attr<Layout> data_format_3d{"data_format", "NDHWC", "order of the axes", "NDHWC|NCDHW"};

/// A block with the attributes of poolings of pictures or, `solid`, of bodies of three dimensions.
template <class... Ports>
auto Declare(const char* name, const char* summary, bool solid, const Ports&... ports) {
  return Block(name, summary)
      .Ports(ports...)
      .Attrs(SizesOf(solid ? 5 : 4), StepsOf(solid ? 5 : 4), padding, solid ? data_format_3d : data_format);
}
}  // namespace pooling

/// The attributes that Declare gives, to hand on to a gradient block.
inline std::vector<std::string_view> WindowAttrs() {
  return {pooling::ksize.name, pooling::strides.name, pooling::padding.name, pooling::data_format.name};
}

struct PoolingSettings {
  PictureOrder order;
  Ints ksize, strides;
  Paddings paddings;
  bool over_channels = false;  // whether windows over channels alone are allowed
  bool may_have_none = false;  // as in WindowSettings
  bool sizes_first = false;    // a window of less than 1 is invalid_argument for the batch too, where another than 1 is unsupported
};
/// The settings of a block with ksize, strides and padding, but those of EXPLICIT padding; the order is data_format's unless given.
PoolingSettings ReadPooling(const PlanContext& ctx, PictureOrder order);
PoolingSettings ReadPooling(const PlanContext& ctx);

struct PooledPicture {
  kernels::Pooling pooling;
  Shape shape;  // of the output
};
/// The geometry of pooling pictures of `shape`, the shape of `port`. Errors are placed there or at the attribute at fault; windows over
/// the batch, over channels and over both channels and space are unsupported.
Result<PooledPicture> PlanPooling(const PoolingSettings& settings, const Shape& shape, const char* port);

/// A pooling of the first input to the first output, a sum or the largest, and the way it goes.
struct PoolPlan : kernels::Pooling {
  const char* by = "";
  std::string implementation() const { return by; }
};
Result<PoolPlan> PlanPooled(PlanContext& ctx, const PoolingSettings& settings, bool sums);

}  // namespace weft::blocks
