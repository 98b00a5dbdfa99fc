// QuantizeV2 and Dequantize: numbers to integers and back, for the whole tensor or slice by slice.
#include <cmath>

#include "blocks/kernels/first_where.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {

enum class QuantizeMode : uint8_t { MIN_COMBINED, MIN_FIRST, SCALED };
enum class QuantizeRounding : uint8_t { HALF_AWAY_FROM_ZERO, HALF_TO_EVEN };

}  // namespace weft::blocks

namespace weft {

template <>
struct EnumTexts<blocks::QuantizeMode> {
  static constexpr const char* values[] = {"MIN_COMBINED", "MIN_FIRST", "SCALED"};
};
template <>
struct EnumTexts<blocks::QuantizeRounding> {
  static constexpr const char* values[] = {"HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"};
};

}  // namespace weft

namespace weft::blocks {
namespace {

using kernels::Dequantizer;
using kernels::Quantizer;
using kernels::Rounding;
using kernels::ScaledQuantizer;

constexpr Attr<QuantizeMode> mode{"mode", "MIN_COMBINED",
    "MIN_COMBINED and MIN_FIRST spread the integers over the range; MIN_FIRST gives zero an integer of its own. SCALED keeps zero at 0"};
constexpr Attr<bool> narrow_range{"narrow_range", "false", "for SCALED: the lowest integer is not used"};
constexpr Attr<int64_t> axis{"axis", "-1", "the axis along which each slice has a range of its own; -1: one range for all"};

Status CheckMode(const PlanContext& ctx, const SlicedTensor& t) {
  if (t.slices != 1 && ctx.attr(mode) == QuantizeMode::MIN_FIRST) {
    return ctx.ErrorOf(Code::kUnsupported, mode, "needs MIN_COMBINED or SCALED where slices have ranges of their own, found MIN_FIRST");
  }
  return {};
}

namespace forward {
constexpr In<0> input{"input", "DT_FLOAT", "of any shape"};
constexpr In<1> min_range{"min_range", "DT_FLOAT", "the least number to be told apart: a scalar, or [slices] where an axis is given"};
constexpr In<2> max_range{"max_range", "DT_FLOAT", "the largest, of the same shape"};
constexpr Out<0> output{"output", "T", "the shape of input"};
constexpr Out<1> output_min{"output_min", "DT_FLOAT", "what the lowest integer stands for: a scalar, or [slices] where they are not one"};
constexpr Out<2> output_max{"output_max", "DT_FLOAT", "what the highest integer stands for, of the same shape"};
constexpr Attr<DType> type{"T", kRequired, "the type of output"};
constexpr Attr<QuantizeRounding> round_mode{"round_mode", "HALF_AWAY_FROM_ZERO", "where halves go; HALF_TO_EVEN is for SCALED"};
constexpr Attr<float> ensure_minimum_range{"ensure_minimum_range", "0.01",
    "the least size of a range, as a part of its larger end (of 1 where that is less)"};

struct Quantization {
  SlicedTensor tensor;
  QuantizeMode mode;
  bool narrow, even;
  float least;
};

Result<Quantization> Plan(PlanContext& ctx) {
  Quantization q;
  WEFT_ASSIGN_OR_RETURN(q.tensor, PlanSlices(ctx, input, min_range, max_range, axis));
  q.mode = ctx.attr(mode);
  q.narrow = ctx.attr(narrow_range);
  q.even = ctx.attr(round_mode) == QuantizeRounding::HALF_TO_EVEN;
  q.least = ctx.attr(ensure_minimum_range);
  if (q.even && q.mode != QuantizeMode::SCALED) return ctx.Error(round_mode, "needs the mode SCALED for HALF_TO_EVEN");
  WEFT_RETURN_IF_ERROR(CheckMode(ctx, q.tensor));
  ctx.set(output, ctx.shape(input));
  const Shape ends = q.tensor.slices == 1 ? Shape{} : Shape{q.tensor.slices};
  ctx.set(output_min, ends);
  ctx.set(output_max, ends);
  ctx.set_scratch(q.tensor.slices * static_cast<int64_t>(sizeof(ScaledQuantizer)));
  return q;
}

/// A range that holds zero and is not too small.
QuantizedRange Widened(QuantizedRange range, float least) {
  const float min = std::min(0.0f, range.min);
  const float size = std::max(1.0f, std::max(std::fabs(range.min), std::fabs(range.max))) * least;
  return {min, std::max(0.0f, std::max(range.max, min + size))};
}

/// How the slice is quantized; `range` becomes what the ends of the integers stand for.
ScaledQuantizer QuantizerOf(const Quantization& q, QuantizedLimits limits, QuantizedRange& range) {
  ScaledQuantizer made;
  if (q.mode == QuantizeMode::SCALED) {
    const float low = static_cast<float>(limits.lowest + (q.narrow ? 1 : 0)), high = static_cast<float>(limits.highest);
    constexpr float kUnbounded = std::numeric_limits<float>::max();
    const float low_scale = low * range.min > 0 ? low / range.min : kUnbounded;
    const float high_scale = high * range.max > 0 ? high / range.max : kUnbounded;
    made.scale = std::min(low_scale, high_scale);
    range = {low / made.scale, high / made.scale};
    made.rounding = q.even ? Rounding::kEven : Rounding::kAway;
  } else {
    made.scale = static_cast<float>(static_cast<double>(limits.steps()) / (range.max - range.min));
    made.subtract = range.min;
    // Unsigned types are rounded by a cut.
    made.rounding = limits.lowest < 0 ? Rounding::kAway : Rounding::kCut;
    made.add = limits.lowest < 0 ? -static_cast<float>((static_cast<double>(limits.steps()) + 1.0) / 2.0) : 0.5f;
  }
  made.range = range;
  return made;
}

constexpr auto Run = []<class T>(const Quantization& q, RunContext& ctx) -> Status {
  const auto lows = ctx.in<float>(min_range), highs = ctx.in<float>(max_range);
  const auto quantizers = ctx.scratch<ScaledQuantizer>();
  constexpr QuantizedLimits kLimits = LimitsOf<T>();
  WEFT_ASSIGN_OR_RETURN(const int64_t bad, kernels::FirstWhere(ctx.workers(), q.tensor.slices, [&](int64_t s) { return highs[s] < lows[s]; }));
  if (bad >= 0) return ctx.Error(max_range, "needs no less than min_range, which is ", lows[bad], ", found ", highs[bad]);
  const auto least_ends = ctx.out<float>(output_min), largest_ends = ctx.out<float>(output_max);
  kernels::ForEach(ctx.workers(), q.tensor.slices, kSlicesTogether, [&](int64_t s) {
    QuantizedRange range = Widened({lows[s], highs[s]}, q.least);
    quantizers[s] = QuantizerOf(q, kLimits, range);
    least_ends[s] = range.min;
    largest_ends[s] = range.max;
  });
  const float* from = ctx.in<float>(input).data();
  T* to = ctx.out<T>(output).data();
  if (q.mode == QuantizeMode::MIN_FIRST) {
    if (q.tensor.slices == 0) return {};
    const Quantizer one = kernels::MakeQuantizer({ctx.out<float>(output_min)[0], ctx.out<float>(output_max)[0]}, kLimits);
    ForSlices(ctx, q.tensor, [&](int64_t, int64_t first, int64_t n) { kernels::Quantize(one, from + first, to + first, n); });
  } else {
    ForSlices(ctx, q.tensor, [&](int64_t s, int64_t first, int64_t n) { kernels::Quantize(quantizers[s], from + first, to + first, n); });
  }
  return {};
};
}  // namespace forward

namespace back {
constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> min_range{"min_range", "DT_FLOAT", "what the lowest integer stands for: a scalar, or [slices] where an axis is given"};
constexpr In<2> max_range{"max_range", "DT_FLOAT", "what the highest integer stands for, of the same shape"};
constexpr Out<0> output{"output", "dtype", "the shape of input"};
constexpr Attr<DType> type{"dtype", "DT_FLOAT", "the type of output; DT_BFLOAT16 is for MIN_COMBINED"};

struct Dequantization {
  SlicedTensor tensor;
  QuantizeMode mode;
  bool narrow, shorten;
};

Result<Dequantization> Plan(PlanContext& ctx) {
  Dequantization d;
  WEFT_ASSIGN_OR_RETURN(d.tensor, PlanSlices(ctx, input, min_range, max_range, axis));
  d.mode = ctx.attr(mode);
  d.narrow = ctx.attr(narrow_range);
  d.shorten = ctx.attr(type) == DType::kBFloat16;
  if (d.shorten && d.mode != QuantizeMode::MIN_COMBINED) return ctx.Error(mode, "needs MIN_COMBINED for DT_BFLOAT16");
  WEFT_RETURN_IF_ERROR(CheckMode(ctx, d.tensor));
  ctx.set(output, ctx.shape(input));
  ctx.set_scratch(d.tensor.slices * static_cast<int64_t>(sizeof(Dequantizer)));
  return d;
}

Dequantizer DequantizerOf(const Dequantization& d, QuantizedLimits limits, QuantizedRange range) {
  const float low = static_cast<float>(limits.lowest), high = static_cast<float>(limits.highest);
  switch (d.mode) {
    case QuantizeMode::MIN_FIRST: return kernels::MakeDequantizer(range, limits);
    case QuantizeMode::SCALED:
      if (limits.lowest == 0) return {0, range.max / high, 0};
      return {0, std::max(range.min / static_cast<float>(limits.lowest + (d.narrow ? 1 : 0)), range.max / high), 0};
    default: return {low < 0 ? (high - low + 1.0f) / 2.0f : 0.0f, (range.max - range.min) / (high - low), range.min};
  }
}

void DequantizeShort(const Dequantizer& d, const auto* from, bfloat16* to, int64_t n) {
  float block[512];
  for (int64_t i = 0; i < n; i += 512) {
    const int64_t length = std::min<int64_t>(512, n - i);
    kernels::Dequantize(d, from + i, block, length);
    kernels::Narrow(block, to + i, length);
  }
}

constexpr auto Run = []<class T>(const Dequantization& d, RunContext& ctx) {
  const auto lows = ctx.in<float>(min_range), highs = ctx.in<float>(max_range);
  const auto dequantizers = ctx.scratch<Dequantizer>();
  kernels::ForEach(ctx.workers(), d.tensor.slices, kSlicesTogether,
                   [&](int64_t s) { dequantizers[s] = DequantizerOf(d, LimitsOf<T>(), {lows[s], highs[s]}); });
  const T* from = ctx.in<T>(input).data();
  ForSlices(ctx, d.tensor, [&](int64_t s, int64_t first, int64_t n) {
    if (d.shorten) DequantizeShort(dequantizers[s], from + first, ctx.out<bfloat16>(output).data() + first, n);
    else kernels::Dequantize(dequantizers[s], from + first, ctx.out<float>(output).data() + first, n);
  });
};
}  // namespace back

}  // namespace

BlockDef QuantizeV2() {
  using namespace forward;
  return Block("QuantizeV2", "Numbers of a range as integers of few bits.")
      .Details("The range is widened to hold zero and to have its least size. output_min and output_max are the range in the end.")
      .Ports(input, min_range, max_range, output, output_min, output_max).Attrs(type).Types("T", kQuantized)
      .Attrs(mode, round_mode, narrow_range, axis, ensure_minimum_range)
      .Kernel(Plan, Run);
}

BlockDef Dequantize() {
  using namespace back;
  return Block("Dequantize", "The numbers that quantized integers stand for.")
      .Details("The mode has to be that of QuantizeV2.")
      .Ports(input, min_range, max_range, output).Types("T", kQuantized).Attrs(mode, narrow_range, axis, type)
      .Types("dtype", TypeList<float, bfloat16>{})
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
