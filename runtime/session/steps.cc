// The kinds of steps: kernels, producers, forwards, switches, merges, updates, and steps that are planned while the run goes on.
#include <cstring>

#include "runtime/session/executor.h"

namespace weft {

void Executor::SetOwned(ResultSet& set, uint32_t slot, Tensor tensor) const {
  Tensor& owned = set.owned[slot];
  owned = std::move(tensor);
  set.values[slot] = {owned.data(), owned.defined() ? owned.count() : 0, &owned.shape(), false};
}

Status Executor::RunStep(ResultSet& set, size_t index) {
  const Step& step = plan_.steps[index];
  switch (step.kind) {
    case Step::Kind::kForward: {
      uint32_t to = plan_.operands[step.first_output];
      RunForward(set, plan_.operands[step.first_input], to, plan_.slots[to].shape);
      return {};
    }
    case Step::Kind::kSwitch: return RunSwitch(set, step);
    case Step::Kind::kMerge: return RunMerge(set, step);
    case Step::Kind::kDynamic: return RunDynamic(set, index);
    default: break;
  }
  if (step.block.bind != nullptr && !resource_bound_[index]) {
    WEFT_RETURN_IF_ERROR(BindResource(step.node, step.block, resources_[index]));
    resource_bound_[index] = 1;
  }
  const Node& node = graph_.node(step.node);
  if (step.kind == Step::Kind::kRun) {
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      uint32_t slot = plan_.operands[step.first_output + v];
      if (plan_.slots[slot].storage != Slot::Storage::kOwned) continue;
      WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(plan_.slots[slot].dtype, plan_.slots[slot].shape, services_.budget));
      SetOwned(set, slot, std::move(tensor));
    }
  }
  return CallKernel(set, step, records_[index], step.block);
}

Status Executor::BindResource(int node, const PlannedBlock& block, ResourceHandle& resource) {
  ScopeBinder binder(scope_, graph_.node(node).id);
  WEFT_ASSIGN_OR_RETURN(resource, block.bind(block.parameters.get(), binder));
  return {};
}

Status Executor::CallKernel(ResultSet& set, const Step& step, const Record& record, const PlannedBlock& block) {
  ctx_.inputs = record.inputs;
  ctx_.outputs = record.outputs;
  ctx_.in_first = record.in_first;
  ctx_.out_first = record.out_first;
  ctx_.scratch_data = record.scratch;
  ctx_.scratch_bytes = record.scratch_bytes;
  ctx_.resource = record.resource;
  if (block.produce != nullptr) return Produce(set, step, block);
  if (step.updates.empty()) {
    WEFT_RETURN_IF_ERROR(block.run(block.parameters.get(), ctx_));
    SetReferences(set, step);
    return {};
  }
  WEFT_RETURN_IF_ERROR(BeginUpdates(set, step));
  Status status = block.run(block.parameters.get(), ctx_);
  EndUpdates(set, step, status.ok());
  return status;
}

Status Executor::Produce(ResultSet& set, const Step& step, const PlannedBlock& block) {
  const Node& node = graph_.node(step.node);
  emitted_.assign(node.output_types.size(), {});
  ProduceContext produce(ctx_, emitted_);
  WEFT_RETURN_IF_ERROR(block.produce(block.parameters.get(), produce));
  for (size_t v = 0; v < emitted_.size(); ++v) {
    uint32_t slot = plan_.operands[step.first_output + v];
    const Slot& planned = plan_.slots[slot];
    if (planned.storage == Slot::Storage::kFeed) continue;
    if (!emitted_[v].defined() || emitted_[v].dtype() != planned.dtype ||
        (planned.shape_known && !(emitted_[v].shape() == planned.shape))) {
      return Internal("the block gave ", emitted_[v].defined() ? Cat(emitted_[v].dtype(), " ", emitted_[v].shape()) : "nothing",
                      " for the output '", graph_.ValueName(planned.value), "'");
    }
    SetOwned(set, slot, std::move(emitted_[v]));
  }
  return {};
}

void Executor::RunForward(ResultSet& set, uint32_t from, uint32_t to, const Shape& shape) {
  if (plan_.slots[to].storage == Slot::Storage::kFeed) return;
  const Slot& source = plan_.slots[from];
  Tensor tensor = set.owned[from].defined() ? set.owned[from].Reshaped(shape) : Tensor::View(source.dtype, shape, set.values[from].data, nullptr);
  set.root[to] = source.storage == Slot::Storage::kShared ? set.root[from] : static_cast<int>(from);
  SetOwned(set, to, std::move(tensor));
}

bool Executor::SkipDead(ResultSet& set, const Step& step) const {
  const Node& node = graph_.node(step.node);
  size_t dead = 0;
  for (size_t v = 0; v < node.inputs.size(); ++v) dead += set.values[plan_.operands[step.first_input + v]].dead;
  bool skip = step.kind == Step::Kind::kMerge ? dead == node.inputs.size() : dead > 0;
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    uint32_t slot = plan_.operands[step.first_output + v];
    if (plan_.slots[slot].storage != Slot::Storage::kFeed) set.values[slot].dead = skip;
  }
  return skip;
}

Status Executor::RunSwitch(ResultSet& set, const Step& step) {
  const uint32_t* inputs = plan_.operands.data() + step.first_input;
  const uint32_t* outputs = plan_.operands.data() + step.first_output;
  const Value& pred = set.values[inputs[1]];
  if (pred.shape->rank() != 0) return InvalidArgument("needs a scalar, found ", *pred.shape).WithPort("pred");
  bool taken = *static_cast<const bool*>(pred.data);
  for (int side = 0; side < 2; ++side) {
    if (taken == (side == 1)) RunForward(set, inputs[0], outputs[side], *set.values[inputs[0]].shape);
    else if (plan_.slots[outputs[side]].storage != Slot::Storage::kFeed) set.values[outputs[side]].dead = true;
  }
  return {};
}

Status Executor::RunMerge(ResultSet& set, const Step& step) {
  const Node& node = graph_.node(step.node);
  const uint32_t* inputs = plan_.operands.data() + step.first_input;
  const uint32_t* outputs = plan_.operands.data() + step.first_output;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    if (set.values[inputs[v]].dead) continue;
    RunForward(set, inputs[v], outputs[0], *set.values[inputs[v]].shape);
    if (plan_.slots[outputs[1]].storage == Slot::Storage::kFeed) return {};
    WEFT_ASSIGN_OR_RETURN(Tensor index, Tensor::Allocate(DType::kInt32, Shape{}));
    index.values<int32_t>()[0] = static_cast<int32_t>(v);
    SetOwned(set, outputs[1], std::move(index));
    return {};
  }
  return Internal("a merge ran without a value");
}

Status Executor::RunDynamic(ResultSet& set, size_t index) {
  const Step& step = plan_.steps[index];
  const Node& node = graph_.node(step.node);
  DynamicPlan& dynamic = dynamic_[index];
  const uint32_t* inputs = plan_.operands.data() + step.first_input;
  bool same = dynamic.valid;
  for (size_t v = 0; same && v < node.inputs.size(); ++v) {
    const Value& value = set.values[inputs[v]];
    same = dynamic.shapes[v] == *value.shape;
    const Tensor& shaping = dynamic.shaping[v];
    if (same && shaping.defined()) same = SameBits(shaping, Tensor::View(shaping.dtype(), *value.shape, value.data, nullptr));
  }
  if (!same) WEFT_RETURN_IF_ERROR(PlanDynamic(set, index));
  if (node.def->flow == Flow::kForward) {
    RunForward(set, inputs[0], plan_.operands[step.first_output], dynamic.planned.outputs[0]);
    return {};
  }
  if (dynamic.block.produce == nullptr) WEFT_RETURN_IF_ERROR(AllocateOutputs(set, step, dynamic));
  Record record = records_[index];
  record.scratch = dynamic.scratch ? static_cast<std::byte*>(dynamic.scratch->data()) : nullptr;
  record.scratch_bytes = dynamic.planned.scratch_bytes;
  record.resource = &dynamic.resource;
  return CallKernel(set, step, record, dynamic.block);
}

Status Executor::PlanDynamic(ResultSet& set, size_t index) {
  const Step& step = plan_.steps[index];
  const Node& node = graph_.node(step.node);
  DynamicPlan& dynamic = dynamic_[index];
  const uint32_t* slots = plan_.operands.data() + step.first_input;
  dynamic.valid = false;
  dynamic.shapes.clear();
  dynamic.shaping.assign(node.inputs.size(), {});
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Value& value = set.values[slots[v]];
    if (value.shape == nullptr || value.data == nullptr) return FailedPrecondition("an input has no value");
    dynamic.shapes.push_back(*value.shape);
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      const Value& value = set.values[slots[v]];
      WEFT_ASSIGN_OR_RETURN(dynamic.shaping[v], Tensor::View(plan_.slots[slots[v]].dtype, *value.shape, value.data, nullptr).Clone(services_.budget));
    }
  }
  std::vector<InputInfo> inputs;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    inputs.push_back({plan_.slots[slots[v]].dtype, &dynamic.shapes[v], dynamic.shaping[v].defined() ? &dynamic.shaping[v] : nullptr});
  }
  WEFT_ASSIGN_OR_RETURN(dynamic.block, PlanNode(node, inputs, dynamic.planned));
  if (dynamic.planned.scratch_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(dynamic.scratch, Buffer::Allocate(DType::kUInt8, dynamic.planned.scratch_bytes, services_.budget));
  }
  if (dynamic.block.bind != nullptr) WEFT_RETURN_IF_ERROR(BindResource(step.node, dynamic.block, dynamic.resource));
  dynamic.valid = true;
  return {};
}

// The memory of this set's last run is used again where it fits and no reader holds it.
Status Executor::AllocateOutputs(ResultSet& set, const Step& step, const DynamicPlan& plan) {
  const Node& node = graph_.node(step.node);
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    uint32_t slot = plan_.operands[step.first_output + v];
    if (plan_.slots[slot].storage != Slot::Storage::kOwned) continue;
    Tensor& owned = set.owned[slot];
    bool reuse = owned.defined() && owned.shape() == plan.planned.outputs[v] && SoleOwner(owned.owner());
    if (reuse) {
      set.values[slot] = {owned.data(), owned.count(), &owned.shape(), false};
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(node.output_types[v], plan.planned.outputs[v], services_.budget));
    SetOwned(set, slot, std::move(tensor));
  }
  return {};
}

// From a run's first update to its commit no other session of the scope updates variables, so that no update is lost.
Status Executor::LockUpdates() {
  if (update_lock_.owns_lock()) return {};
  update_lock_ = std::unique_lock(scope_.update_mutex_, std::defer_lock);
  while (!update_lock_.try_lock_for(std::chrono::milliseconds(10))) {
    if (workers_.Stopped()) return Cancelled("the run was cancelled");
  }
  std::lock_guard lock(scope_.values_mutex_);
  for (VariableInRun& variable : variables_) variable.value = scope_.variables_[variable.variable];
  return {};
}

Result<Tensor> Executor::NewValue(VariableInRun& variable, DType dtype, const Shape& shape) {
  constexpr size_t kPool = 6;  // present value, two sets of results with old and new ones, and the one to write
  for (Tensor& tensor : variable.pool) {
    if (tensor.dtype() == dtype && tensor.shape() == shape && SoleOwner(tensor.owner())) return tensor;
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, services_.budget));
  if (variable.pool.size() >= kPool) variable.pool.erase(variable.pool.begin());
  variable.pool.push_back(tensor);
  return tensor;
}

// The inputs see what the last update left; the outputs are new memory.
Status Executor::BeginUpdates(ResultSet& set, const Step& step) {
  WEFT_RETURN_IF_ERROR(LockUpdates());
  const Node& node = graph_.node(step.node);
  updates_.assign(node.inputs.size(), {});
  new_values_.clear();
  new_values_.reserve(step.updates.size());  // updates_ points into it
  saved_.clear();
  for (const Step::Update& update : step.updates) {
    VariableInRun& variable = InRun(update.variable);
    uint32_t slot = plan_.operands[step.first_input + update.input];
    const Shape* shape = update.same_shape ? &variable.value.shape() : &update.shape;
    if (step.kind == Step::Kind::kDynamic) {
      const DynamicPlan& dynamic = dynamic_[static_cast<size_t>(&step - plan_.steps.data())];
      for (const auto& [input, changed] : dynamic.planned.variables) {
        if (input == update.input) shape = &changed;
      }
    }
    if (variable.value.defined() && set.values[slot].shape != nullptr && !(variable.value.shape() == *set.values[slot].shape)) {
      return Aborted("another session changed the variable's shape to ", variable.value.shape()).WithHint("run again");
    }
    WEFT_ASSIGN_OR_RETURN(Tensor fresh, NewValue(variable, plan_.slots[slot].dtype, *shape));
    Tensor& value = new_values_.emplace_back(std::move(fresh));
    updates_[update.input] = {value.data(), value.count(), &value.shape(), false};
  }
  for (const Step::Update& update : step.updates) {
    VariableInRun& variable = InRun(update.variable);
    Value& value = set.values[plan_.operands[step.first_input + update.input]];
    saved_.push_back(value);
    if (variable.value.defined()) value = {variable.value.data(), variable.value.count(), &variable.value.shape(), false};
  }
  ctx_.updates = updates_.data();
  return {};
}

void Executor::EndUpdates(ResultSet& set, const Step& step, bool ok) {
  for (size_t u = 0; u < step.updates.size(); ++u) {
    set.values[plan_.operands[step.first_input + step.updates[u].input]] = saved_[u];
    if (!ok) continue;
    VariableInRun& variable = InRun(step.updates[u].variable);
    variable.value = std::move(new_values_[u]);
    variable.updated = true;
  }
  if (ok) SetReferences(set, step);
}

// Reference outputs are the variable as it is after this step.
void Executor::SetReferences(ResultSet& set, const Step& step) {
  const Node& node = graph_.node(step.node);
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    if (node.def->outputs[p].reference_of < 0) continue;
    uint32_t slot = plan_.operands[step.first_output + node.out_first[p]];
    if (plan_.slots[slot].storage == Slot::Storage::kFeed) continue;
    int variable = graph_.VariableOf(node.inputs[node.in_first[node.def->outputs[p].reference_of]]);
    if (variable >= 0) SetOwned(set, slot, InRun(graph_.node(variable).variable).value);
  }
}

}  // namespace weft
