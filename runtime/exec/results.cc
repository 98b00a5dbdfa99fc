// Results: what readers see of the last run, and what a dead value had before.
#include "runtime/exec/executor.h"
#include "runtime/plan/id_map.h"

namespace weft {
namespace {

/// Keeps memory from being written while a tensor over it lives.
struct Lease {
  explicit Lease(std::shared_ptr<KeptMemory> kept) : memory(std::move(kept)) { memory->leases.fetch_add(1, std::memory_order_relaxed); }
  ~Lease() { memory->leases.fetch_sub(1, std::memory_order_release); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  std::shared_ptr<KeptMemory> memory;
};

}  // namespace

Executor::Shown Executor::ShownResults() const {
  if (front_ >= 0) return {&plan_, &sets_[front_], &kept_memory_, revision_.get()};
  if (former_ != nullptr) return {&former_->plan, &former_->set, &former_->kept_memory, former_->revision.get()};
  return {};
}

// The slot that a value of this revision has in what is shown, or -1.
int Executor::SlotIn(const Shown& shown, ValueRef value) const {
  if (shown.plan == nullptr) return -1;
  if (shown.revision == revision_.get()) return shown.plan->SlotOf(value);
  const ValueRef before = IdMap(graph_, *shown.revision->graph).Value(value);
  return before.valid() ? shown.plan->SlotOf(before) : -1;
}

void Executor::TakeOver(Executor& former) {
  last_run_ = former.last_run_;
  if (former.front_ < 0) {
    former_ = std::move(former.former_);
    return;
  }
  former_ = std::make_unique<Former>();
  former_->plan = std::move(former.plan_);
  former_->set = std::move(former.sets_[former.front_]);
  former_->kept_memory = std::move(former.kept_memory_);
  former_->revision = former.revision_;
}

// The value of a kept slot, undefined where it has none. Its memory stays as it is while the tensor lives.
Tensor Executor::TensorOf(const Shown& shown, int index, Leases& leases) const {
  const Slot& slot = shown.plan->slots[index];
  const ResultSet& set = *shown.set;
  const Graph& graph = *shown.revision->graph;
  if (slot.storage == Slot::Storage::kConstant) return graph.node(slot.value.node).constant;
  const Value& at = set.values[index];
  if (at.dead) return set.stale[index];
  if (!HasValue(at)) return {};
  int root = slot.storage == Slot::Storage::kShared ? set.root[index] : index;
  if (root >= 0 && (*shown.kept_memory)[root] >= 0) {
    const size_t memory = static_cast<size_t>((*shown.kept_memory)[root]);
    if (leases.size() <= memory) leases.resize(set.memories.size());
    if (leases[memory] == nullptr) leases[memory] = std::make_shared<Lease>(set.memories[memory]);
    return Tensor::View(slot.dtype, *at.shape, at.data, leases[memory]);
  }
  if (root >= 0 && shown.plan->slots[root].storage == Slot::Storage::kConstant) {
    return Tensor::View(slot.dtype, *at.shape, at.data, graph.node(shown.plan->slots[root].value.node).constant.owner());
  }
  return set.owned[index];
}

uint64_t Executor::RunOf(const Shown& shown, int slot) const {
  bool always = !shown.plan->has_dead_values || shown.plan->slots[slot].storage == Slot::Storage::kConstant;
  return always ? shown.set->run : shown.set->computed[slot];
}

// What this run left out keeps the value it had. Only writes to the set that readers do not see.
void Executor::KeepStale(ResultSet& set, uint64_t run) {
  if (!plan_.has_dead_values) return;
  Shown before = ShownResults();
  Leases leases;
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    set.stale[s] = Tensor();
    if (!set.values[s].dead) {
      set.computed[s] = run;
      continue;
    }
    set.computed[s] = 0;
    if (!plan_.slots[s].result || before.plan == nullptr) continue;
    int old = before.plan == &plan_ ? static_cast<int>(s) : SlotIn(before, plan_.slots[s].value);
    if (old < 0 || !before.plan->slots[old].result) continue;
    set.stale[s] = TensorOf(before, old, leases);
    if (set.stale[s].defined()) set.computed[s] = RunOf(before, old);
  }
}

void Executor::Publish(ResultSet& set, uint64_t run) {
  std::unique_ptr<Former> former;  // freed when readers are let in again
  std::lock_guard lock(results_mutex_);
  set.run = run;
  front_ = &set == &sets_[0] ? 0 : 1;
  last_run_ = run;
  former = std::move(former_);
}

void Executor::WithPlan(FunctionRef<void(const Plan&)> read) const {
  std::lock_guard lock(results_mutex_);
  if (planned_) read(plan_);
}

Result<ResultValue> Executor::Get(ValueRef value) const {
  Leases leases;
  std::lock_guard lock(results_mutex_);
  return GetShown(ShownResults(), value, leases);
}

std::vector<Result<ResultValue>> Executor::GetAll(std::span<const ValueRef> values) const {
  std::vector<Result<ResultValue>> results;
  results.reserve(values.size());
  Leases leases;
  std::lock_guard lock(results_mutex_);
  Shown shown = ShownResults();
  for (ValueRef value : values) results.push_back(GetShown(shown, value, leases));
  return results;
}

Result<ResultValue> Executor::GetShown(const Shown& shown, ValueRef value, Leases& leases) const {
  int slot = SlotIn(shown, value);
  if (slot < 0) return FailedPrecondition("'", graph_.ValueName(value), "' has no value: no run has computed it");
  const Slot& planned = shown.plan->slots[slot];
  if (!planned.kept && planned.storage != Slot::Storage::kConstant) {
    return FailedPrecondition("'", graph_.ValueName(value), "' is not kept by this session").WithHint("fetch it, or keep all results");
  }
  ResultValue result;
  result.run = RunOf(shown, slot);
  result.stale = result.run != last_run_;
  if (result.run == 0) {
    return FailedPrecondition("'", graph_.ValueName(value), "' has no value yet: a Switch left it out of every run so far");
  }
  result.tensor = TensorOf(shown, slot, leases);
  if (!result.tensor.defined()) return FailedPrecondition("'", graph_.ValueName(value), "' had no value when the run began");
  return result;
}

}  // namespace weft
