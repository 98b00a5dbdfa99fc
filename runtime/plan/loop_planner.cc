#include "runtime/plan/loop_planner.h"

#include <algorithm>

#include "runtime/base/call_limit.h"

namespace weft {

LoopPlanner::LoopPlanner(const Graph& graph, const NodesToRun& nodes, const FedValues& fed, Plan& plan, PlanSlots& slots,
                         VariableShapes& variables, ShapeSpeculation& speculation)
    : graph_(graph), loops_(nodes.loops), fed_(fed), plan_(plan), slots_(slots), variables_(variables), speculation_(speculation),
      before_(nodes.loops.size()) {
  for (const NodesToRun::Loop& loop : loops_) {
    Loop& added = plan.loops.emplace_back();
    added.frame = loop.frame;
    added.parent = loop.parent;
  }
}

void LoopPlanner::Reach(size_t at) {
  while (current_ >= 0 && loops_[current_].end == at) End(current_);
  for (; next_ < loops_.size() && loops_[next_].first == at; ++next_) {
    // Where all that is asked for is what enters it, nothing is left to run.
    if (loops_[next_].end > at) Begin(static_cast<int>(next_));
  }
}

void LoopPlanner::Begin(int index) {
  current_ = index;
  plan_.loops[index].first = static_cast<int>(plan_.steps.size());
  for (int variable : loops_[index].updated) {
    if (speculation_.off || speculation_.open_variables.contains(variable)) variables_.Set(variable, std::nullopt);
    // Where it has no value yet, a later iteration may find one.
    if (!variables_.Of(variable)) variables_.SetMayHaveValue(variable);
    before_[index].push_back(variables_.Of(variable));
  }
}

void LoopPlanner::End(int index) {
  const NodesToRun::Loop& nodes = loops_[index];
  Loop& loop = plan_.loops[index];
  current_ = loop.parent;
  loop.last = static_cast<int>(plan_.steps.size()) - 1;
  size_t i = 0;
  for (int variable : nodes.updated) {
    const std::optional<Shape>& before = before_[index][i++];
    if (before && variables_.Of(variable) != before) {
      speculation_.failed = true;
      speculation_.open_variables.insert(variable);
    }
    if (!before) variables_.Set(variable, std::nullopt);  // the loop may not have run at all
  }
  auto slot = [&](int node) { return static_cast<uint32_t>(plan_.first_slot[node]); };
  for (int node : nodes.entering) {
    int attr = graph_.node(node).def->FindAttr("is_constant");
    const bool* constant = attr < 0 ? nullptr : std::get_if<bool>(&graph_.node(node).attrs[static_cast<size_t>(attr)]);
    if (constant == nullptr || !*constant) loop.entering.push_back(slot(node));
  }
  if (nodes.condition >= 0) loop.condition = plan_.first_slot[nodes.condition];
  for (int node : nodes.next) {
    if (!fed_.Replace(node)) loop.next.push_back(slot(node));
  }
}

void LoopPlanner::AssumeShapes(int merge) {
  if (speculation_.off || speculation_.open_merges.contains(merge)) return;
  const Slot* entering = nullptr;
  std::vector<uint32_t> back;
  for (ValueRef input : graph_.node(merge).inputs) {
    const Slot& slot = slots_.Of(input);
    const Node& from = graph_.node(input.node);
    if (from.def != nullptr && from.def->flow == Flow::kNextIteration && !slot.shape_known) back.push_back(slots_.IndexOf(input));
    else if (entering == nullptr) entering = &slot;
  }
  if (entering == nullptr || !entering->shape_known) return;
  for (uint32_t slot : back) {
    plan_.slots[slot].shape = entering->shape;
    plan_.slots[slot].shape_known = true;
    assumed_.push_back({merge, slot, entering->shape});
  }
}

void LoopPlanner::CheckAssumptions() {
  for (const Assumed& assumed : assumed_) {
    const Slot& slot = plan_.slots[assumed.slot];
    if ((slot.shape_known && slot.shape == assumed.shape) || faulty_.contains(assumed.slot)) continue;
    speculation_.failed = true;
    speculation_.open_merges.insert(assumed.merge);
  }
}

void LoopPlanner::AddReads(const Node& node, Step& step) {
  if (current_ < 0) return;
  int outermost = current_;
  while (plan_.loops[outermost].parent >= 0) outermost = plan_.loops[outermost].parent;
  const std::set<int>& updated = loops_[outermost].updated;
  for (uint32_t v = 0; !updated.empty() && v < node.inputs.size(); ++v) {
    int variable = graph_.node(node.inputs[v].node).variable;
    const std::vector<int>& updates = node.def->updates;
    bool is_update = std::find(updates.begin(), updates.end(), node.in_first.PortOf(v)) != updates.end();
    if (variable < 0 || is_update || !updated.contains(variable) || slots_.Of(node.inputs[v]).storage == Slot::Storage::kFeed) continue;
    uint32_t slot = slots_.AddOwn(node.inputs[v], node.id);
    plan_.operands[step.first_input + v] = slot;
    variables_.Describe(plan_.slots[slot], node.inputs[v]);
    CallLimit::Grow(sizeof(*step.reads.begin()), node.id);
    step.reads.push_back({v, variable});
  }
}

bool LoopPlanner::AnyFaulty(const Step& step, size_t inputs) const {
  for (size_t v = 0; !faulty_.empty() && v < inputs; ++v) {
    if (faulty_.contains(plan_.operands[step.first_input + v])) return true;
  }
  return false;
}

}  // namespace weft
