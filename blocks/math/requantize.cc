// Requantize, RequantizationRange and QuantizeDownAndShrinkRange: 32-bit results to 8 bits, in a range that fits them.
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr TypeList<qint32> kWide;
constexpr TypeList<qint8, quint8> kShort;

constexpr In<0> input{"input", "Tinput", "of any shape"};
constexpr RangeIn<1> input_ends{"input_min", "input_max"};
constexpr Out<0> output{"output", "out_type", "the shape of input"};
constexpr RangeOut output_ends{"output_min", "output_max"};
constexpr Attr<DType> out_type{"out_type", kRequired, "the type of output"};

constexpr QuantizedLimits kWideLimits = LimitsOf<int32_t>();

/// What Requantize and QuantizeDownAndShrinkRange plan: whether the integers they give are signed.
struct Signedness {
  bool is_signed;
};
Result<Signedness> PlanOutput(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, input_ends));
  ctx.set(output, ctx.shape(input));
  return Signedness{ctx.attr(out_type) == DType::kQInt8};
}

/// From one range to another; unsigned results in fixed point.
void Rescale(const RunContext& ctx, bool is_signed, QuantizedRange from, QuantizedRange to) {
  const auto levels = ctx.in<int32_t>(input);
  const auto run = [&](const auto& requantize) { ctx.workers().For(static_cast<int64_t>(levels.size()), kQuantizedGrain, requantize); };
  if (is_signed) {
    int8_t* out = ctx.out<int8_t>(output).data();
    const kernels::Dequantizer d = kernels::MakeDequantizer(from, kWideLimits);
    const kernels::Quantizer q = kernels::MakeQuantizer(to, LimitsOf<int8_t>());
    run([&](int64_t begin, int64_t end) { kernels::Requantize(d, q, &levels[begin], out + begin, end - begin); });
  } else {
    uint8_t* out = ctx.out<uint8_t>(output).data();
    const kernels::FixedRequantizer r = kernels::MakeFixedRequantizer(from, to);
    run([&](int64_t begin, int64_t end) { kernels::Requantize(r, &levels[begin], out + begin, end - begin); });
  }
}

/// The range of numbers that the levels in use stand for, zero included at its lower end. Of no levels, [0, 0].
QuantizedRange UsedRange(const RunContext& ctx, QuantizedRange range) {
  const auto levels = ctx.in<int32_t>(input);
  if (levels.empty()) return {0, 0};
  auto* pieces = ctx.scratch<Ends<int32_t>>().data();
  const auto used = EndsOfAll(levels.data(), static_cast<int64_t>(levels.size()), pieces, ctx.workers());
  return {std::min(0.0f, kernels::NumberOf(used.min, range, kWideLimits)), kernels::NumberOf(used.max, range, kWideLimits)};
}

namespace rescale {
constexpr In<3> requested_output_min{"requested_output_min", "DT_FLOAT", "a scalar of 0 or less: what the lowest integer shall stand for"};
constexpr In<4> requested_output_max{"requested_output_max", "DT_FLOAT", "a scalar not below that: what the highest integer shall stand for"};

Result<Signedness> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Signedness made, PlanOutput(ctx));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, requested_output_min, requested_output_max));
  return made;
}

constexpr auto Run = [](const Signedness& made, RunContext& ctx) -> Status {
  const QuantizedRange to{ctx.in<float>(requested_output_min)[0], ctx.in<float>(requested_output_max)[0]};
  if (!(to.min <= 0)) return ctx.Error(requested_output_min, "needs 0 or less, found ", to.min);
  if (!(to.max >= to.min)) return ctx.Error(requested_output_max, "needs requested_output_min, ", to.min, ", or more, found ", to.max);
  Rescale(ctx, made.is_signed, RangeOf(ctx, input_ends), to);
  SetRange(ctx, output_ends, to);
  return {};
};
}  // namespace rescale

void SetMeasureScratch(PlanContext& ctx) {
  ctx.set_scratch(EndPieces(ctx.shape(input).count()) * static_cast<int64_t>(sizeof(Ends<int32_t>)));
}

namespace measure {
constexpr Out<0> used_min{"output_min", "DT_FLOAT", "a scalar: the least number in use, or 0 where that is less"};
constexpr Out<1> used_max{"output_max", "DT_FLOAT", "a scalar: the largest number in use"};

Status Plan(PlanContext& ctx) {
  SetMeasureScratch(ctx);
  return CheckRanges(ctx, input_ends);
}
constexpr auto Run = [](const NoParameters&, RunContext& ctx) {
  const QuantizedRange used = UsedRange(ctx, RangeOf(ctx, input_ends));
  ctx.out<float>(used_min)[0] = used.min;
  ctx.out<float>(used_max)[0] = used.max;
};
}  // namespace measure

namespace shrink {
Result<Signedness> Plan(PlanContext& ctx) {
  SetMeasureScratch(ctx);
  return PlanOutput(ctx);
}
constexpr auto Run = [](const Signedness& made, RunContext& ctx) {
  const QuantizedRange from = RangeOf(ctx, input_ends), to = UsedRange(ctx, from);
  Rescale(ctx, made.is_signed, from, to);
  SetRange(ctx, output_ends, to);
};
}  // namespace shrink

}  // namespace

BlockDef Requantize() {
  using namespace rescale;
  return Block("Requantize", "32-bit integers of one range as 8-bit integers of another.")
      .Details("Numbers outside the new range go to its ends. RequantizationRange gives a range that fits.")
      .Ports(input, input_ends.min, input_ends.max, requested_output_min, requested_output_max, output, output_ends.min, output_ends.max)
      .Types("Tinput", kWide).Attrs(out_type).Types("out_type", kShort)
      .Kernel(Plan, Run);
}

BlockDef RequantizationRange() {
  using namespace measure;
  return Block("RequantizationRange", "The range that 32-bit integers use, for Requantize.")
      .Ports(input, input_ends.min, input_ends.max, used_min, used_max).Types("Tinput", kWide).Kernel(Plan, Run);
}

BlockDef QuantizeDownAndShrinkRange() {
  using namespace shrink;
  return Block("QuantizeDownAndShrinkRange", "32-bit integers as 8-bit integers of the range that they use.")
      .Details("The same as RequantizationRange and Requantize in one.")
      .Ports(input, input_ends.min, input_ends.max, output, output_ends.min, output_ends.max).Types("Tinput", kWide)
      .Attrs(out_type).Types("out_type", kShort)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
