#include "tools/cli/page_results.h"

#include <set>

namespace weft::cli {

std::optional<Tensor> CommittedValue(const Session& session, ValueRef value) {
  const Node& node = session.graph()->node(value.node);
  if (node.variable < 0) return std::nullopt;
  auto committed = session.scope().GetVariable(node.id);
  return committed.ok() ? std::optional(std::move(*committed)) : std::nullopt;
}

NamedTensors CollectResults(const PageRun& page) {
  NamedTensors results, variables;
  for (auto& [name, result] : page.Values()) results.emplace_back(std::move(name), std::move(result.tensor));
  std::set<std::string> known;
  bool updates = false;
  for (const auto& runner : page.runners()) {
    const Session& session = runner->session();
    updates = updates || (session.plan() != nullptr && session.plan()->updates_variables);
    for (const auto& fetch : session.spec().fetches) {
      const std::string& id = session.graph()->node(fetch.value.node).id;
      auto committed = CommittedValue(session, fetch.value);
      if (committed && known.insert(id).second) variables.emplace_back(id, std::move(*committed));
    }
  }
  if (updates) std::move(variables.begin(), variables.end(), std::back_inserter(results));
  return results;
}

}  // namespace weft::cli
