#include "blocks/nn/batch_norm.h"

namespace weft::blocks {
namespace {

/// Ports of the three versions: the first has one type for all, the third a sixth output.
template <int kVersion>
struct Ports {
  static constexpr const char* kStatistics = kVersion == 1 ? "T" : "U";
  static constexpr In<0> x{"x", "T", "[N, H, W, C] or [N, C, H, W]; in the third version also [N, D, H, W, C] or [N, C, D, H, W]"};
  static constexpr In<1> scale{"scale", kStatistics, "[C]: what the normalised x is multiplied by"};
  static constexpr In<2> offset{"offset", kStatistics, "[C]: what is added then"};
  static constexpr In<3> mean{"mean", kStatistics,
      "[C]: the mean to use, or the moving mean so far; not read in training with factor 1 (may be [0])"};
  static constexpr In<4> variance{"variance", kStatistics, "[C]: the variance, as mean"};
  static constexpr Out<0> y{"y", "T", "the shape of x"};
  static constexpr Out<1> batch_mean{"batch_mean", kStatistics, "[C]: the mean of the batch, or the moving mean; the input in inference"};
  static constexpr Out<2> batch_variance{"batch_variance", kStatistics, "[C]: the variance (with Bessel's correction), as batch_mean"};
  static constexpr Out<3> reserve_space_1{"reserve_space_1", kStatistics,
      "[C]: the mean of the batch, for the gradient; zeros in inference"};
  static constexpr Out<4> reserve_space_2{"reserve_space_2", kStatistics,
      "[C]: the variance of the batch without correction; zeros in inference"};
  static constexpr Out<5> reserve_space_3{"reserve_space_3", kStatistics, "a scalar, 0"};
};
using P = Ports<3>;  // the same indices in all versions

constexpr Attr<float> epsilon{"epsilon", "0.0001", "added to the variance; as in TensorFlow any number, also one that leaves a sum below 0, whose root is nan"};
constexpr Attr<float> exponential_avg_factor{"exponential_avg_factor", "1",
    "weight of the batch in the moving mean and variance; 1: the batch alone"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "where the channel is", "NHWC|NCHW"};
constexpr Attr<Layout> data_format_3{"data_format", "NHWC", "where the channel is; NDHWC and NCDHW are for rank 5"};
constexpr Attr<bool> is_training{"is_training", "true", "true: normalise by the batch's own mean and variance; false: by the inputs"};

struct Norm : NormCut {
  NormScratch scratch;  // statistics of blocks; the gain of each channel
  float epsilon, factor;
  bool training;
};

Status CheckShapes(const PlanContext& ctx, int64_t channels, bool uses_statistics) {
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, channels, P::scale, P::offset));
  if (uses_statistics) return CheckPerChannel(ctx, channels, P::mean, P::variance);
  if (ctx.shape(P::mean).rank() != 1) return ctx.Error(P::mean, "needs rank 1 (it may be empty), found ", ctx.shape(P::mean));
  if (ctx.shape(P::variance).rank() != 1) return ctx.Error(P::variance, "needs rank 1 (it may be empty), found ", ctx.shape(P::variance));
  return {};
}

template <int kVersion>
Result<Norm> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(P::x);
  const Layout layout = ctx.attr(data_format);
  WEFT_RETURN_IF_ERROR(CheckNormRank(ctx, P::x, layout));
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, NormBox(shape, layout, P::x.name));
  const bool training = ctx.attr(is_training);
  Norm norm{NormCut(box, ctx.dtype(P::x), 1, training, training), {}, ctx.attr(epsilon), ctx.attr(exponential_avg_factor), training};
  WEFT_RETURN_IF_ERROR(CheckShapes(ctx, box.channels, !norm.training || norm.factor != 1.0f));
  norm.scratch = NormScratch(norm.cut, norm.training ? 3 : 0, 1);
  ctx.set_scratch(norm.scratch.bytes());
  ctx.set(P::y, shape);
  ctx.set(P::batch_mean, Shape{box.channels});
  ctx.set(P::batch_variance, Shape{box.channels});
  ctx.set(P::reserve_space_1, Shape{box.channels});
  ctx.set(P::reserve_space_2, Shape{box.channels});
  if constexpr (kVersion == 3) ctx.set(P::reserve_space_3, Shape{});
  return norm;
}

/// The statistics of channels [first, end), from those of the blocks, and their gains, scale / deviation.
void FinishBatch(const Norm& norm, RunContext& ctx, int64_t first, int64_t end) {
  kernels::Moments moments;
  kernels::MergeBlocks(norm.cut, {norm.cut, norm.scratch.sum(ctx, 0)}, first, end, moments);
  const double count = static_cast<double>(norm.cut.box.per_channel()), bessel = count > 1 ? count / (count - 1) : 1.0,
      factor = norm.factor;
  const auto scale = ctx.in<float>(P::scale), old_mean = ctx.in<float>(P::mean), old_variance = ctx.in<float>(P::variance);
  const auto batch_mean = ctx.out<float>(P::batch_mean), batch_variance = ctx.out<float>(P::batch_variance),
      kept_mean = ctx.out<float>(P::reserve_space_1), kept_variance = ctx.out<float>(P::reserve_space_2);
  float* const gain = norm.scratch.parameter(ctx, 0);
  double reciprocal[kernels::kMergeChannels];
  ReciprocalDeviations(moments.variance, end - first, norm.epsilon, reciprocal);
#pragma omp simd
  for (int64_t c = first; c < end; ++c) {
    double mean = moments.mean[c - first], variance = moments.variance[c - first];
    gain[c] = static_cast<float>(scale[c] * reciprocal[c - first]);
    kept_mean[c] = static_cast<float>(mean);
    kept_variance[c] = static_cast<float>(variance);
    variance *= bessel;
    if (norm.factor != 1.0f) {
      mean = (1 - factor) * old_mean[c] + factor * mean;
      variance = (1 - factor) * old_variance[c] + factor * variance;
    }
    batch_mean[c] = static_cast<float>(mean);
    batch_variance[c] = static_cast<float>(variance);
  }
}

/// The statistics that inference gives for channels [first, end).
void HandOnStatistics(const Norm& norm, RunContext& ctx, int64_t first, int64_t end) {
  const auto mean = ctx.in<float>(P::mean), variance = ctx.in<float>(P::variance);
  const auto batch_mean = ctx.out<float>(P::batch_mean), batch_variance = ctx.out<float>(P::batch_variance),
      kept_mean = ctx.out<float>(P::reserve_space_1), kept_variance = ctx.out<float>(P::reserve_space_2);
  const int64_t count = end - first;
  std::fill_n(&kept_mean[first], count, 0.0f);
  std::fill_n(&kept_variance[first], count, 0.0f);
  if (norm.cut.box.outer == 0) {
    std::fill_n(&batch_mean[first], count, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(&batch_variance[first], count, std::numeric_limits<float>::quiet_NaN());
  } else {
    std::copy_n(&mean[first], count, &batch_mean[first]);
    std::copy_n(&variance[first], count, &batch_variance[first]);
  }
}

// The difference comes first, for means far greater than the spread.
constexpr auto kNormalize = [](const auto& v, const auto& p, auto&) { return (v[0] - p[0]) * p[1] + p[2]; };
/// The same, and the next group's sums as kernels::MeasureTask takes them.
constexpr auto kNormalizeAndMeasure = [](const auto& v, const auto& p, auto& sum) {
  kernels::kAddDistance(v[1] - p[3], sum);
  return kNormalize(v, p, sum);
};

/// Reads x twice, the second time from the cache where it is done in groups, and writes y once: 3 or 2 times the bytes of x.
template <class T>
void Train(const Norm& norm, RunContext& ctx) {
  const kernels::ChannelPartition& cut = norm.cut;
  const T* const x = ctx.in<T>(P::x).data();
  T* const y = ctx.out<T>(P::y).data();
  const float *const mean = ctx.out<float>(P::reserve_space_1).data(), *const gain = norm.scratch.parameter(ctx, 0),
      *const offset = ctx.in<float>(P::offset).data();
  const kernels::BlockStatistics blocks(cut, norm.scratch.sum(ctx, 0));
  const kernels::ChannelMapReduce<T, float, 1, 3, 0, decltype(kNormalize)> output{{x}, {mean, gain, offset}, {}, y, norm.stream};
  const auto measure = [&](int64_t task) { kernels::MeasureTask(cut, task, x, blocks); };
  const auto finish = [&](int64_t first, int64_t end) { FinishBatch(norm, ctx, first, end); };
  const auto normalize = [&](int64_t task) { output.Run(cut, cut.part(task)); };
  if constexpr (kernels::kInterleaved<T>) {
    TwoPasses(ctx, norm, measure, finish, normalize);
  } else {
    TwoPasses(ctx, norm, measure, finish, normalize, [&](int64_t task, int64_t next) {
      kernels::FindPivots(cut, next, x, blocks);
      const kernels::ChannelPartition::Part part = cut.part(task);
      const int64_t channels = (next - task) * cut.tile;
      const kernels::ChannelMapReduce<T, float, 2, 4, 2, decltype(kNormalizeAndMeasure)> pass{
          {x, x + channels * cut.box.inner},
          {mean, gain, offset, blocks.pivot + part.block * cut.box.channels + channels},
          {blocks.distance + channels, blocks.square + channels},
          y,
          norm.stream};
      pass.Run(cut, part);
    });
  }
}

/// Reads x and writes y once.
template <class T>
void Infer(const Norm& norm, RunContext& ctx) {
  float* const gain = norm.scratch.parameter(ctx, 0);
  const kernels::ChannelMapReduce<T, float, 1, 3, 0, decltype(kNormalize)> output{
      {ctx.in<T>(P::x).data()},
      {ctx.in<float>(P::mean).data(), gain, ctx.in<float>(P::offset).data()},
      {},
      ctx.out<T>(P::y).data(),
      norm.stream};
  ForChannels(ctx, norm.cut.box.channels, 0, [&](int64_t first, int64_t end) {
    HandOnStatistics(norm, ctx, first, end);
    const auto scale = ctx.in<float>(P::scale), variance = ctx.in<float>(P::variance);
    double reciprocal[kernels::kMergeChannels];
    ReciprocalDeviations(&variance[first], end - first, norm.epsilon, reciprocal);
#pragma omp simd
    for (int64_t c = first; c < end; ++c) gain[c] = static_cast<float>(scale[c] * reciprocal[c - first]);
  });
  ctx.workers().For(norm.cut.tasks(), kernels::TasksInOneGo(norm.cut, ctx.workers().threads(), norm.stream), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) output.Run(norm.cut, norm.cut.part(task));
    if (norm.stream) kernels::StreamFence();
  });
}

template <class T, int kVersion>
void Normalize(const Norm& norm, RunContext& ctx) {
  if (norm.training) Train<T>(norm, ctx);
  else Infer<T>(norm, ctx);
  if constexpr (kVersion == 3) ctx.out<float>(P::reserve_space_3)[0] = 0;
}

template <int kVersion>
constexpr auto kRun = []<class T>(const Norm& norm, RunContext& ctx) { Normalize<T, kVersion>(norm, ctx); };

constexpr const char* kGradientBlocks[] = {"", "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"};

/// Of y alone, as TensorFlow has it. Training hands on the batch's statistics, inference the given ones.
template <int kVersion>
void Gradient(GradientBuilder& g) {
  const bool training = g.attr(is_training);
  GradientValue grad = g.grad(P::y);
  if (!grad.valid()) grad = g.Add("ZerosLike", {{"x", {g.out(P::y)}}});
  GradientInputs inputs = {{"y_backprop", {grad}},
                           {"x", {g.in(P::x)}},
                           {"scale", {g.in(P::scale)}},
                           {"reserve_space_1", {training ? g.out(P::reserve_space_1) : g.in(P::mean)}},
                           {"reserve_space_2", {training ? g.out(P::reserve_space_2) : g.in(P::variance)}}};
  if (kVersion == 3) inputs.push_back({"reserve_space_3", {g.out(P::reserve_space_3)}});
  const GradientValue x_backprop = g.Add(kGradientBlocks[kVersion], inputs,
                                         {{"epsilon", g.AttrOf("epsilon")}, {"data_format", g.AttrOf("data_format")},
                                          {"is_training", training}});
  g.Set(P::x, x_backprop);
  g.Set(P::scale, g.Output(x_backprop, 1));
  g.Set(P::offset, g.Output(x_backprop, 2));
}

constexpr const char* kSummary = "Normalises each channel to mean 0 and variance 1, then scales and shifts it.";
constexpr const char* kDetails =
    "y = (x - mean) / sqrt(variance + epsilon) * scale + offset. Training takes mean and variance from the batch, with any mean far from "
    "0, as exactly as two passes would; inference takes the inputs. An empty x gives NaN for the batch's mean and variance.";

template <int kVersion>
BlockDef Declare(const char* name, const Attr<Layout>& format) {
  using Q = Ports<kVersion>;
  auto block = Block(name, kSummary)
                   .Details(kDetails)
                   .Ports(Q::x, Q::scale, Q::offset, Q::mean, Q::variance)
                   .Ports(Q::y, Q::batch_mean, Q::batch_variance, Q::reserve_space_1, Q::reserve_space_2)
                   .Types("T", kNormTypesOf<kVersion>);
  if constexpr (kVersion == 3) std::move(block).Ports(Q::reserve_space_3);
  if constexpr (kVersion > 1) std::move(block).Types("U", kFloatOnly);
  return std::move(block)
      .Attrs(epsilon, exponential_avg_factor, format, is_training)
      .Gradient(Gradient<kVersion>).Kernel(Plan<kVersion>, kRun<kVersion>);
}

}  // namespace

BlockDef FusedBatchNorm() { return Declare<1>("FusedBatchNorm", data_format); }
BlockDef FusedBatchNormV2() { return Declare<2>("FusedBatchNormV2", data_format); }
BlockDef FusedBatchNormV3() { return Declare<3>("FusedBatchNormV3", data_format_3); }

}  // namespace weft::blocks
