// Reading the settings of windows (strides, dilations, ksize, padding, explicit_paddings) and checking them; shared by the convolutions
// and the poolings, in two dimensions and in three.
#pragma once

#include "blocks/kernels/conv/window.h"
#include "blocks/limits.h"
#include "weft/block/context.h"

namespace weft::blocks {

/// The shape that a vector of `rank` sizes says.
Result<Shape> ShapeOfSizes(const PlanContext& ctx, const InputPort auto& port, int rank) {
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, port, rank, "axis"));
  return AtPort(port, Shape::Make(ctx.ints(port)));
}

/// How the axes of a batch of pictures lie in its shape: [batch, spatial..., channels] or [batch, channels, spatial...].
struct PictureOrder {
  int spatial = 2;
  bool channels_first = false;

  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_first ? 1 : rank() - 1; }
  /// The axis in a shape of the spatial axis i of WindowAxes: depth, height, width.
  int axis(int i) const { return i - (3 - spatial) + (channels_first ? 2 : 1); }
  /// Whether WindowAxes' axis i is there: without a depth it starts at 1.
  int first_axis() const { return 3 - spatial; }
};

PictureOrder OrderOf(Layout layout);

/// A list setting, one number an axis, taken apart.
struct PerAxis {
  int64_t batch = 1, channel = 1;
  std::array<int64_t, 3> spatial = {1, 1, 1};
};
/// invalid_argument, at the attribute, where there are not as many numbers as axes.
Result<PerAxis> ReadPerAxis(const char* attr, const Ints& values, PictureOrder order);

/// Explicit padding of each axis, in front and behind.
struct Paddings {
  Padding kind = Padding::VALID;
  std::array<int64_t, 3> before = {}, after = {};
};
/// explicit_paddings belong to EXPLICIT and to nothing else, pad only spatial axes, and are not negative.
Result<Paddings> ReadPaddings(Padding kind, const Ints& explicit_paddings, PictureOrder order);

/// That steps over pictures are positive. TensorFlow's forward blocks look at these first.
Status CheckSpatialSteps(const char* attr, const PerAxis& steps);
/// Strides and dilations: positive, and 1 over batch and channels (else `unsupported_code`).
Status CheckSteps(const char* attr, const PerAxis& steps, Code unsupported_code);

struct WindowSettings {
  PictureOrder order;
  PerAxis strides, dilations;
  Paddings paddings;
  bool may_have_none = false;  // a window that is larger than the picture by less than two strides gives no output, and no error
};

/// The axes for pictures under windows of these sizes. invalid_argument at `port` where a window does not fit or a size overflows.
Result<kernels::WindowAxes> MakeWindowAxes(const WindowSettings& settings, const Shape& shape, const std::array<int64_t, 3>& window,
                                           const char* port);

/// A shape of that order. invalid_argument, placed at `port`, where it has more elements than can be counted.
Result<Shape> PictureShape(PictureOrder order, int64_t batch, int64_t channels, const std::array<int64_t, 3>& spatial, const char* port);

}  // namespace weft::blocks
