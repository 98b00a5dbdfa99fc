// UniformCandidateSampler, LogUniformCandidateSampler and AllCandidateSampler: classes drawn by a formula.
#include <algorithm>
#include <numeric>

#include "blocks/candidate_sampling/candidate_sampler.h"

namespace weft::blocks {
namespace {

/// Plans a sampler whose classes are counted by an attribute.
template <const Attr<int64_t>& kClasses>
Result<SamplerPlan> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(SamplerPlan plan, PlanSampler(ctx, ctx.attr(kClasses)));
  SetSamples(ctx, plan);
  return plan;
}

struct Uniform {
  int64_t range;

  int64_t Draw(kernels::WordStream& words) const { return static_cast<int64_t>(Below64(words, static_cast<uint64_t>(range))); }
  float Probability(int64_t) const { return static_cast<float>(1.0 / static_cast<double>(range)); }
};

/// The logarithms of classes + 1 are evenly distributed: of classes sorted by frequency, as words are.
struct LogUniform {
  int64_t range;
  double log_range = std::log1p(static_cast<double>(range));

  int64_t Draw(kernels::WordStream& words) const {
    constexpr double kMost = 0x1.fffffffffffffp62;  // below 2^63, to which the logarithm may be rounded
    return (static_cast<int64_t>(std::min(std::exp(words.Unit() * log_range), kMost)) - 1) % range;
  }
  float Probability(int64_t one) const {
    const auto value = static_cast<double>(one);
    return static_cast<float>(std::log((value + 2.0) / (value + 1.0)) / log_range);
  }
};

template <class Distribution>
constexpr auto Run = [](const SamplerPlan& plan, RunContext& ctx) -> Status {
  return Sample(plan, Distribution{plan.range}, ReserveFor(plan, ctx.state<RandomStream>()), SamplerRunOf(ctx));
};

constexpr auto RunAll = [](const SamplerPlan& plan, RunContext& ctx) -> Status {
  const SamplerRun run = SamplerRunOf(ctx);
  WEFT_RETURN_IF_ERROR(CheckTrueClasses(plan, run));
  run.workers.For(plan.num_sampled, 65536, [&](int64_t begin, int64_t end) {
    std::iota(run.sampled.begin() + begin, run.sampled.begin() + end, begin);
  });
  kernels::FillLong(run.workers, run.sampled_expected.data(), plan.num_sampled, 1.0f);
  kernels::FillLong(run.workers, run.true_expected.data(), static_cast<int64_t>(run.true_expected.size()), 1.0f);
  return {};
};

}  // namespace

BlockDef UniformCandidateSampler() {
  return Block("UniformCandidateSampler", "Draws classes, all with the same probability.")
      .Details(kStreamDetails)
      .Ports(kTrueClasses, kSampledCandidates, kTrueExpectedCount, kSampledExpectedCount)
      .Attrs(kNumTrue, kNumSampled, kUnique, kRangeMax, kSeed, kSeed2)
      .Kernel(Plan<kRangeMax>, Run<Uniform>, kBindStream);
}

BlockDef LogUniformCandidateSampler() {
  return Block("LogUniformCandidateSampler", "Draws classes that are sorted by falling frequency, after Zipf's law.")
      .Details(
          "Class k has the probability (log(k + 2) - log(k + 1)) / log(range_max + 1). With seeds, the numbers that TensorFlow draws, going on from "
          "run to run; without (both 0), other numbers every time.")
      .Ports(kTrueClasses, kSampledCandidates, kTrueExpectedCount, kSampledExpectedCount)
      .Attrs(kNumTrue, kNumSampled, kUnique, kRangeMax, kSeed, kSeed2)
      .Kernel(Plan<kRangeMax>, Run<LogUniform>, kBindStream);
}

BlockDef AllCandidateSampler() {
  return Block("AllCandidateSampler", "All classes, 0 to num_sampled - 1, as if they had been drawn.")
      .Details("For tests of what uses a sampler. Seeds and unique change nothing.")
      .Ports(kTrueClasses, kSampledCandidates, kTrueExpectedCount, kSampledExpectedCount)
      .Attrs(kNumTrue, kNumSampled, kUnique, kSeed, kSeed2)
      .Stateful()
      .Kernel(Plan<kNumSampled>, RunAll);
}

}  // namespace weft::blocks
