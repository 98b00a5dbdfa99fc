// Steps of a plan: operands, shapes, updates, shared memory.
#include <algorithm>

#include "runtime/plan/planner.h"

namespace weft {
namespace {

const std::vector<std::pair<uint32_t, Shape>> kNoChanges;

bool MayBeEmpty(const BlockDef& def, int port) {
  return std::find(def.uninitialized.begin(), def.uninitialized.end(), port) != def.uninitialized.end();
}

}  // namespace

void Planner::AddStep(int index) {
  const Node& node = graph_.node(index);
  if (node.broken) return;
  if (node.constant.defined() && node.variable < 0 && (node.def == nullptr || node.def->structural == Structural::kConstant)) {
    Slot& slot = SlotOf({index, 0});
    if (slot.storage == Slot::Storage::kFeed) return;
    slot.storage = Slot::Storage::kConstant;
    slot.shape = node.constant.shape();
    slot.shape_known = true;
    return;
  }
  if (node.variable >= 0) {
    Slot& slot = SlotOf({index, 0});
    plan_.variables.push_back(node.variable);
    if (slot.storage == Slot::Storage::kFeed) return;
    slot.storage = Slot::Storage::kVariable;
    const auto& shape = request_.variable_shapes[node.variable];
    slot.shape_known = shape.has_value();
    if (shape) slot.shape = *shape;
    return;
  }
  if (node.def == nullptr || node.def->structural != Structural::kNone) return;
  if (IsReplaced(index)) return CheckFeeds(index);

  Step step;
  step.node = index;
  AddOperands(node, step);
  std::vector<InputInfo> inputs;
  if (StaticInputs(node, step, inputs)) {
    PlanStatic(node, step, inputs);
  } else {
    step.kind = Step::Kind::kDynamic;
    for (size_t v = 0; v < node.output_types.size(); ++v) Out(step, v).storage = Slot::Storage::kOwned;
    AddUpdates(node, step, nullptr);
  }
  if (node.def->flow == Flow::kSwitch) step.kind = Step::Kind::kSwitch;
  if (node.def->flow == Flow::kMerge) step.kind = Step::Kind::kMerge;
  ShareMemory(node, step);
  if (!BindForward(step)) plan_.steps.push_back(std::move(step));
}

void Planner::AddOperands(const Node& node, Step& step) {
  step.first_input = static_cast<uint32_t>(plan_.operands.size());
  for (ValueRef input : node.inputs) plan_.operands.push_back(static_cast<uint32_t>(plan_.first_slot[input.node] + input.output));
  for (int port : node.def->updates) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      uint32_t slot = AddOwnSlot(node.inputs[v]);
      plan_.operands[step.first_input + v] = slot;
      plan_.slots[slot].storage = Slot::Storage::kVariable;
      int variable = graph_.VariableOf(node.inputs[v]);
      if (variable < 0) continue;
      const std::optional<Shape>& shape = shape_now_[graph_.node(variable).variable];
      plan_.slots[slot].shape_known = shape.has_value();
      if (shape) plan_.slots[slot].shape = *shape;
    }
  }
  step.first_output = static_cast<uint32_t>(plan_.operands.size());
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    uint32_t slot = static_cast<uint32_t>(plan_.first_slot[step.node]) + static_cast<uint32_t>(v);
    if (plan_.slots[slot].storage == Slot::Storage::kFeed) slot = AddOwnSlot(plan_.slots[slot].value);
    plan_.operands.push_back(slot);
  }
}

// A slot that only one step uses.
uint32_t Planner::AddOwnSlot(ValueRef value) {
  Slot& slot = plan_.slots.emplace_back();
  slot.value = value;
  slot.dtype = graph_.TypeOf(value);
  sources_.emplace_back();
  return static_cast<uint32_t>(plan_.slots.size()) - 1;
}

// Where the memory is known before the run and no value can be dead, a forwarded slot is bound once and needs no step.
bool Planner::BindForward(const Step& step) {
  if (step.kind != Step::Kind::kForward || plan_.has_dead_values) return false;
  Slot& out = Out(step, 0);
  int source = out.source;
  while (plan_.slots[source].storage == Slot::Storage::kShared && plan_.slots[source].bound) source = plan_.slots[source].source;
  Slot::Storage storage = plan_.slots[source].storage;
  out.bound = storage == Slot::Storage::kArena || storage == Slot::Storage::kConstant;
  return out.bound;
}

// What a block without inputs says of its shape (a Placeholder) holds for what is fed in its place.
void Planner::CheckFeeds(int index) {
  const Node& node = graph_.node(index);
  if (!node.inputs.empty() || !node.def->plan) return;
  PlannedShapes shapes;
  if (!PlanNode(node, {}, shapes).ok()) return;
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    ValueRef value{index, static_cast<int>(v)};
    bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
    PartialShape needed = unknown ? shapes.partial[v] : PartialShape(shapes.outputs[v]);
    if (needed.Accepts(SlotOf(value).shape)) continue;
    Status status = InvalidArgument("the feed of '", graph_.ValueName(value), "' needs the shape ", needed, ", found ", SlotOf(value).shape);
    diagnostics_.Error(PlaceAtNode(graph_, index, std::move(status)));
  }
}

// Whether all that Plan needs is known before the run.
bool Planner::StaticInputs(const Node& node, const Step& step, std::vector<InputInfo>& inputs) const {
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const Slot& slot = In(step, v);
    if (!slot.shape_known) {
      if (slot.storage != Slot::Storage::kVariable || !MayBeEmpty(*node.def, node.in_first.PortOf(v))) return false;
      int variable = graph_.VariableOf(node.inputs[v]);
      // A variable that has no value before the run, and gets none earlier in it, has no shape either.
      if (variable < 0 || started_[graph_.node(variable).variable]) return false;
      inputs.push_back({slot.dtype, nullptr, nullptr});
      continue;
    }
    bool constant = slot.storage == Slot::Storage::kConstant;
    inputs.push_back({slot.dtype, &slot.shape, constant ? &graph_.node(node.inputs[v].node).constant : nullptr});
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      if (inputs[v].value == nullptr) return false;
    }
  }
  return true;
}

void Planner::PlanStatic(const Node& node, Step& step, const std::vector<InputInfo>& inputs) {
  PlannedShapes shapes;
  auto planned = PlanNode(node, inputs, shapes);
  if (!planned.ok()) {
    diagnostics_.Error(PlaceAtNode(graph_, step.node, std::move(planned).status()));
    step.kind = Step::Kind::kDynamic;
    for (size_t v = 0; v < node.output_types.size(); ++v) Out(step, v).storage = Slot::Storage::kOwned;
    return;
  }
  step.block = std::move(*planned);
  step.scratch_bytes = shapes.scratch_bytes;
  step.kind = node.def->flow == Flow::kForward ? Step::Kind::kForward : step.block.produce ? Step::Kind::kProduce : Step::Kind::kRun;
  SetShapes(node, step, shapes);
  AddUpdates(node, step, &shapes);
}

void Planner::SetShapes(const Node& node, const Step& step, PlannedShapes& shapes) {
  constexpr int64_t kMostBytes = int64_t{1} << 60;  // so that sums of sizes do not overflow
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    Slot& slot = Out(step, v);
    bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
    slot.shape_known = !unknown;
    if (unknown || step.kind == Step::Kind::kProduce || IsManaged(slot.dtype)) slot.storage = Slot::Storage::kOwned;
    if (unknown) continue;
    slot.shape = std::move(shapes.outputs[v]);
    auto bytes = CheckedMultiply(slot.shape.count(), static_cast<int64_t>(ElementSize(slot.dtype)));
    if (!bytes || *bytes > kMostBytes - total_bytes_) {
      Status status = ResourceExhausted("the output '", graph_.ValueName(slot.value), "' needs memory for a tensor of shape ", slot.shape,
                                        " of ", slot.dtype, ", more than any machine has");
      diagnostics_.Error(PlaceAtNode(graph_, step.node, std::move(status)));
      slot.shape = Shape{};
      slot.shape_known = false;
      continue;
    }
    total_bytes_ += *bytes;
  }
}

void Planner::AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes) {
  for (int port : node.def->updates) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      int variable = graph_.VariableOf(node.inputs[v]);
      if (variable < 0 || IsFed({variable, 0})) {
        std::string_view found = variable < 0 ? "a value" : "one whose value is fed";
        Status status = InvalidArgument("needs a Variable, found ", found).WithPort(node.def->inputs[port].name);
        diagnostics_.Error(PlaceAtNode(graph_, step.node, std::move(status)));
        continue;
      }
      Step::Update update;
      update.input = v;
      update.variable = graph_.node(variable).variable;
      update.may_be_empty = MayBeEmpty(*node.def, port);
      std::optional<Shape>& now = shape_now_[update.variable];
      update.before = now;
      if (shapes == nullptr) now = std::nullopt;
      else if (now) update.shape = *now;
      for (const auto& [input, shape] : shapes == nullptr ? kNoChanges : shapes->variables) {
        if (input == v) now = update.shape = shape;
      }
      started_[update.variable] = 1;
      plan_.updates_variables = true;
      step.updates.push_back(std::move(update));
    }
  }
  SetReferenceShapes(node, step);
}

// Reference outputs are the variable after the step.
void Planner::SetReferenceShapes(const Node& node, const Step& step) {
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    int source = node.def->outputs[p].reference_of;
    if (source < 0) continue;
    Slot& slot = Out(step, node.out_first[p]);
    slot.storage = Slot::Storage::kVariable;
    int variable = graph_.VariableOf(node.inputs[node.in_first[source]]);
    if (variable < 0) continue;
    const std::optional<Shape>& shape = shape_now_[graph_.node(variable).variable];
    slot.shape_known = shape.has_value();
    if (shape) slot.shape = *shape;
  }
}

void Planner::ShareMemory(const Node& node, const Step& step) {
  auto share = [&](int output, ValueRef input) {
    Slot& slot = Out(step, static_cast<size_t>(output));
    slot.storage = Slot::Storage::kShared;
    slot.source = plan_.first_slot[input.node] + input.output;
    sources_[plan_.operands[step.first_output + static_cast<uint32_t>(output)]].push_back(slot.source);
  };
  switch (node.def->flow) {
    case Flow::kForward: share(0, node.inputs[0]); break;
    case Flow::kSwitch:
      share(0, node.inputs[0]);
      share(1, node.inputs[0]);
      break;
    case Flow::kMerge: {
      for (ValueRef input : node.inputs) share(0, input);
      // Which input it will be is not known, so neither is its shape, unless all agree (then Plan set it).
      Out(step, 0).source = -1;
      Out(step, 1).storage = Slot::Storage::kOwned;
      break;
    }
    case Flow::kPlain: break;
  }
}

}  // namespace weft
