// SessionPlan: a plan, what it was made for, and how the memory of its results is laid out.
#pragma once

#include <memory>
#include <vector>

#include "weft/plan/plan.h"
#include "weft/state/revision.h"

namespace weft {

/// Results lie in memories that readers lease one by one. Small results share one; large ones have one each, and all have where a stale
/// one may have to stay while others change.
struct ResultLayout {
  explicit ResultLayout(const Plan& plan);
  /// What the lists by slot take.
  static int64_t BytesFor(const Plan& plan) { return static_cast<int64_t>(plan.slots.size() * (sizeof(int) + sizeof(int64_t))); }
  std::vector<int> memory;      // by slot: index of its memory, or -1
  std::vector<int64_t> offset;  // by slot: bytes into that memory
  std::vector<int64_t> bytes;   // by memory
  std::vector<int> slot;        // by memory: its slot; of several the first
};

/// Does not change once made. Who shows results of a plan keeps it, also when the session has another by then.
struct SessionPlan {
  SessionPlan(std::shared_ptr<Revision> of, PlanRequest made_for, Plan made, uint64_t number, MemoryCharge charge = {})
      : revision(std::move(of)),
        graph(*revision->graph),
        request(std::move(made_for)),
        plan(std::move(made)),
        id(number),
        layout(plan),
        held(std::move(charge)) {}
  const std::shared_ptr<Revision> revision;
  const Graph& graph;  // the revision's
  const PlanRequest request;
  const Plan plan;
  const uint64_t id;  // another for each plan of the scope
  const ResultLayout layout;
  const MemoryCharge held;  // of the plan itself
};

}  // namespace weft
