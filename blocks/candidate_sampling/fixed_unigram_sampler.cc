// FixedUnigramCandidateSampler: classes drawn by weights, of a list or a file.
#include <mutex>

#include "blocks/candidate_sampling/unigram_table.h"
#include "blocks/io/file_access.h"

namespace weft::blocks {
namespace {

constexpr Attr<std::string> vocab_file{"vocab_file", "",
                                       "a file with a line for each class, whose last field (after a comma) is the weight"};
constexpr Attr<float> distortion{"distortion", "1", "weights are raised to this power: 0 makes all alike"};
constexpr Attr<int64_t> num_reserved_ids{"num_reserved_ids", "0", "classes before the first one listed, which are never drawn"};
constexpr Attr<int64_t> num_shards{"num_shards", "1", "classes are dealt out to so many samplers", nullptr, 1};
constexpr Attr<int64_t> shard{"shard", "0", "which of them this is; range_max is the number of its classes", nullptr, 0};
constexpr Attr<FloatList> unigrams{"unigrams", "{}", "the weight of each class, in place of a file"};

struct FixedPlan {
  SamplerPlan sampler;
  UnigramSettings settings;
  std::string file;
  FloatList weights;  // where there is no file
};

/// A stream of numbers, and the table, which the first run makes. Thread-safe.
class FixedUnigrams final : public RandomStream {
 public:
  static constexpr std::string_view kKind = "sampler of unigrams";

  explicit FixedUnigrams(kernels::Philox start) : RandomStream(start) {}
  std::string_view kind() const override { return kKind; }

  /// Two runs may make it at the same time; the first one stays.
  Result<std::shared_ptr<const UnigramTable>> Table(const FixedPlan& plan, const Services& services) {
    if (std::lock_guard lock(mutex_); table_ != nullptr) return table_;
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<const UnigramTable> table, Make(plan, services));
    std::lock_guard lock(mutex_);
    if (table_ == nullptr) table_ = std::move(table);
    return table_;
  }

 private:
  static Result<std::shared_ptr<const UnigramTable>> Make(const FixedPlan& plan, const Services& services) {
    if (plan.file.empty()) return AtPort(unigrams, UnigramTable::FromWeights(plan.settings, plan.weights, services.budget, *services.workers));
    WEFT_ASSIGN_OR_RETURN(const String lines, AtPort(vocab_file, ReadWholeFile(services, plan.file)));
    return AtPort(vocab_file, UnigramTable::FromLines(plan.settings, lines, services.budget, *services.workers));
  }

  std::mutex mutex_;
  std::shared_ptr<const UnigramTable> table_;
};

Status CheckDrawable(const SamplerPlan& plan, const UnigramTable& table) {
  if (!plan.unique || plan.num_sampled <= table.drawable()) return {};
  return InvalidArgument("needs at most as many as there are classes with a weight (unique_ = true), ", table.drawable(), ", found ",
                         plan.num_sampled)
      .WithPort(kNumSampled.name);
}

Result<FixedPlan> Plan(PlanContext& ctx) {
  FixedPlan plan;
  WEFT_ASSIGN_OR_RETURN(plan.sampler, PlanSampler(ctx, ctx.attr(kRangeMax)));
  plan.settings = {plan.sampler.range, ctx.attr(distortion), ctx.attr(num_reserved_ids), ctx.attr(num_shards), ctx.attr(shard)};
  plan.file = ctx.attr(vocab_file);
  plan.weights = ctx.attr(unigrams);
  const UnigramSettings& settings = plan.settings;
  const auto listed = static_cast<int64_t>(plan.weights.size());
  if (plan.file.empty() == (listed == 0)) return ctx.Error(unigrams, "needs weights or a vocab_file, not both, found ", listed, " weights");
  if (settings.shards > INT32_MAX) return ctx.Error(num_shards, "needs less than 2^31, found ", settings.shards);
  if (settings.shard >= settings.shards) {
    return ctx.Error(shard, "needs less than num_shards, ", settings.shards, ", found ", settings.shard);
  }
  if (settings.reserved < 0) return ctx.Error(num_reserved_ids, "needs 0 or more, found ", settings.reserved);
  if (const int64_t reserved = UnigramTable::Reserved(settings); reserved > settings.range) {
    return ctx.Error(kRangeMax, "needs at least the ", reserved, " reserved classes, found ", settings.range);
  }
  if (const int64_t classes = UnigramTable::Classes(settings, listed); listed > 0 && classes != settings.range) {
    return ctx.Error(kRangeMax, "needs the number of classes of the shard, ", classes, ", found ", settings.range);
  }
  SetSamples(ctx, plan.sampler);
  return plan;
}

constexpr auto Run = [](const FixedPlan& plan, RunContext& ctx) -> Status {
  auto& state = ctx.state<FixedUnigrams>();
  WEFT_ASSIGN_OR_RETURN(const auto table, state.Table(plan, *FrameOf(ctx).services));
  WEFT_RETURN_IF_ERROR(CheckDrawable(plan.sampler, *table));
  return Sample(plan.sampler, *table, ReserveFor(plan.sampler, state), SamplerRunOf(ctx));
};

constexpr auto Bind = [](const FixedPlan& plan, BindContext& ctx) {
  return ctx.Own(
      [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<FixedUnigrams>(StartOf(plan.sampler.seeds))); });
};

}  // namespace

BlockDef FixedUnigramCandidateSampler() {
  return Block("FixedUnigramCandidateSampler", "Draws classes by given weights.")
      .Details(
          "Of shards each has the classes that leave its number when divided by num_shards. With seeds, the numbers that TensorFlow draws, going on "
          "from run to run; without (both 0), other numbers every time.")
      .Ports(kTrueClasses, kSampledCandidates, kTrueExpectedCount, kSampledExpectedCount)
      .Attrs(kNumTrue, kNumSampled, kUnique, kRangeMax, vocab_file, distortion, num_reserved_ids, num_shards, shard, unigrams, kSeed,
             kSeed2)
      .Kernel(Plan, Run, Bind);
}

}  // namespace weft::blocks
