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
constexpr RangeIn<1> ends{"min_input", "max_input"};
constexpr Out<0> output{"output", "T", "[batch, out_height, out_width, channels]"};
constexpr RangeOut output_ends{"min_output", "max_output", "min_input", "max_input"};
constexpr Attr<Ints> ksize{"ksize", kRequired, "size of the window, [1, height, width, 1]"};
constexpr Attr<Ints> strides{"strides", kRequired, "steps of the window, [1, down, across, 1]"};

Result<Pooling> PlanPictures(PlanContext& ctx, bool over_channels) {
  const Shape& shape = ctx.shape(input);
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, ends));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, input.name));
  PoolingSettings settings = ReadPooling(ctx, OrderOf(Layout::NHWC));
  settings.over_channels = settings.sizes_first = over_channels;
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, shape, input.name));
  ctx.set(output, std::move(pooled.shape));
  return pooled.pooling;
}

constexpr auto RunMax = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
  SetRange(ctx, output_ends, RangeOf(ctx, ends));
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
  SetRange(ctx, output_ends, RangeOf(ctx, ends));
};

BlockDef Declare(const char* name, const char* summary, const char* details, auto plan, auto run) {
  return Block(name, summary)
      .Details(details)
      .Ports(input, ends.min, ends.max, output, output_ends.min, output_ends.max).Types("T", kQuantizedBytes)
      .Attrs(ksize, strides, pooling::padding)
      .Kernel(plan, run);
}

}  // namespace

BlockDef QuantizedAvgPool() {
  return Declare("QuantizedAvgPool", "The average under each window of a quantized picture.",
                 "Averages of integers, rounded towards the integer 0. Padding does not count.", PlanAverage, RunAverage);
}

BlockDef QuantizedMaxPool() {
  return Declare("QuantizedMaxPool", "The largest value under each window of a quantized picture.", "",
                 [](PlanContext& ctx) { return PlanPictures(ctx, true); }, RunMax);
}

}  // namespace weft::blocks
