// The second-order gradient of batch normalisation, in float: gradients cast shorter numbers to it and back.
#include "blocks/nn/batch_norm.h"

namespace weft::blocks {
namespace {

constexpr In<0> grad_x_backprop{"grad_x_backprop", "DT_FLOAT", "the shape of x: the gradient of FusedBatchNormGrad's x_backprop"};
constexpr In<1> grad_scale_backprop{"grad_scale_backprop", "DT_FLOAT", "[C]: that of scale_backprop"};
constexpr In<2> grad_offset_backprop{"grad_offset_backprop", "DT_FLOAT", "[C]: that of offset_backprop"};
constexpr In<3> y_backprop{"y_backprop", "DT_FLOAT", "the shape of x"};
constexpr In<4> x{"x", "DT_FLOAT", "[N, H, W, C] or [N, C, H, W]; or of rank 5"};
constexpr In<5> scale{"scale", "DT_FLOAT", "[C]: what the normalised x was multiplied by"};
constexpr In<6> mean{"mean", "DT_FLOAT", "[C]: used in inference; training takes the mean of x"};
constexpr In<7> variance{"variance", "DT_FLOAT", "[C]: as mean"};
constexpr Out<0> y_backprop_grad{"y_backprop_grad", "DT_FLOAT", "the shape of x: the gradient of y_backprop"};
constexpr Out<1> x_grad{"x_grad", "DT_FLOAT", "the shape of x: the gradient of x"};
constexpr Out<2> scale_grad{"scale_grad", "DT_FLOAT", "[C]: the gradient of scale"};

/// For a channel of N elements: g = y_backprop, the gradient of y; G = grad_x_backprop, that of x_backprop; A = grad_scale_backprop;
/// B = grad_offset_backprop; s = scale; c = x - mean; r = 1 / sqrt(variance + epsilon). S() is the sum over the channel, mG and mg are the
/// means of G and g.
///   y_backprop_grad = s r (G - mG) + (A r - s r^3 S(G c) / N) c + B
///   scale_grad = r (S((G - mG) (g - mg)) - r^2 S(G c) S(g c) / N)
///   x_grad = -s r^3 S(g c) / N (G - mG) + (A r - s r^3 S(G c) / N) (g - mg)
///            - r^3 / N (s (S((G - mG) (g - mg)) - 3 r^2 S(G c) S(g c) / N) + A S(g c)) c
/// In inference mG, mg and all that divides by N are 0, and S((G - mG) (g - mg)) is S(G g).
struct SecondOrder {
  kernels::ChannelPartition cut;
  NormScratch scratch;
  float epsilon;
  bool training;
};
enum Parameter { kMean, kReciprocal, kMeanG, kMeang, kFactorG, kFactorC, kConstant, kXFactorG, kXFactorg, kXFactorC, kProductGc,
    kProductgc, kParameters };

constexpr Attr<float> epsilon{"epsilon", "0.0001", "what was added to the variance; any number, also one that leaves a sum below 0, whose root is nan"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "where the channel is"};
constexpr Attr<bool> is_training{"is_training", "true", "whether mean and variance depend on x"};

Result<SecondOrder> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(x);
  if (shape.rank() != 4 && shape.rank() != 5) return ctx.Error(x, "needs rank 4 or 5, found ", shape);
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, grad_x_backprop, x));
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, y_backprop, x));
  WEFT_ASSIGN_OR_RETURN(const kernels::ChannelBox box, NormBox(shape, ctx.attr(data_format), x.name));
  WEFT_RETURN_IF_ERROR(CheckPerChannel(ctx, box.channels, grad_scale_backprop, grad_offset_backprop, scale, mean, variance));
  SecondOrder plan{kernels::PartitionChannels(box, kernels::kLanes<float>, kNormTaskElements), {}, ctx.attr(epsilon), ctx.attr(is_training)};
  plan.scratch = NormScratch(plan.cut, 4, kParameters);
  ctx.set_scratch(plan.scratch.bytes());
  ctx.set(y_backprop_grad, shape);
  ctx.set(x_grad, shape);
  ctx.set(scale_grad, Shape{box.channels});
  return plan;
}

/// Shorthand for one run: the scratch arrays, and passes over G, g and x.
class Work {
 public:
  Work(const SecondOrder& plan, RunContext& ctx) : plan_(plan), cut_(plan.cut), ctx_(ctx) {}

  void Run() {
    if (plan_.training) {
      MeasureX();
      SumProducts();
    } else {
      UseInputs();
    }
    SumCentred();
    EachChannel([&](int64_t c, double sum) { Finish(c, sum); }, 0);
    WriteOutputs();
  }

 private:
  float* parameter(int i) const { return plan_.scratch.parameter(ctx_, i); }
  template <class... Of>
  auto Parameters(Of... of) const { return std::array<const float*, sizeof...(Of)>{parameter(of)...}; }
  void Set(int i, int64_t c, double value) const { parameter(i)[c] = static_cast<float>(value); }
  double Get(int i, int64_t c) const { return parameter(i)[c]; }
  void SetReciprocals(const auto* variances, int64_t first, int64_t end) const {
    double reciprocal[kernels::kMergeChannels];
    ReciprocalDeviations(variances, end - first, plan_.epsilon, reciprocal);
    for (int64_t c = first; c < end; ++c) Set(kReciprocal, c, reciprocal[c - first]);
  }
  double count() const { return static_cast<double>(cut_.box.per_channel()); }

  void EachChannel(auto&& body, int sum) const {
    ForChannels(ctx_, cut_.box.channels, cut_.blocks, [&](int64_t first, int64_t end) {
      double total[kernels::kMergeChannels];
      kernels::AddBlocks(cut_, plan_.scratch.sum(ctx_, sum), first, end, total);
      for (int64_t c = first; c < end; ++c) body(c, total[c - first]);
    });
  }
  /// Passes without stores past the cache: this gradient is rare, and its code is much.
  template <class Term, size_t kIn, size_t kPar, size_t kSums>
  void MapReduce(const Term& term, const std::array<const float*, kIn>& in, const std::array<const float*, kPar>& parameters,
             const std::array<float*, kSums>& sums, float* out = nullptr) const {
    const kernels::ChannelMapReduce<float, float, kIn, kPar, kSums, Term, false> pass{in, parameters, sums, out, false, term};
    ForTasks(ctx_, cut_, false, [&](int64_t task) { pass.Run(cut_, task); });
  }

  void MeasureX() {
    const kernels::BlockStatistics blocks(cut_, plan_.scratch.sum(ctx_, 0));
    ForTasks(ctx_, cut_, false, [&](int64_t task) { kernels::MeasureTask(cut_, task, x_, blocks); });
    ForChannels(ctx_, cut_.box.channels, cut_.blocks, [&](int64_t first, int64_t end) {
      kernels::Moments moments;
      kernels::MergeBlocks(cut_, blocks, first, end, moments);
      SetReciprocals(moments.variance, first, end);
      for (int64_t c = first; c < end; ++c) Set(kMean, c, moments.mean[c - first]);
    });
  }
  void UseInputs() {
    InMerges(0, cut_.box.channels, [&](int64_t first, int64_t end) {
      SetReciprocals(&ctx_.in<float>(variance)[first], first, end);
      for (int64_t c = first; c < end; ++c) {
        Set(kMean, c, ctx_.in<float>(mean)[c]);
        Set(kMeanG, c, 0);
        Set(kMeang, c, 0);
      }
    });
  }
  /// Means of G and g, sums of G c and g c.
  void SumProducts() {
    auto add = [](const auto& v, const auto& p, auto& sum) {
      const auto c = v[2] - p[0];
      sum[0] += v[0];
      sum[1] += v[1];
      sum[2] += v[0] * c;
      sum[3] += v[1] * c;
    };
    const NormScratch& s = plan_.scratch;
    MapReduce(add, std::array{G_, g_, x_}, Parameters(kMean), std::array{s.sum(ctx_, 0), s.sum(ctx_, 1), s.sum(ctx_, 2), s.sum(ctx_, 3)});
    EachChannel([&](int64_t c, double sum) { Set(kMeanG, c, sum / count()); }, 0);
    EachChannel([&](int64_t c, double sum) { Set(kMeang, c, sum / count()); }, 1);
    EachChannel([&](int64_t c, double sum) { Set(kProductGc, c, sum); }, 2);
    EachChannel([&](int64_t c, double sum) { Set(kProductgc, c, sum); }, 3);
  }
  /// In inference the means are zeros.
  void SumCentred() {
    auto add = [](const auto& v, const auto& p, auto& sum) { sum[0] += (v[0] - p[0]) * (v[1] - p[1]); };
    MapReduce(add, std::array{G_, g_}, Parameters(kMeanG, kMeang), std::array{plan_.scratch.sum(ctx_, 0)});
  }
  /// The factors of the outputs; `sum` is S(G - mG)(g - mg), or SGg.
  void Finish(int64_t c, double sum) {
    const double s = ctx_.in<float>(scale)[c], A = ctx_.in<float>(grad_scale_backprop)[c], B = ctx_.in<float>(grad_offset_backprop)[c];
    const double r = Get(kReciprocal, c), n = count(), r3 = r * r * r;
    double product = 0, Gc = 0, gc = 0;
    if (plan_.training && n > 0) {
      Gc = Get(kProductGc, c);
      gc = Get(kProductgc, c);
      product = r * r * Gc * gc / n;
    }
    ctx_.out<float>(scale_grad)[c] = n > 0 ? static_cast<float>(r * (sum - product)) : 0.0f;
    const double along = A * r - (n > 0 ? s * r3 * Gc / n : 0.0);
    Set(kFactorG, c, s * r);
    Set(kFactorC, c, along);
    Set(kConstant, c, B);
    Set(kXFactorg, c, along);
    if (!plan_.training || n == 0) return;
    Set(kXFactorG, c, -s * r3 * gc / n);
    Set(kXFactorC, c, -r3 / n * (s * (sum - 3 * product) + A * gc));
  }
  void WriteOutputs() {
    float *y_out = ctx_.out<float>(y_backprop_grad).data(), *x_out = ctx_.out<float>(x_grad).data();
    constexpr std::array<float*, 0> no_sums{};
    auto y_term = [](const auto& v, const auto& p, auto&) { return (v[0] - p[0]) * p[2] + (v[1] - p[1]) * p[3] + p[4]; };
    MapReduce(y_term, std::array{G_, x_}, Parameters(kMeanG, kMean, kFactorG, kFactorC, kConstant), no_sums, y_out);
    if (plan_.training) {
      auto x_term = [](const auto& v, const auto& p, auto&) { return (v[0] - p[0]) * p[3] + (v[1] - p[1]) * p[4] + (v[2] - p[2]) * p[5]; };
      MapReduce(x_term, std::array{G_, g_, x_}, Parameters(kMeanG, kMeang, kMean, kXFactorG, kXFactorg, kXFactorC), no_sums, x_out);
    } else {
      auto x_term = [](const auto& v, const auto& p, auto&) { return v[0] * p[0]; };
      MapReduce(x_term, std::array{g_}, Parameters(kXFactorg), no_sums, x_out);
    }
  }

  const SecondOrder& plan_;
  const kernels::ChannelPartition& cut_;
  RunContext& ctx_;
  const float *G_ = ctx_.in<float>(grad_x_backprop).data(), *g_ = ctx_.in<float>(y_backprop).data(),
      *x_ = ctx_.in<float>(x).data();
};

constexpr auto Run = [](const SecondOrder& plan, RunContext& ctx) { Work(plan, ctx).Run(); };

}  // namespace

BlockDef FusedBatchNormGradGrad() {
  return Block("FusedBatchNormGradGrad", "The second-order gradient of batch normalisation.")
      .Details("Made by the gradients of FusedBatchNormGrad, FusedBatchNormGradV2 and FusedBatchNormGradV3. In training mean and "
               "variance are taken from x again, as TensorFlow's gradient does.")
      .Ports(grad_x_backprop, grad_scale_backprop, grad_offset_backprop, y_backprop, x, scale, mean, variance, y_backprop_grad, x_grad,
          scale_grad)
      .Attrs(epsilon, data_format, is_training).Internal().Kernel(Plan, Run);
}

}  // namespace weft::blocks
