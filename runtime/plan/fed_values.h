// Values that a host feeds.
#pragma once

#include <algorithm>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

class FedValues {
 public:
  FedValues(const Graph& graph, const PlanRequest& request) : graph_(graph), request_(request) {
    if (request.feeds.empty()) return;
    is_target_.assign(graph.nodes().size(), 0);
    for (int node : request.run) is_target_[node] = 1;
  }

  bool Contains(ValueRef value) const {
    return std::ranges::any_of(request_.feeds, [&](const PlanRequest::Feed& feed) { return feed.value == value; });
  }
  /// Whether feeds stand for all that a node would compute. What a host wants run for its effect runs all the same; a Placeholder has none.
  bool Replace(int index) const {
    if (request_.feeds.empty()) return false;
    const Node& node = graph_.node(index);
    if (node.output_types.empty() || (is_target_[index] && !node.inputs.empty())) return false;
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      if (!Contains({index, static_cast<int>(v)})) return false;
    }
    return true;
  }

 private:
  const Graph& graph_;
  const PlanRequest& request_;
  std::vector<char> is_target_;  // by node: run for its effect; empty where nothing is fed
};

}  // namespace weft
