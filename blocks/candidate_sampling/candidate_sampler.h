// What the candidate samplers share: ports, attributes, and how classes are drawn and their expected counts are found.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "blocks/candidate_sampling/id_table.h"
#include "blocks/kernels/random/distributions.h"
#include "blocks/limits.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {

inline constexpr In<0> kTrueClasses{"true_classes", "DT_INT64", "[batch, num_true]: the classes that are right for each example"};
inline constexpr Out<0> kSampledCandidates{"sampled_candidates", "DT_INT64", "[num_sampled]: the classes drawn"};
inline constexpr Out<1> kTrueExpectedCount{"true_expected_count", "DT_FLOAT",
                                           "[batch, num_true]: how often each true class is drawn on average"};
inline constexpr Out<2> kSampledExpectedCount{"sampled_expected_count", "DT_FLOAT",
                                              "[num_sampled]: how often each drawn class is drawn on average"};
inline constexpr Attr<int64_t> kNumTrue{"num_true", kRequired, "true classes of an example", nullptr, 1};
inline constexpr Attr<int64_t> kNumSampled{"num_sampled", kRequired, "how many classes to draw", nullptr, 1};
inline constexpr Attr<bool> kUnique{"unique", kRequired, "whether no class is drawn twice"};
inline constexpr Attr<int64_t> kRangeMax{"range_max", kRequired, "the number of classes: they are 0 to range_max - 1", nullptr, 1};

struct SamplerPlan {
  Seeds seeds;
  int64_t batch = 0, num_true = 0, num_sampled = 0;
  int64_t range = 0;  // classes
  bool unique = false;

  /// Numbers of memory that drawing takes.
  int64_t memory() const { return unique ? IdTable::MemoryFor(num_sampled) : 0; }
};

/// Checks input and attributes; sets no shapes.
Result<SamplerPlan> PlanSampler(const PlanContext& ctx, int64_t range);
/// Sets the shapes, and scratch memory for Sample.
void SetSamples(PlanContext& ctx, const SamplerPlan& plan);

/// What a run reads and writes.
struct SamplerRun {
  std::span<const int64_t> true_classes;
  std::span<int64_t> sampled;
  std::span<float> true_expected, sampled_expected;
  std::span<int64_t> memory;
  Workers& workers;
};
inline SamplerRun SamplerRunOf(const RunContext& ctx) {
  return {ctx.in<int64_t>(kTrueClasses), ctx.out<int64_t>(kSampledCandidates), ctx.out<float>(kTrueExpectedCount),
          ctx.out<float>(kSampledExpectedCount), ctx.scratch<int64_t>(), ctx.workers()};
}

/// invalid_argument where a true class is none of the classes.
Status CheckTrueClasses(const SamplerPlan& plan, const SamplerRun& run);

/// The stretch of a stream that a run takes, as TensorFlow's: 2,048 words for each class drawn, whatever is used of them.
inline kernels::Philox ReserveFor(const SamplerPlan& plan, RandomStream& stream) {
  return stream.ReserveGroups(512 * static_cast<uint64_t>(plan.num_sampled));
}

/// An integer in [0, n), n > 0, each with the same probability: numbers that would favour some are drawn again.
template <class U, class Draw>
U UniformBelow(U n, Draw draw) {
  if ((n & (n - 1)) == 0) return draw() & (n - 1);
  const U uneven = ~U{0} % n + 1;
  for (;;) {
    if (const U word = draw(); word >= uneven) return word % n;
  }
}
inline uint32_t Below32(kernels::WordStream& words, uint32_t n) {
  return UniformBelow<uint32_t>(n, [&] { return words(); });
}
inline uint64_t Below64(kernels::WordStream& words, uint64_t n) {
  return UniformBelow<uint64_t>(n, [&] {
    const uint64_t low = words();
    return low | uint64_t{words()} << 32;
  });
}

/// Of a class with probability p, where `drawn` classes took `tries` draws.
inline float ExpectedCount(float p, int32_t drawn, int32_t tries) {
  if (tries == drawn) return p * static_cast<float>(drawn);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

/// Fills `run.sampled`; gives the number of draws. `distribution.Draw(words)` draws a class.
Result<int32_t> DrawClasses(const SamplerPlan& plan, const auto& distribution, kernels::WordStream words, const SamplerRun& run) {
  kernels::StopCheck stop(run.workers);
  if (!plan.unique) {
    for (int64_t& sampled : run.sampled) {
      if (stop(16)) return kernels::RunStopped();
      sampled = distribution.Draw(words);
    }
    return static_cast<int32_t>(plan.num_sampled);
  }
  IdTable seen(run.memory, run.workers);
  if (run.workers.Stopped()) return kernels::RunStopped();  // not every slot is empty
  size_t count = 0;
  for (int32_t tries = 0; tries < INT32_MAX; ++tries) {
    if (count == run.sampled.size()) return tries;
    if (stop(16)) return kernels::RunStopped();
    const int64_t sampled = distribution.Draw(words);
    int64_t& position = seen[sampled];
    if (position >= 0) continue;
    position = 0;
    run.sampled[count++] = sampled;
  }
  return InvalidArgument("needs classes that can be drawn without repetition: after 2^31 draws only ", count, " of ", run.sampled.size(),
                         " are there")
      .WithPort(kNumSampled.name);
}

/// Fills all outputs. `distribution.Probability(class)` is that of one draw.
Status Sample(const SamplerPlan& plan, const auto& distribution, const kernels::Philox& stream, const SamplerRun& run) {
  WEFT_RETURN_IF_ERROR(CheckTrueClasses(plan, run));
  WEFT_ASSIGN_OR_RETURN(const int32_t tries, DrawClasses(plan, distribution, kernels::WordStream(stream), run));
  const auto drawn = static_cast<int32_t>(plan.num_sampled);
  const auto count = [&](std::span<const int64_t> classes, std::span<float> to) {
    run.workers.For(static_cast<int64_t>(classes.size()), 4096, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        to[i] = ExpectedCount(distribution.Probability(classes[i]), drawn, tries);
      }
    });
  };
  count(run.sampled, run.sampled_expected);
  count(run.true_classes, run.true_expected);
  return run.workers.Stopped() ? kernels::RunStopped() : Status();
}

}  // namespace weft::blocks
