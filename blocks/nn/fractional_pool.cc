// FractionalMaxPool and FractionalAvgPool: pooling with windows of differing sizes, drawn by chance; and their gradients.
#include <optional>

#include "blocks/gradients.h"
#include "blocks/kernels/pool/avg_pool.h"
#include "blocks/kernels/pool/fractional.h"
#include "blocks/kernels/pool/max_pool.h"
#include "blocks/limits.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::SequencePooling;

constexpr TypeList<float, double, int32_t, int64_t> kPooled;
constexpr Attr<bool> overlapping{"overlapping", "false", "whether the first input of a window is also the last of the one before"};

/// The geometry of pictures pooled to [rows, columns]; the starts of the windows are set in Run.
SequencePooling PoolingOf(const Shape& shape, int64_t rows, int64_t columns, bool overlap) {
  SequencePooling p;
  p.batch = shape[0];
  p.channels = shape[3];
  p.axes[1] = {shape[1], rows, nullptr, overlap};
  p.axes[2] = {shape[2], columns, nullptr, overlap};
  return p;
}

constexpr In<0> value{"value", "T", "[batch, height, width, channels]"};
constexpr Out<0> output{"output", "T", "[batch, out_height, out_width, channels]; sizes are divided by their ratio and rounded down"};
constexpr Out<1> row_pooling_sequence{"row_pooling_sequence", "DT_INT64",
    "[out_height + 1], the rows where windows start, and the number of rows"};
constexpr Out<2> col_pooling_sequence{"col_pooling_sequence", "DT_INT64",
    "[out_width + 1], the columns where windows start, and the number of columns"};
constexpr Attr<FloatList> pooling_ratio{"pooling_ratio", kRequired,
    "how many inputs to an output, one number an axis, each 1 or more; 1 for batch and channels", nullptr, 4};
constexpr Attr<bool> pseudo_random{"pseudo_random", "false",
    "true spreads the longer windows evenly from a point drawn by chance, false shuffles them"};
constexpr Attr<bool> deterministic{"deterministic", "false", "whether every run draws the same windows; seeds need it"};

struct Parameters {
  SequencePooling pooling;
  bool pseudo_random, deterministic;
  Seeds seeds;
};

/// The pooled size of an axis.
Result<int64_t> PooledSize(const Shape& shape, int axis, float ratio) {
  if (!(ratio >= 1)) return InvalidArgument("needs numbers of 1 or more, found ", ratio).WithPort(pooling_ratio.name);
  if (shape[axis] > INT32_MAX) return Unsupported("needs sizes below 2^31, found shape ", shape).WithPort(value.name);
  const float size = std::floor(static_cast<float>(shape[axis]) / ratio);
  if (size < 1) {
    return InvalidArgument("needs a ratio no greater than the size of its axis, ", shape[axis], ", found ", ratio)
        .WithPort(pooling_ratio.name);
  }
  return std::min(static_cast<int64_t>(size), shape[axis]);
}

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value);
  const FloatList ratios = ctx.attr(pooling_ratio);
  if (shape.rank() != 4) return ctx.Error(value, "needs rank 4, found shape ", shape);
  if (ratios.size() != 4) return ctx.Error(pooling_ratio, "needs 4 numbers, one an axis, found ", ratios.size());
  WEFT_ASSIGN_OR_RETURN(const int64_t rows, PooledSize(shape, 1, ratios[1]));
  WEFT_ASSIGN_OR_RETURN(const int64_t columns, PooledSize(shape, 2, ratios[2]));
  if (ratios[0] != 1 || ratios[3] != 1) {
    const Code code = ratios[0] < 1 || ratios[3] < 1 ? Code::kInvalidArgument : Code::kUnsupported;
    return ctx.ErrorOf(code, pooling_ratio, "needs 1 for batch and channels, found ", ratios[0], " and ", ratios[3]);
  }
  const Seeds seeds = SeedsOf(ctx);
  if (!ctx.attr(deterministic) && (seeds.seed != 0 || seeds.seed2 != 0)) {
    return ctx.Error(deterministic, "needs true where seed or seed2 is not 0, found false");
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, Ints{shape[0], rows, columns, shape[3]}, value));
  ctx.set(row_pooling_sequence, {rows + 1});
  ctx.set(col_pooling_sequence, {columns + 1});
  return Parameters{PoolingOf(shape, rows, columns, ctx.attr(overlapping)), ctx.attr(pseudo_random), ctx.attr(deterministic), seeds};
}

/// Nothing where it left because the run is to end.
std::optional<SequencePooling> DrawWindows(const Parameters& p, RunContext& ctx) {
  SequencePooling pooling = p.pooling;
  // Each axis takes a group for four windows and one more.
  const int64_t groups = (pooling.axes[1].out + pooling.axes[2].out) / 4 + 2;
  kernels::Philox generator = ctx.state<RandomStream>().ReserveGroups(p.deterministic ? 0 : static_cast<uint64_t>(groups));
  const std::span<int64_t> rows = ctx.out<int64_t>(row_pooling_sequence), columns = ctx.out<int64_t>(col_pooling_sequence);
  if (!kernels::DrawPoolingSequence(pooling.axes[1].in, p.pseudo_random, generator, rows, ctx.workers())) return std::nullopt;
  if (!kernels::DrawPoolingSequence(pooling.axes[2].in, p.pseudo_random, generator, columns, ctx.workers())) return std::nullopt;
  pooling.axes[1].starts = rows.data();
  pooling.axes[2].starts = columns.data();
  return pooling;
}

template <bool kMax>
constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const auto windows = DrawWindows(p, ctx);
  if (!windows) return;
  const T* const in = ctx.in<T>(value).data();
  T* const out = ctx.out<T>(output).data();
  kMax ? kernels::MaxPool(*windows, in, out, ctx.workers()) : kernels::AvgPool(*windows, in, out, ctx.workers());
};

// ---- gradients -----------------------------------------------------------------------------------------------------------------

constexpr In<0> orig_input{"orig_input", "T", "the pooling's input: [batch, height, width, channels]"};
constexpr In<1> orig_output{"orig_output", "T", "the pooling's output: [batch, out_height, out_width, channels]"};
constexpr Out<0> shared{"output", "T", "the gradient of the pooling's input, of its shape"};
constexpr char kSequenceDoc[] = "the pooling's sequence, of one number more than there are windows";

/// Of the greatest, which reads orig_output, or of the average.
template <bool kMax>
struct Backward {
  static constexpr In<1 + kMax> grad{"out_backprop", "T", "the gradient of the pooling's output: [batch, out_height, out_width, channels]"};
  static constexpr In<2 + kMax> rows{"row_pooling_sequence", "DT_INT64", kSequenceDoc};
  static constexpr In<3 + kMax> columns{"col_pooling_sequence", "DT_INT64", kSequenceDoc};

  static Result<SequencePooling> Plan(PlanContext& ctx) {
    const Shape &shape = ctx.shape(orig_input), &pooled = ctx.shape(grad);
    if constexpr (kMax) WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, orig_output, grad));
    if (shape.rank() != 4) return ctx.Error(orig_input, "needs rank 4, found shape ", shape);
    if (pooled.rank() != 4) return ctx.Error(grad, "needs rank 4, found shape ", pooled);
    if (pooled[0] != shape[0] || pooled[3] != shape[3]) {
      return ctx.Error(grad, "needs batch and channels of orig_input, ", shape, ", found shape ", pooled);
    }
    WEFT_RETURN_IF_ERROR(CheckVector(ctx, rows, pooled[1] + 1, "window, and the end"));
    WEFT_RETURN_IF_ERROR(CheckVector(ctx, columns, pooled[2] + 1, "window, and the end"));
    const SequencePooling p = PoolingOf(shape, pooled[1], pooled[2], ctx.attr(overlapping));
    if (kMax && !p.empty() && p.in_pixels() > kernels::kMaxPooledPixels) {
      return ctx.ErrorOf(Code::kUnsupported, orig_input, "needs pictures of no more than ", kernels::kMaxPooledPixels, " pixels");
    }
    if (!kMax) ctx.set_scratch(pooled.count() * static_cast<int64_t>(ElementSize(ctx.dtype(orig_input))));
    ctx.set(shared, shape);
    return p;
  }

  /// Sets the windows of an axis, where the sequence can be that of a pooling.
  static Status SetWindows(const RunContext& ctx, const auto& port, kernels::SequenceAxis& axis) {
    const auto starts = ctx.in<int64_t>(port);
    for (size_t i = 0; i < starts.size(); ++i) {
      if (starts[i] >= (i == 0 ? 0 : starts[i - 1] + 1) && starts[i] <= axis.in) continue;
      return ctx.Error(port, "needs positions that rise from 0 or more to ", axis.in, " or less, found ", starts[i], " at index ", i);
    }
    axis.starts = starts.data();
    return {};
  }

  static constexpr auto Run = []<class T>(const SequencePooling& planned, RunContext& ctx) -> Status {
    SequencePooling p = planned;
    WEFT_RETURN_IF_ERROR(SetWindows(ctx, rows, p.axes[1]));
    WEFT_RETURN_IF_ERROR(SetWindows(ctx, columns, p.axes[2]));
    const T* const gradient = ctx.in<T>(grad).data();
    T* const out = ctx.out<T>(shared).data();
    if constexpr (kMax) kernels::MaxPoolGrad(p, kernels::MaxPoolGradient<T>{ctx.in<T>(orig_input).data(), nullptr, gradient, out}, ctx.workers());
    else kernels::AvgPoolGrad(p, gradient, out, ctx.scratch<T>().data(), ctx.workers());
    return {};
  };

  /// Of the pooling, by `block`.
  static GradientFunction By(const char* block) {
    return [block](GradientBuilder& g) -> Status {
      if (!g.grad(output).valid()) return {};
      GradientInputs inputs{{grad.name, {g.grad(output)}},
                            {orig_input.name, {g.in(value)}},
                            {rows.name, {g.out(row_pooling_sequence)}},
                            {columns.name, {g.out(col_pooling_sequence)}}};
      if (kMax) inputs.push_back({orig_output.name, {g.out(output)}});
      g.Set(value, g.Add(block, inputs, SameAttrs(g, {overlapping.name})));
      return {};
    };
  }
};

template <bool kMax>
BlockDef Forward(const char* name, const char* summary, const char* gradient) {
  return Block(name, summary)
      .Details("Without seeds the windows differ from run to run, unless deterministic; with seeds they are TensorFlow's own, the same in "
               "every run.")
      .Ports(value, output, row_pooling_sequence, col_pooling_sequence)
      .Attrs(pooling_ratio, pseudo_random, overlapping, deterministic, kSeed, kSeed2).Types("T", kPooled)
      .Gradient(Backward<kMax>::By(gradient)).Kernel(Plan, Run<kMax>, kBindStream);
}

/// The input is there for its shape; by what flows back there is no gradient.
Status LikeGradient(GradientBuilder& g) {
  return g.wanted(Backward<false>::grad) ? Unsupported("has no second gradient by what flows back") : Status();
}

}  // namespace

BlockDef FractionalMaxPool() {
  constexpr const char* kSummary = "The largest value under each window of a picture, for windows of differing sizes drawn by chance.";
  return Forward<true>("FractionalMaxPool", kSummary, "FractionalMaxPoolGrad");
}

BlockDef FractionalAvgPool() {
  constexpr const char* kSummary = "The average under each window of a picture, for windows of differing sizes drawn by chance.";
  return Forward<false>("FractionalAvgPool", kSummary, "FractionalAvgPoolGradLike");
}

BlockDef FractionalMaxPoolGrad() {
  using Of = Backward<true>;
  return Block("FractionalMaxPoolGrad", "The gradient of FractionalMaxPool: the first largest value of each window takes it.")
      .Ports(orig_input, orig_output, Of::grad, Of::rows, Of::columns, shared).Attrs(overlapping).Types("T", kPooled)
      .Internal().Kernel(Of::Plan, Of::Run);
}

BlockDef FractionalAvgPoolGradLike() {
  using Of = Backward<false>;
  return Block("FractionalAvgPoolGradLike", "The gradient of FractionalAvgPool, whose input is given for its shape.")
      .Ports(orig_input, Of::grad, Of::rows, Of::columns, shared).Attrs(overlapping)
      .Types("T", TypeList<float, double>{})
      .Internal().Gradient(LikeGradient).Kernel(Of::Plan, Of::Run);
}

}  // namespace weft::blocks
