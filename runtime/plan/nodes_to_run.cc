#include "runtime/plan/nodes_to_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/plan/step_order.h"

namespace weft {
namespace {

/// By node: whether it is needed.
std::vector<char> FindNeeded(const Graph& graph, const PlanRequest& request, const FedValues& fed) {
  std::vector<char> needed(graph.nodes().size(), 0);
  std::vector<int> stack;
  auto need = [&](int node) {
    if (!needed[node]) {
      needed[node] = 1;
      stack.push_back(node);
    }
  };
  for (ValueRef fetch : request.fetches) need(fetch.node);
  for (int node : request.run) need(node);
  while (!stack.empty()) {
    const int index = stack.back();
    stack.pop_back();
    const Node& node = graph.node(index);
    if (node.variable >= 0 || fed.Replace(index)) continue;
    for (ValueRef input : node.inputs) {
      if (input.valid()) need(input.node);
    }
  }
  return needed;
}

/// The variables that nodes update, as indices into Graph::variables().
std::set<int> UpdatedBy(const Graph& graph, const std::vector<int>& nodes) {
  std::set<int> updated;
  for (int index : nodes) {
    const Node& node = graph.node(index);
    if (node.def == nullptr) continue;
    for (int port : node.def->updates) {
      for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
        for (int variable : graph.VariablesOf(node.inputs[v])) updated.insert(graph.node(variable).variable);
      }
    }
  }
  return updated;
}

/// Puts nodes in the order of their steps.
class NodeOrder {
 public:
  NodeOrder(const Graph& graph, NodesToRun& made) : graph_(graph), made_(made), is_late_(graph.nodes().size(), 0) {}

  std::vector<int> Arrange(const std::vector<int>& nodes, const Clusters& clusters);
  void ArrangeFrame(int frame, int loop, const std::vector<int>& nodes);

 private:
  int FrameWithin(int node, int frame) const;
  void AddLoop(int frame, int parent, const std::vector<int>& nodes);

  const Graph& graph_;
  NodesToRun& made_;
  std::vector<char> is_late_;  // by node: updates a variable, or depends on what does; while nodes are arranged
};

// Nodes in the graph's order, but updates of variables, and what depends on them, last, so that all that read the old values have run.
std::vector<int> NodeOrder::Arrange(const std::vector<int>& nodes, const Clusters& clusters) {
  std::vector<int> early, late;
  early.reserve(nodes.size());
  for (const int& i : nodes) {
    bool after = false;
    for (int member : clusters.Members(i)) {
      const Node& node = graph_.node(member);
      after |= node.def != nullptr && !node.def->updates.empty();
      for (ValueRef input : node.inputs) after |= input.valid() && is_late_[clusters.Of(input.node)] != 0;
    }
    is_late_[i] = after;
    (after ? late : early).push_back(i);
  }
  for (int i : nodes) is_late_[i] = 0;  // a loop's own steps are arranged without regard to what lies outside
  early = WaitingLast(graph_, std::move(early), clusters);
  for (int i : OrderUpdates(graph_, late, clusters)) early.push_back(i);
  return early;
}

// `frame`, or the frame directly in it that the node belongs to.
int NodeOrder::FrameWithin(int node, int frame) const {
  int home = graph_.HomeFrame(node);
  while (home != frame && graph_.frames()[home].parent != frame) home = graph_.frames()[home].parent;
  return home;
}

// The nodes of a frame and of those within it, in the order of their steps. A loop within is arranged as one among the others; then come,
// in its place, the Enter blocks, the steps of an iteration, and last what they leave for the next one.
void NodeOrder::ArrangeFrame(int frame, int loop, const std::vector<int>& nodes) {
  std::map<int, std::vector<int>> inner;  // frame -> its nodes
  std::vector<int> own, next;
  for (int node : nodes) {
    const int home = FrameWithin(node, frame);
    const BlockDef* def = graph_.node(node).def;
    if (home != frame) inner[home].push_back(node);
    else if (frame != 0 && def->flow == Flow::kEnter) made_.order.push_back(node);
    else if (frame != 0 && def->flow == Flow::kNextIteration) next.push_back(node);
    else own.push_back(node);
  }
  if (loop >= 0) made_.loops[loop].first = made_.order.size();
  Clusters clusters;
  for (auto& [child, members] : inner) {
    clusters.Join(members);
    own.push_back(members[0]);
  }
  std::sort(own.begin(), own.end(), [&](int a, int b) { return graph_.node(a).order < graph_.node(b).order; });
  if (!inner.empty()) own = ProducersFirst(graph_, own, clusters);
  for (int node : Arrange(own, clusters)) {
    const int home = FrameWithin(node, frame);
    if (home == frame) made_.order.push_back(node);
    else AddLoop(home, loop, inner[home]);
  }
  made_.order.insert(made_.order.end(), next.begin(), next.end());
}

void NodeOrder::AddLoop(int frame, int parent, const std::vector<int>& nodes) {
  const int index = static_cast<int>(made_.loops.size());
  NodesToRun::Loop& loop = made_.loops.emplace_back();
  loop.frame = frame;
  loop.parent = parent;
  loop.updated = UpdatedBy(graph_, nodes);
  for (int member : nodes) {
    const Node& node = graph_.node(member);
    if (graph_.HomeFrame(member) != frame || node.def == nullptr) continue;
    if (node.def->flow == Flow::kEnter) loop.entering.push_back(member);
    if (node.def->flow == Flow::kNextIteration) loop.next.push_back(member);
    if (IsLoopCondition(node)) loop.condition = member;
  }
  ArrangeFrame(frame, index, nodes);
  made_.loops[index].end = made_.order.size();
}

}  // namespace

NodesToRun ChooseNodes(const Graph& graph, const PlanRequest& request, const FedValues& fed) {
  NodesToRun made;
  const std::vector<char> needed = FindNeeded(graph, request, fed);
  std::vector<int> nodes;
  nodes.reserve(needed.size());
  bool loops = false, arranged = true;  // no block that others must come before
  for (int i : graph.in_order()) {
    const Node& node = graph.node(i);
    // A broken node has been walked through for the faults of what it reads; it does nothing itself.
    if (node.broken) {
      if (needed[i] && !node.added && !fed.Replace(i)) made.faulty.push_back(i);
      continue;
    }
    if (node.def != nullptr && node.def->structural == Structural::kGradients) made.gradients.push_back(i);
    if (!needed[i]) continue;
    nodes.push_back(i);
    loops |= node.frame != 0;
    made.outputs += node.output_types.size();
    made.inputs += node.inputs.size();
    if (node.def == nullptr) continue;
    made.updates += node.def->updates.size();
    arranged &= node.def->updates.empty() && !node.def->waits;
    made.has_dead_values |= node.def->flow == Flow::kSwitch || node.def->flow == Flow::kEnter;
  }
  if (loops) NodeOrder(graph, made).ArrangeFrame(0, -1, nodes);
  else made.order = arranged ? std::move(nodes) : NodeOrder(graph, made).Arrange(nodes, Clusters());
  return made;
}

}  // namespace weft
