// Revisions of a page: their checks, and the plans that the checks made.
#include <algorithm>
#include <set>

#include "runtime/state/host_call.h"
#include "weft/state/scope.h"

namespace weft {

void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics) { scope->CheckRevision(*scope->revision(), diagnostics, false); }

std::optional<Plan> Revision::TakePlan(const PlanRequest& request) {
  std::lock_guard lock(plans_mutex);
  auto found = std::find_if(plans.begin(), plans.end(), [&](const auto& plan) { return plan.first == request; });
  if (found == plans.end()) {
    plans.clear();  // sessions ask for something else
    return std::nullopt;
  }
  std::optional<Plan> plan = std::move(found->second);
  plans.erase(found);
  return plan;
}

void Scope::CheckRevision(Revision& revision, Diagnostics& diagnostics, bool keep_plans) const {
  const Graph& graph = *revision.graph;
  if (!graph.page().complete) return;
  const Planning planning(*this);
  std::vector<SessionSpec> sessions = graph.sessions();
  if (sessions.empty()) sessions.push_back(graph.DefaultSession());
  std::set<std::string> seen;  // sessions share blocks, and so their faults
  for (const SessionSpec& spec : sessions) {
    PlanRequest request = RequestFor(graph, spec, last_keep_.load(std::memory_order_relaxed));
    {
      std::lock_guard lock(values_mutex_);
      for (size_t v = 0; v < revision.variables.size(); ++v) {
        if (const Tensor& value = revision.variables[v]->value(); value.defined()) request.variable_shapes[v] = value.shape();
      }
    }
    Diagnostics found;
    Plan plan = MakePlan(graph, request, found);
    found.SetPhase(Phase::kCompile);
    if (keep_plans && found.all().empty()) {
      std::lock_guard lock(revision.plans_mutex);
      revision.plans.emplace_back(std::move(request), std::move(plan));
    }
    for (const Diagnostic& diagnostic : found.all()) {
      if (seen.insert(ToString(diagnostic)).second) diagnostics.Add(diagnostic.severity, diagnostic.status);
    }
  }
}

}  // namespace weft
