#include "runtime/plan/variable_shapes.h"

#include "runtime/base/call_limit.h"

namespace weft {

const std::optional<Shape>& VariableShapes::AtStart(int variable) const {
  auto known = at_start_.find(variable);
  if (known == at_start_.end()) known = at_start_.emplace(variable, ShapeAtStart(graph_, request_, variable)).first;
  return known->second;
}

const std::optional<Shape>& VariableShapes::Of(int variable) const {
  const auto changed = now_.find(variable);
  return changed == now_.end() ? AtStart(variable) : changed->second;
}

std::span<const int> VariableShapes::NodesOf(ValueRef reference) const {
  const ValueRef root = graph_.ReferenceRoot(reference);
  if (!root.valid()) return {};
  if (graph_.node(root.node).variable >= 0) {
    only_ = root.node;
    return {&only_, 1};
  }
  const auto [known, fresh] = chosen_from_.try_emplace(root.node);
  if (fresh) {
    known->second = graph_.VariablesOf(root);
    CallLimit::Grow(static_cast<int64_t>(known->second.size() * sizeof(int)), graph_.node(root.node).id);
  }
  return known->second;
}

std::optional<Shape> VariableShapes::Common(std::span<const int> nodes) const {
  std::optional<Shape> shape;
  for (int node : nodes) {
    CallLimit::Check();
    const std::optional<Shape>& now = Of(graph_.node(node).variable);
    if (!now || (shape && !(*shape == *now))) return std::nullopt;
    shape = now;
  }
  return shape;
}

void VariableShapes::Describe(Slot& slot, ValueRef reference) const {
  slot.storage = Slot::Storage::kVariable;
  std::optional<Shape> shape = Common(NodesOf(reference));
  slot.shape_known = shape.has_value();
  if (shape) slot.shape = *shape;
}

void VariableShapes::Apply(const Step::Update& update, const std::optional<Shape>& after) {
  if (update.variable >= 0) {
    now_[update.variable] = after;
    may_have_value_.insert(update.variable);
  }
  // Of several variables that may be the one, each may keep its shape.
  for (int variable : update.choices) {
    CallLimit::Check();
    may_have_value_.insert(variable);
    const std::optional<Shape>& now = Of(variable);
    if (now && !(after && *after == *now)) now_[variable] = std::nullopt;
  }
}

}  // namespace weft
