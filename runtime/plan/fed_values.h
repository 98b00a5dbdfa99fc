// Values that a host feeds.
#pragma once

#include <unordered_set>

#include "weft/plan/plan.h"

namespace weft {

class FedValues {
 public:
  FedValues(const Graph& graph, const PlanRequest& request) : graph_(graph) {
    if (request.feeds.empty()) return;
    for (const PlanRequest::Feed& feed : request.feeds) fed_.insert(KeyOf(feed.value));
    targets_.insert(request.run.begin(), request.run.end());
  }

  bool Contains(ValueRef value) const {
    return !fed_.empty() && fed_.contains(KeyOf(value));
  }
  /// Whether feeds stand for all that a node would compute. What a host wants run for its effect runs all the same; a Placeholder has none.
  bool Replace(int index) const {
    if (fed_.empty()) return false;
    const Node& node = graph_.node(index);
    if (node.output_types.empty() || (!node.inputs.empty() && targets_.contains(index))) return false;
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      if (!Contains({index, static_cast<int>(v)})) return false;
    }
    return true;
  }

 private:
  static uint64_t KeyOf(ValueRef value) { return static_cast<uint64_t>(static_cast<uint32_t>(value.node)) << 32 | static_cast<uint32_t>(value.output); }

  const Graph& graph_;
  std::unordered_set<uint64_t> fed_;  // values
  std::unordered_set<int> targets_;   // nodes run for their effect; empty where nothing is fed
};

}  // namespace weft
