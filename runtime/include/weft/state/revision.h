// Revision: one state of a page that is edited while it is open.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/plan/plan.h"

namespace weft {

class VariableAccess;

/// The value of one variable. Only who has the scope's VariableAccess (runtime/state/variable_store.h) reads and writes it.
class VariableCell {
 public:
  /// Undefined while the variable has none.
  const Tensor& value(const VariableAccess& /*access*/) const { return value_; }
  void Set(Tensor value, VariableAccess& access);

 private:
  Tensor value_;
};

/// One state of an edited page: its graph, and where the values of its variables are. Each edit makes a new one; a session that runs keeps
/// the one it was planned for. Revisions share the cells of variables that are the same in both.
struct Revision {
  std::shared_ptr<const Graph> graph;
  std::vector<std::shared_ptr<VariableCell>> variables;  // by Graph::variables()
  uint64_t number = 0;               // of edits before it
  Diagnostics found;                 // what was wrong when its graph was made
  MemoryCharge held;                 // of the page, the graph and what was found
  std::atomic<bool> started{false};  // its variables have their initial values; written with the scope's VariableAccess

  /// Counts the page, the graph and `found` in a budget: resource_exhausted where it refuses.
  Status Hold(const std::shared_ptr<MemoryBudget>& budget);
  /// A plan that was made when the page was checked, for the first session that asks for the same. From any thread.
  std::optional<Plan> TakePlan(const PlanRequest& request);
  void OfferPlan(PlanRequest request, Plan plan);

 private:
  std::mutex plans_mutex_;
  std::list<std::pair<PlanRequest, Plan>> plans_;  // taken from the front
};

}  // namespace weft
