// Phase 2 of a plan: a slot for each value.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/plan/nodes_to_run.h"

namespace weft {

/// By slot: the one that is found where `source` is followed for as long as `shares(slot)`; the slot itself where that is not the case.
template <class Shares>
std::vector<int> RootsOf(const Plan& plan, Shares&& shares) {
  std::vector<int> roots(plan.slots.size());
  for (size_t s = 0; s < roots.size(); ++s) {  // sources come before what shares them
    const Slot& slot = plan.slots[s];
    roots[s] = shares(slot) ? roots[static_cast<size_t>(slot.source)] : static_cast<int>(s);
  }
  return roots;
}

/// The slots of a plan in the making, and which of them may be one memory. Adding a slot may move them all.
class PlanSlots {
 public:
  PlanSlots(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan) {}

  /// Slots for the outputs of the nodes, marked as results where they are kept as such, and those of fed values with their shapes. Leaves
  /// room for all operands and steps.
  void AddAll(const NodesToRun& nodes, const PlanRequest& request);
  /// A slot that only one step uses, that of `block`.
  uint32_t AddOwn(ValueRef value, std::string_view block);

  Slot& Of(ValueRef value) { return plan_.slots[IndexOf(value)]; }
  const Slot& Of(ValueRef value) const { return plan_.slots[IndexOf(value)]; }
  uint32_t IndexOf(ValueRef value) const { return static_cast<uint32_t>(plan_.first_slot[value.node] + value.output); }
  const Slot& Input(const Step& step, size_t v) const { return plan_.slots[plan_.operands[step.first_input + v]]; }
  Slot& Output(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_output + v]]; }

  /// The slot is, or through a Merge may be, the memory of `source`.
  void Share(uint32_t slot, int source);
  /// The slot whose memory it is, as far as that is known before the run; the slot itself where it shares no other's.
  int RootOf(int slot) const {
    const Slot& shared = plan_.slots[static_cast<size_t>(slot)];
    if (shared.storage != Slot::Storage::kShared || shared.source < 0) return slot;
    return sources_[static_cast<size_t>(first_source_[static_cast<size_t>(slot)])].root;
  }
  bool any_shared() const { return !sources_.empty(); }
  /// Calls each(source) for the slots whose memory a slot may be.
  template <class F>
  void ForSources(uint32_t slot, F&& each) const {
    for (int s = first_source_[slot]; s >= 0; s = sources_[static_cast<size_t>(s)].next) each(sources_[static_cast<size_t>(s)].slot);
  }

 private:
  struct Source {
    int slot, next;  // the next is an index into sources_, or -1
    int root;        // of the source
  };
  const Graph& graph_;
  Plan& plan_;
  std::vector<Source> sources_;
  std::vector<int> first_source_;  // by slot: index into sources_, or -1
};

}  // namespace weft
