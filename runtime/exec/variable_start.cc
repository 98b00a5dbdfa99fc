#include "runtime/exec/variable_start.h"

#include <algorithm>

#include "runtime/state/turn_line.h"

namespace weft {

Status VariableStart::Start() {
  if (graph_.variables().empty() || Started()) return {};
  TurnLine::Turn turn(scope_.starting());
  WEFT_RETURN_IF_ERROR(turn.Take(waiter_, "another session to start the variables"));
  if (Started()) return {};
  SetConstants();
  // Initial values that come by wire are evaluated together, in a run of their own; those that read other such variables after these.
  std::vector<char> waiting = WiredOnes();
  for (std::vector<int> ready = Ready(waiting); !ready.empty(); ready = Ready(waiting)) {
    WEFT_RETURN_IF_ERROR(StartTogether(ready));
    for (int v : ready) waiting[v] = 0;
  }
  const VariableAccess access(scope_.variables());
  revision_.started = true;
  return {};
}

bool VariableStart::Started() const {
  const VariableAccess access(scope_.variables());
  return revision_.started;
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

// The waiting variables whose initial values depend on no other waiting one.
std::vector<int> VariableStart::Ready(const std::vector<char>& waiting) const {
  std::vector<int> ready;
  if (std::find(waiting.begin(), waiting.end(), 1) == waiting.end()) return ready;
  std::vector<char> blocked(graph_.nodes().size(), 0);  // by node: whether it reads a waiting variable
  for (int i : graph_.in_order()) {
    const Node& node = graph_.node(i);
    if (node.variable >= 0) {
      blocked[i] = waiting[node.variable];
      const bool starts = waiting[node.variable] && graph_.variables()[node.variable] == i;
      if (starts && !blocked[node.initial.node]) ready.push_back(node.variable);
      continue;
    }
    for (ValueRef input : node.inputs) blocked[i] |= input.valid() && blocked[input.node];
  }
  return ready;
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
