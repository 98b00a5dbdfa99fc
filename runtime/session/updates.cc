// Updates of variables: each step starts from what the last one left; the run's end makes the values those of the scope.
#include <algorithm>

#include "runtime/session/executor.h"

namespace weft {

// From a run's first update to its commit no other session of the scope updates variables. The updates start from the values of now, which
// may be newer than those that the run reads.
Status Executor::LockUpdates() {
  if (update_turn_.held()) return {};
  WEFT_RETURN_IF_ERROR(update_turn_.Take(waiter_, "another session's updates of variables"));
  std::lock_guard lock(scope_.values_mutex_);
  for (VariableInRun& variable : variables_) variable.value = VariableNow(static_cast<size_t>(variable.variable));
  return {};
}

// The step's references become the variables as the last update left them.
Status Executor::TakeReferences(ResultSet& set, const Step& step) {
  WEFT_RETURN_IF_ERROR(LockUpdates());
  for (const Step::Update& update : step.updates) {
    const Tensor& value = InRun(update).value;
    if (value.defined() && update.before && !(value.shape() == *update.before)) {
      return Aborted("another session changed the variable's shape from ", *update.before, " to ", value.shape()).WithHint("run again");
    }
    if (!value.defined() && !update.may_be_empty) {
      const Node& node = graph_.node(step.node);
      const PortSpec& port = node.def->inputs[node.in_first.PortOf(update.input)];
      return Status(port.resource ? Code::kNotFound : Code::kFailedPrecondition, "the variable has no value").WithPort(port.name);
    }
    void* data = const_cast<void*>(value.data());
    set.values[plan_.operands[step.first_input + update.input]] = {data, value.defined() ? value.count() : 0, &value.shape(), false};
  }
  return {};
}

// Memory for what the step writes.
Status Executor::MakeNewValues(const Step& step) {
  updates_.assign(graph_.node(step.node).inputs.size(), {});
  new_values_.clear();
  new_values_.reserve(step.updates.size());  // updates_ points into it
  for (const Step::Update& update : step.updates) {
    VariableInRun& variable = InRun(update);
    const Shape* shape = &update.shape;
    if (step.kind == Step::Kind::kDynamic) {
      const DynamicPlan& dynamic = dynamic_[static_cast<size_t>(&step - plan_.steps.data())];
      shape = &variable.value.shape();
      for (const auto& [input, changed] : dynamic.planned.variables) {
        if (input == update.input) shape = &changed;
      }
    }
    DType dtype = plan_.slots[plan_.operands[step.first_input + update.input]].dtype;
    WEFT_ASSIGN_OR_RETURN(Tensor fresh, NewValue(variable, dtype, *shape));
    Tensor& value = new_values_.emplace_back(std::move(fresh));
    updates_[update.input] = {value.data(), value.count(), &value.shape(), false};
  }
  ctx_.updates = updates_.data();
  return {};
}

Result<Tensor> Executor::NewValue(VariableInRun& variable, DType dtype, const Shape& shape) {
  for (Tensor& tensor : variable.pool) {
    if (tensor.dtype() == dtype && tensor.shape() == shape && SoleOwner(tensor.owner())) return tensor;
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, services_.budget));
  // Both sets of results may hold the value at the start and what each update left.
  size_t most = 2 * variable.updates + 4;
  if (variable.pool.size() >= most) variable.pool.erase(variable.pool.begin());
  variable.pool.push_back(tensor);
  return tensor;
}

void Executor::EndUpdates(const Step& step) {
  for (size_t u = 0; u < step.updates.size(); ++u) {
    VariableInRun& variable = InRun(step.updates[u]);
    variable.value = std::move(new_values_[u]);
    variable.updated = true;
  }
}

// Reference outputs are the variable as it is after this step.
void Executor::SetReferences(ResultSet& set, const Step& step) {
  const Node& node = graph_.node(step.node);
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    if (node.def->outputs[p].reference_of < 0) continue;
    const uint32_t input = node.in_first[node.def->outputs[p].reference_of];
    const uint32_t slot = plan_.operands[step.first_output + node.out_first[p]];
    auto update = std::find_if(step.updates.begin(), step.updates.end(), [&](const Step::Update& u) { return u.input == input; });
    int variable = graph_.VariableOf(node.inputs[input]);
    if (update != step.updates.end()) SetOwned(set, slot, InRun(*update).value);
    else if (variable >= 0) SetOwned(set, slot, InRun(graph_.node(variable).variable).value);
  }
}

// Nothing here can fail.
void Executor::Commit() {
  if (!plan_.updates_variables) return;
  std::lock_guard lock(scope_.values_mutex_);
  for (VariableInRun& variable : variables_) {
    bool lasts = graph_.variable_info(variable.variable).temporary.empty();
    if (variable.updated && lasts) VariableNow(static_cast<size_t>(variable.variable)) = std::move(variable.value);
  }
}

}  // namespace weft
