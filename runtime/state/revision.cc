#include "weft/state/revision.h"

#include <algorithm>

#include "runtime/base/call_limit.h"

namespace weft {

Status Revision::Hold(const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(held, CallLimit::Keep(graph->bytes(), budget));
  return held.Hold(held.bytes() + found.bytes());
}

std::optional<Plan> Revision::TakePlan(const PlanRequest& request) {
  std::lock_guard lock(plans_mutex_);
  const auto fits = [&](const Plan& plan) {
    for (size_t i = 0; i < plan.variables.size(); ++i) {
      if (ShapeAtStart(*graph, request, plan.variables[i]) != plan.variable_shapes[i]) return false;
    }
    return true;
  };
  // Sessions take them in the order of the page, in which they were made: the first is the one.
  auto found = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return plan.first == request && fits(plan.second); });
  if (found == plans_.end()) {
    plans_.clear();  // sessions ask for something else
    return std::nullopt;
  }
  std::optional<Plan> plan = std::move(found->second);
  plans_.erase(found);
  return plan;
}

void Revision::OfferPlan(PlanRequest request, Plan plan) {
  std::lock_guard lock(plans_mutex_);
  plans_.emplace_back(std::move(request), std::move(plan));
}

}  // namespace weft
