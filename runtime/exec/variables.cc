#include "runtime/exec/variables.h"

#include <algorithm>
#include <utility>

#include "runtime/base/call_limit.h"

namespace weft {
namespace {

Status ShapeChanged(const Shape& from, const Shape& to) {
  return Aborted("another session changed the variable's shape from ", from, " to ", to).WithHint("run again");
}

}  // namespace

Result<Tensor> RunVariable::NewValue(DType dtype, const Shape& shape, const std::shared_ptr<MemoryBudget>& budget) {
  // Values are let go in the order in which they were made: what follows the newest is most likely to be free.
  constexpr size_t kLookedAt = 64;
  const size_t count = pool.size();
  for (size_t i = 1; i <= std::min(count, kLookedAt); ++i) {
    const size_t at = (newest + i) % count;
    const Tensor& tensor = pool[at];
    if (!(tensor.dtype() == dtype && tensor.shape() == shape && SoleOwner(tensor.owner()))) continue;
    newest = at;
    return tensor;
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, budget));
  // Both sets of results may hold the value at the start and what each update left.
  const size_t most = 2 * updates + 4;
  if (count >= most) {
    newest = (newest + 1) % count;
    pool[newest] = tensor;
  } else {
    pool.reserve(most);
    newest = std::min(newest + 1, count);
    pool.insert(pool.begin() + static_cast<std::ptrdiff_t>(newest), tensor);
  }
  return tensor;
}

VariableTransaction::VariableTransaction(Scope& scope, const SessionPlan& planned, Waiter& waiter)
    : scope_(scope), planned_(planned), waiter_(waiter), turn_(scope.updating()) {
  const Plan& plan = planned.plan;
  const Graph& graph = planned.graph;
  index_ = NodeNumbers(graph.variables().size(), plan.variables.size());
  for (int v : plan.variables) {
    if (index_[v] >= 0) continue;
    index_.Set(v, static_cast<int>(variables_.size()));
    RunVariable& variable = variables_.emplace_back();
    variable.variable = v;
    variable.temporary = !graph.variable_info(v).temporary.empty();
  }
  for (uint32_t s = 0; s < plan.slots.size(); ++s) {
    CallLimit::Check();
    const Slot& slot = plan.slots[s];
    const int variable = graph.node(slot.value.node).variable;
    const bool own = variable >= 0 && plan.SlotOf(slot.value) == static_cast<int>(s);  // others are those of updates
    if (own && slot.storage == Slot::Storage::kVariable) slots_.emplace_back(s, IndexOf(variable));
  }
  for (const Step& step : plan.steps) Add(step);
  if (plan.updates_variables) FindTurn();
}

int64_t VariableTransaction::BytesFor(const Plan& plan) {
  constexpr size_t kOfVariable = sizeof(RunVariable) + sizeof(int) + sizeof(std::pair<uint32_t, size_t>);
  const bool selects = std::ranges::find(plan.steps, Step::Kind::kSelect, &Step::kind) != plan.steps.end();
  const size_t of_slot = (plan.updates_variables ? sizeof(char) : 0) + (selects ? sizeof(int) : 0);
  return static_cast<int64_t>(plan.variables.size() * kOfVariable + plan.slots.size() * of_slot);
}

void VariableTransaction::Add(const Step& step) {
  if (step.kind == Step::Kind::kSelect) selected_.resize(planned_.plan.slots.size(), -1);
  for (const Step::Update& update : step.updates) {
    CallLimit::Check();
    if (update.variable >= 0) ++InRun(update.variable).updates;
    for (int variable : update.choices) ++InRun(variable).updates;
  }
}

void VariableTransaction::FindTurn() {
  const Plan& plan = planned_.plan;
  std::vector<char> updated(plan.slots.size(), 0);
  for (const auto& [slot, variable] : slots_) updated[slot] = IsUpdated(variable);
  // (What a step updates it has in a slot of its own.)
  const auto reads = [&](const Step& step) {
    const std::span<const uint32_t> inputs(plan.operands.data() + step.first_input, plan.operands.data() + step.first_output);
    return std::ranges::any_of(inputs, [&](uint32_t slot) { return updated[slot] != 0; });
  };
  size_t first_read = kNoStep, first_update = kNoStep, after_wait = kNoStep, last_wait = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (first_read == kNoStep && (!step.reads.empty() || reads(step))) first_read = s;
    if (first_update == kNoStep && !step.updates.empty()) first_update = s;
    if (const BlockDef* def = planned_.graph.node(step.node).def; def == nullptr || !def->waits) continue;
    last_wait = s + 1;
    if (first_read != kNoStep && first_update == kNoStep && step.loop < 0) after_wait = s + 1;
  }
  reads_ = first_read != kNoStep;
  reads_before_turn_ = after_wait != kNoStep;
  turn_step_ = std::min(reads_before_turn_ ? after_wait : first_read, first_update);
  waits_after_turn_ = turn_step_ < last_wait;
  for (const FusedSteps& group : plan.fused) {
    const auto first = static_cast<size_t>(group.first);
    if (first < turn_step_ && turn_step_ <= static_cast<size_t>(group.last)) turn_step_ = first;
  }
}

// Whether variables still have the shapes that the plan was made for.
bool VariableTransaction::Fit(const VariableAccess& access) const {
  for (size_t i = 0; i < planned_.plan.variables.size(); ++i) {
    const Tensor& value = planned_.revision->variables[planned_.plan.variables[i]]->value(access);
    const std::optional<Shape>& planned = planned_.plan.variable_shapes[i];
    if (value.defined() && (!planned || !(*planned == value.shape()))) return false;
  }
  return true;
}

bool VariableTransaction::Take() {
  if (variables_.empty()) return true;
  // Without the lock: a count that was read with it belongs to no half-done commit.
  if (taken_ != 0 && taken_ == scope_.variables().changes()) return true;
  const VariableAccess access(scope_.variables());
  if (!Fit(access)) return false;
  for (RunVariable& variable : variables_) {
    variable.value = CellOf(variable).value(access);
    variable.updated = false;
  }
  taken_ = access.changes();
  return true;
}

Status VariableTransaction::Place(ResultSet& set) {
  for (int v : planned_.plan.required_variables) {
    if (InRun(v).value.defined()) continue;
    Status status = FailedPrecondition("the variable has no value: it has no initial value, and nothing was assigned to it");
    return PlaceAtNode(planned_.graph, planned_.graph.variables()[v], std::move(status).WithHint("give it initvalues, or run an Assign first"));
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (i + 2 * kPrefetchDistance < slots_.size()) {
      Prefetch(&set.owned[slots_[i + 2 * kPrefetchDistance].first], sizeof(Tensor));
      const auto [slot, variable] = slots_[i + kPrefetchDistance];
      variables_[variable].value.PrefetchOwner();
      set.owned[slot].PrefetchOwner();
    }
    const auto [slot, variable] = slots_[i];
    set.Own(slot, variables_[variable].value);
  }
  return {};
}

Status VariableTransaction::BeginUpdates() {
  if (turn_.taken()) return {};
  WEFT_RETURN_IF_ERROR(turn_.Take(waiter_, "another session's updates of variables"));
  const VariableAccess access(scope_.variables());
  updating_from_ = access.changes();
  // Until its commit the run's values are its own.
  as_planned_ = std::exchange(taken_, 0) == updating_from_;
  if (as_planned_) return {};
  for (RunVariable& variable : variables_) variable.value = CellOf(variable).value(access);
  return {};
}

Status VariableTransaction::TakeTurn(ResultSet& set) {
  WEFT_RETURN_IF_ERROR(BeginUpdates());
  if (as_planned_ || !reads_) return {};
  for (const auto& [slot, variable] : slots_) {
    if (!IsUpdated(variable)) continue;
    const Tensor& now = variables_[variable].value;
    if (now.data() == set.owned[slot].data() && now.shape() == set.owned[slot].shape()) continue;
    const Slot& planned = planned_.plan.slots[slot];
    if (reads_before_turn_) {
      return Aborted("another session updated the variable '", planned_.graph.node(planned.value.node).id, "', which this run read before it waited")
          .WithHint("run again");
    }
    if (planned.shape_known && !(planned.shape == now.shape())) return ShapeChanged(planned.shape, now.shape());
    set.Own(slot, now);
  }
  return {};
}

Status VariableTransaction::TakeReferences(ResultSet& set, const Step& step) {
  WEFT_RETURN_IF_ERROR(BeginUpdates());
  for (const Step::Update& update : step.updates) {
    const Tensor& value = InRun(update).value;
    if (value.defined() && update.before && !(value.shape() == *update.before)) {
      return ShapeChanged(*update.before, value.shape());
    }
    if (!value.defined() && !update.may_be_empty) {
      const Node& node = planned_.graph.node(step.node);
      const PortSpec& port = node.def->inputs[node.in_first.PortOf(update.input)];
      return Status(port.resource ? Code::kNotFound : Code::kFailedPrecondition, "the variable has no value").WithPort(port.name);
    }
    void* data = const_cast<void*>(value.data());
    set.values[planned_.plan.operands[step.first_input + update.input]] = {data, value.defined() ? value.count() : 0, &value.shape(), false};
  }
  return {};
}

Status VariableTransaction::TakeReads(ResultSet& set, const Step& step) {
  for (auto [input, variable] : step.reads) {
    const uint32_t slot = planned_.plan.operands[step.first_input + input];
    const Tensor& value = InRun(variable).value;
    const Slot& planned = planned_.plan.slots[slot];
    if (!value.defined()) return FailedPrecondition("the variable '", planned_.graph.ValueName(planned.value), "' has no value");
    if (planned.shape_known && !(planned.shape == value.shape())) {
      return ShapeChanged(planned.shape, value.shape());
    }
    set.Own(slot, value);
  }
  return {};
}

Status VariableTransaction::MakeNewValues(const Step& step, const PlannedShapes* dynamic, RunContext& ctx) {
  updates_.assign(std::max(updates_.size(), planned_.graph.node(step.node).inputs.size()), {});
  new_values_.clear();
  new_values_.reserve(step.updates.size());  // updates_ points into it
  for (const Step::Update& update : step.updates) {
    RunVariable& variable = InRun(update);
    const Shape* shape = &update.shape;
    if (dynamic != nullptr) {
      shape = &variable.value.shape();
      for (const auto& [input, changed] : dynamic->variables) {
        if (input == update.input) shape = &changed;
      }
    }
    const DType dtype = planned_.plan.slots[planned_.plan.operands[step.first_input + update.input]].dtype;
    WEFT_ASSIGN_OR_RETURN(Tensor fresh, variable.NewValue(dtype, *shape, scope_.budget()));
    Tensor& value = new_values_.emplace_back(std::move(fresh));
    updates_[update.input] = {value.data(), value.count(), &value.shape(), false};
  }
  FrameOf(ctx).updates = updates_.data();
  return {};
}

void VariableTransaction::EndUpdates(ResultSet& set, const Step& step) {
  for (size_t u = 0; u < step.updates.size(); ++u) {
    RunVariable& variable = InRun(step.updates[u]);
    variable.value = std::move(new_values_[u]);
    variable.updated = true;
  }
  const Node& node = planned_.graph.node(step.node);
  for (size_t p = 0; p < node.def->outputs.size(); ++p) {
    if (node.def->outputs[p].reference_of < 0) continue;
    const uint32_t input = node.in_first[node.def->outputs[p].reference_of];
    const uint32_t slot = planned_.plan.operands[step.first_output + node.out_first[p]];
    auto update = std::find_if(step.updates.begin(), step.updates.end(), [&](const Step::Update& u) { return u.input == input; });
    if (update != step.updates.end()) {
      set.Own(slot, InRun(*update).value);
    } else if (const int variable = planned_.graph.VariableOf(node.inputs[input]); variable >= 0) {
      set.Own(slot, InRun(planned_.graph.node(variable).variable).value);
    }
  }
}

void VariableTransaction::PrefetchCommit(size_t after, const VariableAccess& access) const {
  if (after + 2 * kPrefetchDistance >= variables_.size()) return;
  Prefetch(&CellOf(variables_[after + 2 * kPrefetchDistance]), sizeof(Tensor));
  const RunVariable& later = variables_[after + kPrefetchDistance];
  later.value.PrefetchOwner();
  CellOf(later).value(access).PrefetchOwner();
}

void VariableTransaction::Commit() {
  if (!planned_.plan.updates_variables) return;
  VariableAccess access(scope_.variables());
  // Whether what the run leaves is what the scope will have, all of it of the planned shapes: `as_planned_` speaks of what it read alone.
  bool same = as_planned_ && access.changes() == updating_from_;
  for (size_t i = 0; i < variables_.size(); ++i) {
    PrefetchCommit(i, access);
    RunVariable& variable = variables_[i];
    if (!variable.updated) continue;
    VariableCell& cell = CellOf(variable);
    const bool keeps = !variable.temporary && variable.value.shape().rank() <= Shape::kInline;  // else a copy takes memory, and may fail
    same &= keeps && cell.value(access).defined() && cell.value(access).shape() == variable.value.shape();
    if (keeps) cell.Set(variable.value, access);
    else if (!variable.temporary) cell.Set(std::move(variable.value), access);
    variable.updated = false;
  }
  if (same) taken_ = access.changes();
}

}  // namespace weft
