// Starting the variables of a scope: once, when its first session runs.
#include <algorithm>

#include "runtime/exec/executor.h"

namespace weft {

Status Executor::StartVariables(const RunOptions& options) {
  if (graph_.variables().empty()) return {};
  auto started = [&] {
    std::lock_guard lock(scope_.values_mutex_);
    return revision_->started;
  };
  if (started()) return {};
  Turn turn(scope_, &Scope::starting_);
  WEFT_RETURN_IF_ERROR(turn.Take(waiter_, "another session to start the variables"));
  if (started()) return {};
  {
    std::lock_guard lock(scope_.values_mutex_);
    for (size_t v = 0; v < revision_->variables.size(); ++v) {
      const Node& node = graph_.node(graph_.variables()[v]);
      if (!VariableNow(v).defined()) SetVariable(v, node.constant);
    }
  }
  WEFT_RETURN_IF_ERROR(StartWired(options));
  std::lock_guard lock(scope_.values_mutex_);
  revision_->started = true;
  return {};
}

// Initial values that come by wire are evaluated together, in a run of their own; those that read other such variables after these.
Status Executor::StartWired(const RunOptions& options) {
  std::vector<char> waiting(graph_.variables().size(), 0);
  {
    std::lock_guard lock(scope_.values_mutex_);
    for (size_t v = 0; v < waiting.size(); ++v) {
      const Node& node = graph_.node(graph_.variables()[v]);
      waiting[v] = node.initial.valid() && !graph_.node(node.initial.node).broken && !VariableNow(v).defined();
    }
  }
  for (std::vector<int> ready = ReadyToStart(waiting); !ready.empty(); ready = ReadyToStart(waiting)) {
    WEFT_RETURN_IF_ERROR(StartTogether(ready, options));
    for (int v : ready) waiting[v] = 0;
  }
  return {};
}

// The waiting variables whose initial values depend on no other waiting one.
std::vector<int> Executor::ReadyToStart(const std::vector<char>& waiting) const {
  std::vector<int> ready;
  if (std::find(waiting.begin(), waiting.end(), 1) == waiting.end()) return ready;
  // By node: whether it reads a waiting variable. Producers have the lower order.
  std::vector<int> sorted;
  std::vector<char> blocked(graph_.nodes().size(), 0);
  for (size_t i = 0; i < blocked.size(); ++i) {
    if (graph_.node(static_cast<int>(i)).order >= 0) sorted.push_back(static_cast<int>(i));
  }
  std::sort(sorted.begin(), sorted.end(), [&](int a, int b) { return graph_.node(a).order < graph_.node(b).order; });
  for (int i : sorted) {
    const Node& node = graph_.node(i);
    if (node.variable >= 0) {
      blocked[i] = waiting[node.variable];
      bool starts = waiting[node.variable] && graph_.variables()[node.variable] == i;
      if (starts && !blocked[node.initial.node]) ready.push_back(node.variable);
      continue;
    }
    for (ValueRef input : node.inputs) blocked[i] |= input.valid() && blocked[input.node];
  }
  return ready;
}

Status Executor::StartTogether(const std::vector<int>& variables, const RunOptions& options) {
  SessionSpec spec;
  for (int v : variables) {
    const Node& node = graph_.node(graph_.variables()[v]);
    spec.fetches.push_back({graph_.ValueName(node.initial), node.initial});
  }
  Executor start(scope_, revision_, spec, Keep::kAsked, cancelled_);
  start.workers_.set_deadline(options.deadline);
  start.log_.set_observer(options.observer);
  WEFT_RETURN_IF_ERROR(start.RunStarted(1, {}));
  for (int v : variables) {
    const Node& node = graph_.node(graph_.variables()[v]);
    WEFT_ASSIGN_OR_RETURN(ResultValue value, start.Get(node.initial));
    int attr = node.def->FindAttr("shape");
    const auto* shape = attr < 0 ? nullptr : std::get_if<PartialShape>(&node.attrs[attr]);
    if (shape != nullptr && !shape->Accepts(value.tensor.shape())) {
      Status status = InvalidArgument("the initial value needs the shape ", *shape, ", found ", value.tensor.shape());
      return PlaceAtNode(graph_, graph_.variables()[v], std::move(status).WithPort("initvalues"));
    }
    std::lock_guard lock(scope_.values_mutex_);
    if (!VariableNow(static_cast<size_t>(v)).defined()) SetVariable(static_cast<size_t>(v), std::move(value.tensor));
  }
  return {};
}

}  // namespace weft
