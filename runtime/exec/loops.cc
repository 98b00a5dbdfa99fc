// Loops: steps that run again, and which of their values are there in which iteration.
#include "runtime/exec/executor.h"

namespace weft {

// `step` tells which one failed.
Status Executor::RunLoops(ResultSet& set, const RunOptions& options, size_t& step) {
  set.lived.assign(set.lived.size(), 0);
  BeginLoops(set, 0, 0);
  while (step < plan_.steps.size()) {
    WEFT_RETURN_IF_ERROR(RunObserved(set, step, options));
    const uint32_t* outputs = records_[step].outputs();
    for (size_t v = 0; v < graph_.node(plan_.steps[step].node).output_types.size(); ++v) {
      if (!set.values[outputs[v]].dead) set.lived[outputs[v]] = 1;
    }
    step = NextStep(set, step);
  }
  return {};
}

// Before a first iteration nothing comes from an earlier one. `from` is the first of the loops in question.
void Executor::BeginLoops(ResultSet& set, size_t step, size_t from) {
  if (step >= loop_at_.size() || loop_at_[step] < 0) return;
  for (size_t l = static_cast<size_t>(loop_at_[step]); l < plan_.loops.size(); ++l) {
    const Loop& loop = plan_.loops[l];
    if (loop.last < loop.first) continue;
    if (loop.first != static_cast<int>(step)) break;
    if (l < from) continue;
    for (uint32_t slot : loop.next) set.values[slot].dead = true;
    // The others are set by their steps.
    for (uint32_t slot : loop.entering) set.values[slot].dead &= plan_.slots[slot].storage != Slot::Storage::kFeed;
  }
}

// The step to run after this one: the next, or the first of a loop whose last it is.
size_t Executor::NextStep(ResultSet& set, size_t step) {
  for (int l = plan_.steps[step].loop; l >= 0 && plan_.loops[l].last == static_cast<int>(step); l = plan_.loops[l].parent) {
    const Loop& loop = plan_.loops[l];
    if (GoesOn(set, loop)) {
      for (uint32_t slot : loop.entering) set.values[slot].dead = true;
      BeginLoops(set, static_cast<size_t>(loop.first), static_cast<size_t>(l) + 1);
      return static_cast<size_t>(loop.first);
    }
    if (loop.parent < 0) EndLoop(set, l);
  }
  BeginLoops(set, step + 1, 0);
  return step + 1;
}

bool Executor::GoesOn(const ResultSet& set, const Loop& loop) const {
  if (loop.condition >= 0) {
    const Value& condition = set.values[loop.condition];
    if (condition.dead || !*static_cast<const bool*>(condition.data)) return false;
  }
  for (uint32_t slot : loop.next) {
    if (!set.values[slot].dead) return true;
  }
  return false;
}

// As results, the values of a loop are the last that each block computed; its last iteration left many out.
void Executor::EndLoop(ResultSet& set, int index) {
  const Loop& outer = plan_.loops[index];
  for (int s = outer.first; s <= outer.last; ++s) {
    const Node& node = graph_.node(plan_.steps[s].node);
    if (node.def->flow == Flow::kExit && plan_.steps[s].loop == index) continue;  // a value of the page
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      uint32_t slot = records_[s].outputs()[v];
      if (set.lived[slot]) set.values[slot].dead = false;
    }
  }
  for (size_t l = static_cast<size_t>(index); l < plan_.loops.size(); ++l) {
    const Loop& loop = plan_.loops[l];
    if (l > static_cast<size_t>(index) && loop.parent < index) break;
    for (uint32_t slot : loop.entering) {
      if (set.lived[slot] || plan_.slots[slot].storage == Slot::Storage::kFeed) set.values[slot].dead = false;
    }
  }
}

Status Executor::TakeReads(ResultSet& set, const Step& step) {
  for (auto [input, variable] : step.reads) {
    const uint32_t slot = plan_.operands[step.first_input + input];
    const Tensor& value = InRun(variable).value;
    const Slot& planned = plan_.slots[slot];
    if (!value.defined()) return FailedPrecondition("the variable '", graph_.ValueName(planned.value), "' has no value");
    if (planned.shape_known && !(planned.shape == value.shape())) {
      return Aborted("another session changed the variable's shape from ", planned.shape, " to ", value.shape()).WithHint("run again");
    }
    SetOwned(set, slot, value);
  }
  return {};
}

// A value that the last iteration left may still be read while the next one is computed, so that a slot takes turns with several tensors.
Status Executor::OwnSpare(ResultSet& set, uint32_t slot, const Shape& shape) {
  constexpr size_t kMostSpare = 4;
  set.owned[slot] = Tensor();
  std::vector<Tensor>& spare = set.spare[slot];
  for (const Tensor& tensor : spare) {
    if (!(tensor.shape() == shape) || !SoleOwner(tensor.owner())) continue;
    SetOwned(set, slot, tensor);
    return {};
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(plan_.slots[slot].dtype, shape, services_.budget));
  if (spare.size() >= kMostSpare) spare.erase(spare.begin());
  spare.push_back(tensor);
  SetOwned(set, slot, std::move(tensor));
  return {};
}

}  // namespace weft
