// Phase 4 of a plan: what is kept, and how long values are needed.
#pragma once

#include <set>
#include <unordered_set>
#include <vector>

#include "runtime/plan/plan_slots.h"

namespace weft {

/// Needs all steps of a plan, with the storage that they give their slots. To be called in the order of the functions.
class Lifetimes {
 public:
  Lifetimes(const Graph& graph, Plan& plan, const PlanSlots& slots);

  /// Loops only: what is handed to the next iteration, or out of a loop, cannot lie where the next iteration writes. Such slots are kOwned.
  void KeepAcrossIterations();
  /// Marks what stays readable after the run: fetches, with Keep::kAll gradients, and the memory that these share.
  void MarkKept(const PlanRequest& request);
  /// Leaves Slot::last_use and Plan::required_variables.
  void FindLastUses(const PlanRequest& request, const FedValues& fed);

 private:
  void NoteStep(int step);
  void MarkGradients();
  int LastUse(int step, int slot) const;

  const Graph& graph_;
  Plan& plan_;
  const PlanSlots& slots_;
  std::set<int> required_;           // variables that need a value when the run starts
  std::unordered_set<int> updated_;  // variables that the steps so far update
  std::vector<int> loop_of_;  // by slot: the loop whose steps make it, or -1; empty where there are no loops
};

}  // namespace weft
