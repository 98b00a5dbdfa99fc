// What is planned, in which order, and what is kept; the steps themselves are in planner_steps.cc.
#include "runtime/plan/planner.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/fusion.h"
#include "weft/page/page.h"

namespace weft {

Plan Planner::Make() {
  plan_.keep = request_.keep;
  plan_.fetches = request_.fetches;
  FindNeeded();
  std::vector<int> order = Order();
  AddSlots(order);
  AddSteps(order);
  MarkKept();
  FindLastUses();
  FuseSteps(graph_, plan_);
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

std::vector<int> Planner::Order() {
  std::vector<int> nodes;
  nodes.reserve(needed_.size());
  bool loops = false, arranged = true;  // no block that others must come before
  for (int i : graph_.in_order()) {
    const Node& node = graph_.node(i);
    // A broken node has been walked through for the faults of what it reads; it does nothing itself.
    if (node.broken) continue;
    if (node.def != nullptr && node.def->structural == Structural::kGradients) gradients_.push_back(i);
    if (!needed_[i]) continue;
    nodes.push_back(i);
    loops |= node.frame != 0;
    slots_ += node.output_types.size();
    inputs_and_outputs_ += node.output_types.size() + node.inputs.size();
    if (node.def == nullptr) continue;
    slots_ += node.def->updates.size();
    arranged &= node.def->updates.empty() && !node.def->waits;
    plan_.has_dead_values |= node.def->flow == Flow::kSwitch || node.def->flow == Flow::kEnter;
  }
  if (!loops && arranged) return nodes;
  is_late_.assign(needed_.size(), 0);
  if (!loops) return Arrange(nodes, Clusters());
  std::vector<int> order;
  OrderFrame(0, -1, nodes, order);
  return order;
}

// Nodes in the graph's order, but updates of variables, and what depends on them, last, so that all that read the old values have run.
std::vector<int> Planner::Arrange(const std::vector<int>& nodes, const Clusters& clusters) {
  std::vector<int> early, late;
  early.reserve(nodes.size());
  for (const int& i : nodes) {
    bool after = false;
    for (int member : clusters.Members(i)) {
      const Node& node = graph_.node(member);
      after |= node.def != nullptr && !node.def->updates.empty();
      for (ValueRef input : node.inputs) after |= input.valid() && is_late_[clusters.Of(input.node)] != 0;
    }
    is_late_[i] = after;
    (after ? late : early).push_back(i);
  }
  for (int i : nodes) is_late_[i] = 0;  // a loop's own steps are arranged without regard to what lies outside
  early = WaitingLast(graph_, std::move(early), clusters);
  for (int i : OrderUpdates(graph_, late, clusters)) early.push_back(i);
  return early;
}

void Planner::AddSlots(const std::vector<int>& order) {
  plan_.first_slot.assign(needed_.size(), -1);
  plan_.slots.reserve(slots_ + request_.feeds.size());
  plan_.operands.reserve(inputs_and_outputs_);
  plan_.steps.reserve(order.size());
  const size_t blocks = request_.keep == Keep::kAll ? graph_.page().blocks.size() : 0;
  for (int i : order) {
    const Node& node = graph_.node(i);
    plan_.first_slot[i] = static_cast<int>(plan_.slots.size());
    const bool result = std::cmp_less(i, blocks) && !(node.def != nullptr && node.def->structural == Structural::kGradients);
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      Slot& slot = plan_.slots.emplace_back();
      slot.value = {i, static_cast<int>(v)};
      slot.dtype = node.output_types[v];
      slot.kept = slot.result = result;
    }
  }
  for (const PlanRequest::Feed& feed : request_.feeds) {
    if (plan_.first_slot[feed.value.node] < 0) continue;
    Slot& slot = SlotOf(feed.value);
    slot.storage = Slot::Storage::kFeed;
    slot.shape = feed.shape;
    slot.shape_known = true;
  }
  first_source_.reserve(plan_.slots.capacity());
  first_source_.assign(plan_.slots.size(), -1);
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
    // Values of other blocks of the page were marked when their slots were made.
    for (int node : gradients_) {
      for (ValueRef gradient : graph_.node(node).inputs) keep(gradient, true);
    }
  }
  // Memory that a kept slot shares is kept, too. Sources come earlier, so going backwards reaches all.
  for (size_t s = sources_.empty() ? 0 : plan_.slots.size(); s-- > 0;) {
    if (plan_.slots[s].kept) ForSources(static_cast<uint32_t>(s), [&](int source) { plan_.slots[source].kept = true; });
  }
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    Slot& slot = plan_.slots[s];
    if (!slot.kept || slot.storage != Slot::Storage::kArena) continue;
    // What a later iteration leaves out keeps what it had, so that it cannot be where the iteration writes.
    bool in_loop = !slot_loop_.empty() && slot_loop_[s] >= 0;
    slot.storage = in_loop ? Slot::Storage::kOwned : Slot::Storage::kKept;
  }
}

// Whether a variable must have a value when the run starts. An update may start from what an earlier one of this run leaves; of a handle it
// says itself that there is none.
static bool NeedsValue(const BlockDef& def, int port, bool is_update, bool is_updated) {
  if (std::find(def.uninitialized.begin(), def.uninitialized.end(), port) != def.uninitialized.end()) return false;
  return !is_update || (!is_updated && !def.inputs[port].resource);
}

void Planner::FindLastUses() {
  std::vector<char> required(graph_.variables().size(), 0), updated(required);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    const Node& node = graph_.node(step.node);
    for (uint32_t v = 0; v < node.inputs.size(); ++v) {
      const uint32_t index = plan_.operands[step.first_input + v];
      Slot& slot = plan_.slots[index];
      slot.last_use = std::max(slot.last_use, LastUse(static_cast<int>(s), static_cast<int>(index)));
      // Without loops, nothing else is a variable.
      if (slot.storage != Slot::Storage::kVariable && plan_.loops.empty()) continue;
      int variable = graph_.node(slot.value.node).variable;
      if (variable < 0 || slot.storage == Slot::Storage::kFeed) continue;
      auto update = std::find_if(step.updates.begin(), step.updates.end(), [&](const Step::Update& u) { return u.input == v; });
      if (NeedsValue(*node.def, node.in_first.PortOf(v), update != step.updates.end(), updated[variable] != 0)) required[variable] = 1;
    }
    for (const Step::Update& update : step.updates) {
      if (update.variable >= 0) updated[update.variable] = 1;
    }
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      Slot& slot = plan_.slots[plan_.operands[step.first_output + v]];
      slot.last_use = std::max(slot.last_use, static_cast<int>(s));
    }
  }
  for (const Loop& loop : plan_.loops) {
    if (loop.condition >= 0) plan_.slots[loop.condition].last_use = std::max(plan_.slots[loop.condition].last_use, loop.last);
  }
  for (size_t s = sources_.empty() ? 0 : plan_.slots.size(); s-- > 0;) {
    if (plan_.slots[s].last_use < 0) continue;
    ForSources(static_cast<uint32_t>(s), [&](int source) {
      int& last_use = plan_.slots[source].last_use;
      last_use = std::max(last_use, LastUse(plan_.slots[s].last_use, source));
    });
  }
  for (ValueRef fetch : request_.fetches) {
    int variable = graph_.node(fetch.node).variable;
    if (variable >= 0 && !IsFed(fetch)) required[variable] = 1;
  }
  for (size_t v = 0; v < required.size(); ++v) {
    if (required[v]) plan_.required_variables.push_back(static_cast<int>(v));
  }
}

Plan MakePlan(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics) {
  constexpr int kMostPlans = 8;
  LoopTrust trust;
  for (int attempt = 1;; ++attempt) {
    trust.none = attempt == kMostPlans;
    Diagnostics found;
    Planner planner(graph, request, found, trust);
    Plan plan = planner.Make();
    if (planner.misled()) continue;
    diagnostics.Append(std::move(found));
    return plan;
  }
}

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
  for (size_t v = 0; v < graph.variables().size(); ++v) {
    const Tensor& initial = graph.node(graph.variables()[v]).constant;
    request.variable_shapes.push_back(initial.defined() ? initial.shape() : graph.variable_info(static_cast<int>(v)).declared.shape());
  }
  return request;
}

}  // namespace weft
