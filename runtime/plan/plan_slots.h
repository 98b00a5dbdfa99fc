// Phase 2 of a plan: a slot for each value.
#pragma once

#include <vector>

#include "runtime/plan/nodes_to_run.h"

namespace weft {

/// The slots of a plan in the making, and which of them may be one memory. Adding a slot may move them all.
class PlanSlots {
 public:
  PlanSlots(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan) {}

  /// Slots for the outputs of the nodes, marked as results where they are kept as such, and those of fed values with their shapes. Leaves
  /// room for all operands and steps.
  void AddAll(const NodesToRun& nodes, const PlanRequest& request);
  /// A slot that only one step uses.
  uint32_t AddOwn(ValueRef value);

  Slot& Of(ValueRef value) { return plan_.slots[IndexOf(value)]; }
  const Slot& Of(ValueRef value) const { return plan_.slots[IndexOf(value)]; }
  uint32_t IndexOf(ValueRef value) const { return static_cast<uint32_t>(plan_.first_slot[value.node] + value.output); }
  const Slot& Input(const Step& step, size_t v) const { return plan_.slots[plan_.operands[step.first_input + v]]; }
  Slot& Output(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_output + v]]; }

  /// The slot is, or through a Merge may be, the memory of `source`.
  void Share(uint32_t slot, int source);
  bool any_shared() const { return !sources_.empty(); }
  /// Calls each(source) for the slots whose memory a slot may be.
  template <class F>
  void ForSources(uint32_t slot, F&& each) const {
    for (int s = first_source_[slot]; s >= 0; s = sources_[static_cast<size_t>(s)].next) each(sources_[static_cast<size_t>(s)].slot);
  }

 private:
  struct Source {
    int slot, next;  // the next is an index into sources_, or -1
  };
  const Graph& graph_;
  Plan& plan_;
  std::vector<Source> sources_;
  std::vector<int> first_source_;  // by slot: index into sources_, or -1
};

}  // namespace weft
