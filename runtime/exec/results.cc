#include "runtime/exec/results.h"

#include <algorithm>
#include <utility>

#include "runtime/plan/id_map.h"

namespace weft {
namespace {

// Of each memory of results, how many left to readers are remembered, and for how many runs after the last that found one leased.
constexpr size_t kMostRetired = 2;
constexpr int kRunsRetired = 100;

/// Keeps memory from being written while a tensor over it lives.
struct Lease {
  explicit Lease(std::shared_ptr<ResultMemory> of) : memory(std::move(of)) { memory->leases.fetch_add(1, std::memory_order_relaxed); }
  ~Lease() { memory->leases.fetch_sub(1, std::memory_order_release); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  std::shared_ptr<ResultMemory> memory;
};

}  // namespace

// ---- memories left to readers ----------------------------------------------------------------------------------------------------------

void RetiredMemories::Reset(size_t memories) {
  retired_.assign(memories, {});
  for (auto& retired : retired_) retired.reserve(kMostRetired);
}

void RetiredMemories::Clear() {
  for (auto& retired : retired_) retired.clear();
}

Result<std::shared_ptr<ResultMemory>> RetiredMemories::Exchange(size_t memory, std::shared_ptr<ResultMemory> leased, const RunMemory& from,
                                                                bool keep) {
  auto& retired = retired_[memory];
  auto idle = std::find_if(retired.begin(), retired.end(), [](const auto& other) { return !other->leased(); });
  if (idle != retired.end()) {
    std::swap(*idle, leased);
    return leased;
  }
  auto fresh = from.NewResultMemory(memory);
  if (!fresh.ok()) {
    Clear();  // makes room
    fresh = from.NewResultMemory(memory);
  }
  if (!fresh.ok() || !keep) return fresh;
  if (retired.size() == kMostRetired) retired.erase(retired.begin());  // its readers' alone from now on
  retired.push_back(std::move(leased));
  return fresh;
}

void RetiredMemories::CountRun(bool leased) {
  if (leased) {
    runs_unread_ = 0;
  } else if (runs_unread_ < kRunsRetired && ++runs_unread_ == kRunsRetired) {
    Clear();
  }
}

// ---- for the thread that runs ----------------------------------------------------------------------------------------------------------

void Results::SetPlan(std::shared_ptr<const SessionPlan> plan) {
  auto before = front_ >= 0 ? std::make_unique<Before>() : nullptr;
  RetiredMemories retired;
  retired.Reset(plan == nullptr ? 0 : plan->layout.bytes.size());
  ResultSet unseen[2];  // ends without the lock
  // From here on nothing fails.
  std::lock_guard lock(mutex_);
  if (before != nullptr) {
    before->planned = std::move(planned_);
    before->set = std::move(sets_[front_]);
    before_ = std::move(before);
  }
  // What readers do not see makes room for the new plan's memory.
  std::swap(sets_[0], unseen[0]);
  std::swap(sets_[1], unseen[1]);
  retired_ = std::move(retired);
  planned_ = std::move(plan);
  front_ = -1;
}

void Results::TakeOver(Results& before) {
  std::scoped_lock lock(mutex_, before.mutex_);
  last_run_ = before.last_run_;
  if (before.front_ < 0) {
    before_ = std::move(before.before_);
    return;
  }
  before_ = std::make_unique<Before>();
  before_->planned = before.planned_;
  before_->set = std::move(before.sets_[before.front_]);
  before.front_ = -1;
}

Status Results::Renew(const RunMemory& memory, const MemoryBudget* budget) {
  ResultSet& set = back();
  bool leased = false;
  const bool repoint = std::exchange(set.repoint, true);  // also where this ends early: memories may have been exchanged
  for (Tensor& tensor : set.stale) tensor = Tensor();  // these have leases, too
  for (size_t m = 0; m < set.memories.size(); ++m) {
    if (!set.memories[m]->leased()) continue;
    leased = true;
    if (TakeFromFront(set, m)) continue;
    // Where memory is short, others will want what this would keep for later.
    const bool keep = budget == nullptr || budget->used() <= budget->limit() / 2;
    auto other = retired_.Exchange(m, set.memories[m], memory, keep);
    if (!other.ok()) return std::move(other).status();
    set.memories[m] = std::move(*other);
  }
  retired_.CountRun(leased || repoint);
  if (leased || repoint || set.tiles_whole != memory.tiles_whole()) memory.Point(set);
  set.repoint = false;
  return {};
}

// A dead value's own memory is nobody's: what the value had before lies elsewhere, in what `stale` has.
bool Results::TakeFromFront(ResultSet& set, size_t memory) {
  if (front_ < 0 || !planned_->plan.has_dead_values) return false;
  ResultSet& front = sets_[front_];
  if (!front.values[planned_->layout.slot[memory]].dead || front.memories[memory]->leased()) return false;
  std::lock_guard lock(mutex_);
  std::swap(set.memories[memory], front.memories[memory]);
  front.repoint = true;
  return true;
}

void Results::KeepStale(uint64_t run) {
  const Plan& plan = planned_->plan;
  if (!plan.has_dead_values) return;
  ResultSet& set = back();
  const Shown shown = ShownNow();
  Leases leases;
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    set.stale[s] = Tensor();
    if (!set.values[s].dead) {
      set.computed[s] = run;
      continue;
    }
    set.computed[s] = 0;
    if (!plan.slots[s].result || shown.planned == nullptr) continue;
    const int old = shown.planned == planned_.get() ? static_cast<int>(s) : SlotIn(shown, planned_->graph, plan.slots[s].value);
    if (old < 0 || !shown.planned->plan.slots[old].result) continue;
    set.stale[s] = TensorOf(shown, old, leases);
    if (set.stale[s].defined()) set.computed[s] = RunOf(shown, old);
  }
}

void Results::Publish(uint64_t run) {
  std::unique_ptr<Before> before;  // freed when readers are let in again
  std::lock_guard lock(mutex_);
  back().run = run;
  front_ = front_ == 0 ? 1 : 0;
  last_run_ = run;
  before = std::move(before_);
}

// ---- for readers -----------------------------------------------------------------------------------------------------------------------

Results::Shown Results::ShownNow() const {
  if (front_ >= 0) return {planned_.get(), &sets_[front_]};
  if (before_ != nullptr) return {before_->planned.get(), &before_->set};
  return {};
}

// The slot of a value in what is shown, or -1.
int Results::SlotIn(const Shown& shown, const Graph& graph, ValueRef value) {
  if (shown.planned == nullptr) return -1;
  if (&shown.planned->graph == &graph) return shown.planned->plan.SlotOf(value);
  const ValueRef there = IdMap(graph, shown.planned->graph).Value(value);
  return there.valid() ? shown.planned->plan.SlotOf(there) : -1;
}

uint64_t Results::RunOf(const Shown& shown, int slot) {
  const Plan& plan = shown.planned->plan;
  const bool always = !plan.has_dead_values || plan.slots[slot].storage == Slot::Storage::kConstant;
  return always ? shown.set->run : shown.set->computed[slot];
}

// The value of a result's slot, undefined where it has none. Its memory stays as it is while the tensor lives.
Tensor Results::TensorOf(const Shown& shown, int index, Leases& leases) {
  const Plan& plan = shown.planned->plan;
  const Graph& graph = shown.planned->graph;
  const Slot& slot = plan.slots[index];
  const ResultSet& set = *shown.set;
  if (slot.storage == Slot::Storage::kConstant) return graph.node(slot.value.node).constant;
  const Value& at = set.values[index];
  if (at.dead) return set.stale[index];
  if (!HasValue(at)) return {};
  const int root = slot.storage == Slot::Storage::kShared ? set.root[index] : index;
  if (root >= 0 && shown.planned->layout.memory[root] >= 0) {
    const auto memory = static_cast<size_t>(shown.planned->layout.memory[root]);
    if (leases.size() <= memory) leases.resize(set.memories.size());
    if (leases[memory] == nullptr) leases[memory] = std::make_shared<Lease>(set.memories[memory]);
    return Tensor::View(slot.dtype, *at.shape, at.data, leases[memory]);
  }
  if (root >= 0 && plan.slots[root].storage == Slot::Storage::kConstant) {
    return Tensor::View(slot.dtype, *at.shape, at.data, graph.node(plan.slots[root].value.node).constant.owner());
  }
  return set.owned[index];
}

Result<ResultValue> Results::Read(const Shown& shown, const Graph& graph, ValueRef value, Leases& leases) const {
  const auto none = [&](std::string_view why) { return FailedPrecondition("'", graph.ValueName(value), "' ", why); };
  const int slot = SlotIn(shown, graph, value);
  if (slot < 0) return none("has no value: no run has computed it");
  const Slot& planned = shown.planned->plan.slots[slot];
  if (!planned.kept && planned.storage != Slot::Storage::kConstant) {
    return none("is not kept by this session").WithHint("fetch it, or keep all results");
  }
  ResultValue result;
  result.run = RunOf(shown, slot);
  result.stale = result.run != last_run_;
  if (result.run == 0) return none("has no value yet: a Switch left it out of every run so far");
  result.tensor = TensorOf(shown, slot, leases);
  if (!result.tensor.defined()) return none("had no value when the run began");
  return result;
}

void Results::WithPlan(FunctionRef<void(const Plan&)> read) const {
  std::lock_guard lock(mutex_);
  if (planned_ != nullptr) read(planned_->plan);
}

Result<ResultValue> Results::Get(const Graph& graph, ValueRef value) const {
  Leases leases;
  std::lock_guard lock(mutex_);
  return Read(ShownNow(), graph, value, leases);
}

std::vector<Result<ResultValue>> Results::GetAll(const Graph& graph, std::span<const ValueRef> values) const {
  std::vector<Result<ResultValue>> results;
  results.reserve(values.size());
  Leases leases;
  std::lock_guard lock(mutex_);
  const Shown shown = ShownNow();
  for (ValueRef value : values) results.push_back(Read(shown, graph, value, leases));
  return results;
}

}  // namespace weft
