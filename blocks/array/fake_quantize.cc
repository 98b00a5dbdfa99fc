// FakeQuantWithMinMax*: numbers moved to the levels that quantized ones would have, and the gradients.
#include "blocks/gradient_block.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::FakeQuantizer;

constexpr Attr<float> min_attr{"min", "-6.0", "the least number of the range"};
constexpr Attr<float> max_attr{"max", "6.0", "the largest number of the range"};
constexpr Attr<int64_t> num_bits{"num_bits", "8", "bits of a level: 2 to 16"};
constexpr Attr<bool> narrow_range{"narrow_range", "false", "the lowest level is not used"};

constexpr char kLevels[] = "The range is moved so that zero has a level of its own; numbers outside it go to its ends.";

Status CheckBits(const PlanContext& ctx) {
  const int64_t bits = ctx.attr(num_bits);
  if (bits < 2 || bits > 16) return ctx.Error(num_bits, "needs 2 to 16, found ", bits);
  return {};
}

/// The levels of a range as the attributes say.
struct Levels {
  int64_t bits = 8;
  bool narrow = false;
  SlicedTensor tensor;  // channels are slices
  FakeQuantizer Of(QuantizedRange range, bool multiply = false) const { return kernels::MakeFakeQuantizer(range, bits, narrow, multiply); }
};

Result<Levels> ReadLevels(const PlanContext& ctx, const Shape& shape) {
  WEFT_RETURN_IF_ERROR(CheckBits(ctx));
  Levels levels{ctx.attr(num_bits), ctx.attr(narrow_range), {}};
  levels.tensor.inner = shape.count();
  return levels;
}

/// Channels are the last axis; min and max have a number for each.
Result<Levels> ReadChannels(const PlanContext& ctx, const InputPort auto& port, const InputPort auto& min, const InputPort auto& max) {
  const Shape& shape = ctx.shape(port);
  if (shape.rank() < 1) return ctx.Error(port, "needs rank 1 or more, [..., channels], found a scalar");
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, port.name));
  const int64_t channels = shape[shape.rank() - 1];
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, min, channels, "channel"));
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, max, channels, "channel"));
  WEFT_ASSIGN_OR_RETURN(Levels levels, ReadLevels(ctx, shape));
  levels.tensor = {channels == 0 ? 0 : shape.count() / channels, channels, 1};
  return levels;
}

/// A gradient is handed on where the number lay within the range. NaN lies nowhere.
void PassWithin(const FakeQuantizer& q, const float* gradients, const float* inputs, float* to, int64_t n) {
  const float low = q.range.min, high = q.range.max;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = gradients[i] * ((inputs[i] >= low && inputs[i] <= high) ? 1.0f : 0.0f);
}

namespace args {
constexpr In<0> inputs{"inputs", "DT_FLOAT", "of any shape"};
constexpr Out<0> outputs{"outputs", "DT_FLOAT", "the shape of inputs"};
constexpr In<0> gradients{"gradients", "DT_FLOAT", "the gradient of the outputs, in the shape of inputs"};
constexpr In<1> seen{"inputs", "DT_FLOAT", "the inputs of FakeQuantWithMinMaxArgs, of any shape"};
constexpr Out<0> backprops{"backprops", "DT_FLOAT", "the gradient of the inputs, in their shape"};

Result<FakeQuantizer> Read(const PlanContext& ctx) {
  const float min = ctx.attr(min_attr), max = ctx.attr(max_attr);
  if (!(min < max)) return ctx.Error(min_attr, "needs less than max, which is ", max, ", found ", min);
  WEFT_RETURN_IF_ERROR(CheckBits(ctx));
  return kernels::MakeFakeQuantizer({min, max}, ctx.attr(num_bits), ctx.attr(narrow_range), true);
}

Result<FakeQuantizer> Plan(PlanContext& ctx) {
  ctx.set(outputs, ctx.shape(inputs));
  return Read(ctx);
}
constexpr auto Run = [](const FakeQuantizer& q, RunContext& ctx) {
  const auto from = ctx.in<float>(inputs);
  const auto to = ctx.out<float>(outputs);
  ctx.workers().For(static_cast<int64_t>(from.size()), kQuantizedGrain,
                    [&](int64_t begin, int64_t end) { kernels::FakeQuantize(q, &from[begin], &to[begin], end - begin); });
};

Result<FakeQuantizer> PlanGradient(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, gradients, seen));
  ctx.set(backprops, ctx.shape(seen));
  return Read(ctx);
}
constexpr auto RunGradient = [](const FakeQuantizer& q, RunContext& ctx) {
  const auto dy = ctx.in<float>(gradients), x = ctx.in<float>(seen);
  const auto to = ctx.out<float>(backprops);
  ctx.workers().For(static_cast<int64_t>(x.size()), kQuantizedGrain,
                    [&](int64_t begin, int64_t end) { PassWithin(q, &dy[begin], &x[begin], &to[begin], end - begin); });
};
}  // namespace args

namespace vars {
constexpr In<0> inputs{"inputs", "DT_FLOAT", "of any shape; by channels [..., channels]"};
constexpr In<1> min{"min", "DT_FLOAT", "the least number of the range: a scalar; by channels [channels]"};
constexpr In<2> max{"max", "DT_FLOAT", "the largest number of the range: a scalar; by channels [channels]"};
constexpr Out<0> outputs{"outputs", "DT_FLOAT", "the shape of inputs"};

Result<Levels> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, min, max));
  ctx.set(outputs, ctx.shape(inputs));
  return ReadLevels(ctx, ctx.shape(inputs));
}
constexpr auto Run = [](const Levels& levels, RunContext& ctx) {
  const FakeQuantizer q = levels.Of({ctx.in<float>(min)[0], ctx.in<float>(max)[0]});
  const auto from = ctx.in<float>(inputs);
  const auto to = ctx.out<float>(outputs);
  ForSlices(ctx, levels.tensor, [&](int64_t, int64_t first, int64_t n) { kernels::FakeQuantize(q, &from[first], &to[first], n); });
};

Result<Levels> PlanChannels(PlanContext& ctx) {
  ctx.set(outputs, ctx.shape(inputs));
  WEFT_ASSIGN_OR_RETURN(const Levels levels, ReadChannels(ctx, inputs, min, max));
  ctx.set_scratch(levels.tensor.slices * kernels::FakeQuantizers::kFloats * static_cast<int64_t>(sizeof(float)));
  return levels;
}
constexpr auto RunChannels = [](const Levels& levels, RunContext& ctx) {
  const int64_t channels = levels.tensor.slices;
  const auto lows = ctx.in<float>(min), highs = ctx.in<float>(max);
  const kernels::FakeQuantizers quantizers(ctx.scratch<float>().data(), channels);
  kernels::ForEach(ctx.workers(), channels, kSlicesTogether, [&](int64_t c) { quantizers.Set(c, levels.Of({lows[c], highs[c]}, true)); });
  const float* from = ctx.in<float>(inputs).data();
  float* to = ctx.out<float>(outputs).data();
  const int64_t grain = std::max<int64_t>(1, kQuantizedGrain / std::max<int64_t>(channels, 4));
  kernels::ForEach(ctx.workers(), levels.tensor.outer, grain, [&](int64_t row) {
    ctx.workers().For(channels, 2 * kQuantizedGrain, [&](int64_t begin, int64_t end) {
      kernels::FakeQuantize(quantizers.From(begin), from + row * channels + begin, to + row * channels + begin, end - begin);
    });
  });
};

BlockDef Declare(const char* name, const char* summary, const char* gradient_block, auto plan, auto run) {
  const auto gradient = [gradient_block](GradientBuilder& g) -> Status {
    const GradientInputs of = {{"gradients", {g.grad(outputs)}}, {"inputs", {g.in(inputs)}}, {"min", {g.in(min)}}, {"max", {g.in(max)}}};
    const GradientValue dx = g.Add(gradient_block, of, SameAttrs(g, {num_bits.name, narrow_range.name}));
    g.Set(inputs, dx);
    g.Set(min, GradientBuilder::Output(dx, 1));
    g.Set(max, GradientBuilder::Output(dx, 2));
    return {};
  };
  return Block(name, summary)
      .Details(kLevels).Ports(inputs, min, max, outputs).Attrs(num_bits, narrow_range).Gradient(gradient).Kernel(plan, run);
}
}  // namespace vars

namespace vars_gradient {
constexpr In<0> gradients{"gradients", "DT_FLOAT", "the gradient of the outputs, in the shape of inputs"};
constexpr In<1> inputs{"inputs", "DT_FLOAT", "as for the block whose gradient this is; by channels [..., channels]"};
constexpr In<2> min{"min", "DT_FLOAT", "the least number of the range: a scalar; by channels [channels]"};
constexpr In<3> max{"max", "DT_FLOAT", "the largest number of the range: a scalar; by channels [channels]"};
constexpr Out<0> backprops_wrt_input{"backprops_wrt_input", "DT_FLOAT", "the gradient of inputs: where they lay within the range"};
constexpr Out<1> backprop_wrt_min{"backprop_wrt_min", "DT_FLOAT", "the gradient of min: the sum over the inputs below the range"};
constexpr Out<2> backprop_wrt_max{"backprop_wrt_max", "DT_FLOAT", "the gradient of max: the sum over the inputs above the range"};

/// Rows that one piece sums; the sums of pieces are added up in order.
struct Sums {
  Levels levels;
  int64_t pieces = 0, rows = 1;  // rows of a piece; of one channel, elements
};

int64_t RowsOf(const Levels& levels) { return levels.tensor.slices == 0 ? 0 : levels.tensor.outer * levels.tensor.inner; }

Sums CutSums(PlanContext& ctx, const Levels& levels) {
  Sums sums{levels};
  const int64_t width = levels.tensor.slices;
  sums.rows = std::max<int64_t>(1, kQuantizedGrain / std::max<int64_t>(width, 1));
  sums.pieces = DivideUp(RowsOf(levels), sums.rows);
  ctx.set_scratch(2 * sums.pieces * width * static_cast<int64_t>(sizeof(double)) + width * static_cast<int64_t>(sizeof(FakeQuantizer)));
  return sums;
}

Result<Sums> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, gradients, inputs));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, min, max));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.shape(inputs), inputs.name));
  ctx.set(backprops_wrt_input, ctx.shape(inputs));
  WEFT_ASSIGN_OR_RETURN(const Levels levels, ReadLevels(ctx, ctx.shape(inputs)));
  return CutSums(ctx, levels);
}

Result<Sums> PlanChannels(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Levels levels, ReadChannels(ctx, inputs, min, max));
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, gradients, inputs));
  ctx.set(backprops_wrt_input, ctx.shape(inputs));
  ctx.set(backprop_wrt_min, ctx.shape(min));
  ctx.set(backprop_wrt_max, ctx.shape(max));
  return CutSums(ctx, levels);
}

/// Columns [first, last) of rows [begin, end) of [rows, width] numbers.
void RunRows(const FakeQuantizer* q, int64_t width, int64_t begin, int64_t end, int64_t first, int64_t last, const float* dy, const float* x,
             float* to, double* below, double* above) {
  std::fill(below + first, below + last, 0.0);
  std::fill(above + first, above + last, 0.0);
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t c = first; c < last; ++c) {
      const int64_t i = r * width + c;
      const bool all = q[c].nothing;  // a range of [0, 0] hands every gradient on
      to[i] = dy[i] * ((all || (x[i] >= q[c].range.min && x[i] <= q[c].range.max)) ? 1.0f : 0.0f);
      below[c] += all ? 0.0 : static_cast<double>(dy[i]) * (x[i] < q[c].range.min ? 1.0 : 0.0);  // a gradient that is not finite makes NaN
      above[c] += all ? 0.0 : static_cast<double>(dy[i]) * (x[i] > q[c].range.max ? 1.0 : 0.0);
    }
  }
}

/// Adds up the pieces of each channel, in their order.
void AddPieces(const RunContext& ctx, const Sums& sums, const double* partial) {
  constexpr int64_t kTogether = 512;  // channels, side by side in the cache
  const int64_t width = sums.levels.tensor.slices;
  const auto to_min = ctx.out<float>(backprop_wrt_min), to_max = ctx.out<float>(backprop_wrt_max);
  ctx.workers().For(width, kTogether, [&](int64_t begin, int64_t end) {
    double below[kTogether] = {}, above[kTogether] = {};
    const int64_t n = end - begin;
    kernels::StopCheck stop(ctx.workers());
    for (int64_t p = 0; p < sums.pieces && !stop(2 * n); ++p) {
      const double* at = partial + 2 * width * p + begin;
      for (int64_t c = 0; c < n; ++c) {
        below[c] += at[c];
        above[c] += at[width + c];
      }
    }
    std::copy_n(below, n, to_min.data() + begin);
    std::copy_n(above, n, to_max.data() + begin);
  });
}

constexpr auto Run = [](const Sums& sums, RunContext& ctx) {
  const Levels& levels = sums.levels;
  const int64_t width = levels.tensor.slices, rows = RowsOf(levels);
  const auto lows = ctx.in<float>(min), highs = ctx.in<float>(max);
  double* partial = ctx.scratch<double>().data();
  auto* channels = reinterpret_cast<FakeQuantizer*>(partial + 2 * sums.pieces * width);
  kernels::ForEach(ctx.workers(), width, kSlicesTogether, [&](int64_t c) { channels[c] = levels.Of({lows[c], highs[c]}); });
  const float *dy = ctx.in<float>(gradients).data(), *x = ctx.in<float>(inputs).data();
  float* to = ctx.out<float>(backprops_wrt_input).data();
  ctx.workers().For(rows, sums.rows, [&](int64_t begin, int64_t end) {
    double* at = partial + 2 * width * (begin / sums.rows);
    ctx.workers().For(width, 2 * kQuantizedGrain, [&](int64_t first, int64_t last) {
      RunRows(channels, width, begin, end, first, last, dy, x, to, at, at + width);
    });
  });
  AddPieces(ctx, sums, partial);
};

BlockDef Declare(const char* name, const char* summary, auto plan) {
  return Block(name, summary)
      .Ports(gradients, inputs, min, max, backprops_wrt_input, backprop_wrt_min, backprop_wrt_max)
      .Attrs(num_bits, narrow_range)
      .NotDifferentiable().Kernel(plan, Run);
}
}  // namespace vars_gradient

}  // namespace

BlockDef FakeQuantWithMinMaxArgs() {
  using namespace args;
  return Block("FakeQuantWithMinMaxArgs", "Moves numbers to the nearest level of a fixed range, as if they were quantized and back.")
      .Details(kLevels)
      .Ports(inputs, outputs).Attrs(min_attr, max_attr, num_bits, narrow_range)
      .Elementwise()
      .Gradient(GradientBlock(inputs, "FakeQuantWithMinMaxArgsGradient", {{"gradients", Grad(outputs)}, {"inputs", inputs}},
                              {min_attr.name, max_attr.name, num_bits.name, narrow_range.name}))
      .Kernel(Plan, Run);
}

BlockDef FakeQuantWithMinMaxArgsGradient() {
  using namespace args;
  return Block("FakeQuantWithMinMaxArgsGradient", "The gradient of FakeQuantWithMinMaxArgs: handed on within the range.")
      .Ports(gradients, seen, backprops).Attrs(min_attr, max_attr, num_bits, narrow_range)
      .Elementwise().NotDifferentiable().Kernel(PlanGradient, RunGradient);
}

BlockDef FakeQuantWithMinMaxVars() {
  return vars::Declare("FakeQuantWithMinMaxVars", "Moves numbers to the nearest level of a range, as if they were quantized and back.",
                       "FakeQuantWithMinMaxVarsGradient", vars::Plan, vars::Run);
}

BlockDef FakeQuantWithMinMaxVarsGradient() {
  return vars_gradient::Declare("FakeQuantWithMinMaxVarsGradient", "The gradients of FakeQuantWithMinMaxVars.", vars_gradient::Plan);
}

BlockDef FakeQuantWithMinMaxVarsPerChannel() {
  return vars::Declare("FakeQuantWithMinMaxVarsPerChannel", "Moves numbers to the nearest level of the range of their channel.",
                       "FakeQuantWithMinMaxVarsPerChannelGradient", vars::PlanChannels, vars::RunChannels);
}

BlockDef FakeQuantWithMinMaxVarsPerChannelGradient() {
  return vars_gradient::Declare("FakeQuantWithMinMaxVarsPerChannelGradient", "The gradients of FakeQuantWithMinMaxVarsPerChannel.",
                                vars_gradient::PlanChannels);
}

}  // namespace weft::blocks
