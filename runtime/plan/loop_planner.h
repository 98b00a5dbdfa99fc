// Loops in a plan: which steps are theirs, and what is assumed of shapes in them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "runtime/plan/plan_slots.h"
#include "runtime/plan/variable_shapes.h"

namespace weft {

/// What a plan assumes before it is made: that a value of a loop, and a variable that a loop updates, has the same shape in each iteration.
/// A plan that finds this wrong is discarded, and made again without the assumption.
struct ShapeSpeculation {
  std::set<int> open_merges;     // nodes of which it is not assumed
  std::set<int> open_variables;  // indices into Graph::variables(), the same
  bool off = false;              // nothing is assumed
  bool failed = false;           // the plan at hand found an assumption wrong
};

/// Follows the steps of a plan as they are added. A plan without loops pays nothing for it.
class LoopPlanner {
 public:
  /// Adds the loops to the plan. All must outlive it.
  LoopPlanner(const Graph& graph, const NodesToRun& nodes, const FedValues& fed, Plan& plan, PlanSlots& slots, VariableShapes& variables,
              ShapeSpeculation& speculation);

  /// To be called before the step of NodesToRun::order[at] is added, and at the end: ends and begins loops.
  void Reach(size_t at);
  /// The innermost loop of the steps that are added now, as an index into Plan::loops; -1 outside of loops.
  int current() const { return current_; }
  /// A Merge of a loop is planned as if what comes back had the shape of what enters.
  void AssumeShapes(int merge);
  /// A variable that the loop updates is read, through a slot of the step's own, as it is when the step runs.
  void AddReads(const Node& node, Step& step);
  /// Marks a slot whose block does not fit its inputs, or reads such a slot: its shape is no reason to plan again.
  void MarkFaulty(uint32_t slot) { faulty_.insert(slot); }
  bool AnyFaulty(const Step& step, size_t inputs) const;
  /// Compares what was assumed with what was found, when all steps are added.
  void CheckAssumptions();

 private:
  void Begin(int index);
  void End(int index);

  const Graph& graph_;
  const std::vector<NodesToRun::Loop>& loops_;
  const FedValues& fed_;
  Plan& plan_;
  PlanSlots& slots_;
  VariableShapes& variables_;
  ShapeSpeculation& speculation_;
  int current_ = -1;
  size_t next_ = 0;                                        // loop to begin
  std::vector<std::vector<std::optional<Shape>>> before_;  // by loop: shapes of `updated`, when it begins
  struct Assumed {
    int merge;
    uint32_t slot;  // of what comes back
    Shape shape;
  };
  std::vector<Assumed> assumed_;
  std::set<uint32_t> faulty_;
};

}  // namespace weft
