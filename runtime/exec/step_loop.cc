#include "runtime/exec/step_loop.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/exec/control.h"
#include "runtime/plan/port_facts.h"

namespace weft {
namespace {

/// Whether the observer wants calls for steps now.
bool WantsSteps(const Observer* observer) {
  if (observer == nullptr) return false;
  const std::atomic<uint32_t>* wants = observer->wants_steps();
  return wants == nullptr || wants->load(std::memory_order_relaxed) != 0;
}

}  // namespace

// ---- records ---------------------------------------------------------------------------------------------------------------------------

StepLoop::StepLoop(Scope& scope, const SessionPlan& planned, const StepParts& parts, RunServices& services, ExecutorView& view)
    : scope_(scope), planned_(planned), plan_(planned.plan), parts_(parts), services_(services), view_(view),
      has_strings_(std::ranges::find(plan_.slots, DType::kString, &Slot::dtype) != plan_.slots.end()),
      resources_(plan_.steps.size()) {
  records_.reserve(plan_.steps.size());
  for (const Step& step : plan_.steps) records_.push_back(RecordOf(step));
  for (size_t g = 0; g < plan_.fused.size(); ++g) {
    for (int s = plan_.fused[g].first; s <= plan_.fused[g].last; ++s) {
      records_[static_cast<size_t>(s)].special = static_cast<int>(g);
      records_[static_cast<size_t>(s)].run = nullptr;
    }
  }
  for (size_t u = 0; u < parts_.plain_updates.size(); ++u) {
    records_[parts_.plain_updates.step(u)].special = kFirstPlainUpdate - static_cast<int>(u);
  }
  FrameOf(ctx_).services = &services_.services();
}

StepLoop::Record StepLoop::RecordOf(const Step& step) const {
  const Node& node = planned_.graph.node(step.node);
  Record record;
  record.parameters = step.block.parameters.get();
  record.inputs = plan_.operands.data() + step.first_input;
  record.first_output = step.first_output - step.first_input;
  record.in_first = node.in_first.table().data();
  record.out_first = node.out_first.table().data();
  record.scratch = parts_.memory.arena() + step.scratch_offset;
  record.scratch_bytes = step.scratch_bytes;
  bool managed = false;
  for (size_t v = 0; v < node.output_types.size(); ++v) {
    CallLimit::Check();
    const Slot::Storage storage = plan_.slots[record.outputs()[v]].storage;
    managed |= storage == Slot::Storage::kOwned || storage == Slot::Storage::kVariable;
  }
  if (step.kind == Step::Kind::kRun && step.updates.empty() && step.block.bind == nullptr && !managed) record.run = step.block.run;
  return record;
}

// ---- the loop --------------------------------------------------------------------------------------------------------------------------

inline Status StepLoop::RunWhole(ResultSet& set) {
  WEFT_ASSIGN_OR_RETURN(const PlannedBlock* const block, Begin(set, step_));
  if (block == nullptr) return {};
  if (block->produce != nullptr) {
    ProduceContext produce(ctx_, emitted_);
    WEFT_RETURN_IF_ERROR(block->produce(block->parameters.get(), produce));
  } else {
    WEFT_RETURN_IF_ERROR(block->run(block->parameters.get(), ctx_));
  }
  return End(set, step_, *block);
}

inline Status StepLoop::RunPlain(ResultSet& set, bool many) {
  const Record& record = records_[step_];
  if (record.special <= kFirstPlainUpdate) {
    const auto number = static_cast<size_t>(kFirstPlainUpdate - record.special);
    WEFT_ASSIGN_OR_RETURN(const RunFunction run, parts_.plain_updates.Begin(number, set, ctx_, many));
    if (run != nullptr) {
      PointAt(record);
      WEFT_RETURN_IF_ERROR(run(record.parameters, ctx_));
      parts_.plain_updates.End(number, set);
      ++step_;
      return {};
    }
  }
  WEFT_RETURN_IF_ERROR(RunWhole(set));
  Advance(set);
  return {};
}

inline Status StepLoop::RunObserved(ResultSet& set, const RunOptions& options) {
  WEFT_ASSIGN_OR_RETURN(const bool dead, BeginObserved(set, options));
  if (!dead) WEFT_RETURN_IF_ERROR(RunWhole(set));
  EndObserved(dead, options);
  Advance(set);
  return {};
}

Status StepLoop::Dispatch(ResultSet& set, const RunOptions& options) {
  StartRun(set);
  const std::atomic<uint32_t>* wants = options.observer != nullptr ? options.observer->wants_steps() : nullptr;
  const bool observed = plan_.has_dead_values || options.deadline.has_value() || (options.observer != nullptr && wants == nullptr);
  // Kernels may write anywhere, as far as the compiler knows: what is in locals is not loaded again for each step.
  const Record* const records = records_.data();
  const size_t count = records_.size();
  const std::atomic<bool>& cancelled = services_.cancel_flag();
  const bool many = count >= kManySteps;
  ValueTaps* const taps = TapsOf(options.observer);
  Halts halts{.turn = std::min(count, parts_.variables.turn_step()), .tap = taps != nullptr ? taps_->Begin() : count};
  size_t until = halts.first();
  for (;;) {
    const size_t step = step_;
    if (step >= until) [[unlikely]] {
      WEFT_RETURN_IF_ERROR(Halt(set, taps, halts));
      if (step >= count) return FinishWaits();
      until = halts.first();
    }
    if (cancelled.load(std::memory_order_relaxed)) return Stopped();
    if (many && step + kPrefetchDistance < count) PrefetchValues(set, step + kPrefetchDistance);
    const Record& record = records[step];
    const bool plain = !observed && (wants == nullptr || wants->load(std::memory_order_relaxed) == 0);
    if (plain && record.run != nullptr) {
      PointAt(record);
      WEFT_RETURN_IF_ERROR(record.run(record.parameters, ctx_));
      ++step_;
    } else if (BeginsFused(step, options)) {
      WEFT_RETURN_IF_ERROR(RunFused(set));
      ++step_;
    } else if (plain) {
      WEFT_RETURN_IF_ERROR(RunPlain(set, many));
    } else {
      WEFT_RETURN_IF_ERROR(RunObserved(set, options));
    }
  }
}

void StepLoop::StartRun(ResultSet& set) {
  FrameOf(ctx_).values = set.values.data();
  if (plan_.has_dead_values) {
    for (Value& value : set.values) value.dead = false;
  }
  step_ = 0;
  services_.waiter().SetRunning(this);
  view_.SetCurrent(&step_);
  if (parts_.frames != nullptr) parts_.frames->Begin(set);
}

Status StepLoop::Halt(ResultSet& set, ValueTaps* taps, Halts& halts) {
  if (taps != nullptr && step_ >= halts.tap) {
    WEFT_ASSIGN_OR_RETURN(halts.tap, taps_->Tell(step_, set, *taps));
  }
  if (step_ < halts.turn || step_ >= records_.size()) return {};
  halts.turn = records_.size();
  // Who holds the turn while it waits for room may wait for one who needs the turn. (Unless this run is yet to make the room.)
  if (!parts_.variables.waits_after_turn()) WEFT_RETURN_IF_ERROR(FinishWaits());
  return parts_.variables.TakeTurn(set);
}

// An observer that wants values as soon as they are there. Steps that run again, or are left out, give theirs at the end.
ValueTaps* StepLoop::TapsOf(Observer* observer) {
  auto* const taps = dynamic_cast<ValueTaps*>(observer);
  if (taps == nullptr || plan_.has_dead_values || parts_.frames != nullptr) return nullptr;
  if (!taps_) taps_.emplace(plan_);
  return taps;
}

// Where one fails, step_ is left at the step that waited.
Status StepLoop::FinishWaits() {
  const size_t next = step_;
  for (;;) {
    const ScopeWaiter::Deferred deferred = services_.waiter().TakeDeferred();
    if (deferred.wait == nullptr) break;
    step_ = deferred.step;
    WEFT_RETURN_IF_ERROR(deferred.wait->Finish());
  }
  step_ = next;
  return {};
}

std::string StepLoop::Name() const {
  if (step_ >= plan_.steps.size()) return "a run";
  const Node& node = planned_.graph.node(plan_.steps[step_].node);
  return Cat("'", node.id, "' (", node.def->name, ")");
}

// Loads the values of a step to come.
void StepLoop::PrefetchValues(const ResultSet& set, size_t step) const {
  const Record& record = records_[step];
  // With the first output; a step that has none may be the table's last.
  const uint32_t* end = std::min(record.outputs() + 1, plan_.operands.data() + plan_.operands.size());
  for (const uint32_t* slot = record.inputs; slot < end; ++slot) Prefetch(set.values[*slot].data, 256);
}

Result<bool> StepLoop::BeginObserved(ResultSet& set, const RunOptions& options) {
  if (services_.stopped()) return Stopped();
  const Step& step = plan_.steps[step_];
  if (WantsSteps(options.observer)) {
    view_.BeginStep(step_);
    WEFT_RETURN_IF_ERROR(options.observer->OnStep(step_, planned_.graph.node(step.node)));
  }
  return plan_.has_dead_values && SkipDead(planned_, step, set);
}

void StepLoop::EndObserved(bool dead, const RunOptions& options) {
  if (!WantsSteps(options.observer)) return;
  view_.EndStep(step_, dead);
  options.observer->OnStepEnd(step_, planned_.graph.node(plan_.steps[step_].node), dead);
}

// ---- steps that need more than a call --------------------------------------------------------------------------------------------------

Result<const PlannedBlock*> StepLoop::Begin(ResultSet& set, size_t index) {
  constexpr const PlannedBlock* kDone = nullptr;
  const Step& step = plan_.steps[index];
  if (!step.reads.empty()) WEFT_RETURN_IF_ERROR(parts_.variables.TakeReads(set, step));
  // A step of a group that runs alone, for an observer, reads and writes whole values.
  if (records_[index].special >= 0) WEFT_RETURN_IF_ERROR(parts_.fused.MakeWhole(set));
  switch (step.kind) {
    case Step::Kind::kForward: {
      const uint32_t to = plan_.operands[step.first_output];
      Forward(plan_, set, plan_.operands[step.first_input], to, plan_.slots[to].shape);
      return kDone;
    }
    case Step::Kind::kSwitch: WEFT_RETURN_IF_ERROR(RunSwitch(plan_, step, set)); return kDone;
    case Step::Kind::kMerge: WEFT_RETURN_IF_ERROR(RunMerge(planned_, step, parts_.memory, set)); return kDone;
    case Step::Kind::kSelect: WEFT_RETURN_IF_ERROR(RunSelect(planned_, step, parts_.variables, set)); return kDone;
    case Step::Kind::kDynamic: return BeginDynamic(set, index);
    default: break;
  }
  if (step.block.bind != nullptr && resources_[index] == nullptr) {
    WEFT_ASSIGN_OR_RETURN(resources_[index], BindResource(scope_, planned_.graph.node(step.node), step.block));
  }
  if (step.kind == Step::Kind::kRun) WEFT_RETURN_IF_ERROR(TakeOutputs(set, step, nullptr));
  if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(parts_.variables.TakeReferences(set, step));
  PointAt(records_[index]);
  FrameOf(ctx_).resource = &resources_[index];
  if (step.block.produce != nullptr) emitted_.assign(planned_.graph.node(step.node).output_types.size(), {});
  else if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(parts_.variables.MakeNewValues(step, nullptr, ctx_));
  return &step.block;
}

// A plan that takes long ends with its run, and what it makes counts in the page's memory.
Result<const DynamicSteps::Entry*> StepLoop::PrepareDynamic(const ResultSet& set, size_t index) {
  const CallLimit limit(services_.deadline(), &services_.cancel_flag(), services_.budget());
  try {
    return parts_.dynamic.Prepare(set, index);
  } catch (const CallStopped& stopped) {
    return services_.stopped() ? Stopped() : stopped.status();
  }
}

Result<const PlannedBlock*> StepLoop::BeginDynamic(ResultSet& set, size_t index) {
  const Step& step = plan_.steps[index];
  const Node& node = planned_.graph.node(step.node);
  if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(parts_.variables.TakeReferences(set, step));
  WEFT_ASSIGN_OR_RETURN(const DynamicSteps::Entry* entry, PrepareDynamic(set, index));
  if (IsForward(node.def->flow)) {
    Forward(plan_, set, plan_.operands[step.first_input], plan_.operands[step.first_output], entry->planned.outputs[0]);
    return static_cast<const PlannedBlock*>(nullptr);
  }
  if (entry->block.produce == nullptr) WEFT_RETURN_IF_ERROR(TakeOutputs(set, step, entry));
  PointAt(records_[index]);
  FrameOf(ctx_).scratch_data = entry->scratch().data();
  FrameOf(ctx_).scratch_bytes = entry->planned.scratch_bytes;
  FrameOf(ctx_).resource = &entry->resource;
  if (entry->block.produce != nullptr) emitted_.assign(node.output_types.size(), {});
  else if (!step.updates.empty()) WEFT_RETURN_IF_ERROR(parts_.variables.MakeNewValues(step, &entry->planned, ctx_));
  return &entry->block;
}

// Memory for the outputs that have none in the plan.
Status StepLoop::TakeOutputs(ResultSet& set, const Step& step, const DynamicSteps::Entry* dynamic) {
  const size_t outputs = planned_.graph.node(step.node).output_types.size();
  for (size_t v = 0; v < outputs; ++v) {
    const uint32_t slot = plan_.operands[step.first_output + v];
    const Slot& planned = plan_.slots[slot];
    if (planned.storage != Slot::Storage::kOwned) continue;
    WEFT_RETURN_IF_ERROR(parts_.memory.Allocate(set, slot, dynamic == nullptr ? planned.shape : dynamic->planned.outputs[v]));
  }
  return {};
}

Status StepLoop::End(ResultSet& set, size_t index, const PlannedBlock& block) {
  const Step& step = plan_.steps[index];
  if (block.produce != nullptr) WEFT_RETURN_IF_ERROR(Emit(set, step));
  else parts_.variables.EndUpdates(set, step);
  return has_strings_ ? ChargeStrings(set, step) : Status();
}

Status StepLoop::ChargeStrings(const ResultSet& set, const Step& step) const {
  constexpr int64_t kBetweenLooks = int64_t{1} << 16;  // strings: a few milliseconds
  const size_t outputs = planned_.graph.node(step.node).output_types.size();
  for (size_t v = 0; v < outputs; ++v) {
    const uint32_t slot = plan_.operands[step.first_output + v];
    if (plan_.slots[slot].dtype != DType::kString) continue;
    const Value& value = set.values[slot];
    if (value.data == nullptr) continue;
    const auto* const texts = static_cast<const String*>(value.data);
    for (int64_t i = 0; i < value.count; ++i) {
      if (i % kBetweenLooks == kBetweenLooks - 1 && services_.stopped()) return Stopped();
      if (texts[i].heap_bytes() > 0) WEFT_RETURN_IF_ERROR(texts[i].Hold(services_.budget()));
    }
  }
  return {};
}

// What a producer gave becomes the values of its outputs.
Status StepLoop::Emit(ResultSet& set, const Step& step) {
  for (size_t v = 0; v < emitted_.size(); ++v) {
    const uint32_t slot = plan_.operands[step.first_output + v];
    const Slot& planned = plan_.slots[slot];
    Tensor& emitted = emitted_[v];
    if (!emitted.defined() || emitted.dtype() != planned.dtype || (planned.shape_known && !(emitted.shape() == planned.shape))) {
      return Internal("the block gave ", emitted.defined() ? Cat(emitted.dtype(), " ", emitted.shape()) : "nothing", " for the output '",
                      planned_.graph.ValueName(planned.value), "'");
    }
    set.Own(slot, std::move(emitted));
  }
  return {};
}

// Whether the step is the first of fused ones, and nobody wants to see them one by one.
bool StepLoop::BeginsFused(size_t step, const RunOptions& options) const {
  const int group = records_[step].special;
  if (group < 0 || plan_.fused[static_cast<size_t>(group)].first != static_cast<int>(step)) return false;
  return !WantsSteps(options.observer) && !view_.replaced();  // they read what is forwarded at its source
}

// Leaves step_ at the last of the group, or at the one that failed.
Status StepLoop::RunFused(const ResultSet& set) {
  const FusedSteps& group = plan_.fused[static_cast<size_t>(records_[step_].special)];
  if (services_.stopped()) return Stopped();
  size_t at = static_cast<size_t>(group.last);
  Status status = parts_.fused.RunGroup(group, set.values.data(), services_.workers(), at);
  step_ = at;
  return status;
}

// ---- failures --------------------------------------------------------------------------------------------------------------------------

Status StepLoop::Stopped() const { return services_.Stopped().WithPage(planned_.graph.name()); }

Status StepLoop::Explain(const ResultSet& set, Status status) const {
  if (status.ok()) return services_.stopped() ? Stopped() : Status();
  if (step_ >= records_.size()) return status;
  if (services_.cancel_flag().load(std::memory_order_relaxed)) {
    // One that waited says for what. Any other failure may come of what a stopped block has left undone.
    const Status stopped = Stopped();
    const bool waited = status.code() == Code::kCancelled && status.message().starts_with(stopped.message());
    return waited ? std::move(status).WithPage(planned_.graph.name()) : stopped;
  }
  const Step& step = plan_.steps[step_];
  const Node& node = planned_.graph.node(step.node);
  std::string inputs;
  for (size_t v = 0; v < node.inputs.size() && inputs.size() <= 400; ++v) {
    const uint32_t slot = plan_.operands[step.first_input + v];
    const int port = node.in_first.PortOf(static_cast<uint32_t>(v));
    if (!HasValue(set.values[slot])) continue;
    inputs += Cat(inputs.empty() ? "; inputs: " : ", ", node.def->inputs[port].name, " ", plan_.slots[slot].dtype, " ", *set.values[slot].shape);
  }
  status = WithPortFacts(planned_.graph, node, std::move(status).Append(inputs), [&](uint32_t v) {
    const Value& value = set.values[plan_.operands[step.first_input + v]];
    return HasValue(value) ? value.shape : nullptr;
  });
  return PlaceAtNode(planned_.graph, step.node, std::move(status));
}

}  // namespace weft
