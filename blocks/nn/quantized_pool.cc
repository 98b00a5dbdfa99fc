// QuantizedAvgPool and QuantizedMaxPool: pooling of 8-bit pictures, which keep their range.
#include "blocks/kernels/pool/lines.h"
#include "blocks/kernels/pool/max_pool.h"
#include "blocks/nn/pooling_plan.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::Pooling;

constexpr In<0> input{"input", "T", "[batch, height, width, channels]"};
constexpr In<1> min_input{"min_input", "DT_FLOAT", kMinDoc};
constexpr In<2> max_input{"max_input", "DT_FLOAT", kMaxDoc};
constexpr Out<0> output{"output", "T", "[batch, out_height, out_width, channels]"};
constexpr Out<1> min_output{"min_output", "DT_FLOAT", "min_input"};
constexpr Out<2> max_output{"max_output", "DT_FLOAT", "max_input"};
constexpr Attr<Ints> ksize{"ksize", kRequired, "size of the window, [1, height, width, 1]"};
constexpr Attr<Ints> strides{"strides", kRequired, "steps of the window, [1, down, across, 1]"};

Result<Pooling> PlanPictures(PlanContext& ctx, bool over_channels) {
  const Shape& shape = ctx.shape(input);
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, min_input, max_input));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, input.name));
  PoolingSettings settings = ReadPooling(ctx, OrderOf(Layout::NHWC));
  settings.over_channels = over_channels;
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, shape, input.name));
  ctx.set(output, std::move(pooled.shape));
  return pooled.pooling;
}

Result<Pooling> PlanMax(PlanContext& ctx) { return PlanPictures(ctx, true); }

constexpr auto RunMax = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
  SetRange(ctx, min_output, max_output, RangeOf(ctx, min_input, max_input));
};

Result<Pooling> PlanAverage(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, PlanPictures(ctx, false));
  ctx.set_scratch(ctx.shape(input).count() * static_cast<int64_t>(sizeof(int32_t)));
  return pooling;
}

constexpr auto RunAverage = []<class T>(const Pooling& p, RunContext& ctx) {
  const auto levels = ctx.in<T>(input);
  int32_t* wide = ctx.scratch<int32_t>().data();
  ctx.workers().For(static_cast<int64_t>(levels.size()), kQuantizedGrain,
                    [&](int64_t begin, int64_t end) { kernels::LevelsAboveZero(levels.data() + begin, 0, wide + begin, end - begin); });
  kernels::PoolAll<kernels::Average<int32_t>>(p, wide, ctx.out<T>(output).data(), ctx.workers());
  SetRange(ctx, min_output, max_output, RangeOf(ctx, min_input, max_input));
};

}  // namespace

BlockDef QuantizedAvgPool() {
  return Block("QuantizedAvgPool", "The average under each window of a quantized picture.")
      .Details("Averages of integers, rounded towards the integer 0. Padding does not count.")
      .Ports(input, min_input, max_input, output, min_output, max_output)
      .Types("T", kQuantizedBytes)
      .Attrs(ksize, strides, pooling::padding)
      .Kernel(PlanAverage, RunAverage);
}

BlockDef QuantizedMaxPool() {
  return Block("QuantizedMaxPool", "The largest value under each window of a quantized picture.")
      .Ports(input, min_input, max_input, output, min_output, max_output)
      .Types("T", kQuantizedBytes)
      .Attrs(ksize, strides, pooling::padding)
      .Kernel(PlanMax, RunMax);
}

}  // namespace weft::blocks
