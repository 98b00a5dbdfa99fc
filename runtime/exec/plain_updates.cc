#include "runtime/exec/plain_updates.h"

#include <algorithm>
#include <utility>

namespace weft {

PlainUpdates::PlainUpdates(const SessionPlan& planned, VariableTransaction& variables, std::shared_ptr<MemoryBudget> budget)
    : variables_(variables), budget_(std::move(budget)) {
  const Plan& plan = planned.plan;
  updates_.reserve(Candidates(plan));
  size_t inputs = 0;
  auto fused = plan.fused.begin();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    while (fused != plan.fused.end() && fused->last < static_cast<int>(s)) ++fused;
    if (fused != plan.fused.end() && fused->first <= static_cast<int>(s)) continue;
    if (!IsPlain(planned, step)) continue;
    const Step::Update& made = *step.updates.begin();
    const Node& node = planned.graph.node(step.node);
    Update& update = updates_.emplace_back();
    update.run = step.block.run;
    update.variable = static_cast<uint32_t>(variables.IndexOf(made.variable));
    update.input = made.input;
    update.slot = plan.operands[step.first_input + made.input];
    if (!node.output_types.empty()) update.output = static_cast<int>(plan.operands[step.first_output]);
    update.step = s;
    inputs = std::max(inputs, node.inputs.size());
  }
  new_.assign(inputs, {});
}

// What the step alone says.
bool PlainUpdates::IsCandidate(const Step& step) {
  if (step.kind != Step::Kind::kRun || step.updates.size() != 1 || !step.reads.empty() || step.block.bind != nullptr) return false;
  const Step::Update& update = *step.updates.begin();
  if (update.variable < 0 || update.selector >= 0 || update.may_be_empty) return false;
  return update.before && *update.before == update.shape;
}

size_t PlainUpdates::Candidates(const Plan& plan) {
  return plan.updates_variables ? static_cast<size_t>(std::ranges::count_if(plan.steps, IsCandidate)) : 0;
}

bool PlainUpdates::IsPlain(const SessionPlan& planned, const Step& step) const {
  if (!IsCandidate(step)) return false;
  const Node& node = planned.graph.node(step.node);
  const Step::Update& update = *step.updates.begin();
  if (variables_.variables()[variables_.IndexOf(update.variable)].updates != 1 || node.output_types.size() > 1) return false;
  return node.output_types.empty() || node.def->outputs[0].reference_of == node.in_first.PortOf(update.input);
}

// An update waits for memory more than it computes: what the next ones use is loaded meanwhile, each part when the one that says where it
// is has come.
void PlainUpdates::PrefetchAfter(size_t number, const ResultSet& set) const {
  const std::vector<RunVariable>& variables = variables_.variables();
  const auto at = [&](size_t ahead) { return number + ahead < updates_.size() ? &updates_[number + ahead] : nullptr; };
  if (const Update* update = at(3)) Prefetch(&variables[update->variable], sizeof(RunVariable));
  if (const Update* update = at(2)) {
    if (const Tensor* next = variables[update->variable].Next()) Prefetch(next, sizeof(Tensor));
    if (update->output >= 0) Prefetch(&set.owned[static_cast<size_t>(update->output)], sizeof(Tensor));
  }
  if (const Update* update = at(1)) {
    const RunVariable& variable = variables[update->variable];
    variable.value.PrefetchOwner();
    if (update->output >= 0) set.owned[static_cast<size_t>(update->output)].PrefetchOwner();
    if (const Tensor* next = variable.Next()) {
      next->PrefetchOwner();
      Prefetch(next->data(), 256);
    }
  }
}

Result<RunFunction> PlainUpdates::Begin(size_t number, ResultSet& set, RunContext& ctx, bool many) {
  const Update& update = updates_[number];
  WEFT_RETURN_IF_ERROR(variables_.BeginUpdates());
  RunVariable& variable = variables_.variables()[update.variable];
  if (!variables_.as_planned() || !variable.value.defined()) return RunFunction(nullptr);
  if (many) PrefetchAfter(number, set);
  const Tensor& before = variable.value;
  set.values[update.slot] = {const_cast<void*>(before.data()), before.count(), &before.shape(), false};
  new_value_ = Tensor();  // of a step that failed
  WEFT_ASSIGN_OR_RETURN(new_value_, variable.NewValue(before.dtype(), before.shape(), budget_));
  new_[update.input] = {new_value_.data(), new_value_.count(), &new_value_.shape(), false};
  FrameOf(ctx).updates = new_.data();
  return update.run;
}

void PlainUpdates::End(size_t number, ResultSet& set) {
  const Update& update = updates_[number];
  RunVariable& variable = variables_.variables()[update.variable];
  variable.value = std::move(new_value_);
  variable.updated = true;
  if (update.output >= 0) set.Own(static_cast<uint32_t>(update.output), variable.value);
}

}  // namespace weft
