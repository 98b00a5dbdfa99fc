// Phase 4 of a plan: what is kept, and how long values are needed.
#pragma once

#include <vector>

#include "runtime/plan/plan_slots.h"

namespace weft {

/// Needs all steps of a plan, with the storage that they give their slots. To be called in the order of the functions.
class Lifetimes {
 public:
  Lifetimes(const Graph& graph, Plan& plan, const PlanSlots& slots);

  /// Loops only: what is handed to the next iteration, or out of a loop, cannot lie where the next iteration writes. Such slots are kOwned.
  void KeepAcrossIterations();
  /// Marks what stays readable after the run: fetches, with Keep::kAll gradients, and the memory that these share. `gradients`: see
  /// NodesToRun.
  void MarkKept(const PlanRequest& request, const std::vector<int>& gradients);
  /// Leaves Slot::last_use and Plan::required_variables.
  void FindLastUses(const PlanRequest& request, const FedValues& fed);

 private:
  void NoteStep(int step, std::vector<char>& required, std::vector<char>& updated);
  int LastUse(int step, int slot) const;

  const Graph& graph_;
  Plan& plan_;
  const PlanSlots& slots_;
  std::vector<int> loop_of_;  // by slot: the loop whose steps make it, or -1; empty where there are no loops
};

}  // namespace weft
