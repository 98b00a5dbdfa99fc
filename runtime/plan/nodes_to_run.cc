#include "runtime/plan/nodes_to_run.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/step_order.h"

namespace weft {
namespace {

/// Some nodes of a graph. Takes time and memory for those alone where they are few: there may be as many sessions as blocks.
class NodeSet {
 public:
  explicit NodeSet(size_t nodes) : nodes_(nodes) {}

  /// False where it is there.
  bool Add(int node) {
    if (!is_in_.empty()) return std::exchange(is_in_[static_cast<size_t>(node)], 1) == 0;
    if (!few_.insert(node).second) return false;
    if (few_.size() * kFew <= nodes_) return true;
    is_in_.assign(nodes_, 0);
    for (int other : few_) is_in_[static_cast<size_t>(other)] = 1;
    return true;
  }
  std::vector<int> Sorted(const Graph& graph) const {
    std::vector<int> nodes;
    if (is_in_.empty()) {
      nodes.assign(few_.begin(), few_.end());
      std::ranges::sort(nodes, {}, [&](int i) { return graph.node(i).order; });
      return nodes;
    }
    nodes.reserve(nodes_);
    for (int i : graph.in_order()) {
      if (is_in_[static_cast<size_t>(i)] != 0) nodes.push_back(i);
    }
    return nodes;
  }

 private:
  static constexpr size_t kFew = 16;
  const size_t nodes_;
  std::unordered_set<int> few_;
  std::vector<char> is_in_;  // by node; empty where they are few
};

/// Whether a next iteration takes nothing from the one before it: no wire leads from it to what says whether the loop goes on.
bool GoesOnUnasked(const Graph& graph, const Node& node) {
  if (!Flows(node, Flow::kNextIteration) || node.frame <= 0 || node.broken) return false;
  return std::ranges::all_of(node.inputs, [&](ValueRef input) { return input.valid() && HoldsInEveryFrame(graph.node(input.node)); });
}

/// The nodes that are needed, in the graph's order.
std::vector<int> FindNeeded(const Graph& graph, const PlanRequest& request, const FedValues& fed) {
  NodeSet needed(graph.nodes().size());
  std::vector<int> stack;
  auto need = [&](int node) {
    if (needed.Add(node)) stack.push_back(node);
  };
  for (ValueRef fetch : request.fetches) {
    CallLimit::Check();
    need(fetch.node);
  }
  for (int node : request.run) need(node);
  std::set<int> unasked;  // frames
  const auto need_inputs = [&] {
    while (!stack.empty()) {
      const int index = stack.back();
      stack.pop_back();
      const Node& node = graph.node(index);
      if (node.variable >= 0 || fed.Replace(index)) continue;
      if (GoesOnUnasked(graph, node)) unasked.insert(node.frame);
      for (ValueRef input : node.inputs) {
        if (input.valid()) need(input.node);
      }
    }
  };
  need_inputs();
  for (size_t asked = 0; asked < unasked.size();) {
    asked = unasked.size();
    for (int i : graph.in_order()) {
      if (unasked.contains(graph.node(i).frame) && IsLoopCondition(graph.node(i))) need(i);
    }
    need_inputs();
  }
  return needed.Sorted(graph);
}

/// The variables that nodes update, as indices into Graph::variables().
std::set<int> UpdatedBy(const Graph& graph, const std::vector<int>& nodes) {
  std::set<int> updated;
  std::unordered_set<int> roots;  // many updates may go through one RefSelect of many variables
  for (int index : nodes) {
    CallLimit::Check();
    const Node& node = graph.node(index);
    if (node.def == nullptr) continue;
    for (int port : node.def->updates) {
      for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
        const ValueRef root = graph.ReferenceRoot(node.inputs[v]);
        if (!root.valid() || !roots.insert(root.node).second) continue;
        for (int variable : graph.VariablesOf(root)) updated.insert(graph.node(variable).variable);
      }
    }
  }
  return updated;
}

/// Puts nodes in the order of their steps.
class NodeOrder {
 public:
  NodeOrder(const Graph& graph, NodesToRun& made) : graph_(graph), made_(made) {}

  std::vector<int> Arrange(const std::vector<int>& nodes, const Clusters& clusters, bool in_loop);
  void ArrangeFrame(int frame, int loop, const std::vector<int>& nodes);

 private:
  void AddLoop(int frame, int parent, const std::vector<int>& nodes);

  const Graph& graph_;
  NodesToRun& made_;
};

// Nodes in the graph's order, but updates of variables, and what depends on them, last, so that all that read the old values have run; and
// behind those what waits for one of them.
std::vector<int> NodeOrder::Arrange(const std::vector<int>& nodes, const Clusters& clusters, bool in_loop) {
  std::vector<int> early, late;
  early.reserve(nodes.size());
  std::unordered_set<int> is_late;  // updates a variable, or depends on what does; a loop's own steps are arranged without regard to those outside
  for (const int& i : nodes) {
    bool after = false;
    for (int member : clusters.Members(i)) {
      const Node& node = graph_.node(member);
      after |= node.def != nullptr && !node.def->updates.empty();
      for (ValueRef input : node.inputs) after |= !is_late.empty() && input.valid() && is_late.contains(clusters.Of(input.node));
    }
    if (after) is_late.insert(i);
    (after ? late : early).push_back(i);
  }
  const auto updated = [&] {
    std::vector<int> updating;
    for (const int& i : late) updating.insert(updating.end(), clusters.Members(i).begin(), clusters.Members(i).end());
    return UpdatedBy(graph_, updating);
  };
  // A run reads what variables had before it, but a loop what they have now: there no read may come behind an update that it came before.
  std::vector<int> last = WaitingForUpdates(graph_, nodes, is_late, clusters, in_loop ? updated() : std::set<int>());
  if (!last.empty()) {
    const std::unordered_set<int> is_last(last.begin(), last.end());
    for (std::vector<int>* others : {&early, &late}) std::erase_if(*others, [&](int i) { return is_last.contains(i); });
  }
  early = WaitingLast(graph_, std::move(early), clusters, updated);
  for (int i : OrderUpdates(graph_, late, clusters)) early.push_back(i);
  for (int i : WaitingLast(graph_, std::move(last), clusters, updated)) early.push_back(i);
  return early;
}

// The nodes of a frame and of those within it, in the order of their steps. A loop within is arranged as one among the others; then come,
// in its place, the Enter blocks, the steps of an iteration, and last what they leave for the next one.
void NodeOrder::ArrangeFrame(int frame, int loop, const std::vector<int>& nodes) {
  std::map<int, std::vector<int>> inner;  // frame -> its nodes
  std::vector<int> own, next;
  for (int node : nodes) {
    const int home = FrameWithin(graph_, node, frame);
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
  for (int node : Arrange(own, clusters, frame != 0)) {
    const int home = FrameWithin(graph_, node, frame);
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

int FrameWithin(const Graph& graph, int node, int frame) {
  int home = graph.HomeFrame(node);
  while (home != frame && graph.frames()[home].parent != frame) home = graph.frames()[home].parent;
  return home;
}

NodesToRun ChooseNodes(const Graph& graph, const PlanRequest& request, const FedValues& fed) {
  NodesToRun made;
  const std::vector<int> needed = FindNeeded(graph, request, fed);
  std::vector<int> nodes;
  nodes.reserve(needed.size());
  bool loops = false, arranged = true;  // no block that others must come before
  for (int i : needed) {
    const Node& node = graph.node(i);
    // A broken node has been walked through for the faults of what it reads; it does nothing itself.
    if (node.broken) {
      if (!node.added && !fed.Replace(i)) made.faulty.push_back(i);
      continue;
    }
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
  else made.order = arranged ? std::move(nodes) : NodeOrder(graph, made).Arrange(nodes, Clusters(), false);
  return made;
}

}  // namespace weft
