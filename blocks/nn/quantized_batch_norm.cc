// QuantizedBatchNormWithGlobalNormalization: batch normalisation of quantized pictures with given means and variances, in fixed point.
#include <cmath>

#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> t{"t", "Tinput", "[batch, height, width, channels]"};
constexpr RangeIn<1> t_ends{"t_min", "t_max"};
constexpr In<3> m{"m", "Tinput", "[channels]: the means"};
constexpr RangeIn<4> m_ends{"m_min", "m_max"};
constexpr In<6> v{"v", "Tinput", "[channels]: the variances"};
constexpr RangeIn<7> v_ends{"v_min", "v_max"};
constexpr In<9> beta{"beta", "Tinput", "[channels]: what is added to each channel"};
constexpr RangeIn<10> beta_ends{"beta_min", "beta_max"};
constexpr In<12> gamma_port{"gamma", "Tinput", "[channels]: what each channel is multiplied by, with scale_after_normalization"};
constexpr RangeIn<13> gamma_ends{"gamma_min", "gamma_max"};
constexpr Out<0> result{"result", "out_type", "the shape of t"};
constexpr RangeOut result_ends{"result_min", "result_max", "a scalar: -2^20, which the lowest integer stands for",
                               "a scalar: 2^20, which the highest integer stands for"};
constexpr Attr<DType> out_type{"out_type", kRequired, "the type of result"};
constexpr Attr<float> variance_epsilon{"variance_epsilon", kRequired,
    "a small number added to the variance; as in TensorFlow any number, also one that leaves a sum below 0, whose root, nan, counts as the lowest integer"};
constexpr Attr<bool> scale_after_normalization{"scale_after_normalization", kRequired, "multiply by gamma"};

constexpr QuantizedLimits kWide = LimitsOf<int32_t>(), kBytes = LimitsOf<uint8_t>();
/// 11 bits behind the point.
constexpr QuantizedRange kResultRange{-1048576.0f, 1048576.0f};

struct Norm {
  int64_t channels = 0, pixels = 0;
  float epsilon = 0;
  bool scales = false;
};

/// That each end of a range is one number, of any rank.
template <int... I>
Status CheckOneNumber(const PlanContext& ctx, const RangeIn<I>&... ranges) {
  Status status;
  const auto check = [&](const auto& port) {
    if (status.ok() && ctx.shape(port).count() != 1) status = ctx.Error(port, "needs one number, found shape ", ctx.shape(port));
  };
  ((check(ranges.min), check(ranges.max)), ...);
  return status;
}

Result<Norm> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(t);
  if (shape.rank() != 4) return ctx.Error(t, "needs rank 4, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckOneNumber(ctx, t_ends, m_ends, v_ends, beta_ends, gamma_ends));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, t.name));
  const auto check = [&](const auto& port) { return CheckVector(ctx, port, shape[3], "channel of t"); };
  WEFT_RETURN_IF_ERROR(check(m));
  WEFT_RETURN_IF_ERROR(check(v));
  WEFT_RETURN_IF_ERROR(check(beta));
  WEFT_RETURN_IF_ERROR(check(gamma_port));
  if (shape[3] == 0) return ctx.Error(m, "needs the mean of one channel or more, found none");
  ctx.set(result, shape);
  ctx.set_scratch(shape[3] * static_cast<int64_t>(2 * sizeof(int32_t)));
  return Norm{shape[3], shape.count() == 0 ? 0 : shape.count() / shape[3], ctx.attr(variance_epsilon), ctx.attr(scale_after_normalization)};
}

int32_t WideLevel(float value) { return static_cast<int32_t>(kernels::ClampedLevelOf(value, kResultRange, kWide)); }

/// What each channel is multiplied by, and what is added then.
void MakeFactors(const Norm& norm, const RunContext& ctx, int32_t* scale, int32_t* offset) {
  const auto number = [&](const auto& port, int64_t c, QuantizedRange range) {
    return kernels::NumberOf(ctx.in<uint8_t>(port)[c], range, kBytes);
  };
  const QuantizedRange m_range = RangeOf(ctx, m_ends), v_range = RangeOf(ctx, v_ends);
  const QuantizedRange beta_range = RangeOf(ctx, beta_ends), gamma_range = RangeOf(ctx, gamma_ends);
  for (int64_t c = 0; c < norm.channels; ++c) {
    float factor = 1.0f / std::sqrt(number(v, c, v_range) + norm.epsilon);
    if (norm.scales) factor *= number(gamma_port, c, gamma_range);
    scale[c] = WideLevel(factor);
    offset[c] = WideLevel(-number(m, c, m_range) * factor + number(beta, c, beta_range));
  }
}

constexpr auto Run = [](const Norm& norm, RunContext& ctx) {
  int32_t *scale = ctx.scratch<int32_t>().data(), *offset = scale + norm.channels;
  MakeFactors(norm, ctx, scale, offset);
  const int32_t one = WideLevel(1.0f);
  int32_t wide[256];  // of each level of t
  const QuantizedRange t_range = RangeOf(ctx, t_ends);
  for (int level = 0; level < 256; ++level) wide[level] = WideLevel(kernels::NumberOf(level, t_range, kBytes));
  const uint8_t* from = ctx.in<uint8_t>(t).data();
  int32_t* to = ctx.out<int32_t>(result).data();
  const int64_t grain = std::max<int64_t>(1, kQuantizedGrain / 4 / std::max<int64_t>(norm.channels, 1));
  kernels::ForEach(ctx.workers(), norm.pixels, grain, [&](int64_t p) {
    for (int64_t c = 0; c < norm.channels; ++c) {
      const int64_t i = p * norm.channels + c;
      to[i] = WrapAdd(WrapMultiply(wide[from[i]], scale[c]) / one, offset[c]);
    }
  });
  SetRange(ctx, result_ends, kResultRange);
};

}  // namespace

BlockDef QuantizedBatchNormWithGlobalNormalization() {
  return Block("QuantizedBatchNormWithGlobalNormalization", "Normalises quantized pictures by given means and variances of their channels.")
      .Details("Computes in fixed point with 11 bits behind the point; products wrap at 32 bits.")
      .Ports(t, t_ends.min, t_ends.max, m, m_ends.min, m_ends.max, v, v_ends.min, v_ends.max, beta, beta_ends.min, beta_ends.max,
             gamma_port, gamma_ends.min, gamma_ends.max, result, result_ends.min, result_ends.max)
      .Types("Tinput", TypeList<quint8>{}).Attrs(out_type).Types("out_type", kQuantizedSums)
      .Attrs(variance_epsilon, scale_after_normalization)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
