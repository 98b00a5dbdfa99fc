// Updates of variables: each step starts from what the last one left; the run's end makes the values those of the scope.
#include <algorithm>
#include <utility>

#include "runtime/exec/executor.h"

namespace weft {

// From a run's first update to its commit no other session of the scope updates variables. The updates start from the values of now, which
// may be newer than those that the run reads.
Status Executor::LockUpdates() {
  if (update_turn_.held()) return {};
  WEFT_RETURN_IF_ERROR(update_turn_.Take(waiter_, "another session's updates of variables"));
  std::lock_guard lock(scope_.values_mutex_);
  updating_from_ = scope_.value_changes_;
  // Until its commit the run's values are its own.
  as_planned_ = std::exchange(taken_, 0) == updating_from_;
  if (as_planned_) return {};
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
  updates_.assign(std::max(updates_.size(), graph_.node(step.node).inputs.size()), {});
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
  FrameOf(ctx_).updates = updates_.data();
  return {};
}

Result<Tensor> Executor::NewValue(VariableInRun& variable, DType dtype, const Shape& shape) {
  // Values are let go in the order in which they were made: what follows the newest is most likely to be free.
  const size_t count = variable.pool.size();
  for (size_t i = 1; i <= count; ++i) {
    const size_t at = (variable.newest + i) % count;
    const Tensor& tensor = variable.pool[at];
    if (!(tensor.dtype() == dtype && tensor.shape() == shape && SoleOwner(tensor.owner()))) continue;
    variable.newest = at;
    return tensor;
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, services_.budget));
  // Both sets of results may hold the value at the start and what each update left.
  size_t most = 2 * variable.updates + 4;
  if (count >= most) {
    variable.newest = (variable.newest + 1) % count;
    variable.pool[variable.newest] = tensor;
  } else {
    variable.newest = std::min(variable.newest + 1, count);
    variable.pool.insert(variable.pool.begin() + static_cast<std::ptrdiff_t>(variable.newest), tensor);
  }
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
    if (update != step.updates.end()) {
      SetOwned(set, slot, InRun(*update).value);
    } else if (int variable = graph_.VariableOf(node.inputs[input]); variable >= 0) {
      SetOwned(set, slot, InRun(graph_.node(variable).variable).value);
    }
  }
}

// Nothing here can fail.
void Executor::Commit() {
  if (!plan_.updates_variables) return;
  std::lock_guard lock(scope_.values_mutex_);
  // Whether what the run leaves is what the scope will have, all of it of the planned shapes: `as_planned_` speaks of what it read alone.
  bool same = as_planned_ && scope_.value_changes_ == updating_from_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (i + 2 * kFetchAhead < variables_.size()) {
      Fetch(&VariableNow(static_cast<size_t>(variables_[i + 2 * kFetchAhead].variable)), sizeof(Tensor));
      const VariableInRun& later = variables_[i + kFetchAhead];
      later.value.PrefetchOwner();
      VariableNow(static_cast<size_t>(later.variable)).PrefetchOwner();
    }
    VariableInRun& variable = variables_[i];
    if (!variable.updated) continue;
    const auto v = static_cast<size_t>(variable.variable);
    const bool keeps = variable.lasts && variable.value.shape().rank() <= Shape::kInline;  // else a copy takes memory, and may fail
    same &= keeps && VariableNow(v).defined() && VariableNow(v).shape() == variable.value.shape();
    if (keeps) SetVariable(v, variable.value);
    else if (variable.lasts) SetVariable(v, std::move(variable.value));
    variable.updated = false;
  }
  if (same) taken_ = scope_.value_changes_;
}

}  // namespace weft
