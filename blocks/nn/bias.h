// What BiasAdd and BiasAddGrad share: where the channel is.
#pragma once

#include "blocks/kernels/channel/partition.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// The types that TensorFlow declares for both. It computes the quantized ones nowhere on a CPU; here they are the integers they store.
inline constexpr auto kBiasTypes = kNumbers + kQuantized;

/// The tensor at `port` as [outer, channels, inner]: the last axis is the channel of NHWC, axis 1 that of NCHW.
Result<kernels::ChannelBox> BoxOf(const PlanContext& ctx, const InputPort auto& port, Layout layout) {
  const Shape& shape = ctx.shape(port);
  const int least = layout == Layout::NCHW ? 3 : 2;
  if (shape.rank() < least) {
    return ctx.Error(port, "needs rank ", least, " or more for ", layout == Layout::NCHW ? "NCHW" : "NHWC", ", found ", shape);
  }
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, port.name));
  const int axis = layout == Layout::NCHW ? 1 : shape.rank() - 1;
  if (shape.count() == 0) return kernels::ChannelBox{0, shape[axis], 1};
  return kernels::ChannelBox{shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

}  // namespace weft::blocks
