// The planner: needed nodes -> order -> shapes -> slots -> steps.
#include <algorithm>
#include <queue>

#include "weft/page/page.h"
#include "weft/plan/plan.h"

namespace weft {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics)
      : graph_(graph), request_(request), diagnostics_(diagnostics), needed_(graph.nodes().size(), 0) {}

  Plan Make();

 private:
  void FindNeeded();
  std::vector<int> Order() const;
  std::vector<int> OrderUpdates(const std::vector<int>& late) const;
  void AddSlots(const std::vector<int>& order);
  void AddStep(int node);
  void CheckFeeds(int node);
  bool StaticInputs(const Node& node, std::vector<InputInfo>& inputs) const;
  void PlanStatic(const Node& node, Step& step, const std::vector<InputInfo>& inputs);
  void AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes);
  void ShareMemory(const Node& node, const Step& step);
  void MarkKept();
  void FindLastUses();

  Slot& SlotOf(ValueRef value) { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  const Slot& SlotOf(ValueRef value) const { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  bool IsFed(ValueRef value) const {
    return std::any_of(request_.feeds.begin(), request_.feeds.end(), [&](const auto& feed) { return feed.value == value; });
  }

  const Graph& graph_;
  const PlanRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<char> needed_;
  std::vector<std::vector<int>> sources_;  // by slot: the slots whose memory it may share
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
    bool all_fed = !node.output_types.empty() && !request_.feeds.empty();
    for (size_t v = 0; all_fed && v < node.output_types.size(); ++v) {
      all_fed = IsFed({static_cast<int>(&node - graph_.nodes().data()), static_cast<int>(v)});
    }
    if (all_fed) continue;
    for (ValueRef input : node.inputs) {
      if (input.valid()) need(input.node);
    }
  }
}

// The graph's order; updates of variables, and what depends on them, come last, so that all that read the old values have run.
std::vector<int> Planner::Order() const {
  std::vector<int> nodes;
  for (size_t i = 0; i < needed_.size(); ++i) {
    if (needed_[i]) nodes.push_back(static_cast<int>(i));
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
  for (int i : OrderUpdates(late)) early.push_back(i);
  return early;
}

// Updates in page order, where the wires between them do not say otherwise.
std::vector<int> Planner::OrderUpdates(const std::vector<int>& late) const {
  std::vector<int> waiting(needed_.size(), -1);
  for (int i : late) waiting[i] = 0;
  std::vector<std::pair<int, int>> wires;
  for (int i : late) {
    for (ValueRef input : graph_.node(i).inputs) {
      if (input.valid() && waiting[input.node] >= 0) wires.emplace_back(input.node, i), ++waiting[i];
    }
  }
  std::sort(wires.begin(), wires.end());
  auto key = [&](int i) { return std::pair(graph_.node(i).page_block, graph_.node(i).order); };
  auto later = [&](int a, int b) { return key(a) > key(b); };
  std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
  for (int i : late) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (auto it = std::lower_bound(wires.begin(), wires.end(), std::pair(i, -1)); it != wires.end() && it->first == i; ++it) {
      if (--waiting[it->second] == 0) ready.push(it->second);
    }
  }
  return order;
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
  bool fed = !node.output_types.empty();
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    fed &= SlotOf({index, static_cast<int>(v)}).storage == Slot::Storage::kFeed;
  }
  if (fed) return CheckFeeds(index);

  Step step;
  step.node = index;
  step.first_input = static_cast<uint32_t>(plan_.operands.size());
  for (ValueRef input : node.inputs) plan_.operands.push_back(static_cast<uint32_t>(plan_.first_slot[input.node] + input.output));
  step.first_output = static_cast<uint32_t>(plan_.operands.size());
  for (size_t v = 0; v < node.output_types.size(); ++v) plan_.operands.push_back(static_cast<uint32_t>(plan_.first_slot[index]) + v);

  std::vector<InputInfo> inputs;
  if (StaticInputs(node, inputs)) {
    PlanStatic(node, step, inputs);
  } else {
    step.kind = Step::Kind::kDynamic;
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      Slot& slot = SlotOf({index, static_cast<int>(v)});
      if (slot.storage != Slot::Storage::kFeed) slot.storage = Slot::Storage::kOwned;
    }
    AddUpdates(node, step, nullptr);
  }
  if (node.def->flow == Flow::kSwitch) step.kind = Step::Kind::kSwitch;
  if (node.def->flow == Flow::kMerge) step.kind = Step::Kind::kMerge;
  ShareMemory(node, step);
  // Where the memory is known before the run and no value can be dead, the forwarded slot is bound once and needs no step.
  if (step.kind == Step::Kind::kForward && !plan_.has_dead_values) {
    int source = SlotOf({index, 0}).source;
    while (source >= 0 && plan_.slots[source].storage == Slot::Storage::kShared) source = plan_.slots[source].source;
    if (source >= 0) {
      Slot::Storage storage = plan_.slots[source].storage;
      if (storage == Slot::Storage::kArena || storage == Slot::Storage::kConstant) return;
    }
  }
  plan_.steps.push_back(std::move(step));
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
bool Planner::StaticInputs(const Node& node, std::vector<InputInfo>& inputs) const {
  for (ValueRef input : node.inputs) {
    const Slot& slot = SlotOf(input);
    if (!slot.shape_known) return false;
    const Node& producer = graph_.node(input.node);
    bool constant = slot.storage == Slot::Storage::kConstant;
    inputs.push_back({slot.dtype, &slot.shape, constant ? &producer.constant : nullptr});
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
    for (size_t v = 0; v < node.output_types.size(); ++v) SlotOf({step.node, static_cast<int>(v)}).storage = Slot::Storage::kOwned;
    return;
  }
  step.block = std::move(*planned);
  step.scratch_bytes = shapes.scratch_bytes;
  step.kind = node.def->flow == Flow::kForward ? Step::Kind::kForward : step.block.produce ? Step::Kind::kProduce : Step::Kind::kRun;
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    Slot& slot = SlotOf({step.node, static_cast<int>(v)});
    if (slot.storage == Slot::Storage::kFeed) {
      // A fed output of a block that runs for its other outputs: what the block computes for it goes nowhere.
      continue;
    }
    bool unknown = !shapes.unknown.empty() && shapes.unknown[v];
    if (!unknown) slot.shape = std::move(shapes.outputs[v]);
    slot.shape_known = !unknown && step.kind != Step::Kind::kProduce;
    if (unknown || step.kind == Step::Kind::kProduce || IsManaged(slot.dtype)) slot.storage = Slot::Storage::kOwned;
    if (!unknown && step.kind == Step::Kind::kProduce) slot.shape_known = true;
  }
  AddUpdates(node, step, &shapes);
}

void Planner::AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes) {
  for (int port : node.def->updates) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      Step::Update update;
      update.input = v;
      int variable = graph_.VariableOf(node.inputs[v]);
      if (variable < 0) {
        diagnostics_.Error(PlaceAtNode(graph_, step.node, InvalidArgument("needs a Variable, found a value").WithPort(node.def->inputs[port].name)));
        continue;
      }
      update.variable = graph_.node(variable).variable;
      if (shapes != nullptr) {
        for (const auto& [input, shape] : shapes->variables) {
          if (input == v) update.shape = shape, update.same_shape = false;
        }
      }
      plan_.updates_variables = true;
      step.updates.push_back(std::move(update));
    }
  }
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    int source = node.def->outputs[p].reference_of;
    if (source < 0) continue;
    Slot& slot = SlotOf({step.node, static_cast<int>(node.out_first[p])});
    slot.storage = Slot::Storage::kVariable;
    if (shapes == nullptr) continue;
    const Slot& input = SlotOf(node.inputs[node.in_first[source]]);
    slot.shape_known = input.shape_known;
    slot.shape = input.shape;
    for (const auto& [v, shape] : shapes->variables) {
      if (v == node.in_first[source]) slot.shape = shape, slot.shape_known = true;
    }
  }
}

void Planner::ShareMemory(const Node& node, const Step& step) {
  auto share = [&](int output, ValueRef input) {
    Slot& slot = SlotOf({step.node, output});
    int source = plan_.first_slot[input.node] + input.output;
    if (slot.storage == Slot::Storage::kFeed) return;
    slot.storage = Slot::Storage::kShared;
    slot.source = source;
    sources_[plan_.first_slot[step.node] + output].push_back(source);
  };
  switch (node.def->flow) {
    case Flow::kForward: share(0, node.inputs[0]); break;
    case Flow::kSwitch:
      share(0, node.inputs[0]);
      share(1, node.inputs[0]);
      break;
    case Flow::kMerge: {
      for (ValueRef input : node.inputs) share(0, input);
      SlotOf({step.node, 0}).source = -1;
      // Which input it will be is not known, so neither is its shape, unless all agree (then Plan set it).
      Slot& index = SlotOf({step.node, 1});
      if (index.storage != Slot::Storage::kFeed) index.storage = Slot::Storage::kOwned;
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
      if (node.def != nullptr && node.def->structural == Structural::kGradients) {
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
  std::vector<char> required(graph_.variables().size(), 0);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    const Node& node = graph_.node(step.node);
    for (uint32_t v = 0; v < node.inputs.size(); ++v) {
      Slot& slot = plan_.slots[plan_.operands[step.first_input + v]];
      slot.last_use = static_cast<int>(s);
      int variable = graph_.node(slot.value.node).variable;
      if (variable < 0 || slot.storage == Slot::Storage::kFeed) continue;
      int port = node.in_first.PortOf(v);
      const std::vector<int>& may = node.def->uninitialized;
      if (std::find(may.begin(), may.end(), port) == may.end()) required[variable] = 1;
    }
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
