#include "blocks/nn/pooling_plan.h"

#include <utility>

#include "blocks/kernels/pool/lines.h"

namespace weft::blocks {
namespace {

using pooling::ksize;
using pooling::strides;

/// Windows over channels: they must tile them, and stand alone.
Result<PooledPicture> OverChannels(const PerAxis& window, const PerAxis& steps, const PictureOrder& order, const Shape& shape) {
  const int64_t channels = shape[order.channel_axis()];
  for (int64_t size : window.spatial) {
    if (size != 1) return Unsupported("needs windows over channels or over height and width, not both").WithPort(ksize.name);
  }
  for (int64_t step : steps.spatial) {
    if (step != 1) return Unsupported("needs strides of 1 over height and width where the window is over channels").WithPort(strides.name);
  }
  if (steps.channel != window.channel) {
    return Unsupported("needs the window's size, ", window.channel, ", over channels, found ", steps.channel).WithPort(strides.name);
  }
  if (channels % window.channel != 0) {
    return Unsupported("needs a window that divides the ", channels, " channels, found ", window.channel).WithPort(ksize.name);
  }
  PooledPicture pooled;
  pooled.shape = shape;
  pooled.shape.set_dim(order.channel_axis(), channels / window.channel);
  const int64_t pixels = shape.count() == 0 ? 0 : shape[order.axis(1)] * shape[order.axis(2)];
  pooled.pooling.batch = order.channels_first ? shape[0] : shape[0] * pixels;
  pooled.pooling.channels = order.channels_first ? pixels : 1;
  kernels::WindowAxis& axis = pooled.pooling.axes[2];
  axis.in = channels;
  axis.window = axis.stride = window.channel;
  axis.out = channels / window.channel;
  return pooled;
}

Status CheckOne(int64_t batch, const char* attr) {
  if (batch == 1) return {};
  return Unsupported("needs 1 for the batch, found ", batch).WithPort(attr);
}

Status CheckWindow(const PerAxis& window, const PerAxis& steps, bool sizes_first) {
  if (!sizes_first) WEFT_RETURN_IF_ERROR(CheckOne(window.batch, ksize.name));
  WEFT_RETURN_IF_ERROR(CheckOne(steps.batch, strides.name));
  for (const auto& [numbers, name] : {std::pair(&window, ksize.name), std::pair(&steps, strides.name)}) {
    for (int64_t number : {numbers->batch, numbers->channel, numbers->spatial[0], numbers->spatial[1], numbers->spatial[2]}) {
      if (number < 1) return InvalidArgument("needs numbers of 1 or more, found ", number).WithPort(name);
    }
  }
  return CheckOne(window.batch, ksize.name);
}

}  // namespace

PoolingSettings ReadPooling(const PlanContext& ctx, PictureOrder order) {
  return {order, ctx.attr(ksize), ctx.attr(strides), Paddings{ctx.attr(pooling::padding), {}, {}}};
}
PoolingSettings ReadPooling(const PlanContext& ctx) { return ReadPooling(ctx, OrderOf(ctx.attr(pooling::data_format))); }

Result<PooledPicture> PlanPooling(const PoolingSettings& settings, const Shape& shape, const char* port) {
  const PictureOrder order = settings.order;
  if (shape.rank() != order.rank()) return InvalidArgument("needs rank ", order.rank(), ", found shape ", shape).WithPort(port);
  WindowSettings windows;
  windows.order = order;
  windows.paddings = settings.paddings;
  windows.may_have_none = settings.may_have_none;
  WEFT_ASSIGN_OR_RETURN(const PerAxis window, ReadPerAxis(ksize.name, settings.ksize, order));
  WEFT_ASSIGN_OR_RETURN(windows.strides, ReadPerAxis(strides.name, settings.strides, order));
  WEFT_RETURN_IF_ERROR(CheckWindow(window, windows.strides, settings.sizes_first));
  for (int i = order.first_axis(); i < 3; ++i) {
    const int64_t before = windows.paddings.before[i], after = windows.paddings.after[i];
    if (before >= window.spatial[i] || after >= window.spatial[i]) {
      return InvalidArgument("needs less padding than the window, ", window.spatial[i], ", found ", before, " and ", after)
          .WithPort("explicit_paddings");
    }
  }
  if (window.channel != 1) {
    if (settings.over_channels && settings.paddings.kind == Padding::EXPLICIT) {
      return Unsupported("needs SAME or VALID for windows over channels, found EXPLICIT").WithPort(pooling::padding.name);
    }
    if (settings.over_channels) return OverChannels(window, windows.strides, order, shape);
    return Unsupported("needs 1 for channels, found ", window.channel).WithPort(ksize.name);
  }
  if (windows.strides.channel != 1) return Unsupported("needs 1 for channels, found ", windows.strides.channel).WithPort(strides.name);
  PooledPicture pooled;
  WEFT_ASSIGN_OR_RETURN(pooled.pooling.axes, MakeWindowAxes(windows, shape, window.spatial, port));
  const int64_t channels = shape[order.channel_axis()];
  const auto& axes = pooled.pooling.axes;
  WEFT_ASSIGN_OR_RETURN(pooled.shape, PictureShape(order, shape[0], channels, {axes[0].out, axes[1].out, axes[2].out}, port));
  if (pooled.shape.count() == 0 && shape.count() == 0) return pooled;  // the kernel has nothing to do
  pooled.pooling.batch = order.channels_first ? shape[0] * channels : shape[0];
  pooled.pooling.channels = order.channels_first ? 1 : channels;
  return pooled;
}

Result<PoolPlan> PlanPooled(PlanContext& ctx, const PoolingSettings& settings, bool sums) {
  constexpr In<0> input{"", "", ""};
  constexpr Out<0> output{"", "", ""};
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, ctx.shape(input), ctx.def().inputs[0].name.c_str()));
  ctx.set(output, std::move(pooled.shape));
  constexpr const char* kNames[] = {"registers of channels", "strips of channels", "rows"};
  const DType dtype = ctx.dtype(input);
  const int64_t lanes = !IsFloating(dtype) ? 0 : dtype == DType::kDouble ? kernels::kLanes<double> : kernels::kLanes<float>;
  const auto by = kernels::ChoosePool(pooled.pooling.channels, lanes, sums, kernels::WindowCost(pooled.pooling));
  return PoolPlan{pooled.pooling, kNames[static_cast<int>(by)]};
}

}  // namespace weft::blocks
