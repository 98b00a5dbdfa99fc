// The order of steps: updates of variables, and blocks that wait for what others of the same run do.
#pragma once

#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weft/base/workers.h"
#include "weft/plan/graph.h"

namespace weft {

/// What is put in order as one: a node alone, or all nodes of a loop, which the first of them stands for.
class Clusters {
 public:
  void Join(std::vector<int> nodes) {
    for (int node : nodes) first_[node] = nodes[0];
    int first = nodes[0];
    members_[first] = std::move(nodes);
  }
  /// The node that stands for the cluster of a node.
  int Of(int node) const {
    if (first_.empty()) return node;
    auto it = first_.find(node);
    return it == first_.end() ? node : it->second;
  }
  /// The nodes that `node` stands for; the span of a lone node is over the argument.
  std::span<const int> Members(const int& node) const {
    if (members_.empty()) return {&node, 1};
    auto it = members_.find(node);
    return it == members_.end() ? std::span<const int>(&node, 1) : std::span<const int>(it->second);
  }

 private:
  std::unordered_map<int, int> first_;
  std::unordered_map<int, std::vector<int>> members_;
};

/// `frame`, which the node or a loop around it lies in, or the frame directly in it that the node belongs to.
int FrameWithin(const Graph& graph, int node, int frame);

/// The order of nodes that update variables or depend on such (`late`, producers first): updates of one variable in page order, where wires
/// do not say otherwise.
std::vector<int> OrderUpdates(const Graph& graph, const std::vector<int>& late, const Clusters& clusters);

/// The nodes with producers before consumers, where that is known of single nodes only; else in the order given.
std::vector<int> ProducersFirst(const Graph& graph, const std::vector<int>& nodes, const Clusters& clusters);

/// Reorders nodes, given with producers before consumers, so that those that may wait (BlockDef::waits) come after all that do not depend
/// on them; the rest keep their order. Of several that may wait, one whose resource no later node fills goes first. But what depends on
/// reads of variables that the run updates comes after them where nobody else may wait for it: from such a read to its end a run keeps
/// others from updating. `updated` gives those, as indices into Graph::variables(); it is called where nodes may wait.
std::vector<int> WaitingLast(const Graph& graph, std::vector<int> order, const Clusters& clusters, FunctionRef<std::set<int>()> updated);

/// Of nodes, given with producers before consumers, those that wait for a resource which one of `after_update` fills, and what depends on
/// them: an update does not. They can end their waits after all of `after_update` only. None where a node that reads one of the variables
/// `unread` would be among them.
std::vector<int> WaitingForUpdates(const Graph& graph, const std::vector<int>& nodes, const std::unordered_set<int>& after_update,
                                   const Clusters& clusters, const std::set<int>& unread);

}  // namespace weft
