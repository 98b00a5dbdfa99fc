#include "runtime/plan/variable_shapes.h"

namespace weft {

std::optional<Shape> VariableShapes::Common(const std::vector<int>& nodes) const {
  std::optional<Shape> shape;
  for (int node : nodes) {
    const std::optional<Shape>& now = now_[graph_.node(node).variable];
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
    may_have_value_[update.variable] = 1;
  }
  // Of several variables that may be the one, each may keep its shape.
  for (int variable : update.choices) {
    std::optional<Shape>& now = now_[variable];
    if (now && !(after && *after == *now)) now = std::nullopt;
  }
}

}  // namespace weft
