#include "runtime/plan/variable_shapes.h"

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

std::optional<Shape> VariableShapes::Common(const std::vector<int>& nodes) const {
  std::optional<Shape> shape;
  for (int node : nodes) {
    const std::optional<Shape>& now = Of(graph_.node(node).variable);
    if (!now || (shape && !(*shape == *now))) return std::nullopt;
    shape = now;
  }
  return shape;
}

void VariableShapes::Describe(Slot& slot, ValueRef reference) const {
  slot.storage = Slot::Storage::kVariable;
  std::optional<Shape> shape = Common(graph_.VariablesOf(reference));
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
    may_have_value_.insert(variable);
    const std::optional<Shape>& now = Of(variable);
    if (now && !(after && *after == *now)) now_[variable] = std::nullopt;
  }
}

}  // namespace weft
