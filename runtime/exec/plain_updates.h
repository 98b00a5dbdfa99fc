// PlainUpdates: updates of one variable that nothing else in the plan updates, by a kernel whose shapes the plan knows.
#pragma once

#include <vector>

#include "runtime/exec/variables.h"

namespace weft {

/// A table of such steps: training pages have many, and run them without a look at the plan and the graph. For the thread that runs.
class PlainUpdates {
 public:
  /// Finds them. `fused` says which steps are no candidates.
  PlainUpdates(const SessionPlan& planned, VariableTransaction& variables, std::shared_ptr<MemoryBudget> budget);

  /// About how much memory one takes for the plan, without values.
  static int64_t BytesFor(const Plan& plan) { return static_cast<int64_t>(Candidates(plan) * sizeof(Update)); }

  size_t size() const { return updates_.size(); }
  size_t step(size_t number) const { return updates_[number].step; }

  /// Makes the context ready for the kernel of update `number`, and gives it; null where the step must run as any other. Where `many`,
  /// loads what the next ones use.
  Result<RunFunction> Begin(size_t number, ResultSet& set, RunContext& ctx, bool many);
  /// The kernel has succeeded.
  void End(size_t number, ResultSet& set);

 private:
  struct Update {
    RunFunction run = nullptr;
    uint32_t variable = 0;  // index into VariableTransaction::variables()
    uint32_t input = 0;     // input value of the block: the reference
    uint32_t slot = 0;      // its slot
    int output = -1;        // slot of the reference that it gives, or -1
    size_t step = 0;
  };

  static bool IsCandidate(const Step& step);
  static size_t Candidates(const Plan& plan);
  bool IsPlain(const SessionPlan& planned, const Step& step) const;
  void PrefetchAfter(size_t number, const ResultSet& set) const;

  VariableTransaction& variables_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::vector<Update> updates_;  // in the order of their steps
  std::vector<Value> new_;       // by input value of the step that runs
  Tensor new_value_;             // of the step that runs
};

}  // namespace weft
