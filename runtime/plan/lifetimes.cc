#include "runtime/plan/lifetimes.h"

#include <algorithm>

#include "runtime/base/call_limit.h"

namespace weft {

Lifetimes::Lifetimes(const Graph& graph, Plan& plan, const PlanSlots& slots) : graph_(graph), plan_(plan), slots_(slots) {
  if (plan.loops.empty()) return;
  loop_of_.assign(plan.slots.size(), -1);
  for (const Step& step : plan.steps) {
    const size_t outputs = graph.node(step.node).output_types.size();
    for (size_t v = 0; v < outputs; ++v) loop_of_[plan.operands[step.first_output + v]] = step.loop;
  }
}

void Lifetimes::KeepAcrossIterations() {
  if (plan_.loops.empty()) return;
  std::vector<int> open;
  for (const Step& step : plan_.steps) {
    const Flow flow = graph_.node(step.node).def->flow;
    if (flow == Flow::kExit || flow == Flow::kNextIteration) open.push_back(static_cast<int>(plan_.operands[step.first_output]));
  }
  std::vector<char> visited(plan_.slots.size(), 0);
  while (!open.empty()) {
    int slot = open.back();
    open.pop_back();
    if (visited[slot]) continue;
    visited[slot] = 1;
    if (plan_.slots[slot].storage == Slot::Storage::kArena) plan_.slots[slot].storage = Slot::Storage::kOwned;
    slots_.ForSources(static_cast<uint32_t>(slot), [&](int source) { open.push_back(source); });
  }
}

// Values of other blocks of the page were marked when their slots were made.
void Lifetimes::MarkGradients() {
  if (graph_.gradients().size() <= plan_.slots.size()) {
    for (const OfferedGradient& gradient : graph_.gradients()) {
      if (const int slot = plan_.SlotOf(gradient.value); slot >= 0) plan_.slots[slot].kept = plan_.slots[slot].result = true;
    }
    return;
  }
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    Slot& slot = plan_.slots[s];
    const bool own = plan_.SlotOf(slot.value) == static_cast<int>(s);  // others are those of updates
    if (own && graph_.node(slot.value.node).added && !graph_.GradientsOf(slot.value).empty()) slot.kept = slot.result = true;
  }
}

void Lifetimes::MarkKept(const PlanRequest& request) {
  auto keep = [&](ValueRef value) {
    if (!value.valid() || plan_.first_slot[value.node] < 0) return;
    Slot& slot = plan_.slots[slots_.IndexOf(value)];
    slot.kept = slot.result = true;
  };
  for (ValueRef fetch : request.fetches) {
    CallLimit::Check();
    keep(fetch);
  }
  if (request.keep == Keep::kAll) MarkGradients();
  // Memory that a kept slot shares is kept, too. Sources come earlier, so going backwards reaches all.
  for (size_t s = slots_.any_shared() ? plan_.slots.size() : 0; s-- > 0;) {
    if (plan_.slots[s].kept) slots_.ForSources(static_cast<uint32_t>(s), [&](int source) { plan_.slots[source].kept = true; });
  }
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    CallLimit::Check();
    Slot& slot = plan_.slots[s];
    if (!slot.kept || slot.storage != Slot::Storage::kArena) continue;
    // A result that later iterations leave out keeps its value, so that it cannot lie where they write.
    const bool in_loop = !loop_of_.empty() && loop_of_[s] >= 0;
    slot.storage = in_loop ? Slot::Storage::kOwned : Slot::Storage::kKept;
  }
}

// Whether a variable must have a value when the run starts. An update may start from what an earlier one of this run leaves; a block that
// takes a handle reports a missing value itself.
static bool NeedsValue(const BlockDef& def, int port, bool is_update, bool is_updated) {
  if (std::find(def.uninitialized.begin(), def.uninitialized.end(), port) != def.uninitialized.end()) return false;
  return !is_update || (!is_updated && !def.inputs[port].resource);
}

// What a step reads and makes; which variables it requires to have a value, and which it updates.
void Lifetimes::NoteStep(int s) {
  CallLimit::Check();
  const Step& step = plan_.steps[s];
  const Node& node = graph_.node(step.node);
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const uint32_t index = plan_.operands[step.first_input + v];
    Slot& slot = plan_.slots[index];
    slot.last_use = std::max(slot.last_use, LastUse(s, static_cast<int>(index)));
    // Without loops, nothing else is a variable.
    if (slot.storage != Slot::Storage::kVariable && plan_.loops.empty()) continue;
    int variable = graph_.node(slot.value.node).variable;
    if (variable < 0 || slot.storage == Slot::Storage::kFeed) continue;
    const bool is_update = std::any_of(step.updates.begin(), step.updates.end(), [&](const Step::Update& u) { return u.input == v; });
    if (NeedsValue(*node.def, node.in_first.PortOf(v), is_update, updated_.contains(variable))) required_.insert(variable);
  }
  for (const Step::Update& update : step.updates) {
    if (update.variable >= 0) updated_.insert(update.variable);
  }
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    CallLimit::Check();
    Slot& slot = plan_.slots[plan_.operands[step.first_output + v]];
    slot.last_use = std::max(slot.last_use, s);
  }
}

void Lifetimes::FindLastUses(const PlanRequest& request, const FedValues& fed) {
  for (size_t s = 0; s < plan_.steps.size(); ++s) NoteStep(static_cast<int>(s));
  for (const Loop& loop : plan_.loops) {
    if (loop.condition >= 0) plan_.slots[loop.condition].last_use = std::max(plan_.slots[loop.condition].last_use, loop.last);
  }
  for (size_t s = slots_.any_shared() ? plan_.slots.size() : 0; s-- > 0;) {
    if (plan_.slots[s].last_use < 0) continue;
    slots_.ForSources(static_cast<uint32_t>(s), [&](int source) {
      int& last_use = plan_.slots[source].last_use;
      last_use = std::max(last_use, LastUse(plan_.slots[s].last_use, source));
    });
  }
  for (ValueRef fetch : request.fetches) {
    CallLimit::Check();
    int variable = graph_.node(fetch.node).variable;
    if (variable >= 0 && !fed.Contains(fetch)) required_.insert(variable);
  }
  plan_.required_variables.assign(required_.begin(), required_.end());
}

// The last step for which a slot that `step` reads has to be there: a value from outside of a loop lives until the loop ends.
int Lifetimes::LastUse(int step, int slot) const {
  if (loop_of_.empty()) return step;
  int loop = plan_.steps[step].loop;
  if (loop == loop_of_[slot]) return step;
  while (loop >= 0 && plan_.loops[loop].parent != loop_of_[slot]) loop = plan_.loops[loop].parent;
  return loop < 0 ? step : plan_.loops[loop].last;
}

}  // namespace weft
