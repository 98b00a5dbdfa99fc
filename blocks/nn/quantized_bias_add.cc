// QuantizedBiasAdd: a bias for each channel of quantized integers, in 32 bits.
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T1", "[..., channels], of rank 2 or more"};
constexpr In<1> bias{"bias", "T2", "[channels]: what is added to each channel"};
constexpr RangeIn<2> input_ends{"min_input", "max_input"};
constexpr RangeIn<4> bias_ends{"min_bias", "max_bias"};
constexpr Out<0> output{"output", "out_type", "the shape of input"};
constexpr RangeOut output_ends{"min_out", "max_out"};
constexpr Attr<DType> out_type{"out_type", kRequired, "the type of output"};

constexpr QuantizedLimits kWide = LimitsOf<int32_t>();

struct Rows {
  DType bias_type;
  int64_t rows, channels;
};

Result<Rows> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  if (shape.rank() < 2) return ctx.Error(input, "needs rank 2 or more, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, input_ends, bias_ends));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, input.name));
  const int64_t channels = shape[shape.rank() - 1];
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, bias, channels, "channel of input"));
  ctx.set(output, shape);
  ctx.set_scratch(channels * static_cast<int64_t>(sizeof(int32_t)));
  return Rows{ctx.dtype(bias), channels == 0 ? 0 : shape.count() / channels, channels};
}

/// The integers of an operand in the range of the sums.
template <class T>
void Rescale(const T* from, QuantizedRange range, const kernels::Quantizer& sums, int32_t* to, int64_t n) {
  kernels::Requantize(kernels::MakeDequantizer(range, LimitsOf<T>()), sums, from, to, n);
}

constexpr auto Run = []<class T>(const Rows& r, RunContext& ctx) {
  const QuantizedRange range = RangeOf(ctx, input_ends), bias_range = RangeOf(ctx, bias_ends);
  const QuantizedRange sum_range = kernels::SumRange(range, bias_range);
  const kernels::Quantizer sums = kernels::MakeQuantizer(sum_range, kWide);
  int32_t* added = ctx.scratch<int32_t>().data();
  if (r.bias_type == DType::kQInt8) Rescale(ctx.in<int8_t>(bias).data(), bias_range, sums, added, r.channels);
  else Rescale(ctx.in<uint8_t>(bias).data(), bias_range, sums, added, r.channels);
  const int32_t zero = static_cast<int32_t>(kernels::ClampedLevelOf(0.0f, sum_range, kWide));
  for (int64_t c = 0; c < r.channels; ++c) added[c] = WrapAdd(added[c], zero);
  const T* from = ctx.in<T>(input).data();
  int32_t* to = ctx.out<int32_t>(output).data();
  const int64_t grain = std::max<int64_t>(1, kQuantizedGrain / std::max<int64_t>(r.channels, 4));
  ctx.workers().For(r.rows, grain, [&](int64_t begin, int64_t end) {
    Rescale(from + begin * r.channels, range, sums, to + begin * r.channels, (end - begin) * r.channels);
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t c = 0; c < r.channels; ++c) to[row * r.channels + c] = WrapAdd(to[row * r.channels + c], added[c]);
    }
  });
  SetRange(ctx, output_ends, sum_range);
};

}  // namespace

BlockDef QuantizedBiasAdd() {
  return Block("QuantizedBiasAdd", "Adds a quantized bias to each channel.")
      .Details("The sums have a range of 2^17 times the largest number of both operands, the same on both sides of zero.")
      .Ports(input, bias, input_ends.min, input_ends.max, bias_ends.min, bias_ends.max, output, output_ends.min, output_ends.max)
      .PortAlias("min_output", "min_out").PortAlias("max_output", "max_out").Types("T1", kQuantizedBytes)
      .Types("T2", kQuantizedBytes).Attrs(out_type).Types("out_type", kQuantizedSums)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
