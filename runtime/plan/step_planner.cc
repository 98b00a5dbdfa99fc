#include "runtime/plan/step_planner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/refusals.h"

namespace weft {
namespace {

const std::vector<std::pair<uint32_t, Shape>> kNoChanges;
constexpr size_t kFewFaults = 100;  // of a page: to find some takes a thousand calls of Plan

bool MayBeEmpty(const BlockDef& def, int port) {
  return std::find(def.uninitialized.begin(), def.uninitialized.end(), port) != def.uninitialized.end();
}

}  // namespace

void StepPlanner::Add(int index) {
  CallLimit::Check();
  const Node& node = graph_.node(index);
  if (node.broken || SetSource(index)) return;
  if (node.def == nullptr || node.def->structural != Structural::kNone) return;
  if (fed_.Replace(index)) return CheckFeeds(index);

  CallLimit::Grow(static_cast<int64_t>(sizeof(Step) + node.output_types.size() * sizeof(Slot) + node.inputs.size() * sizeof(uint32_t)), node.id);
  Step& step = plan_.steps.emplace_back();
  step.node = index;
  step.loop = loops_.current();
  AddOperands(node, step);
  if (step.loop >= 0 && node.def->flow == Flow::kMerge) loops_.AssumeShapes(index);
  if (StaticInputs(node, step)) {
    PlanStatic(node, step);
  } else {
    MakeDynamic(node, step);
    CheckInPart(node, step);
    AddUpdates(node, step, nullptr);
  }
  if (node.def->flow == Flow::kSwitch) step.kind = Step::Kind::kSwitch;
  if (node.def->flow == Flow::kMerge) step.kind = Step::Kind::kMerge;
  if (node.def->flow == Flow::kSelect) step.kind = Step::Kind::kSelect;
  ShareMemory(node, step);
  if (BindForward(step)) plan_.steps.pop_back();
}

// The slot of a constant or a variable; whether the node is one.
bool StepPlanner::SetSource(int index) {
  const Node& node = graph_.node(index);
  const bool constant = node.constant.defined() && (node.def == nullptr || node.def->structural == Structural::kConstant);
  if (node.variable < 0 && !constant) return false;
  if (node.variable >= 0) {
    CallLimit::Grow(sizeof(int) + sizeof(std::optional<Shape>), node.id);
    plan_.variables.push_back(node.variable);
    plan_.variable_shapes.push_back(variables_.AtStart(node.variable));
    CheckTemporary(index);
  }
  Slot& slot = slots_.Of({index, 0});
  if (slot.storage == Slot::Storage::kFeed) return true;
  slot.storage = node.variable >= 0 ? Slot::Storage::kVariable : Slot::Storage::kConstant;
  const Shape* shape = node.variable < 0 ? &node.constant.shape() : nullptr;
  if (node.variable >= 0 && variables_.AtStart(node.variable)) shape = &*variables_.AtStart(node.variable);
  slot.shape_known = shape != nullptr;
  if (shape != nullptr) slot.shape = *shape;
  return true;
}

// Only the run can tell its shapes.
void StepPlanner::MakeDynamic(const Node& node, Step& step) {
  step.kind = Step::Kind::kDynamic;
  const bool faulty = loops_.AnyFaulty(step, node.inputs.size());
  for (uint32_t v = 0; v < node.output_types.size(); ++v) {
    Slot& slot = slots_.Output(step, v);
    slot.storage = Slot::Storage::kOwned;
    slot.shape_known = false;
    if (faulty) loops_.MarkFaulty(plan_.operands[step.first_output + v]);
  }
}

// What is known of the inputs of a block whose shapes only the run can tell in full; false where that says nothing of the block.
bool StepPlanner::InputsInPart(const Node& node, const Step& step) {
  const bool plain = node.def->flow == Flow::kPlain || node.def->flow == Flow::kForward;
  if (step.loop >= 0 || !plain || !node.def->plan || !node.def->updates.empty()) return false;
  partial_inputs_.clear();
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const Slot& slot = slots_.Input(step, v);
    const auto known = partial_.find(plan_.operands[step.first_input + v]);
    if (!slot.shape_known && known == partial_.end()) return false;
    PartialInput& input = partial_inputs_.emplace_back();
    input.info = {slot.dtype, nullptr, slot.shape_known ? ConstantOf(slot) : nullptr, graph_.InfoOf(node, v)};
    input.shape = slot.shape_known ? PartialShape(slot.shape) : known->second;
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      if (partial_inputs_[v].info.value == nullptr) return false;
    }
  }
  return true;
}

// A block that takes none of the shapes that its inputs can have is at fault before any run.
void StepPlanner::CheckInPart(const Node& node, const Step& step) {
  if (diagnostics_.errors() > kFewFaults || !InputsInPart(node, step)) return;
  std::vector<PartialShape> outputs;
  if (Status status = PlanInPart(node, partial_inputs_, outputs); !status.ok()) {
    const auto known = [&](uint32_t v) { return slots_.Input(step, v).shape_known ? &slots_.Input(step, v).shape : nullptr; };
    const std::string ranks = RanksNeeded(node, partial_inputs_, status);
    return Error(step.node, WithPortFacts(graph_, node, std::move(status), known, ranks));
  }
  for (size_t v = 0; v < outputs.size(); ++v) NotePartial(node, plan_.operands[step.first_output + v], std::move(outputs[v]));
}

void StepPlanner::NotePartial(const Node& node, uint32_t slot, PartialShape shape) {
  CallLimit::Check();
  if (!shape.known_rank()) return;
  CallLimit::Grow(static_cast<int64_t>(sizeof(PartialShapes::value_type) + shape.dims().size() * sizeof(int64_t)), node.id);
  partial_[slot] = std::move(shape);
}

// Temporary variables of one run have different names.
void StepPlanner::CheckTemporary(int index) {
  const std::string& name = graph_.variable_info(graph_.node(index).variable).temporary;
  if (name.empty()) return;
  auto [other, fresh] = temporaries_.emplace(name, index);
  if (fresh) return;
  Status status = AlreadyExists("there is another temporary variable '", name, "' in the same run, by '", graph_.node(other->second).id, "'");
  Error(index, std::move(status).WithPort("var_name"));
}

void StepPlanner::AddOperands(const Node& node, Step& step) {
  step.first_input = static_cast<uint32_t>(plan_.operands.size());
  for (ValueRef input : node.inputs) plan_.operands.push_back(slots_.IndexOf(input));
  for (int port : node.def->updates) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      const uint32_t slot = slots_.AddOwn(node.inputs[v], node.id);
      plan_.operands[step.first_input + v] = slot;
      variables_.Describe(plan_.slots[slot], node.inputs[v]);
    }
  }
  loops_.AddReads(node, step);
  step.first_output = static_cast<uint32_t>(plan_.operands.size());
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    uint32_t slot = static_cast<uint32_t>(plan_.first_slot[step.node]) + static_cast<uint32_t>(v);
    if (plan_.slots[slot].storage == Slot::Storage::kFeed) slot = slots_.AddOwn(plan_.slots[slot].value, node.id);
    plan_.operands.push_back(slot);
  }
}

// Where the memory is known before the run and no value can be dead, a forwarded slot is bound once and needs no step.
bool StepPlanner::BindForward(const Step& step) {
  if (step.kind != Step::Kind::kForward || plan_.has_dead_values) return false;
  Slot& out = slots_.Output(step, 0);
  const Slot& source = plan_.slots[out.source];
  out.bound = source.bound || source.storage == Slot::Storage::kArena || source.storage == Slot::Storage::kConstant;
  return out.bound;
}

// What a block says of the shape of its output without its inputs (a Placeholder, a PlaceholderWithDefault) holds for what is fed in its
// place.
void StepPlanner::CheckFeeds(int index) {
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
    if (needed[v].Accepts(slots_.Of(value).shape)) continue;
    Status status = InvalidArgument("the feed of '", graph_.ValueName(value), "' needs the shape ", needed[v], ", found ", slots_.Of(value).shape);
    Error(index, std::move(status));
  }
}

// Whether all that Plan needs is known before the run.
bool StepPlanner::StaticInputs(const Node& node, const Step& step) {
  inputs_.clear();
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const Slot& slot = slots_.Input(step, v);
    if (!slot.shape_known) {
      if (slot.storage != Slot::Storage::kVariable || !MayBeEmpty(*node.def, node.in_first.PortOf(v))) return false;
      int variable = graph_.VariableOf(node.inputs[v]);
      // A variable that has no value before the run, and gets none earlier in it, has no shape either.
      if (variable < 0 || variables_.MayHaveValue(graph_.node(variable).variable)) return false;
      inputs_.push_back({slot.dtype, nullptr, nullptr, graph_.InfoOf(node, v)});
      continue;
    }
    inputs_.push_back({slot.dtype, &slot.shape, ConstantOf(slot), graph_.InfoOf(node, v)});
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      if (inputs_[v].value == nullptr) return false;
    }
  }
  return true;
}

// The value of a slot, where it is known; also of what constants bring into a loop.
const Tensor* StepPlanner::ConstantOf(const Slot& slot) const {
  const bool shares = loops_.current() >= 0 && slot.storage == Slot::Storage::kShared && slot.source >= 0;
  const Slot* const from = shares ? &plan_.slots[slots_.RootOf(slot.source)] : &slot;
  if (from->storage != Slot::Storage::kConstant || !(from->shape == slot.shape)) return nullptr;
  return &graph_.node(from->value.node).constant.get();
}

void StepPlanner::PlanStatic(const Node& node, Step& step) {
  auto planned = reuse_.Plan(node, inputs_);
  if (!planned.ok()) {
    ReportRefusals(node, step.node, std::move(planned).status());
    MakeDynamic(node, step);
    for (uint32_t v = 0; step.loop >= 0 && v < node.output_types.size(); ++v) loops_.MarkFaulty(plan_.operands[step.first_output + v]);
    return;
  }
  const PlannedShapes& shapes = *planned->shapes;
  step.block = std::move(planned->block);
  step.scratch_bytes = shapes.scratch_bytes;
  step.kind = IsForward(node.def->flow) ? Step::Kind::kForward : step.block.produce ? Step::Kind::kProduce : Step::Kind::kRun;
  SetShapes(node, step, shapes);
  AddUpdates(node, step, &shapes);
}

// What else the block refuses is told, too, while faults are few.
void StepPlanner::ReportRefusals(const Node& node, int index, Status refused) {
  const auto known = [&](uint32_t v) { return inputs_[v].shape; };
  if (diagnostics_.errors() > kFewFaults) return Error(index, WithPortFacts(graph_, node, std::move(refused), known));
  for (ShapeRefusal& one : AllRefusals(node, inputs_, std::move(refused))) {
    Error(index, WithPortFacts(graph_, node, std::move(one.fault), known, one.shape));
  }
}

void StepPlanner::SetShapes(const Node& node, const Step& step, const PlannedShapes& shapes) {
  constexpr int64_t kMostBytes = int64_t{1} << 60;  // so that sums of sizes do not overflow
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    CallLimit::Check();
    Slot& slot = slots_.Output(step, v);
    bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
    slot.shape_known = !unknown;
    if (unknown || step.kind == Step::Kind::kProduce || IsManaged(slot.dtype)) slot.storage = Slot::Storage::kOwned;
    if (unknown && v < shapes.partial.size()) NotePartial(node, plan_.operands[step.first_output + v], shapes.partial[v]);
    if (unknown) continue;
    CallLimit::Grow(shapes.outputs[v].heap_bytes(), node.id);
    slot.shape = shapes.outputs[v];
    auto bytes = CheckedMultiply(slot.shape.count(), static_cast<int64_t>(ElementSize(slot.dtype)));
    if (!bytes || *bytes > kMostBytes - total_bytes_) {
      Status status = ResourceExhausted("the output '", graph_.ValueName(slot.value), "' needs memory for a tensor of shape ", slot.shape,
                                        " of ", slot.dtype, ", more than any machine has");
      Error(step.node, std::move(status));
      slot.shape = Shape{};
      slot.shape_known = false;
      continue;
    }
    total_bytes_ += *bytes;
  }
}

void StepPlanner::AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes) {
  for (int port : node.def->updates) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) AddUpdate(node, step, port, v, shapes);
  }
  SetReferenceShapes(node, step);
}

void StepPlanner::AddUpdate(const Node& node, Step& step, int port, uint32_t input, const PlannedShapes* shapes) {
  const ValueRef reference = node.inputs[input];
  const ValueRef root = graph_.ReferenceRoot(reference);
  const std::span<const int> variables = variables_.NodesOf(reference);
  bool fed = fed_.Contains(root);
  for (int variable : variables) fed |= fed_.Contains({variable, 0});
  if (variables.empty() || fed) {
    std::string_view found = fed ? "one whose value is fed" : "a value";
    return Error(step.node, InvalidArgument("needs a Variable, found ", found).WithPort(node.def->inputs[port].name));
  }
  CallLimit::Grow(sizeof(Step::Update), node.id);
  Step::Update update;
  update.input = input;
  update.variable = graph_.node(root.node).variable;
  if (update.variable < 0) {
    update.selector = static_cast<int>(slots_.IndexOf(root));
    update.choices = ChoicesOf(root.node, variables);
  }
  const auto same = [&](const Step::Update& other) { return update.variable >= 0 && other.variable == update.variable; };
  if (const auto other = std::ranges::find_if(step.updates, same); other != step.updates.end()) {
    const std::string& first = node.def->inputs[node.in_first.PortOf(other->input)].name;
    return Error(step.node, InvalidArgument("needs another variable than '", first, "', which is updated as well, found '",
                                            graph_.node(variables[0]).id, "' at both")
                                .WithPort(node.def->inputs[port].name));
  }
  update.may_be_empty = MayBeEmpty(*node.def, port);
  update.before = variables_.Common(variables);
  std::optional<Shape> after = shapes == nullptr ? std::nullopt : update.before;
  for (const auto& [changed, shape] : shapes == nullptr ? kNoChanges : shapes->variables) {
    if (changed == input) after = shape;
  }
  if (after) update.shape = *after;
  variables_.Apply(update, after);
  plan_.updates_variables = true;
  step.updates.push_back(std::move(update));
}

// The variables of Variable nodes that a RefSelect chooses from: all updates that go through it share them.
std::span<const int> StepPlanner::ChoicesOf(int select, std::span<const int> variables) {
  const auto [known, fresh] = choices_.emplace(select, plan_.choices.size());
  if (fresh) {
    CallLimit::Grow(static_cast<int64_t>(sizeof(std::vector<int>) + variables.size() * sizeof(int)), graph_.node(select).id);
    std::vector<int>& choices = plan_.choices.emplace_back();
    choices.reserve(variables.size());
    for (int variable : variables) choices.push_back(graph_.node(variable).variable);
  }
  return plan_.choices[known->second];
}

// Reference outputs are the variable after the step.
void StepPlanner::SetReferenceShapes(const Node& node, const Step& step) {
  if (node.def->flow != Flow::kPlain) return;  // these hand on the reference that they get
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    int source = node.def->outputs[p].reference_of;
    if (source < 0) continue;
    variables_.Describe(slots_.Output(step, node.out_first[p]), node.inputs[node.in_first[source]]);
  }
}

// Outputs that are, or may be, the memory of an input.
void StepPlanner::ShareMemory(const Node& node, const Step& step) {
  auto share = [&](uint32_t output, ValueRef input) {
    slots_.Share(plan_.operands[step.first_output + output], static_cast<int>(slots_.IndexOf(input)));
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
      slots_.Output(step, 0).source = -1;
      slots_.Output(step, 1).storage = Slot::Storage::kOwned;
      break;
    }
    case Flow::kSelect:
      for (size_t v = 1; v < node.inputs.size(); ++v) share(0, node.inputs[v]);
      slots_.Output(step, 0).source = -1;
      break;
    case Flow::kPlain: break;
  }
}

}  // namespace weft
