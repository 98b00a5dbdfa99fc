#include "runtime/exec/control.h"

namespace weft {

bool SkipDead(const SessionPlan& planned, const Step& step, ResultSet& set) {
  const Plan& plan = planned.plan;
  const Node& node = planned.graph.node(step.node);
  size_t dead = 0;
  for (size_t v = 0; v < node.inputs.size(); ++v) dead += set.values[plan.operands[step.first_input + v]].dead;
  // An update's own slot is never dead; what the wire brings may be.
  for (const Step::Update& update : step.updates) {
    const int slot = plan.SlotOf(node.inputs[update.input]);
    if (slot >= 0) dead += set.values[slot].dead;
  }
  const bool skip = step.kind == Step::Kind::kMerge ? dead == node.inputs.size() : dead > 0;
  for (size_t v = 0; v < node.output_types.size(); ++v) set.values[plan.operands[step.first_output + v]].dead = skip;
  return skip;
}

void Forward(const Plan& plan, ResultSet& set, uint32_t from, uint32_t to, const Shape& shape) {
  const Slot& source = plan.slots[from];
  const Tensor& owned = set.owned[from];
  Tensor tensor = owned.defined() ? owned.Reshaped(shape) : Tensor::View(source.dtype, shape, set.values[from].data, nullptr);
  set.root[to] = source.storage == Slot::Storage::kShared ? set.root[from] : static_cast<int>(from);
  set.Own(to, std::move(tensor));
}

Status RunSwitch(const Plan& plan, const Step& step, ResultSet& set) {
  const uint32_t* inputs = plan.operands.data() + step.first_input;
  const uint32_t* outputs = plan.operands.data() + step.first_output;
  const Value& pred = set.values[inputs[1]];
  if (pred.shape->rank() != 0) return InvalidArgument("needs a scalar, found ", *pred.shape).WithPort("pred");
  const bool taken = *static_cast<const bool*>(pred.data);
  for (int side = 0; side < 2; ++side) {
    if (taken == (side == 1)) Forward(plan, set, inputs[0], outputs[side], *set.values[inputs[0]].shape);
    else set.values[outputs[side]].dead = true;
  }
  return {};
}

Status RunMerge(const SessionPlan& planned, const Step& step, const RunMemory& memory, ResultSet& set) {
  const Plan& plan = planned.plan;
  const Node& node = planned.graph.node(step.node);
  const uint32_t* inputs = plan.operands.data() + step.first_input;
  const uint32_t* outputs = plan.operands.data() + step.first_output;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    if (set.values[inputs[v]].dead) continue;
    Forward(plan, set, inputs[v], outputs[0], *set.values[inputs[v]].shape);
    WEFT_RETURN_IF_ERROR(memory.Allocate(set, outputs[1], Shape{}));
    *static_cast<int32_t*>(set.values[outputs[1]].data) = static_cast<int32_t>(v);
    return {};
  }
  return Internal("a merge ran without a value");
}

Status RunSelect(const SessionPlan& planned, const Step& step, VariableTransaction& variables, ResultSet& set) {
  const Plan& plan = planned.plan;
  const Graph& graph = planned.graph;
  const Node& node = graph.node(step.node);
  const uint32_t* inputs = plan.operands.data() + step.first_input;
  const Value& index = set.values[inputs[0]];
  if (index.shape->rank() != 0) return InvalidArgument("needs a scalar, found ", *index.shape).WithPort("index");
  const int64_t chosen = *static_cast<const int32_t*>(index.data), count = static_cast<int64_t>(node.inputs.size()) - 1;
  if (chosen < 0 || chosen >= count) return InvalidArgument("needs an index of 0 to ", count - 1, ", found ", chosen).WithPort("index");
  const size_t v = static_cast<size_t>(chosen) + 1;
  const uint32_t to = plan.operands[step.first_output];
  Forward(plan, set, inputs[v], to, *set.values[inputs[v]].shape);
  const ValueRef root = graph.ReferenceRoot(node.inputs[v]);
  const int variable = graph.node(root.node).variable;
  variables.Select(to, variable >= 0 ? variable : variables.selected(plan.SlotOf(root)));
  return {};
}

}  // namespace weft
