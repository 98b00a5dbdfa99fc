// Steps of a plan: operands, shapes, updates, shared memory.
#include <algorithm>
#include <utility>

#include "runtime/plan/planner.h"
#include "runtime/plan/port_facts.h"

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
    CheckTemporary(index);
    if (slot.storage == Slot::Storage::kFeed) return;
    slot.storage = Slot::Storage::kVariable;
    const auto& shape = request_.variable_shapes[node.variable];
    slot.shape_known = shape.has_value();
    if (shape) slot.shape = *shape;
    return;
  }
  if (node.def == nullptr || node.def->structural != Structural::kNone) return;
  if (IsReplaced(index)) return CheckFeeds(index);

  Step& step = plan_.steps.emplace_back();
  step.node = index;
  step.loop = loop_;
  AddOperands(node, step);
  std::vector<InputInfo>& inputs = inputs_;
  inputs.clear();
  if (loop_ >= 0 && node.def->flow == Flow::kMerge) TrustShape(node);
  if (StaticInputs(node, step, inputs)) {
    PlanStatic(node, step, inputs);
  } else {
    MakeDynamic(node, step);
    AddUpdates(node, step, nullptr);
  }
  if (node.def->flow == Flow::kSwitch) step.kind = Step::Kind::kSwitch;
  if (node.def->flow == Flow::kMerge) step.kind = Step::Kind::kMerge;
  if (node.def->flow == Flow::kSelect) step.kind = Step::Kind::kSelect;
  ShareMemory(node, step);
  if (BindForward(step)) plan_.steps.pop_back();
}

// Only the run can tell its shapes.
void Planner::MakeDynamic(const Node& node, Step& step) {
  step.kind = Step::Kind::kDynamic;
  bool faulty = false;
  for (uint32_t v = 0; !faulty_.empty() && v < node.inputs.size(); ++v) faulty |= faulty_.contains(plan_.operands[step.first_input + v]);
  for (uint32_t v = 0; v < node.output_types.size(); ++v) {
    Out(step, v).storage = Slot::Storage::kOwned;
    Out(step, v).shape_known = false;
    if (faulty) faulty_.insert(plan_.operands[step.first_output + v]);
  }
}

// Temporary variables of one run have different names.
void Planner::CheckTemporary(int index) {
  const std::string& name = graph_.variable_info(graph_.node(index).variable).temporary;
  if (name.empty()) return;
  auto [other, fresh] = temporaries_.emplace(name, index);
  if (fresh) return;
  Status status = AlreadyExists("there is another temporary variable '", name, "' in the same run, by '", graph_.node(other->second).id, "'");
  diagnostics_.Error(PlaceAtNode(graph_, index, std::move(status).WithPort("var_name")));
}

void Planner::AddOperands(const Node& node, Step& step) {
  step.first_input = static_cast<uint32_t>(plan_.operands.size());
  for (ValueRef input : node.inputs) plan_.operands.push_back(static_cast<uint32_t>(plan_.first_slot[input.node] + input.output));
  for (int port : node.def->updates) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      uint32_t slot = AddOwnSlot(node.inputs[v]);
      plan_.operands[step.first_input + v] = slot;
      SetVariableShape(slot, node.inputs[v]);
    }
  }
  if (loop_ >= 0) AddReads(node, step);
  step.first_output = static_cast<uint32_t>(plan_.operands.size());
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    uint32_t slot = static_cast<uint32_t>(plan_.first_slot[step.node]) + static_cast<uint32_t>(v);
    if (plan_.slots[slot].storage == Slot::Storage::kFeed) slot = AddOwnSlot(plan_.slots[slot].value);
    plan_.operands.push_back(slot);
  }
}

// The slot is a variable as it is after the updates planned so far.
void Planner::SetVariableShape(uint32_t index, ValueRef reference) {
  Slot& slot = plan_.slots[index];
  slot.storage = Slot::Storage::kVariable;
  std::optional<Shape> shape = ShapeNow(graph_.VariablesOf(reference));
  slot.shape_known = shape.has_value();
  if (shape) slot.shape = *shape;
}

// Absent where they differ.
std::optional<Shape> Planner::ShapeNow(const std::vector<int>& variable_nodes) const {
  std::optional<Shape> shape;
  for (int node : variable_nodes) {
    const std::optional<Shape>& now = shape_now_[graph_.node(node).variable];
    if (!now || (shape && !(*shape == *now))) return std::nullopt;
    shape = now;
  }
  return shape;
}

// A slot that only one step uses.
uint32_t Planner::AddOwnSlot(ValueRef value) {
  Slot& slot = plan_.slots.emplace_back();
  slot.value = value;
  slot.dtype = graph_.TypeOf(value);
  first_source_.push_back(-1);
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

// What a block says of the shape of its output without its inputs (a Placeholder, a PlaceholderWithDefault) holds for what is fed in its
// place.
void Planner::CheckFeeds(int index) {
  const Node& node = graph_.node(index);
  std::vector<PartialShape> needed;
  if (node.inputs.empty() && node.def->plan) {
    PlannedShapes shapes;
    if (!PlanNode(node, {}, shapes).ok()) return;
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
      needed.push_back(unknown ? shapes.partial[v] : PartialShape(shapes.outputs[v]));
    }
  } else if (int attr = node.def->FindAttr("shape"); attr >= 0 && node.def->flow == Flow::kForward) {
    if (const auto* shape = std::get_if<PartialShape>(&node.attrs[attr])) needed.push_back(*shape);
  }
  for (size_t v = 0; v < needed.size(); ++v) {
    ValueRef value{index, static_cast<int>(v)};
    if (needed[v].Accepts(SlotOf(value).shape)) continue;
    Status status = InvalidArgument("the feed of '", graph_.ValueName(value), "' needs the shape ", needed[v], ", found ", SlotOf(value).shape);
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
      inputs.push_back({slot.dtype, nullptr, nullptr, graph_.InfoOf(node, v)});
      continue;
    }
    inputs.push_back({slot.dtype, &slot.shape, ConstantOf(slot), graph_.InfoOf(node, v)});
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      if (inputs[v].value == nullptr) return false;
    }
  }
  return true;
}

// The value of a slot, where it is known; also of what constants bring into a loop.
const Tensor* Planner::ConstantOf(const Slot& slot) const {
  const Slot* from = &slot;
  while (loop_ >= 0 && from->storage == Slot::Storage::kShared && from->source >= 0) from = &plan_.slots[from->source];
  if (from->storage != Slot::Storage::kConstant || !(from->shape == slot.shape)) return nullptr;
  return &graph_.node(from->value.node).constant.get();
}

void Planner::PlanStatic(const Node& node, Step& step, const std::vector<InputInfo>& inputs) {
  auto planned = memo_.Plan(node, inputs);
  if (!planned.ok()) {
    Status status = WithPortFacts(graph_, node, std::move(planned).status(), [&](uint32_t v) { return inputs[v].shape; });
    diagnostics_.Error(PlaceAtNode(graph_, step.node, std::move(status)));
    MakeDynamic(node, step);
    for (uint32_t v = 0; loop_ >= 0 && v < node.output_types.size(); ++v) faulty_.insert(plan_.operands[step.first_output + v]);
    return;
  }
  const PlannedShapes& shapes = *planned->shapes;
  step.block = std::move(planned->block);
  step.scratch_bytes = shapes.scratch_bytes;
  step.kind = IsForward(node.def->flow) ? Step::Kind::kForward : step.block.produce ? Step::Kind::kProduce : Step::Kind::kRun;
  SetShapes(node, step, shapes);
  AddUpdates(node, step, &shapes);
}

void Planner::SetShapes(const Node& node, const Step& step, const PlannedShapes& shapes) {
  constexpr int64_t kMostBytes = int64_t{1} << 60;  // so that sums of sizes do not overflow
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    Slot& slot = Out(step, v);
    bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
    slot.shape_known = !unknown;
    if (unknown || step.kind == Step::Kind::kProduce || IsManaged(slot.dtype)) slot.storage = Slot::Storage::kOwned;
    if (unknown) continue;
    slot.shape = shapes.outputs[v];
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
      std::vector<int> variables = graph_.VariablesOf(node.inputs[v]);
      bool fed = IsFed(graph_.ReferenceRoot(node.inputs[v]));
      for (int variable : variables) fed |= IsFed({variable, 0});
      if (variables.empty() || fed) {
        std::string_view found = fed ? "one whose value is fed" : "a value";
        Status status = InvalidArgument("needs a Variable, found ", found).WithPort(node.def->inputs[port].name);
        diagnostics_.Error(PlaceAtNode(graph_, step.node, std::move(status)));
        continue;
      }
      Step::Update update;
      update.input = v;
      update.variable = graph_.VariableOf(node.inputs[v]) < 0 ? -1 : graph_.node(variables[0]).variable;
      if (update.variable < 0) {
        ValueRef root = graph_.ReferenceRoot(node.inputs[v]);
        update.selector = plan_.first_slot[root.node] + root.output;
        for (int variable : variables) update.choices.push_back(graph_.node(variable).variable);
      }
      update.may_be_empty = MayBeEmpty(*node.def, port);
      update.before = ShapeNow(variables);
      std::optional<Shape> after = shapes == nullptr ? std::nullopt : update.before;
      for (const auto& [input, shape] : shapes == nullptr ? kNoChanges : shapes->variables) {
        if (input == v) after = shape;
      }
      if (after) update.shape = *after;
      SetShapesNow(update, after);
      plan_.updates_variables = true;
      step.updates.push_back(std::move(update));
    }
  }
  SetReferenceShapes(node, step);
}

// Of several variables that may be the one, each may keep its shape.
void Planner::SetShapesNow(const Step::Update& update, const std::optional<Shape>& after) {
  if (update.variable >= 0) {
    shape_now_[update.variable] = after;
    started_[update.variable] = 1;
  }
  for (int variable : update.choices) {
    std::optional<Shape>& now = shape_now_[variable];
    if (now && !(after && *after == *now)) now = std::nullopt;
  }
}

// Reference outputs are the variable after the step.
void Planner::SetReferenceShapes(const Node& node, const Step& step) {
  if (node.def->flow != Flow::kPlain) return;  // these hand on the reference that they get
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    int source = node.def->outputs[p].reference_of;
    if (source < 0) continue;
    SetVariableShape(plan_.operands[step.first_output + node.out_first[p]], node.inputs[node.in_first[source]]);
  }
}

void Planner::ShareMemory(const Node& node, const Step& step) {
  auto share = [&](int output, ValueRef input) {
    Slot& slot = Out(step, static_cast<size_t>(output));
    slot.storage = Slot::Storage::kShared;
    slot.source = plan_.first_slot[input.node] + input.output;
    int& first = first_source_[plan_.operands[step.first_output + static_cast<uint32_t>(output)]];
    sources_.push_back({slot.source, std::exchange(first, static_cast<int>(sources_.size()))});
  };
  switch (node.def->flow) {
    case Flow::kForward:
    case Flow::kEnter:
    case Flow::kExit:
    case Flow::kNextIteration: share(0, node.inputs[0]); break;
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
    case Flow::kSelect:
      for (size_t v = 1; v < node.inputs.size(); ++v) share(0, node.inputs[v]);
      Out(step, 0).source = -1;
      break;
    case Flow::kPlain: break;
  }
}

}  // namespace weft
