#include "blocks/nn/batch_norm.h"

namespace weft::blocks {
namespace {

/// Ports of the three versions: the first has one type for all, the third a sixth input and other names of the empty outputs.
template <int kVersion>
struct Ports {
  static constexpr const char *kScale = kVersion == 1 ? "T" : "DT_FLOAT", *kStatistics = kVersion == 1 ? "T" : "U";
  static constexpr In<0> y_backprop{"y_backprop", "T", "[N, H, W, C] or [N, C, H, W] (third version: for NDHWC and NCDHW rank 5): the gradient of y"};
  static constexpr In<1> x{"x", "T", "the shape of y_backprop: the x that was normalised"};
  static constexpr In<2> scale{"scale", kScale, "[C]: what the normalised x was multiplied by"};
  static constexpr In<3> reserve_space_1{"reserve_space_1", kStatistics, "[C]: the mean; in training the output reserve_space_1"};
  static constexpr In<4> reserve_space_2{"reserve_space_2", kStatistics, "[C]: the variance; in training the output reserve_space_2"};
  static constexpr In<5> reserve_space_3{"reserve_space_3", kStatistics, "of any shape; not read"};
  static constexpr Out<0> x_backprop{"x_backprop", "T", "the shape of x: the gradient of x"};
  static constexpr Out<1> scale_backprop{"scale_backprop", kStatistics, "[C]: the gradient of scale"};
  static constexpr Out<2> offset_backprop{"offset_backprop", kStatistics, "[C]: the gradient of offset"};
  static constexpr Out<3> unused_1{kVersion == 3 ? "reserve_space_4" : "reserve_space_3", kStatistics, "[0]: empty"};
  static constexpr Out<4> unused_2{kVersion == 3 ? "reserve_space_5" : "reserve_space_4", kStatistics, "[0]: empty"};
};
using P = Ports<3>;  // the same indices in all versions

constexpr Attr<float> epsilon{"epsilon", "0.0001", "what was added to the variance; any number, also one that leaves a sum below 0, whose root is nan"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "where the channel is", "NHWC|NCHW"};
constexpr Attr<Layout> data_format_3{"data_format", "NHWC", "where the channel is; NDHWC and NCDHW are for rank 5"};
constexpr Attr<bool> is_training{"is_training", "true",
    "true: mean and variance are the batch's and depend on x; false: they are constants"};

struct NormGrad : NormCut {
  NormScratch scratch;  // block sums of g and g (x - mean); of each channel: see Factor
  float epsilon;
  bool training;
};

/// By channel: scale / deviation, the mean of g, and the slope of the part of the output that follows x.
enum Factor { kGain, kMeanG, kSlope, kFactors };

Result<NormGrad> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(P::y_backprop);
  const Layout layout = ctx.attr(data_format);
  WEFT_RETURN_IF_ERROR(CheckNormRank(ctx, P::y_backprop, layout));
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, P::x, P::y_backprop));
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, NormBox(shape, layout, P::y_backprop.name));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, box.channels, P::scale, P::reserve_space_1, P::reserve_space_2));
  NormGrad grad{NormCut(box, ctx.dtype(P::x), 2, ctx.attr(is_training), true), {}, ctx.attr(epsilon), ctx.attr(is_training)};
  grad.scratch = NormScratch(grad.cut, 2, kFactors);
  ctx.set_scratch(grad.scratch.bytes());
  ctx.set(P::x_backprop, shape);
  ctx.set(P::scale_backprop, Shape{box.channels});
  ctx.set(P::offset_backprop, Shape{box.channels});
  ctx.set(P::unused_1, Shape{0});
  ctx.set(P::unused_2, Shape{0});
  return grad;
}

/// 1 / deviation of channels [first, end), at most kMergeChannels.
struct Reciprocals {
  double of[kernels::kMergeChannels];
  Reciprocals(const NormGrad& grad, RunContext& ctx, int64_t first, int64_t end) {
    ReciprocalDeviations(&ctx.in<float>(P::reserve_space_2)[first], end - first, grad.epsilon, of);
  }
};

/// The factor of the output, scale / deviation, of channels [first, end).
void PrepareChannels(const NormGrad& grad, RunContext& ctx, int64_t first, int64_t end, const Reciprocals& reciprocals) {
  const auto scale = ctx.in<float>(P::scale);
  float* const gain = grad.scratch.parameter(ctx, kGain);
#pragma omp simd
  for (int64_t c = first; c < end; ++c) gain[c] = static_cast<float>(scale[c] * reciprocals.of[c - first]);
}

/// From the sums of the blocks: the gradients of scale and offset, and what the output of training takes.
void FinishChannels(const NormGrad& grad, RunContext& ctx, int64_t first, int64_t end, const Reciprocals& reciprocals) {
  const kernels::ChannelPartition& cut = grad.cut;
  double sum[kernels::kMergeChannels], product[kernels::kMergeChannels];
  kernels::AddBlocks(cut, grad.scratch.sum(ctx, 0), first, end, sum);
  kernels::AddBlocks(cut, grad.scratch.sum(ctx, 1), first, end, product);
  const bool empty = cut.box.outer == 0;
  const double count = static_cast<double>(cut.box.per_channel());
  const auto scale_backprop = ctx.out<float>(P::scale_backprop), offset_backprop = ctx.out<float>(P::offset_backprop);
  float *const mean_g = grad.scratch.parameter(ctx, kMeanG), *const slope = grad.scratch.parameter(ctx, kSlope);
#pragma omp simd
  for (int64_t c = first; c < end; ++c) {
    const double reciprocal = reciprocals.of[c - first];
    offset_backprop[c] = static_cast<float>(sum[c - first]);
    scale_backprop[c] = empty ? 0.0f : static_cast<float>(product[c - first] * reciprocal);
    mean_g[c] = static_cast<float>(sum[c - first] / count);
    slope[c] = static_cast<float>(product[c - first] / count * reciprocal * reciprocal);
  }
}

constexpr auto kAddProduct = [](const auto& g, const auto& distance, auto& sum) {
  sum[0] += g;
  sum[1] += g * distance;
};
constexpr auto kAdd = [](const auto& v, const auto& q, auto& sum) { kAddProduct(v[0], v[1] - q[0], sum); };
constexpr auto kMap = [](const auto& v, const auto& q, auto&) { return (v[0] - q[2] - (v[1] - q[0]) * q[3]) * q[1]; };
/// The same, and the next group's sums.
constexpr auto kMapAndAdd = [](const auto& v, const auto& q, auto& sum) {
  kAddProduct(v[2], v[3] - q[4], sum);
  return kMap(v, q, sum);
};

/// Two passes: g and x for the sums, then backwards g and x for the output: 5 times the bytes of x; 3 times where it is done in groups of
/// channels, which come from the cache in the second pass.
template <class T>
void Train(const NormGrad& grad, RunContext& ctx) {
  const T *g = ctx.in<T>(P::y_backprop).data(), *x = ctx.in<T>(P::x).data();
  const float* const mean = ctx.in<float>(P::reserve_space_1).data();
  const kernels::ChannelPartition& cut = grad.cut;
  float *const sum = grad.scratch.sum(ctx, 0), *const product = grad.scratch.sum(ctx, 1);
  const float *const gain = grad.scratch.parameter(ctx, kGain), *const mean_g = grad.scratch.parameter(ctx, kMeanG),
      *const slope = grad.scratch.parameter(ctx, kSlope);
  T* const x_backprop = ctx.out<T>(P::x_backprop).data();
  const kernels::ChannelMapReduce<T, float, 2, 1, 2, decltype(kAdd)> sums{{g, x}, {mean}, {sum, product}};
  const kernels::ChannelMapReduce<T, float, 2, 4, 0, decltype(kMap)> output{
      {g, x}, {mean, gain, mean_g, slope}, {}, x_backprop, grad.stream};
  const auto finish = [&](int64_t first, int64_t end) {
    const Reciprocals reciprocals(grad, ctx, first, end);
    PrepareChannels(grad, ctx, first, end, reciprocals);
    FinishChannels(grad, ctx, first, end, reciprocals);
  };
  const auto add = [&](int64_t task) { sums.Run(cut, task); };
  const auto map = [&](int64_t task) { output.Run(cut, cut.part(task)); };
  if constexpr (kernels::kInterleaved<T>) {
    TwoPasses(ctx, grad, add, finish, map);
  } else {
    TwoPasses(ctx, grad, add, finish, map, [&](int64_t task, int64_t next) {
      const int64_t channels = (next - task) * cut.tile, ahead = channels * cut.box.inner;
      const kernels::ChannelMapReduce<T, float, 4, 5, 2, decltype(kMapAndAdd)> pass{
          {g, x, g + ahead, x + ahead},
          {mean, gain, mean_g, slope, mean + channels},
          {sum + channels, product + channels},
          x_backprop,
          grad.stream};
      pass.Run(cut, cut.part(task));
    });
  }
}

/// One pass: g and x are read once, the output is written: 3 times the bytes of x.
template <class T>
void Infer(const NormGrad& grad, RunContext& ctx) {
  const T *g = ctx.in<T>(P::y_backprop).data(), *x = ctx.in<T>(P::x).data();
  auto add_and_map = [](const auto& v, const auto& q, auto& sum) {
    kAdd(v, q, sum);
    return v[0] * q[1];
  };
  const NormScratch& scratch = grad.scratch;
  const kernels::ChannelMapReduce<T, float, 2, 2, 2, decltype(add_and_map)> pass{
      {g, x},
      {ctx.in<float>(P::reserve_space_1).data(), scratch.parameter(ctx, kGain)},
      {scratch.sum(ctx, 0), scratch.sum(ctx, 1)},
      ctx.out<T>(P::x_backprop).data(),
      grad.stream};
  const kernels::ChannelPartition& cut = grad.cut;
  const auto prepare = [&](int64_t first, int64_t end) { PrepareChannels(grad, ctx, first, end, Reciprocals(grad, ctx, first, end)); };
  const auto finish = [&](int64_t first, int64_t end) { FinishChannels(grad, ctx, first, end, Reciprocals(grad, ctx, first, end)); };
  ForChannels(ctx, cut.box.channels, 0, prepare);
  ForTasks(ctx, cut, false, [&](int64_t task) { pass.Run(cut, task); });
  ForChannels(ctx, cut.box.channels, cut.blocks, finish);
}

constexpr auto Run = []<class T>(const NormGrad& grad, RunContext& ctx) {
  if (grad.training) Train<T>(grad, ctx);
  else Infer<T>(grad, ctx);
};

/// The second order: one block computes it, in float, from the gradients of all three outputs (zeros where there is none).
void Gradient(GradientBuilder& g) {
  const auto cast = [&](GradientValue value, DType to) { return g.dtype(value) == to ? value : g.Add("Cast", {{"x", {value}}}, {{"DstT", to}}); };
  const auto in_float = [&](GradientValue value) { return cast(value, DType::kFloat); };
  auto or_zeros = [&](GradientValue grad, GradientValue value) { return grad.valid() ? grad : g.Add("ZerosLike", {{"x", {value}}}); };
  const GradientValue y_grad = g.Add("FusedBatchNormGradGrad",
                                     {{"grad_x_backprop", {in_float(or_zeros(g.grad(P::x_backprop), g.out(P::x_backprop)))}},
                                      {"grad_scale_backprop", {or_zeros(g.grad(P::scale_backprop), g.out(P::scale_backprop))}},
                                      {"grad_offset_backprop", {or_zeros(g.grad(P::offset_backprop), g.out(P::offset_backprop))}},
                                      {"y_backprop", {in_float(g.in(P::y_backprop))}},
                                      {"x", {in_float(g.in(P::x))}},
                                      {"scale", {g.in(P::scale)}},
                                      {"mean", {g.in(P::reserve_space_1)}},
                                      {"variance", {g.in(P::reserve_space_2)}}},
                                     {{"epsilon", g.AttrOf("epsilon")}, {"data_format", g.AttrOf("data_format")},
                                      {"is_training", g.AttrOf("is_training")}});
  const DType type = g.dtype(g.in(P::x));
  g.Set(P::y_backprop, cast(y_grad, type));
  g.Set(P::x, cast(g.Output(y_grad, 1), type));
  g.Set(P::scale, g.Output(y_grad, 2));
}

constexpr const char* kSummary = "The gradient of batch normalisation with respect to x, scale and offset.";
constexpr const char* kDetails =
    "With n = (x - mean) / deviation: offset_backprop sums y_backprop, scale_backprop sums y_backprop n; x_backprop is scale / deviation "
    "times y_backprop, in training less its mean and less n times the mean of y_backprop n. Every layout is computed in training and "
    "in inference.";

template <int kVersion>
BlockDef Declare(const char* name, const Attr<Layout>& format) {
  using Q = Ports<kVersion>;
  auto block = Block(name, kSummary).Details(kDetails).Ports(Q::y_backprop, Q::x, Q::scale, Q::reserve_space_1, Q::reserve_space_2);
  if constexpr (kVersion == 3) std::move(block).Ports(Q::reserve_space_3);
  auto typed = std::move(block)
                   .Ports(Q::x_backprop, Q::scale_backprop, Q::offset_backprop, Q::unused_1, Q::unused_2)
                   .Types("T", kNormTypesOf<kVersion>);
  if constexpr (kVersion > 1) std::move(typed).Types("U", kFloatOnly);
  return std::move(typed)
      .Attrs(epsilon, format, is_training).Gradient(Gradient).Kernel(Plan, Run);
}

}  // namespace

BlockDef FusedBatchNormGrad() { return Declare<1>("FusedBatchNormGrad", data_format); }
BlockDef FusedBatchNormGradV2() { return Declare<2>("FusedBatchNormGradV2", data_format); }
BlockDef FusedBatchNormGradV3() { return Declare<3>("FusedBatchNormGradV3", data_format_3); }

}  // namespace weft::blocks
