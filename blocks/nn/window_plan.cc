#include "blocks/nn/window_plan.h"

namespace weft::blocks {

PictureOrder OrderOf(Layout layout) {
  switch (layout) {
    case Layout::NHWC: return {2, false};
    case Layout::NCHW: return {2, true};
    case Layout::NDHWC: return {3, false};
    case Layout::NCDHW: return {3, true};
  }
  return {};
}

Result<PerAxis> ReadPerAxis(const char* attr, const Ints& values, PictureOrder order) {
  if (static_cast<int>(values.size()) != order.rank()) {
    return InvalidArgument("needs ", order.rank(), " numbers, one an axis, found ", values.size()).WithPort(attr);
  }
  PerAxis read;
  read.batch = values[0];
  read.channel = values[order.channel_axis()];
  for (int i = order.first_axis(); i < 3; ++i) read.spatial[i] = values[order.axis(i)];
  return read;
}

Result<Paddings> ReadPaddings(Padding kind, const Ints& explicit_paddings, PictureOrder order) {
  constexpr const char* kPort = "explicit_paddings";
  Paddings paddings{kind};
  if (kind != Padding::EXPLICIT) {
    if (!explicit_paddings.empty()) return InvalidArgument("needs padding EXPLICIT; leave it empty otherwise").WithPort(kPort);
    return paddings;
  }
  if (explicit_paddings.size() != static_cast<size_t>(order.rank()) * 2) {
    return InvalidArgument("needs ", order.rank() * 2, " numbers, two an axis, found ", explicit_paddings.size()).WithPort(kPort);
  }
  for (int64_t value : explicit_paddings) {
    if (value < 0) return InvalidArgument("needs numbers of 0 or more, found ", value).WithPort(kPort);
  }
  for (int axis : {0, order.channel_axis()}) {
    if (explicit_paddings[2 * axis] != 0 || explicit_paddings[2 * axis + 1] != 0) {
      return InvalidArgument("needs 0 for batch and channels, found ", explicit_paddings[2 * axis], " and ",
                             explicit_paddings[2 * axis + 1],
                             " for axis ", axis)
          .WithPort(kPort);
    }
  }
  for (int i = order.first_axis(); i < 3; ++i) {
    paddings.before[i] = explicit_paddings[2 * order.axis(i)];
    paddings.after[i] = explicit_paddings[2 * order.axis(i) + 1];
  }
  return paddings;
}

Status CheckSpatialSteps(const char* attr, const PerAxis& steps) {
  for (int64_t step : steps.spatial) {
    if (step < 1) return InvalidArgument("needs numbers of 1 or more, found ", step).WithPort(attr);
  }
  return {};
}

Status CheckSteps(const char* attr, const PerAxis& steps, Code unsupported_code) {
  if (steps.batch != 1 || steps.channel != 1) {
    return Status(unsupported_code, Cat("needs 1 for batch and channels, found ", steps.batch, " and ", steps.channel)).WithPort(attr);
  }
  return CheckSpatialSteps(attr, steps);
}

Result<kernels::WindowAxes> MakeWindowAxes(const WindowSettings& settings, const Shape& shape, const std::array<int64_t, 3>& window,
                                           const char* port) {
  kernels::WindowAxes axes;
  for (int i = settings.order.first_axis(); i < 3; ++i) {
    kernels::WindowAxis& axis = axes[i];
    axis.in = shape[settings.order.axis(i)];
    axis.window = window[i];
    axis.stride = settings.strides.spatial[i];
    axis.dilation = axis.window > 1 ? settings.dilations.spatial[i] : 1;
    const auto span = kernels::WindowSpan(axis.window, axis.dilation);
    const bool fits = span && (settings.paddings.kind == Padding::SAME
                                   ? kernels::PadSame(axis, *span)
                                   : kernels::PadExplicit(axis, *span, settings.paddings.before[i], settings.paddings.after[i]));
    if (!fits) return InvalidArgument("needs sizes that can be counted; window, dilation or padding is absurd").WithPort(port);
    if (axis.out < 0 && settings.may_have_none) {
      const int64_t padded = axis.in + settings.paddings.before[i] + settings.paddings.after[i];
      if (kernels::HasNoWindow(padded, *span, settings.strides.spatial[i])) axis.out = 0;
    }
    if (axis.out < 0) {
      return InvalidArgument("needs a picture, padding included, no smaller than the window: axis ", settings.order.axis(i), " of ", shape,
                             " is smaller than ", *span)
          .WithPort(port);
    }
  }
  return axes;
}

Result<Shape> PictureShape(PictureOrder order, int64_t batch, int64_t channels, const std::array<int64_t, 3>& spatial, const char* port) {
  std::array<int64_t, 5> dims = {};
  dims[0] = batch;
  dims[order.channel_axis()] = channels;
  for (int i = order.first_axis(); i < 3; ++i) dims[order.axis(i)] = spatial[i];
  auto shape = Shape::Make(std::span(dims.data(), static_cast<size_t>(order.rank())));
  if (!shape.ok()) return std::move(shape).status().WithPort(port);
  return shape;
}

}  // namespace weft::blocks
