// Plain updates: those of one variable that nothing else in the plan updates, by a kernel whose shapes the plan knows. Training pages have
// many, so they run from a table of their own, without a look at the plan and the graph.
#include "runtime/exec/executor.h"

namespace weft {

bool Executor::IsPlainUpdate(const Step& step) const {
  const Node& node = graph_.node(step.node);
  if (step.kind != Step::Kind::kRun || step.updates.size() != 1 || !step.reads.empty() || step.block.bind != nullptr) return false;
  const Step::Update& update = *step.updates.begin();
  if (update.variable < 0 || update.selector >= 0 || update.may_be_empty) return false;
  if (!update.before || !(*update.before == update.shape)) return false;
  if (variables_[static_cast<size_t>(variable_index_[update.variable])].updates != 1 || node.output_types.size() > 1) return false;
  return node.output_types.empty() || node.def->outputs[0].reference_of == node.in_first.PortOf(update.input);
}

void Executor::MakePlainUpdates() {
  plain_updates_.clear();
  size_t inputs = 0;
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    if (records_[s].fused >= 0 || !IsPlainUpdate(step)) continue;
    const Step::Update& update = *step.updates.begin();
    const Node& node = graph_.node(step.node);
    records_[s].fused = kFirstPlainUpdate - static_cast<int>(plain_updates_.size());
    PlainUpdate& plain = plain_updates_.emplace_back();
    plain.run = step.block.run;
    plain.variable = static_cast<uint32_t>(variable_index_[update.variable]);
    plain.input = update.input;
    if (!node.output_types.empty()) plain.output = static_cast<int>(plan_.operands[step.first_output]);
    inputs = std::max(inputs, node.inputs.size());
  }
  updates_.assign(inputs, {});
}

// In pages of many variables an update waits for memory more than it computes: what the next ones use is sent for meanwhile, each part when
// the one that says where it is has come.
void Executor::FetchUpdates(const ResultSet& set, size_t after) const {
  const auto at = [&](size_t ahead) { return after + ahead < plain_updates_.size() ? &plain_updates_[after + ahead] : nullptr; };
  if (const PlainUpdate* update = at(3)) Fetch(&variables_[update->variable], sizeof(VariableInRun));
  if (const PlainUpdate* update = at(2)) {
    if (const Tensor* next = variables_[update->variable].next()) Fetch(next, sizeof(Tensor));
    if (update->output >= 0) Fetch(&set.owned[static_cast<size_t>(update->output)], sizeof(Tensor));
  }
  if (const PlainUpdate* update = at(1)) {
    const VariableInRun& variable = variables_[update->variable];
    variable.value.PrefetchOwner();
    if (update->output >= 0) set.owned[static_cast<size_t>(update->output)].PrefetchOwner();
    if (const Tensor* next = variable.next()) {
      next->PrefetchOwner();
      Fetch(next->data(), 256);
    }
  }
}

Status Executor::RunPlainUpdate(ResultSet& set, size_t index) {
  const Record& record = records_[index];
  const auto number = static_cast<size_t>(kFirstPlainUpdate - record.fused);
  const PlainUpdate& update = plain_updates_[number];
  WEFT_RETURN_IF_ERROR(LockUpdates());
  VariableInRun& variable = variables_[update.variable];
  if (!as_planned_ || !variable.value.defined()) return RunStep(set, index);
  if (records_.size() >= kManySteps) FetchUpdates(set, number);
  const Tensor& before = variable.value;
  set.values[record.inputs[update.input]] = {const_cast<void*>(before.data()), before.count(), &before.shape(), false};
  WEFT_ASSIGN_OR_RETURN(Tensor fresh, NewValue(variable, before.dtype(), before.shape()));
  updates_[update.input] = {fresh.data(), fresh.count(), &fresh.shape(), false};
  FrameOf(ctx_).updates = updates_.data();
  PointAt(record);
  Status status = update.run(record.parameters, ctx_);
  updates_[update.input] = {};
  WEFT_RETURN_IF_ERROR(std::move(status));
  variable.value = std::move(fresh);
  variable.updated = true;
  if (update.output >= 0) SetOwned(set, static_cast<uint32_t>(update.output), variable.value);
  return {};
}

}  // namespace weft
