// Loops: each frame's nodes one after another, so that its steps can be run again; what shapes and memory they need.
#include <algorithm>

#include "runtime/plan/planner.h"

namespace weft {

// The nodes of a frame and of those within it, in the order of their steps. A loop within is arranged as one among the others; then come,
// in its place, the Enter blocks, the steps of an iteration, and last what they leave for the next one.
void Planner::OrderFrame(int frame, int loop, const std::vector<int>& nodes, std::vector<int>& order) {
  std::map<int, std::vector<int>> inner;  // frame -> its nodes
  std::vector<int> own, next;
  for (int node : nodes) {
    int home = graph_.HomeFrame(node);
    while (home != frame && graph_.frames()[home].parent != frame) home = graph_.frames()[home].parent;
    const BlockDef* def = graph_.node(node).def;
    if (home != frame) inner[home].push_back(node);
    else if (frame != 0 && def->flow == Flow::kEnter) order.push_back(node);
    else if (frame != 0 && def->flow == Flow::kNextIteration) next.push_back(node);
    else own.push_back(node);
  }
  if (loop >= 0) loops_[loop].first = order.size();
  Clusters clusters;
  for (auto& [child, members] : inner) {
    clusters.Join(members);
    own.push_back(members[0]);
  }
  std::sort(own.begin(), own.end(), [&](int a, int b) { return graph_.node(a).order < graph_.node(b).order; });
  if (!inner.empty()) own = ProducersFirst(graph_, own, clusters);
  for (int node : Arrange(own, clusters)) {
    int home = graph_.HomeFrame(node);
    while (home != frame && graph_.frames()[home].parent != frame) home = graph_.frames()[home].parent;
    if (home == frame) {
      order.push_back(node);
      continue;
    }
    const int index = static_cast<int>(loops_.size());
    LoopParts& parts = loops_.emplace_back();
    parts.updated = UpdatedBy(inner[home]);
    for (int member : inner[home]) {
      if (graph_.HomeFrame(member) != home || graph_.node(member).def == nullptr) continue;
      if (graph_.node(member).def->flow == Flow::kEnter) parts.entering.push_back(member);
      if (graph_.node(member).def->flow == Flow::kNextIteration) parts.next.push_back(member);
      if (IsLoopCondition(graph_.node(member))) parts.condition = member;
    }
    Loop& added = plan_.loops.emplace_back();
    added.frame = home;
    added.parent = loop;
    OrderFrame(home, index, inner[home], order);
    loops_[index].end = order.size();
  }
  order.insert(order.end(), next.begin(), next.end());
}

std::set<int> Planner::UpdatedBy(const std::vector<int>& nodes) const {
  std::set<int> updated;
  for (int index : nodes) {
    const Node& node = graph_.node(index);
    if (node.def == nullptr) continue;
    for (int port : node.def->updates) {
      for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
        for (int variable : graph_.VariablesOf(node.inputs[v])) updated.insert(graph_.node(variable).variable);
      }
    }
  }
  return updated;
}

void Planner::AddSteps(const std::vector<int>& order) {
  size_t next = 0;  // loop to begin
  auto end_loops = [&](size_t at) {
    while (loop_ >= 0 && loops_[loop_].end == at) EndLoop(loop_);
  };
  for (size_t i = 0; i < order.size(); ++i) {
    end_loops(i);
    for (; next < loops_.size() && loops_[next].first == i; ++next) {
      // Where all that is asked for is what enters it, nothing is left to run.
      if (loops_[next].end > i) BeginLoop(static_cast<int>(next));
    }
    AddStep(order[i]);
  }
  end_loops(order.size());
  if (loops_.empty()) return;
  CheckTrust();
  FindCarried();
}

void Planner::BeginLoop(int index) {
  LoopParts& parts = loops_[index];
  loop_ = index;
  plan_.loops[index].first = static_cast<int>(plan_.steps.size());
  for (int variable : parts.updated) {
    std::optional<Shape>& now = shape_now_[variable];
    if (trust_.none || trust_.variables.contains(variable)) now = std::nullopt;
    // Where it has no value yet, a later iteration may find one.
    if (!now) started_[variable] = 1;
    parts.before.push_back(now);
  }
}

void Planner::EndLoop(int index) {
  LoopParts& parts = loops_[index];
  Loop& loop = plan_.loops[index];
  loop_ = loop.parent;
  loop.last = static_cast<int>(plan_.steps.size()) - 1;
  size_t i = 0;
  for (int variable : parts.updated) {
    std::optional<Shape>& now = shape_now_[variable];
    const std::optional<Shape>& before = parts.before[i++];
    if (before && now != before) {
      misled_ = true;
      trust_.variables.insert(variable);
    }
    if (!before) now = std::nullopt;  // the loop may not have run at all
  }
  auto slot = [&](int node) { return static_cast<uint32_t>(plan_.first_slot[node]); };
  for (int node : parts.entering) {
    int attr = graph_.node(node).def->FindAttr("is_constant");
    const bool* constant = attr < 0 ? nullptr : std::get_if<bool>(&graph_.node(node).attrs[static_cast<size_t>(attr)]);
    if (constant == nullptr || !*constant) loop.entering.push_back(slot(node));
  }
  if (parts.condition >= 0) loop.condition = plan_.first_slot[parts.condition];
  for (int node : parts.next) {
    if (!IsReplaced(node)) loop.next.push_back(slot(node));
  }
}

// A Merge of a loop is planned as if what comes back had the shape of what enters.
void Planner::TrustShape(const Node& merge) {
  const int index = static_cast<int>(&merge - graph_.nodes().data());
  if (trust_.none || trust_.merges.contains(index)) return;
  const Slot* entering = nullptr;
  std::vector<uint32_t> back;
  for (ValueRef input : merge.inputs) {
    const Slot& slot = SlotOf(input);
    const Node& from = graph_.node(input.node);
    if (from.def != nullptr && from.def->flow == Flow::kNextIteration && !slot.shape_known) {
      back.push_back(static_cast<uint32_t>(&slot - plan_.slots.data()));
    } else if (entering == nullptr) {
      entering = &slot;
    }
  }
  if (entering == nullptr || !entering->shape_known) return;
  for (uint32_t slot : back) {
    plan_.slots[slot].shape = entering->shape;
    plan_.slots[slot].shape_known = true;
    trusted_.push_back({index, slot, entering->shape});
  }
}

void Planner::CheckTrust() {
  for (const Trusted& trusted : trusted_) {
    const Slot& slot = plan_.slots[trusted.next];
    if ((slot.shape_known && slot.shape == trusted.shape) || faulty_.contains(trusted.next)) continue;
    misled_ = true;
    trust_.merges.insert(trusted.merge);
  }
}

// In a loop, a variable that the loop updates is read as it is now.
void Planner::AddReads(const Node& node, Step& step) {
  int outermost = loop_;
  while (plan_.loops[outermost].parent >= 0) outermost = plan_.loops[outermost].parent;
  const std::set<int>& updated = loops_[outermost].updated;
  for (uint32_t v = 0; !updated.empty() && v < node.inputs.size(); ++v) {
    int variable = graph_.node(node.inputs[v].node).variable;
    const std::vector<int>& updates = node.def->updates;
    bool is_update = std::find(updates.begin(), updates.end(), node.in_first.PortOf(v)) != updates.end();
    if (variable < 0 || is_update || !updated.contains(variable) || SlotOf(node.inputs[v]).storage == Slot::Storage::kFeed) continue;
    uint32_t slot = AddOwnSlot(node.inputs[v]);
    plan_.operands[step.first_input + v] = slot;
    SetVariableShape(slot, node.inputs[v]);
    step.reads.push_back({v, variable});
  }
}

// What is handed to the next iteration, or out of a loop, cannot lie where the next iteration writes.
void Planner::FindCarried() {
  slot_loop_.assign(plan_.slots.size(), -1);
  std::vector<int> open;
  for (const Step& step : plan_.steps) {
    const Node& node = graph_.node(step.node);
    for (size_t v = 0; v < node.output_types.size(); ++v) slot_loop_[plan_.operands[step.first_output + v]] = step.loop;
    bool hands_on = node.def->flow == Flow::kExit || node.def->flow == Flow::kNextIteration;
    if (hands_on) open.push_back(static_cast<int>(plan_.operands[step.first_output]));
  }
  std::vector<char> visited(plan_.slots.size(), 0);
  while (!open.empty()) {
    int slot = open.back();
    open.pop_back();
    if (visited[slot]) continue;
    visited[slot] = 1;
    if (plan_.slots[slot].storage == Slot::Storage::kArena) plan_.slots[slot].storage = Slot::Storage::kOwned;
    ForSources(static_cast<uint32_t>(slot), [&](int source) { open.push_back(source); });
  }
}

// A value from outside of a loop lives until the loop ends.
int Planner::LastUse(int step, int slot) const {
  if (slot_loop_.empty()) return step;
  int loop = plan_.steps[step].loop;
  if (loop == slot_loop_[slot]) return step;
  while (loop >= 0 && plan_.loops[loop].parent != slot_loop_[slot]) loop = plan_.loops[loop].parent;
  return loop < 0 ? step : plan_.loops[loop].last;
}

}  // namespace weft
