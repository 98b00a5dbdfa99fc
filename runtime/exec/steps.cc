// The kinds of steps: kernels, producers, forwards, switches, merges, and steps that are planned while the run goes on.
#include <cstring>

#include "runtime/exec/executor.h"
#include "runtime/state/host_call.h"

namespace weft {

void Executor::SetOwned(ResultSet& set, uint32_t slot, Tensor tensor) const {
  Tensor& owned = set.owned[slot];
  owned = std::move(tensor);
  set.values[slot] = {owned.data(), owned.defined() ? owned.count() : 0, &owned.shape(), false};
}

Status Executor::RunStep(ResultSet& set, size_t index) {
  const Step& step = plan_.steps[index];
  if (!step.reads.empty()) WEFT_RETURN_IF_ERROR(TakeReads(set, step));
  if (records_[index].fused >= 0) WEFT_RETURN_IF_ERROR(OwnTiles(set));
  switch (step.kind) {
    case Step::Kind::kForward: {
      uint32_t to = plan_.operands[step.first_output];
      RunForward(set, plan_.operands[step.first_input], to, plan_.slots[to].shape);
      return {};
    }
    case Step::Kind::kSwitch: return RunSwitch(set, step);
    case Step::Kind::kMerge: return RunMerge(set, step);
    case Step::Kind::kSelect: return RunSelect(set, step);
    case Step::Kind::kDynamic: return RunDynamic(set, index);
    default: break;
  }
  if (step.block.bind != nullptr && !resource_bound_[index]) {
    WEFT_RETURN_IF_ERROR(BindResource(step.node, step.block, resources_[index]));
    resource_bound_[index] = 1;
  }
  if (step.kind == Step::Kind::kRun) {
    for (size_t v = 0; v < graph_.node(step.node).output_types.size(); ++v) {
      uint32_t slot = plan_.operands[step.first_output + v];
      if (plan_.slots[slot].storage == Slot::Storage::kOwned) WEFT_RETURN_IF_ERROR(OwnOutput(set, slot, plan_.slots[slot].shape));
    }
  }
  if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(TakeReferences(set, step));
  return CallKernel(set, step, records_[index], step.block, resources_[index]);
}

Status Executor::BindResource(int node, const PlannedBlock& block, ResourceHandle& resource) {
  ScopeBinder binder(scope_, graph_.node(node).def->name, graph_.node(node).id);
  WEFT_ASSIGN_OR_RETURN(resource, block.bind(block.parameters.get(), binder));
  return {};
}

Status Executor::CallKernel(ResultSet& set, const Step& step, const Record& record, const PlannedBlock& block,
                            const ResourceHandle& resource) {
  PointAt(record);
  FrameOf(ctx_).resource = &resource;
  if (block.produce != nullptr) return Produce(set, step, block);
  if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(MakeNewValues(step));
  WEFT_RETURN_IF_ERROR(block.run(block.parameters.get(), ctx_));
  EndUpdates(step);
  SetReferences(set, step);
  return {};
}

Status Executor::Produce(ResultSet& set, const Step& step, const PlannedBlock& block) {
  const Node& node = graph_.node(step.node);
  emitted_.assign(node.output_types.size(), {});
  ProduceContext produce(ctx_, emitted_);
  WEFT_RETURN_IF_ERROR(block.produce(block.parameters.get(), produce));
  for (size_t v = 0; v < emitted_.size(); ++v) {
    uint32_t slot = plan_.operands[step.first_output + v];
    const Slot& planned = plan_.slots[slot];
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
  const Slot& source = plan_.slots[from];
  const Tensor& owned = set.owned[from];
  Tensor tensor = owned.defined() ? owned.Reshaped(shape) : Tensor::View(source.dtype, shape, set.values[from].data, nullptr);
  set.root[to] = source.storage == Slot::Storage::kShared ? set.root[from] : static_cast<int>(from);
  SetOwned(set, to, std::move(tensor));
}

bool Executor::SkipDead(ResultSet& set, const Step& step) const {
  const Node& node = graph_.node(step.node);
  size_t dead = 0;
  for (size_t v = 0; v < node.inputs.size(); ++v) dead += set.values[plan_.operands[step.first_input + v]].dead;
  // An update's own slot is never dead; what the wire brings may be.
  for (const Step::Update& update : step.updates) {
    int slot = plan_.SlotOf(node.inputs[update.input]);
    if (slot >= 0) dead += set.values[slot].dead;
  }
  bool skip = step.kind == Step::Kind::kMerge ? dead == node.inputs.size() : dead > 0;
  for (size_t v = 0; v < node.output_types.size(); ++v) set.values[plan_.operands[step.first_output + v]].dead = skip;
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
    else set.values[outputs[side]].dead = true;
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
    WEFT_RETURN_IF_ERROR(OwnOutput(set, outputs[1], Shape{}));
    *static_cast<int32_t*>(set.values[outputs[1]].data) = static_cast<int32_t>(v);
    return {};
  }
  return Internal("a merge ran without a value");
}

// The output is the chosen variable, for what reads it and for what updates it.
Status Executor::RunSelect(ResultSet& set, const Step& step) {
  const Node& node = graph_.node(step.node);
  const uint32_t* inputs = plan_.operands.data() + step.first_input;
  const Value& index = set.values[inputs[0]];
  if (index.shape->rank() != 0) return InvalidArgument("needs a scalar, found ", *index.shape).WithPort("index");
  const int64_t chosen = *static_cast<const int32_t*>(index.data), count = static_cast<int64_t>(node.inputs.size()) - 1;
  if (chosen < 0 || chosen >= count) return InvalidArgument("needs an index of 0 to ", count - 1, ", found ", chosen).WithPort("index");
  const size_t v = static_cast<size_t>(chosen) + 1;
  const uint32_t to = plan_.operands[step.first_output];
  RunForward(set, inputs[v], to, *set.values[inputs[v]].shape);
  ValueRef root = graph_.ReferenceRoot(node.inputs[v]);
  int variable = graph_.node(root.node).variable;
  selected_[to] = variable >= 0 ? variable : selected_[plan_.SlotOf(root)];
  return {};
}

Status Executor::RunDynamic(ResultSet& set, size_t index) {
  const Step& step = plan_.steps[index];
  const Node& node = graph_.node(step.node);
  DynamicPlan& dynamic = dynamic_[index];
  if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(TakeReferences(set, step));
  if (!dynamic.valid || !SameSignature(set, step, dynamic)) WEFT_RETURN_IF_ERROR(PlanDynamic(set, index));
  if (IsForward(node.def->flow)) {
    RunForward(set, plan_.operands[step.first_input], plan_.operands[step.first_output], dynamic.planned.outputs[0]);
    return {};
  }
  for (size_t v = 0; dynamic.block.produce == nullptr && v < node.output_types.size(); ++v) {
    uint32_t slot = plan_.operands[step.first_output + v];
    if (plan_.slots[slot].storage == Slot::Storage::kOwned) WEFT_RETURN_IF_ERROR(OwnOutput(set, slot, dynamic.planned.outputs[v]));
  }
  Record record = records_[index];
  record.scratch = dynamic.scratch ? static_cast<std::byte*>(dynamic.scratch->data()) : nullptr;
  record.scratch_bytes = dynamic.planned.scratch_bytes;
  return CallKernel(set, step, record, dynamic.block, dynamic.resource);
}

bool Executor::SameSignature(const ResultSet& set, const Step& step, const DynamicPlan& plan) const {
  for (size_t v = 0; v < plan.shapes.size(); ++v) {
    const Value& value = set.values[plan_.operands[step.first_input + v]];
    if (!HasValue(value) || !plan.shapes[v] || !(*plan.shapes[v] == *value.shape)) return false;
    const Tensor& shaping = plan.shaping[v];
    if (shaping.defined() && !SameBits(shaping, Tensor::View(shaping.dtype(), *value.shape, value.data, nullptr))) return false;
  }
  return true;
}

Status Executor::PlanDynamic(ResultSet& set, size_t index) {
  const Planning planning(scope_);
  const Step& step = plan_.steps[index];
  const Node& node = graph_.node(step.node);
  DynamicPlan& dynamic = dynamic_[index];
  const uint32_t* slots = plan_.operands.data() + step.first_input;
  dynamic.valid = false;
  dynamic.shapes.clear();
  dynamic.shaping.assign(node.inputs.size(), {});
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Value& value = set.values[slots[v]];
    // TakeReferences has refused variables that need a value.
    dynamic.shapes.push_back(HasValue(value) ? std::optional(*value.shape) : std::nullopt);
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      const Value& value = set.values[slots[v]];
      Tensor view = Tensor::View(plan_.slots[slots[v]].dtype, *value.shape, value.data, nullptr);
      WEFT_ASSIGN_OR_RETURN(dynamic.shaping[v], view.Clone(services_.budget));
    }
  }
  std::vector<InputInfo> inputs;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Shape* shape = dynamic.shapes[v] ? &*dynamic.shapes[v] : nullptr;
    const Tensor* shaping = dynamic.shaping[v].defined() ? &dynamic.shaping[v] : nullptr;
    inputs.push_back({plan_.slots[slots[v]].dtype, shape, shaping, graph_.InfoOf(node, static_cast<uint32_t>(v))});
  }
  WEFT_ASSIGN_OR_RETURN(dynamic.block, PlanNode(node, inputs, dynamic.planned));
  if (dynamic.planned.scratch_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(dynamic.scratch, Buffer::Allocate(DType::kUInt8, dynamic.planned.scratch_bytes, services_.budget));
  }
  if (dynamic.block.bind != nullptr) WEFT_RETURN_IF_ERROR(BindResource(step.node, dynamic.block, dynamic.resource));
  dynamic.valid = true;
  return {};
}

// Memory for an output that has none in the plan. That of this set's last run is used again where it fits and no reader holds it.
Status Executor::OwnOutput(ResultSet& set, uint32_t slot, const Shape& shape) {
  Tensor& owned = set.owned[slot];
  if (owned.defined() && owned.shape() == shape && SoleOwner(owned.owner())) {
    set.values[slot] = {owned.data(), owned.count(), &owned.shape(), false};
    return {};
  }
  if (!set.spare.empty()) return OwnSpare(set, slot, shape);
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(plan_.slots[slot].dtype, shape, services_.budget));
  SetOwned(set, slot, std::move(tensor));
  return {};
}

}  // namespace weft
