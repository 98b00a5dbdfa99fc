// QuantizedConv2D: convolution of 8-bit pictures in 32 bits. The padding is the integer that stands for zero.
#include "blocks/kernels/stop_check.h"
#include "blocks/nn/convolution.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "Tinput", "[batch, height, width, in_channels]"};
constexpr In<1> filter{"filter", "Tfilter", "[taps down, taps across, in_channels, out_channels]"};
constexpr RangeIn<2> input_ends{"min_input", "max_input"};
constexpr RangeIn<4> filter_ends{"min_filter", "max_filter"};
constexpr Out<0> output{"output", "out_type", "[batch, out_height, out_width, out_channels]"};
constexpr RangeOut output_ends{"min_output", "max_output"};
constexpr Attr<DType> out_type{"out_type", "DT_QINT32", "the type of output"};
constexpr Attr<Ints> strides{"strides", kRequired, "steps of the window, [1, down, across, 1]"};
constexpr Attr<Padding> padding{"padding", kRequired, "SAME pads so that a stride of 1 keeps the size, VALID not at all", "SAME|VALID"};
constexpr Attr<Ints> dilations{"dilations", "{1,1,1,1}", "distance of the filter's taps, [1, down, across, 1]"};

struct Pictures {
  QuantizedOperand input, filter;
  kernels::ChosenConv product;
};

Result<Pictures> Plan(PlanContext& ctx) {
  const Shape &shape = ctx.shape(input), &taps = ctx.shape(filter);
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, input_ends, filter_ends));
  Pictures p;
  WEFT_ASSIGN_OR_RETURN(p.input, OperandOf(ctx, input));
  WEFT_ASSIGN_OR_RETURN(p.filter, OperandOf(ctx, filter));
  const ConvolutionSettings settings{OrderOf(Layout::NHWC), ctx.attr(strides), ctx.attr(dilations), {}, ctx.attr(padding),
                                     Code::kInvalidArgument};
  WEFT_ASSIGN_OR_RETURN(const Convolution c, PlanConvolution(settings, shape, taps, input.name, filter.name));
  if (c.groups != 1) return ctx.Error(filter, "needs the ", shape[3], " channels of input, found shape ", taps);
  WEFT_ASSIGN_OR_RETURN(Shape out, PictureShape(c.order, c.batch, c.out_channels, c.out_sizes(), input.name));
  if (out.count() != 0 && taps.count() == 0) return ctx.Error(filter, "needs at least one tap, found shape ", taps);
  ctx.set(output, std::move(out));
  p.product = ForwardProduct(c);
  const int64_t elements = kernels::ConvScratch(p.product.desc(), false) + p.input.count + p.filter.count;
  ctx.set_scratch(elements * static_cast<int64_t>(sizeof(int32_t)));
  return p;
}

constexpr auto Run = [](const Pictures& p, RunContext& ctx) {
  const QuantizedRange range = RangeOf(ctx, input_ends), filter_range = RangeOf(ctx, filter_ends);
  const auto to = ctx.out<int32_t>(output);
  if (p.input.count == 0) {  // all padding
    kernels::FillLong(ctx.workers(), to.data(), static_cast<int64_t>(to.size()), 0);
  } else {
    int32_t *pictures = ctx.scratch<int32_t>().data(), *weights = pictures + p.input.count;
    p.input.Widen(ctx, input, range, pictures);
    p.filter.Widen(ctx, filter, filter_range, weights);
    kernels::RunConv(p.product, pictures, weights, to.data(), weights + p.filter.count, ctx.workers());
  }
  SetRange(ctx, output_ends, ProductRange(p.input, range, p.filter, filter_range));
};

}  // namespace

BlockDef QuantizedConv2D() {
  return Block("QuantizedConv2D", "Convolves quantized pictures with a quantized filter.")
      .Details(kProductRanges)
      .Ports(input, filter, input_ends.min, input_ends.max, filter_ends.min, filter_ends.max, output, output_ends.min, output_ends.max)
      .Types("Tinput", kQuantizedBytes).Types("Tfilter", kQuantizedBytes).Attrs(out_type)
      .Types("out_type", kQuantizedSums).Attrs(strides, padding, dilations)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
