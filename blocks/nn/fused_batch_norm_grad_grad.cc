#include "blocks/nn/batch_norm_second_order.h"

namespace weft::blocks {
namespace second_order {
namespace {

constexpr Attr<float> epsilon{"epsilon", "0.0001", "what was added to the variance"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "where the channel is"};
constexpr Attr<bool> is_training{"is_training", "true", "whether mean and variance depend on x"};

Result<SecondOrder> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(x);
  if (shape.rank() != 4 && shape.rank() != 5) return ctx.Error(x, "needs rank 4 or 5, found ", shape);
  if (!(ctx.shape(grad_x_backprop) == shape)) {
    return ctx.Error(grad_x_backprop, "needs the shape of x, ", shape, ", found ", ctx.shape(grad_x_backprop));
  }
  if (!(ctx.shape(y_backprop) == shape)) return ctx.Error(y_backprop, "needs the shape of x, ", shape, ", found ", ctx.shape(y_backprop));
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, NormBox(shape, ctx.attr(data_format), x.name));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, grad_scale_backprop, box.channels));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, grad_offset_backprop, box.channels));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, scale, box.channels));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, mean, box.channels));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, variance, box.channels));
  SecondOrder plan{kernels::PartitionChannels(box, kernels::kLanes<float>, kNormTaskElements), {}, ctx.attr(epsilon), ctx.attr(is_training)};
  plan.scratch = NormScratch(plan.cut, 4, kParameters);
  ctx.set_scratch(plan.scratch.bytes());
  ctx.set(y_backprop_grad, shape);
  ctx.set(x_grad, shape);
  ctx.set(scale_grad, Shape{box.channels});
  return plan;
}

constexpr auto Run = []<class T>(const SecondOrder& plan, RunContext& ctx) { RunSecondOrder<T>(plan, ctx); };

BlockDef Declare() {
  return Block("FusedBatchNormGradGrad", "The second-order gradient of batch normalisation.")
      .Details("Made by the gradients of FusedBatchNormGrad, FusedBatchNormGradV2 and FusedBatchNormGradV3. In training mean and "
               "variance are taken from x again, as TensorFlow's gradient does.")
      .Ports(grad_x_backprop, grad_scale_backprop, grad_offset_backprop, y_backprop, x, scale, mean, variance, y_backprop_grad, x_grad,
          scale_grad)
      .Types("T", kNormTypes)
      .Attrs(epsilon, data_format, is_training)
      .Internal()
      .Kernel(Plan, Run);
}

}  // namespace
}  // namespace second_order

BlockDef FusedBatchNormGradGrad() { return second_order::Declare(); }

}  // namespace weft::blocks
