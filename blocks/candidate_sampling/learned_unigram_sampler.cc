// LearnedUnigramCandidateSampler: classes drawn as often as they were true before.
#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "blocks/candidate_sampling/candidate_sampler.h"
#include "blocks/stoppable_lock.h"

namespace weft::blocks {
namespace {

/// The weights of classes, at first 1, as a Fenwick tree: element i - 1 has the sum of the last lowest-bit-of-i weights up to the i-th.
class Weights {
 public:
  Weights() = default;
  Weights(Tensor memory, Workers& workers)
      : memory_(std::move(memory)), tree_(memory_.values<int32_t>()), total_(static_cast<int32_t>(tree_.size())) {
    workers.For(total_, int64_t{1} << 18, [this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) tree_[static_cast<size_t>(i)] = static_cast<int32_t>((i + 1) & -(i + 1));
    });
  }

  bool empty() const { return tree_.empty(); }
  size_t size() const { return tree_.size(); }
  int32_t total() const { return total_; }
  int32_t Of(size_t one) const {
    int32_t weight = tree_[one];
    for (size_t i = one, end = (one + 1) & one; i > end; i &= i - 1) weight -= tree_[i - 1];
    return weight;
  }
  void Add(size_t one, int32_t weight) {
    total_ += weight;
    for (size_t i = one + 1; i <= tree_.size(); i += i & (~i + 1)) tree_[i - 1] += weight;
  }
  /// The class in whose share of the total `at` lies.
  size_t At(int32_t at) const {
    size_t passed = 0;
    for (size_t step = std::bit_floor(tree_.size()); step > 0; step /= 2) {
      if (passed + step > tree_.size() || tree_[passed + step - 1] > at) continue;
      passed += step;
      at -= tree_[passed - 1];
    }
    return passed;
  }

  // What Sample asks of a distribution.
  int64_t Draw(kernels::WordStream& words) const {
    return static_cast<int64_t>(At(static_cast<int32_t>(Below32(words, static_cast<uint32_t>(total_)))));
  }
  float Probability(int64_t one) const { return static_cast<float>(Of(static_cast<size_t>(one))) / static_cast<float>(total_); }

 private:
  Tensor memory_;
  std::span<int32_t> tree_;
  int32_t total_ = 0;
};

/// A stream of numbers, and what was learned. Thread-safe: one run after another.
class LearnedUnigrams final : public RandomStream {
 public:
  static constexpr std::string_view kKind = "sampler of learned unigrams";

  LearnedUnigrams(kernels::Philox start, int64_t range) : RandomStream(start), range_(range) {}
  std::string_view kind() const override { return kKind; }

  /// Draws, and then learns what was true.
  Status Run(const SamplerPlan& plan, const SamplerRun& run, const std::shared_ptr<MemoryBudget>& budget);

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override {
    RandomStream::Reset();
    Restore({});
  }

 private:
  struct Learned {
    uint64_t one;
    int32_t weight;  // beyond the 1 that each has
  };
  Status MakeWeights(const std::shared_ptr<MemoryBudget>& budget, Workers& workers);
  Status Learn(const SamplerRun& run);
  void Restore(std::vector<Learned> learned) {
    weights_ = {};
    restored_ = std::move(learned);
  }
  std::vector<Learned> AllLearned() const;

  const int64_t range_;
  mutable std::mutex mutex_;
  Weights weights_;                // made by the first run, for memory counts in its budget
  std::vector<Learned> restored_;  // to be added to them then
};

Status LearnedUnigrams::MakeWeights(const std::shared_ptr<MemoryBudget>& budget, Workers& workers) {
  if (!weights_.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(Tensor memory, Tensor::Allocate(DType::kInt32, Shape{range_}, budget));
  Weights weights(std::move(memory), workers);
  kernels::StopCheck stop(workers);
  for (const Learned& learned : restored_) {
    if (stop(16)) break;
    weights.Add(learned.one, learned.weight);
  }
  if (stop(0) || workers.Stopped()) return kernels::RunStopped();
  weights_ = std::move(weights);
  restored_ = {};
  return {};
}

/// Weights stay below 2^31 together: what is true after that is not learned.
Status LearnedUnigrams::Learn(const SamplerRun& run) {
  kernels::StopCheck stop(run.workers);
  for (int64_t one : run.true_classes) {
    if (stop(16)) return kernels::RunStopped();
    if (weights_.total() == INT32_MAX) return {};
    weights_.Add(static_cast<size_t>(one), 1);
  }
  return {};
}

Status LearnedUnigrams::Run(const SamplerPlan& plan, const SamplerRun& run, const std::shared_ptr<MemoryBudget>& budget) {
  const auto lock = LockUnlessStopped(mutex_, run.workers);
  if (!lock) return kernels::RunStopped();
  WEFT_RETURN_IF_ERROR(MakeWeights(budget, run.workers));
  WEFT_RETURN_IF_ERROR(Sample(plan, weights_, ReserveFor(plan, *this), run));
  return Learn(run);
}

std::vector<LearnedUnigrams::Learned> LearnedUnigrams::AllLearned() const {
  std::vector<Learned> all = restored_;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (const int32_t weight = weights_.Of(i) - 1; weight > 0) all.push_back({i, weight});
  }
  return all;
}

Status LearnedUnigrams::Save(StateWriter& out) const {
  WEFT_RETURN_IF_ERROR(RandomStream::Save(out));
  std::lock_guard lock(mutex_);
  const std::vector<Learned> all = AllLearned();
  out.Put(static_cast<uint64_t>(range_));
  out.Put(all.size());
  for (const Learned& learned : all) {
    out.Put(learned.one);
    out.Put(static_cast<uint64_t>(learned.weight));
  }
  return {};
}

Result<std::function<void()>> LearnedUnigrams::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(std::function<void()> set_stream, RandomStream::Load(in));
  WEFT_ASSIGN_OR_RETURN(const uint64_t range, in.Number());
  if (range != static_cast<uint64_t>(range_)) return InvalidArgument("needs the state of a sampler of ", range_, " classes, found ", range);
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.NumberUpTo(range));
  std::vector<Learned> learned;
  auto room = static_cast<uint64_t>(INT32_MAX - range_);
  for (uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const uint64_t one, in.NumberUpTo(range - 1));
    WEFT_ASSIGN_OR_RETURN(const uint64_t weight, in.NumberUpTo(room));
    room -= weight;
    learned.push_back({one, static_cast<int32_t>(weight)});
  }
  return std::function<void()>([this, set_stream = std::move(set_stream), learned = std::move(learned)]() mutable {
    set_stream();
    Restore(std::move(learned));
  });
}

Result<SamplerPlan> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(SamplerPlan plan, PlanSampler(ctx, ctx.attr(kRangeMax)));
  if (plan.range >= INT32_MAX) return ctx.Error(kRangeMax, "needs less than 2^31 - 1, found ", plan.range);
  SetSamples(ctx, plan);
  return plan;
}

constexpr auto Run = [](const SamplerPlan& plan, RunContext& ctx) -> Status {
  return ctx.state<LearnedUnigrams>().Run(plan, SamplerRunOf(ctx), ctx.budget());
};

constexpr auto Bind = [](const SamplerPlan& plan, BindContext& ctx) {
  return ctx.Own(
      [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<LearnedUnigrams>(StartOf(plan.seeds), plan.range)); });
};

}  // namespace

BlockDef LearnedUnigramCandidateSampler() {
  return Block("LearnedUnigramCandidateSampler", "Draws classes as often as they were true in the runs before.")
      .Details(
          "Each class begins with a weight of 1, and each time it is true it has one more. With seeds, the numbers that TensorFlow draws; without "
          "(both 0), other numbers every time.")
      .Ports(kTrueClasses, kSampledCandidates, kTrueExpectedCount, kSampledExpectedCount)
      .Attrs(kNumTrue, kNumSampled, kUnique, kRangeMax, kSeed, kSeed2)
      .Kernel(Plan, Run, Bind);
}

}  // namespace weft::blocks
