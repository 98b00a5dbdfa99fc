#include "runtime/exec/variable_start.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/adjacency.h"
#include "runtime/state/turn_line.h"

namespace weft {
namespace {

/// Which variables can start: those whose initial values depend on no other one that is waiting.
class StartLevels {
 public:
  /// `waiting` is by variable.
  StartLevels(const Graph& graph, const std::vector<char>& waiting);

  /// In the order of the graph. None: no other can.
  const std::vector<int>& ready() const { return ready_; }
  /// Those that were ready have their values.
  void SetStarted();

 private:
  std::vector<int> BlockedNodes(const std::vector<char>& waiting);
  /// edge(from, to) from a blocked node to each that its value, or that of its variable, unblocks.
  template <class Edge>
  void ForEachEdge(Edge&& edge) const;
  int NodeOf(int variable) const { return graph_.variables()[static_cast<size_t>(variable)]; }
  bool Starts(int node) const { return graph_.node(node).variable >= 0 && NodeOf(graph_.node(node).variable) == node; }
  void SortReady() {
    std::ranges::sort(ready_, {}, [&](int variable) { return graph_.node(NodeOf(variable)).order; });
  }

  const Graph& graph_;
  std::vector<char> is_blocked_;    // by node: it reads a waiting variable, or is one; empty where none waits
  const std::vector<int> blocked_;  // those nodes
  const Adjacency readers_;         // among them
  std::vector<int> missing_;        // by node: edges from blocked ones
  std::vector<int> ready_;
};

StartLevels::StartLevels(const Graph& graph, const std::vector<char>& waiting)
    : graph_(graph), blocked_(BlockedNodes(waiting)),
      readers_(is_blocked_.size(), [&](auto&& edge) { ForEachEdge(edge); }), missing_(is_blocked_.size(), 0) {
  ForEachEdge([&](int, int to) { ++missing_[to]; });
  for (int i : blocked_) {
    if (missing_[i] == 0) ready_.push_back(graph_.node(i).variable);
  }
  SortReady();
}

std::vector<int> StartLevels::BlockedNodes(const std::vector<char>& waiting) {
  std::vector<int> blocked;
  if (std::ranges::find(waiting, 1) == waiting.end()) return blocked;
  is_blocked_.assign(graph_.nodes().size(), 0);
  for (int i : graph_.in_order()) {
    const Node& node = graph_.node(i);
    if (node.variable >= 0) is_blocked_[i] = waiting[node.variable];
    else for (ValueRef input : node.inputs) is_blocked_[i] |= input.valid() && is_blocked_[input.node];
    if (is_blocked_[i] != 0) blocked.push_back(i);
  }
  return blocked;
}

template <class Edge>
void StartLevels::ForEachEdge(Edge&& edge) const {
  for (int i : blocked_) {
    const Node& node = graph_.node(i);
    const auto wire = [&](ValueRef from) {  // what feeds back in a loop comes later in the order, and is not waited for
      if (from.valid() && is_blocked_[from.node] != 0 && graph_.node(from.node).order < node.order) edge(from.node, i);
    };
    if (Starts(i)) wire(node.initial);
    else if (node.variable >= 0) edge(NodeOf(node.variable), i);
    else for (ValueRef input : node.inputs) wire(input);
  }
}

void StartLevels::SetStarted() {
  std::vector<int> open;
  for (int variable : std::exchange(ready_, {})) open.push_back(NodeOf(variable));
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    for (int reader : readers_.Of(node)) {
      if (--missing_[reader] > 0) continue;
      if (Starts(reader)) ready_.push_back(graph_.node(reader).variable);
      else open.push_back(reader);
    }
  }
  SortReady();
}

}  // namespace

Status VariableStart::Start() {
  if (graph_.variables().empty() || revision_.started.load()) return {};
  TurnLine::Turn turn(scope_.starting());
  WEFT_RETURN_IF_ERROR(turn.Take(waiter_, "another session to start the variables"));
  if (revision_.started.load()) return {};
  SetConstants();
  // Initial values that come by wire are evaluated together, in a run of their own; those that read other such variables after these.
  for (StartLevels levels(graph_, WiredOnes()); !levels.ready().empty(); levels.SetStarted()) {
    WEFT_RETURN_IF_ERROR(StartTogether(levels.ready()));
  }
  const VariableAccess access(scope_.variables());
  revision_.started = true;
  return {};
}

void VariableStart::SetConstants() {
  VariableAccess access(scope_.variables());
  for (size_t v = 0; v < revision_.variables.size(); ++v) {
    VariableCell& cell = *revision_.variables[v];
    if (!cell.value(access).defined()) cell.Set(ConstantOf(static_cast<int>(v)), access);
  }
}

// What a variable starts with at once; undefined for none. One of no elements has its value without being told, as in TensorFlow, but not
// one behind a handle.
Tensor VariableStart::ConstantOf(int variable) const {
  const Node& node = graph_.node(graph_.variables()[variable]);
  if (node.constant.defined() || node.initial.valid() || node.def->outputs[0].resource) return node.constant;
  const std::optional<Shape> shape = graph_.variable_info(variable).declared.shape();
  if (!shape || shape->count() > 0 || !graph_.variable_info(variable).temporary.empty()) return {};
  Result<Tensor> empty = Tensor::Allocate(node.output_types[0], *shape, nullptr);
  return empty.ok() ? std::move(*empty) : Tensor();
}

// By variable: whether its initial value is yet to be evaluated.
std::vector<char> VariableStart::WiredOnes() const {
  std::vector<char> wired(graph_.variables().size(), 0);
  const VariableAccess access(scope_.variables());
  for (size_t v = 0; v < wired.size(); ++v) {
    const Node& node = graph_.node(graph_.variables()[v]);
    wired[v] = node.initial.valid() && !graph_.node(node.initial.node).broken && !revision_.variables[v]->value(access).defined();
  }
  return wired;
}

Status VariableStart::StartTogether(const std::vector<int>& variables) {
  SessionSpec spec;
  for (int v : variables) {
    const Node& node = graph_.node(graph_.variables()[v]);
    spec.fetches.push_back({graph_.ValueName(node.initial), node.initial});
  }
  WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> values, evaluate_(spec));
  for (size_t i = 0; i < variables.size(); ++i) {
    const int v = variables[i];
    const Node& node = graph_.node(graph_.variables()[v]);
    const int attr = node.def->FindAttr("shape");
    const auto* shape = attr < 0 ? nullptr : std::get_if<PartialShape>(&node.attrs[attr]);
    if (shape != nullptr && !shape->Accepts(values[i].shape())) {
      Status status = InvalidArgument("the initial value needs the shape ", *shape, ", found ", values[i].shape());
      return PlaceAtNode(graph_, graph_.variables()[v], std::move(status).WithPort("initvalues"));
    }
    VariableAccess access(scope_.variables());
    VariableCell& cell = *revision_.variables[v];
    if (!cell.value(access).defined()) cell.Set(std::move(values[i]), access);
  }
  return {};
}

}  // namespace weft
