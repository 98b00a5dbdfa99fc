#include "runtime/exec/run_view.h"

#include <algorithm>
#include <cstring>

#include "runtime/state/run_gate.h"

namespace weft {

void ExecutorView::Start(uint64_t run) {
  run_ = run;
  set_ = nullptr;
}

void ExecutorView::Begin(ResultSet& set, const LoopFrames* frames) {
  set_ = &set;
  frames_ = frames;
  done_ = 0;
  ended_ = -1;
}

void ExecutorView::End() {
  set_ = nullptr;
  SetCurrent(nullptr);
}

void ExecutorView::BeginStep(size_t step) {
  done_ = step;
  ended_ = -1;
}

void ExecutorView::EndStep(size_t step, bool dead) {
  done_ = step + 1;
  ended_ = dead ? -1 : static_cast<int>(step);
}

int ExecutorView::current() const {
  const CurrentStep* const current = current_.load(std::memory_order_relaxed);  // once: the run may end meanwhile
  if (current == nullptr) return -1;
  const std::vector<Step>& steps = planned_->plan.steps;
  const size_t step = *current;
  return step < steps.size() ? steps[step].node : -1;
}

void ExecutorView::SetPaused(bool paused) { scope_.runs().SetPaused(paused); }

Result<Tensor> ExecutorView::Peek(ValueRef value) const {
  const auto none = [&](std::string_view why) { return FailedPrecondition("'", graph()->ValueName(value), "' ", why); };
  if (set_ == nullptr) return none("has no value: the run has not begun");
  const Plan& plan = planned_->plan;
  const int index = plan.SlotOf(value);
  if (index < 0) return none("is no part of this run");
  const Slot& slot = plan.slots[static_cast<size_t>(index)];
  if (slot.storage == Slot::Storage::kConstant) return graph()->node(value.node).constant.get();
  const int at = StepOf(index);
  const bool now = at >= 0 && at == ended_;
  const Value& here = set_->values[static_cast<size_t>(index)];
  if (at >= 0 && !now) {
    const bool in_loop = frames_ != nullptr && frames_->computed(static_cast<size_t>(index));
    if (!in_loop && static_cast<size_t>(at) >= done_) return none("has no value yet in this run");
    if (!in_loop && here.dead) return none("has no value in this run: a Switch left it out");
  }
  if (!HasValue(here)) return none("has no value in this run");
  if (!now && !slot.kept && !set_->owned[static_cast<size_t>(index)].defined()) {
    return none("is not kept by this session").WithHint("fetch it, or keep all results");
  }
  return Tensor::View(slot.dtype, *here.shape, here.data, nullptr);
}

void ExecutorView::ForDone(FunctionRef<void(const Node& node, bool dead)> each) const {
  if (set_ == nullptr || frames_ != nullptr) return;
  const Plan& plan = planned_->plan;
  for (size_t s = 0; s < std::min(done_, plan.steps.size()); ++s) {
    const Node& node = graph()->node(plan.steps[s].node);
    const bool dead = plan.has_dead_values && !node.output_types.empty() && set_->values[plan.operands[plan.steps[s].first_output]].dead;
    each(node, dead);
  }
}

// The step that computes a slot, or -1; of one that is handed on without a step, the step of what it hands on.
int ExecutorView::StepOf(int slot) const {
  const Plan& plan = planned_->plan;
  while (plan.slots[static_cast<size_t>(slot)].bound) slot = plan.slots[static_cast<size_t>(slot)].source;
  const int node = plan.slots[static_cast<size_t>(slot)].value.node;
  // What is looked at after a step is mostly that step's.
  if (ended_ >= 0 && plan.steps[static_cast<size_t>(ended_)].node == node) return ended_;
  const auto step = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return s.node == node; });
  return step == plan.steps.end() ? -1 : static_cast<int>(step - plan.steps.begin());
}

// By slot: whether a step that has run gave it or read it. What is handed on without a step counts as computed from there on.
std::vector<char> ExecutorView::Settled() const {
  const Plan& plan = planned_->plan;
  std::vector<char> settled(plan.slots.size(), 0);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (s >= done_ && static_cast<int>(s) != ended_) continue;
    const Step& step = plan.steps[s];
    const Node& node = graph()->node(step.node);
    for (size_t v = 0; v < node.inputs.size(); ++v) settled[plan.operands[step.first_input + v]] = 1;
    for (size_t v = 0; v < node.output_types.size(); ++v) settled[plan.operands[step.first_output + v]] = 1;
  }
  for (size_t s = plan.slots.size(); s-- > 0;) {
    const Slot& slot = plan.slots[s];
    if (slot.bound && settled[s] != 0) settled[static_cast<size_t>(slot.source)] = 1;
  }
  return settled;
}

// What has a tensor of its own from here on; where the plan says where its memory is, the next run of this set finds it there again.
void ExecutorView::GiveOwn(size_t slot, Tensor tensor) {
  set_->Own(slot, std::move(tensor));
  set_->root[slot] = -1;
  set_->repoint = true;
  replaced_ = run_;
}

// What shares the memory of `root`, which is about to be written, and is settled keeps its value.
Status ExecutorView::KeepForwarded(int root) {
  const Plan& plan = planned_->plan;
  const std::vector<char> settled = Settled();
  std::vector<char> own(plan.slots.size(), 0);
  for (size_t s = 0; s < plan.slots.size(); ++s) {  // sources come before what shares them
    const Slot& slot = plan.slots[s];
    const Value& here = set_->values[s];
    if (slot.storage != Slot::Storage::kShared || set_->root[s] != root || here.dead || !HasValue(here)) continue;
    if (slot.bound && own[static_cast<size_t>(slot.source)] != 0) {
      GiveOwn(s, set_->owned[static_cast<size_t>(slot.source)].Reshaped(slot.shape));
    } else if (settled[s] != 0) {
      WEFT_ASSIGN_OR_RETURN(Tensor kept, Tensor::View(slot.dtype, *here.shape, here.data, nullptr).Clone(services_.budget()));
      GiveOwn(s, std::move(kept));
    } else {
      continue;
    }
    own[s] = 1;
  }
  return {};
}

// What is handed on from a slot without a step, and is not settled, is the slot's new value.
void ExecutorView::ForwardOwn(size_t from) {
  const Plan& plan = planned_->plan;
  const std::vector<char> settled = Settled();
  std::vector<char> follows(plan.slots.size(), 0);
  follows[from] = 1;
  for (size_t s = from + 1; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (!slot.bound || settled[s] != 0 || follows[static_cast<size_t>(slot.source)] == 0) continue;
    GiveOwn(s, set_->owned[from].Reshaped(slot.shape));
    follows[s] = 1;
  }
}

// Memory that the plan gave to the value is written; where it is another's (what a forwarded value shares, what a block handed over), that
// is left as it is, and the slot gets a tensor of its own.
Status ExecutorView::Override(ValueRef value, const Tensor& tensor) {
  using Storage = Slot::Storage;
  WEFT_ASSIGN_OR_RETURN(const Tensor now, Peek(value));
  const Plan& plan = planned_->plan;
  const auto index = static_cast<uint32_t>(plan.SlotOf(value));
  const Slot& slot = plan.slots[index];
  const std::string needed = Cat(slot.dtype, slot.shape_known ? Cat(" ", slot.shape) : ""), found = Cat(tensor.dtype(), " ", tensor.shape());
  if (tensor.dtype() != slot.dtype || (slot.shape_known && !(tensor.shape() == slot.shape))) {
    return InvalidArgument("'", graph()->ValueName(value), "' needs ", needed, ", found ", found).WithNeeded(needed).WithFound(found);
  }
  if (slot.storage == Storage::kConstant || slot.storage == Storage::kVariable || graph()->VariableOf(value) >= 0) {
    const bool constant = slot.storage == Storage::kConstant;
    return Unsupported("'", graph()->ValueName(value), constant ? "' is a constant, which the plan was made with" : "' is the value of a variable")
        .WithHint(constant ? "feed it, or edit the page: the next run takes it" : "set the variable: the next run takes it");
  }
  if (slot.storage == Storage::kKept || slot.storage == Storage::kArena || slot.storage == Storage::kTile) {
    WEFT_RETURN_IF_ERROR(KeepForwarded(static_cast<int>(index)));
    if (now.bytes() > 0) std::memcpy(const_cast<void*>(now.data()), tensor.data(), static_cast<size_t>(now.bytes()));
    return {};
  }
  WEFT_ASSIGN_OR_RETURN(Tensor own, tensor.Clone(services_.budget()));
  GiveOwn(index, std::move(own));
  ForwardOwn(index);
  return {};
}

}  // namespace weft
