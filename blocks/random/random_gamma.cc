// RandomGamma, RandomPoisson: numbers of a distribution for each parameter, TensorFlow's own for the same seeds.
#include <cmath>
#include <limits>

#include "blocks/gradients.h"
#include "blocks/kernels/random/distributions.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Attr<DType> size_type{"S", kRequired, "the type of shape"};
constexpr In<0> shape{"shape", "S", "[rank]: how many numbers for each parameter"};

/// `samples` numbers for each parameter p: number i is element i * parameters + p, of 256 groups from (p * samples + i) * 256 on.
struct Samples {
  Seeds seeds;
  DType parameter_dtype = DType::kInvalid;
  int64_t samples = 0, parameters = 0;
};

Result<Samples> PlanSamples(PlanContext& ctx, const InputPort auto& parameter, const OutputPort auto& output) {
  WEFT_ASSIGN_OR_RETURN(const Shape given, ShapeGiven(ctx, shape));
  std::vector<int64_t> sizes(given.dims().begin(), given.dims().end());
  const auto own = ctx.shape(parameter).dims();
  sizes.insert(sizes.end(), own.begin(), own.end());
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, sizes, shape));
  return Samples{SeedsOf(ctx), ctx.dtype(parameter), given.count(), ctx.shape(parameter).count()};
}

/// Calls draw(parameter, generator) for each number.
template <class Make, class T>
void FillSamples(const Samples& s, RandomStream& stream, Workers& workers, T* to, Make&& make) {
  const kernels::Philox start = stream.Reserve(s.samples * s.parameters);
  workers.For(s.samples * s.parameters, 256, [&](int64_t begin, int64_t end) {
    for (int64_t next = begin; next < end;) {
      const int64_t parameter = next / s.samples, last = std::min(end, (parameter + 1) * s.samples);
      const auto distribution = make(parameter);
      for (; next < last; ++next) {
        kernels::Philox own = start;
        own.Skip(static_cast<uint64_t>(next) * 256);
        to[next % s.samples * s.parameters + parameter] = static_cast<T>(distribution(own));
      }
    }
  });
}

namespace gamma {

constexpr In<1> alpha{"alpha", "T", "any shape: the shape parameter of each distribution, above 0"};
constexpr Out<0> output{"output", "T", "the given sizes, then those of alpha"};

Result<Samples> Plan(PlanContext& ctx) { return PlanSamples(ctx, alpha, output); }

constexpr auto Run = []<class T>(const Samples& samples, RunContext& ctx) {
  const T* alphas = ctx.in<T>(alpha).data();
  FillSamples(samples, ctx.state<RandomStream>(), ctx.workers(), ctx.out<T>(output).data(),
              [&](int64_t i) { return kernels::Gamma(static_cast<double>(alphas[i])); });
};

void Gradient(GradientBuilder& g) {
  // The numbers as differentiable functions of alpha, summed over those of one alpha.
  const GradientValue slope = g.Add("RandomGammaGrad", {{"alpha", {g.in(alpha)}}, {"sample", {g.out(output)}}});
  g.Set(alpha, SumLike(g, Times(g, g.grad(output), slope), g.in(alpha)));
}

}  // namespace gamma

namespace poisson {

constexpr In<1> rate{"rate", "R", "any shape: the mean of each distribution; one below 0 counts as 0"};
constexpr Out<0> output{"output", "dtype", "the given sizes, then those of rate"};
constexpr Attr<DType> rate_type{"R", kRequired, "the type of rate"};
constexpr Attr<DType> dtype{"dtype", "DT_INT64", "the type of the numbers"};

Result<Samples> Plan(PlanContext& ctx) { return PlanSamples(ctx, rate, output); }

/// The greatest number of the type, as a double that converts back to it.
template <class T>
double Highest() {
  if constexpr (std::is_same_v<T, int64_t>) return 9223372036854774784.0;
  else if constexpr (std::is_same_v<T, half>) return 65504;
  else return static_cast<double>(std::numeric_limits<T>::max());
}

constexpr auto Run = []<class T>(const Samples& samples, RunContext& ctx) -> Status {
  constexpr bool kWhole = Integer<T>;
  const double highest = Highest<T>(), limit = highest + 2 * std::sqrt(highest);
  const auto rate_at = [&](int64_t i) {
    return Dispatch(samples.parameter_dtype, kFloats + kIndices,
                    [&]<class R>() { return static_cast<double>(ctx.in<R>(rate)[static_cast<size_t>(i)]); });
  };
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < samples.parameters && samples.samples > 0; ++i) {
    if (stop(4)) return kernels::RunStopped();
    const double r = rate_at(i);
    const bool endless = !kWhole && r == std::numeric_limits<double>::infinity();
    if (r <= limit || endless) continue;
    return ctx.Error(rate, "needs means up to ", highest, ", the greatest number of the output's type, found ", r);
  }
  FillSamples(samples, ctx.state<RandomStream>(), ctx.workers(), ctx.out<T>(output).data(), [&](int64_t i) {
    return [highest, distribution = kernels::Poisson(rate_at(i))](kernels::Philox& own) { return distribution(own, highest); };
  });
  return {};
};

}  // namespace poisson

}  // namespace

BlockDef RandomGamma() {
  constexpr const char* kSummary = "Random numbers of gamma distributions of scale 1, a set for each shape parameter.";
  return RandomBlock("RandomGamma", kSummary, shape, gamma::alpha, gamma::output)
      .Attrs(size_type).Inferred(size_type).Types("T", kFloats).Types("S", kIndices).ShapedBy(shape)
      .Gradient(gamma::Gradient).Kernel(gamma::Plan, gamma::Run, kBindStream);
}

BlockDef RandomPoisson() {
  constexpr TypeList<half, float, double, int32_t, int64_t> kPoissonTypes;
  constexpr const char* kSummary = "Random numbers of Poisson distributions, a set for each mean.";
  return RandomBlock("RandomPoisson", kSummary, shape, poisson::rate, poisson::output)
      .Attrs(size_type, poisson::rate_type, poisson::dtype).Inferred(size_type, poisson::rate_type)
      .Types("dtype", kPoissonTypes).Types("R", kPoissonTypes).Types("S", kIndices).ShapedBy(shape)
      .Alias("RandomPoissonV2").Kernel(poisson::Plan, poisson::Run, kBindStream);
}

}  // namespace weft::blocks
