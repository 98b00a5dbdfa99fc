// The planner: needed nodes -> order -> shapes -> slots -> steps.
#include <algorithm>
#include <queue>

#include "runtime/plan/waiting_order.h"
#include "weft/page/page.h"
#include "weft/plan/plan.h"

namespace weft {
namespace {

const std::vector<std::pair<uint32_t, Shape>> kNoChanges;

bool MayBeEmpty(const BlockDef& def, int port) {
  return std::find(def.uninitialized.begin(), def.uninitialized.end(), port) != def.uninitialized.end();
}

class Planner {
 public:
  Planner(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics)
      : graph_(graph), request_(request), diagnostics_(diagnostics), needed_(graph.nodes().size(), 0), is_target_(graph.nodes().size(), 0),
        shape_now_(request.variable_shapes) {
    for (int node : request.run) is_target_[node] = 1;
    started_.resize(request.variable_shapes.size(), 0);
  }

  Plan Make();

 private:
  void FindNeeded();
  std::vector<int> Order() const;
  void AddSlots(const std::vector<int>& order);
  void AddStep(int node);
  void CheckFeeds(int node);
  void AddOperands(const Node& node, Step& step);
  uint32_t AddOwnSlot(ValueRef value);
  bool StaticInputs(const Node& node, const Step& step, std::vector<InputInfo>& inputs) const;
  void PlanStatic(const Node& node, Step& step, const std::vector<InputInfo>& inputs);
  void SetShapes(const Node& node, const Step& step, PlannedShapes& shapes);
  bool BindForward(const Step& step);
  void AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes);
  void SetReferenceShapes(const Node& node, const Step& step);
  void ShareMemory(const Node& node, const Step& step);
  void MarkKept();
  void FindLastUses();

  Slot& SlotOf(ValueRef value) { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  const Slot& SlotOf(ValueRef value) const { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  Slot& In(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_input + v]]; }
  const Slot& In(const Step& step, size_t v) const { return plan_.slots[plan_.operands[step.first_input + v]]; }
  Slot& Out(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_output + v]]; }
  bool IsFed(ValueRef value) const {
    return std::any_of(request_.feeds.begin(), request_.feeds.end(), [&](const auto& feed) { return feed.value == value; });
  }
  bool IsReplaced(int index) const;

  const Graph& graph_;
  const PlanRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<char> needed_;
  std::vector<char> is_target_;            // nodes run for their effect
  std::vector<std::vector<int>> sources_;  // by slot: the slots whose memory it may share
  std::vector<std::optional<Shape>> shape_now_;  // by Graph::variables(): the shape after the updates planned so far
  std::vector<char> started_;              // by Graph::variables(): an update planned so far gives it a value
  int64_t total_bytes_ = 0;
  Plan plan_;
};

Plan Planner::Make() {
  plan_.keep = request_.keep;
  plan_.fetches = request_.fetches;
  FindNeeded();
  std::vector<int> order = Order();
  AddSlots(order);
  for (int node : order) {
    const BlockDef* def = graph_.node(node).def;
    if (def != nullptr && def->flow == Flow::kSwitch) plan_.has_dead_values = true;
  }
  for (int node : order) AddStep(node);
  MarkKept();
  FindLastUses();
  PlanMemory(graph_, plan_);
  return std::move(plan_);
}

// Whether feeds stand for all that a node would compute. What a host wants run for its effect runs all the same; a Placeholder has none.
bool Planner::IsReplaced(int index) const {
  const Node& node = graph_.node(index);
  if (request_.feeds.empty() || node.output_types.empty() || (is_target_[index] && !node.inputs.empty())) return false;
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    if (!IsFed({index, static_cast<int>(v)})) return false;
  }
  return true;
}

void Planner::FindNeeded() {
  std::vector<int> stack;
  auto need = [&](int node) {
    if (!needed_[node]) {
      needed_[node] = 1;
      stack.push_back(node);
    }
  };
  for (ValueRef fetch : request_.fetches) need(fetch.node);
  for (int node : request_.run) need(node);
  while (!stack.empty()) {
    const Node& node = graph_.node(stack.back());
    stack.pop_back();
    if (node.variable >= 0) continue;
    if (IsReplaced(static_cast<int>(&node - graph_.nodes().data()))) continue;
    for (ValueRef input : node.inputs) {
      if (input.valid()) need(input.node);
    }
  }
}

// The graph's order; updates of variables, and what depends on them, come last, so that all that read the old values have run.
std::vector<int> Planner::Order() const {
  std::vector<int> nodes;
  for (size_t i = 0; i < needed_.size(); ++i) {
    // A broken node has been walked through for the faults of what it reads; it does nothing itself.
    if (needed_[i] && !graph_.node(static_cast<int>(i)).broken) nodes.push_back(static_cast<int>(i));
  }
  std::sort(nodes.begin(), nodes.end(), [&](int a, int b) { return graph_.node(a).order < graph_.node(b).order; });
  std::vector<char> is_late(needed_.size(), 0);
  std::vector<int> early, late;
  for (int i : nodes) {
    const Node& node = graph_.node(i);
    bool after = node.def != nullptr && !node.def->updates.empty();
    for (ValueRef input : node.inputs) after |= input.valid() && is_late[input.node] != 0;
    is_late[i] = after;
    (after ? late : early).push_back(i);
  }
  early = WaitingLast(graph_, std::move(early));
  for (int i : OrderUpdates(graph_, late)) early.push_back(i);
  return early;
}

void Planner::AddSlots(const std::vector<int>& order) {
  plan_.first_slot.assign(needed_.size(), -1);
  for (int i : order) {
    const Node& node = graph_.node(i);
    plan_.first_slot[i] = static_cast<int>(plan_.slots.size());
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      Slot& slot = plan_.slots.emplace_back();
      slot.value = {i, static_cast<int>(v)};
      slot.dtype = node.output_types[v];
    }
  }
  for (const PlanRequest::Feed& feed : request_.feeds) {
    if (plan_.first_slot[feed.value.node] < 0) continue;
    Slot& slot = SlotOf(feed.value);
    slot.storage = Slot::Storage::kFeed;
    slot.shape = feed.shape;
    slot.shape_known = true;
  }
  sources_.resize(plan_.slots.size());
}

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
    diagnostics_.Error(PlaceAtNode(
        graph_, index, InvalidArgument("the feed of '", graph_.ValueName(value), "' needs the shape ", needed, ", found ", SlotOf(value).shape)));
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
      diagnostics_.Error(PlaceAtNode(graph_, step.node, ResourceExhausted("the output '", graph_.ValueName(slot.value), "' needs memory for ",
                                                                         slot.shape, " elements of ", slot.dtype, ", more than any machine has")));
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
        diagnostics_.Error(PlaceAtNode(graph_, step.node, InvalidArgument("needs a Variable, found ", found).WithPort(node.def->inputs[port].name)));
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

void Planner::MarkKept() {
  auto keep = [&](ValueRef value, bool result) {
    if (!value.valid() || plan_.first_slot[value.node] < 0) return;
    Slot& slot = SlotOf(value);
    slot.kept = true;
    slot.result |= result;
  };
  for (ValueRef fetch : request_.fetches) keep(fetch, true);
  if (request_.keep == Keep::kAll) {
    for (size_t i = 0; i < graph_.page().blocks.size(); ++i) {
      const Node& node = graph_.node(static_cast<int>(i));
      if (node.def != nullptr && node.def->structural == Structural::kGradients && !node.broken) {
        for (ValueRef gradient : node.inputs) keep(gradient, true);
      } else if (needed_[i]) {
        for (size_t v = 0; v < node.output_types.size(); ++v) keep({static_cast<int>(i), static_cast<int>(v)}, true);
      }
    }
  }
  // Memory that a kept slot shares is kept, too. Sources come earlier, so going backwards reaches all.
  for (size_t s = plan_.slots.size(); s-- > 0;) {
    if (!plan_.slots[s].kept) continue;
    for (int source : sources_[s]) plan_.slots[source].kept = true;
  }
  for (Slot& slot : plan_.slots) {
    if (slot.kept && slot.storage == Slot::Storage::kArena) slot.storage = Slot::Storage::kKept;
  }
}

void Planner::FindLastUses() {
  std::vector<char> required(graph_.variables().size(), 0), updated(required);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    const Node& node = graph_.node(step.node);
    for (uint32_t v = 0; v < node.inputs.size(); ++v) {
      Slot& slot = plan_.slots[plan_.operands[step.first_input + v]];
      slot.last_use = static_cast<int>(s);
      int variable = graph_.node(slot.value.node).variable;
      if (variable < 0 || slot.storage == Slot::Storage::kFeed) continue;
      auto update = std::find_if(step.updates.begin(), step.updates.end(), [&](const Step::Update& u) { return u.input == v; });
      // An update needs a value to start from, unless it says otherwise or an earlier one of this run leaves one.
      if (update == step.updates.end() ? true : !update->may_be_empty && !updated[variable]) required[variable] = 1;
    }
    for (const Step::Update& update : step.updates) updated[update.variable] = 1;
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      Slot& slot = plan_.slots[plan_.operands[step.first_output + v]];
      slot.last_use = std::max(slot.last_use, static_cast<int>(s));
    }
  }
  for (size_t s = plan_.slots.size(); s-- > 0;) {
    for (int source : sources_[s]) plan_.slots[source].last_use = std::max(plan_.slots[source].last_use, plan_.slots[s].last_use);
  }
  for (ValueRef fetch : request_.fetches) {
    int variable = graph_.node(fetch.node).variable;
    if (variable >= 0 && !IsFed(fetch)) required[variable] = 1;
  }
  for (size_t v = 0; v < required.size(); ++v) {
    if (required[v]) plan_.required_variables.push_back(static_cast<int>(v));
  }
}

}  // namespace

Plan MakePlan(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics) { return Planner(graph, request, diagnostics).Make(); }

Result<PlannedBlock> PlanNode(const Node& node, std::span<const InputInfo> inputs, PlannedShapes& shapes) {
  BlockSignature signature{inputs, node.output_types, node.in_first.table(), node.out_first.table()};
  PlanContext ctx(*node.def, node.attrs, signature);
  WEFT_ASSIGN_OR_RETURN(PlannedBlock planned, node.def->plan(ctx));
  shapes = ctx.take_planned();
  return planned;
}

Status PlaceAtNode(const Graph& graph, int node, Status status) {
  const Node& n = graph.node(node);
  std::string pointer;
  const Page& page = graph.page();
  if (n.page_block >= 0) {
    pointer = BlockPointer(page, static_cast<size_t>(n.page_block));
    const std::string& port = status.place().port;
    if (!n.added && !port.empty() && page.blocks[n.page_block].pointer.empty()) {
      if (n.def->FindInput(port) >= 0) pointer += Cat("/inputs/", port);
      else if (n.def->FindAttr(port) >= 0) pointer += "/attrs";
    }
  }
  return std::move(status).WithPage(graph.name()).WithPointer(pointer).WithBlock(n.id);
}

PlanRequest RequestFor(const Graph& graph, const SessionSpec& session, Keep keep) {
  PlanRequest request;
  for (const auto& fetch : session.fetches) request.fetches.push_back(fetch.value);
  request.run = session.run;
  for (const auto& feed : session.feeds) request.feeds.push_back({feed.value, feed.tensor.shape()});
  request.keep = keep;
  for (int index : graph.variables()) {
    const Node& node = graph.node(index);
    std::optional<Shape> shape;
    if (node.constant.defined()) shape = node.constant.shape();
    int attr = node.def->FindAttr("shape");
    if (!shape && attr >= 0) {
      if (const auto* partial = std::get_if<PartialShape>(&node.attrs[attr])) shape = partial->shape();
    }
    request.variable_shapes.push_back(std::move(shape));
  }
  return request;
}

}  // namespace weft
