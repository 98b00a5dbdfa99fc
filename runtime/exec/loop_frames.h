// LoopFrames: which step comes next where a plan has loops, and which of their values are there in which iteration.
#pragma once

#include <vector>

#include "runtime/exec/result_set.h"
#include "runtime/exec/session_plan.h"

namespace weft {

/// TensorFlow's frames, by the rules for dead values: in the first iteration what NextIteration blocks give is dead, in later ones what
/// entered without `is_constant`. When the outermost loop ends, its values stand for the last that each block computed. For the thread
/// that runs.
class LoopFrames {
 public:
  explicit LoopFrames(const SessionPlan& planned);
  /// About how much memory one takes for the plan.
  static int64_t BytesFor(const Plan& plan) { return static_cast<int64_t>(plan.steps.size() * sizeof(int) + plan.slots.size()); }

  /// A run begins; so may loops before its first step.
  void Begin(ResultSet& set);
  /// The step to run after this one, which ran or was left out: the next, or the first of a loop whose last it is.
  size_t Next(ResultSet& set, size_t step);
  /// Whether the slot had a value in any iteration of this run.
  bool computed(size_t slot) const { return computed_[slot] != 0; }

 private:
  void Enter(ResultSet& set, size_t step, size_t from) const;
  bool Continues(const ResultSet& set, const Loop& loop) const;
  void EndOutermost(ResultSet& set, int index) const;

  const Plan& plan_;
  const Graph& graph_;
  std::vector<int> first_loop_;  // by step: the outermost loop that begins there, or -1
  std::vector<char> computed_;   // by slot
};

}  // namespace weft
