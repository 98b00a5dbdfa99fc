// FractionalMaxPool and FractionalAvgPool: pooling with windows of differing sizes, drawn by chance; and their gradients.
#include <atomic>
#include <optional>
#include <random>

#include "blocks/kernels/pool/avg_pool.h"
#include "blocks/kernels/pool/fractional.h"
#include "blocks/kernels/pool/max_pool.h"
#include "weft/block/block.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {
namespace {

using kernels::SequencePooling;

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

namespace pool {
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
constexpr Attr<int64_t> seed{"seed", "0", "the seed; where both are 0 the windows differ from session to session"};
constexpr Attr<int64_t> seed2{"seed2", "0", "a second seed"};

struct Parameters {
  SequencePooling pooling;
  bool pseudo_random, deterministic;
  int64_t seed, seed2;
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
  const int64_t first = ctx.attr(seed), second = ctx.attr(seed2);
  if (!ctx.attr(deterministic) && (first != 0 || second != 0)) {
    return ctx.Error(deterministic, "needs true where seed or seed2 is not 0, found false");
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, Ints{shape[0], rows, columns, shape[3]}, value));
  ctx.set(row_pooling_sequence, {rows + 1});
  ctx.set(col_pooling_sequence, {columns + 1});
  return Parameters{PoolingOf(shape, rows, columns, ctx.attr(overlapping)), ctx.attr(pseudo_random), ctx.attr(deterministic), first,
                    second};
}

/// The seeds of a block that was given none, and how often it has drawn.
class Draws : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "seeds of fractional pooling";
  std::string_view kind() const override { return kKind; }

  kernels::Philox Next(const Parameters& p) {
    if (p.seed != 0 || p.seed2 != 0) return {static_cast<uint64_t>(p.seed), static_cast<uint64_t>(p.seed2)};
    return {seed_.load(std::memory_order_relaxed), p.deterministic ? 0 : runs_.fetch_add(1, std::memory_order_relaxed)};
  }

  Status Save(StateWriter& out) const override {
    out.Put(seed_.load(std::memory_order_relaxed));
    out.Put(runs_.load(std::memory_order_relaxed));
    return {};
  }
  Result<std::function<void()>> Load(StateReader& in) override {
    WEFT_ASSIGN_OR_RETURN(const uint64_t seed, in.Number());
    WEFT_ASSIGN_OR_RETURN(const uint64_t runs, in.Number());
    return std::function<void()>([this, seed, runs] {
      seed_.store(seed, std::memory_order_relaxed);
      runs_.store(runs, std::memory_order_relaxed);
    });
  }
  void Reset() override { runs_.store(0, std::memory_order_relaxed); }

 private:
  static uint64_t ByChance() {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }
  std::atomic<uint64_t> seed_{ByChance()};
  std::atomic<uint64_t> runs_{0};
};
constexpr auto Bind = [](const Parameters&, BindContext& ctx) {
  return ctx.Own([]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Draws>()); });
};

/// Nothing where it left because the run is to end.
std::optional<SequencePooling> DrawWindows(const Parameters& p, RunContext& ctx) {
  SequencePooling pooling = p.pooling;
  kernels::Philox generator = ctx.state<Draws>().Next(p);
  const std::span<int64_t> rows = ctx.out<int64_t>(row_pooling_sequence), columns = ctx.out<int64_t>(col_pooling_sequence);
  if (!kernels::DrawPoolingSequence(pooling.axes[1].in, p.pseudo_random, generator, rows, ctx.workers())) return std::nullopt;
  if (!kernels::DrawPoolingSequence(pooling.axes[2].in, p.pseudo_random, generator, columns, ctx.workers())) return std::nullopt;
  pooling.axes[1].starts = rows.data();
  pooling.axes[2].starts = columns.data();
  return pooling;
}

constexpr auto RunMax = []<class T>(const Parameters& p, RunContext& ctx) {
  const auto windows = DrawWindows(p, ctx);
  if (windows) kernels::MaxPool(*windows, ctx.in<T>(value).data(), ctx.out<T>(output).data(), ctx.workers());
};
constexpr auto RunAverage = []<class T>(const Parameters& p, RunContext& ctx) {
  const auto windows = DrawWindows(p, ctx);
  if (windows) kernels::AvgPool(*windows, ctx.in<T>(value).data(), ctx.out<T>(output).data(), ctx.workers());
};

Status GradientTo(GradientBuilder& g, const char* block, GradientInputs inputs) {
  if (!g.grad(output).valid()) return {};
  inputs.push_back({"out_backprop", {g.grad(output)}});
  inputs.push_back({"row_pooling_sequence", {g.out(row_pooling_sequence)}});
  inputs.push_back({"col_pooling_sequence", {g.out(col_pooling_sequence)}});
  g.Set(value, g.Add(block, inputs, {{overlapping.name, g.AttrOf(overlapping.name)}}));
  return {};
}
Status MaxGradient(GradientBuilder& g) {
  return GradientTo(g, "FractionalMaxPoolGrad", {{"orig_input", {g.in(value)}}, {"orig_output", {g.out(output)}}});
}
Status AverageGradient(GradientBuilder& g) { return GradientTo(g, "FractionalAvgPoolGradLike", {{"orig_input", {g.in(value)}}}); }

template <class F, class Run>
BlockDef Declare(const char* name, const char* summary, F gradient, Run run) {
  return Block(name, summary)
      .Details("Without seeds the windows differ from run to run, unless deterministic; with seeds they are TensorFlow's own, the same in "
               "every run.")
      .Ports(value, output, row_pooling_sequence, col_pooling_sequence)
      .Attrs(pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2)
      .Types("T", TypeList<float, double, int32_t, int64_t>{})
      .Gradient(gradient)
      .Kernel(Plan, run, Bind);
}
}  // namespace pool

// ---- gradients -----------------------------------------------------------------------------------------------------------------

constexpr In<0> orig_input{"orig_input", "T", "the pooling's input: [batch, height, width, channels]"};
constexpr Out<0> output{"output", "T", "the gradient of the pooling's input, of its shape"};
constexpr char kSequenceDoc[] = "the pooling's sequence, of one number more than there are windows";

/// Ports from out_backprop on; `kFirst` is its index.
template <int kFirst>
struct Spread {
  static constexpr In<kFirst> out_backprop{"out_backprop", "T",
      "the gradient of the pooling's output: [batch, out_height, out_width, channels]"};
  static constexpr In<kFirst + 1> rows{"row_pooling_sequence", "DT_INT64", kSequenceDoc};
  static constexpr In<kFirst + 2> columns{"col_pooling_sequence", "DT_INT64", kSequenceDoc};

  static Result<SequencePooling> Plan(PlanContext& ctx) {
    const Shape &shape = ctx.shape(orig_input), &pooled = ctx.shape(out_backprop);
    if (shape.rank() != 4) return ctx.Error(orig_input, "needs rank 4, found shape ", shape);
    if (pooled.rank() != 4) return ctx.Error(out_backprop, "needs rank 4, found shape ", pooled);
    if (pooled[0] != shape[0] || pooled[3] != shape[3]) {
      return ctx.Error(out_backprop, "needs batch and channels of orig_input, ", shape, ", found shape ", pooled);
    }
    WEFT_RETURN_IF_ERROR(CheckLength(ctx, rows, pooled[1]));
    WEFT_RETURN_IF_ERROR(CheckLength(ctx, columns, pooled[2]));
    ctx.set(output, shape);
    return PoolingOf(shape, pooled[1], pooled[2], ctx.attr(overlapping));
  }

  template <class P>
  static Status CheckLength(const PlanContext& ctx, const P& port, int64_t windows) {
    const Shape& sequence = ctx.shape(port);
    if (sequence.rank() == 1 && sequence[0] - 1 == windows) return {};
    return ctx.Error(port, "needs one number more than there are windows, ", windows, ", found shape ", sequence);
  }

  template <class P>
  static Status Check(const RunContext& ctx, const P& port, int64_t size) {
    const auto starts = ctx.in<int64_t>(port);
    for (size_t i = 0; i < starts.size(); ++i) {
      if (starts[i] >= (i == 0 ? 0 : starts[i - 1] + 1) && starts[i] <= size) continue;
      return ctx.Error(port, "needs positions that rise from 0 or more to ", size, " or less, found ", starts[i], " at index ", i);
    }
    return {};
  }

  /// The pooling with its windows, where the sequences can be those of one.
  static Result<SequencePooling> Windows(const SequencePooling& planned, const RunContext& ctx) {
    SequencePooling p = planned;
    WEFT_RETURN_IF_ERROR(Check(ctx, rows, p.axes[1].in));
    WEFT_RETURN_IF_ERROR(Check(ctx, columns, p.axes[2].in));
    p.axes[1].starts = ctx.in<int64_t>(rows).data();
    p.axes[2].starts = ctx.in<int64_t>(columns).data();
    return p;
  }
};

namespace spread_max {
using Ports = Spread<2>;
constexpr In<1> orig_output{"orig_output", "T", "the pooling's output: [batch, out_height, out_width, channels]"};

Result<SequencePooling> Plan(PlanContext& ctx) {
  if (ctx.shape(orig_output) != ctx.shape(Ports::out_backprop)) {
    return ctx.Error(orig_output, "needs the shape of out_backprop, ", ctx.shape(Ports::out_backprop), ", found ", ctx.shape(orig_output));
  }
  WEFT_ASSIGN_OR_RETURN(const SequencePooling p, Ports::Plan(ctx));
  if (!p.empty() && p.in_pixels() > kernels::kMaxPooledPixels) {
    return ctx.ErrorOf(Code::kUnsupported, orig_input, "needs pictures of no more than ", kernels::kMaxPooledPixels, " pixels");
  }
  return p;
}
constexpr auto Run = []<class T>(const SequencePooling& planned, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const SequencePooling p, Ports::Windows(planned, ctx));
  kernels::MaxPoolGrad(p, ctx.in<T>(orig_input).data(), ctx.in<T>(Ports::out_backprop).data(), ctx.out<T>(output).data(), ctx.workers());
  return {};
};
}  // namespace spread_max

namespace spread_average {
using Ports = Spread<1>;

Result<SequencePooling> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const SequencePooling p, Ports::Plan(ctx));
  ctx.set_scratch(ctx.shape(Ports::out_backprop).count() * static_cast<int64_t>(ElementSize(ctx.dtype(orig_input))));
  return p;
}
constexpr auto Run = []<class T>(const SequencePooling& planned, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const SequencePooling p, Ports::Windows(planned, ctx));
  kernels::AvgPoolGrad(p, ctx.in<T>(Ports::out_backprop).data(), ctx.out<T>(output).data(), ctx.scratch<T>().data(), ctx.workers());
  return {};
};
}  // namespace spread_average

}  // namespace

BlockDef FractionalMaxPool() {
  constexpr const char* kSummary = "The largest value under each window of a picture, for windows of differing sizes drawn by chance.";
  return pool::Declare("FractionalMaxPool", kSummary, pool::MaxGradient, pool::RunMax);
}

BlockDef FractionalAvgPool() {
  constexpr const char* kSummary = "The average under each window of a picture, for windows of differing sizes drawn by chance.";
  return pool::Declare("FractionalAvgPool", kSummary, pool::AverageGradient, pool::RunAverage);
}

BlockDef FractionalMaxPoolGrad() {
  using namespace spread_max;
  return Block("FractionalMaxPoolGrad", "The gradient of FractionalMaxPool: the first largest value of each window takes it.")
      .Ports(orig_input, orig_output, Ports::out_backprop, Ports::rows, Ports::columns, output)
      .Attrs(overlapping)
      .Types("T", TypeList<float, double, int32_t, int64_t>{})
      .Internal()
      .Kernel(Plan, Run);
}

BlockDef FractionalAvgPoolGradLike() {
  using namespace spread_average;
  return Block("FractionalAvgPoolGradLike", "The gradient of FractionalAvgPool, whose input is given for its shape.")
      .Ports(orig_input, Ports::out_backprop, Ports::rows, Ports::columns, output)
      .Attrs(overlapping)
      .Types("T", TypeList<float, double>{})
      .Internal()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
