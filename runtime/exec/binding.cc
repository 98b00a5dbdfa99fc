// Binding: where each slot's memory is, for the two sets of results.
#include <algorithm>
#include <utility>

#include "runtime/exec/executor.h"

namespace weft {
namespace {

// Results up to this size share one memory.
constexpr int64_t kSmallResult = 4096;
constexpr int64_t kAlignment = 64;
// Of each memory of results, how many left to readers are remembered, and for how many runs after the last that found one leased.
constexpr size_t kMostRetired = 2;
constexpr int kRunsRetired = 100;

int64_t BytesOf(const Slot& slot) { return slot.shape.count() * static_cast<int64_t>(ElementSize(slot.dtype)); }
int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The node that takes most of the arena, to blame it where there is too little memory.
int LargestInArena(const Plan& plan) {
  int64_t most = 0;
  int largest = -1;
  auto take = [&](int node, int64_t bytes) {
    if (bytes > most) most = bytes, largest = node;
  };
  for (const Slot& slot : plan.slots) {
    if (slot.storage == Slot::Storage::kArena) take(slot.value.node, BytesOf(slot));
  }
  for (const Step& step : plan.steps) take(step.node, step.scratch_bytes);
  return largest;
}

}  // namespace

bool SoleOwner(const std::shared_ptr<const void>& owner) {
  if (owner.use_count() != 1) return false;
  // The copy's end acquires what other owners did before they let go; use_count alone would not.
  { std::shared_ptr<const void> copy = owner; }
  return owner.use_count() == 1;
}

// Small results lie together; large ones have memory of their own, and all have where a stale one may have to stay while others change.
void Executor::LayOutKept() {
  kept_memory_.assign(plan_.slots.size(), -1);
  kept_offset_.assign(plan_.slots.size(), 0);
  kept_bytes_.clear();
  kept_slot_.clear();
  int small = -1;
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    const Slot& slot = plan_.slots[s];
    if (slot.storage != Slot::Storage::kKept) continue;
    int64_t bytes = Aligned(BytesOf(slot));
    if (plan_.has_dead_values || bytes > kSmallResult) {
      kept_memory_[s] = static_cast<int>(kept_bytes_.size());
      kept_bytes_.push_back(bytes);
      kept_slot_.push_back(static_cast<int>(s));
      continue;
    }
    if (small < 0) {
      small = static_cast<int>(kept_bytes_.size());
      kept_bytes_.push_back(0);
      kept_slot_.push_back(static_cast<int>(s));
    }
    kept_memory_[s] = small;
    kept_offset_[s] = kept_bytes_[small];
    kept_bytes_[small] += bytes;
  }
  retired_.assign(kept_bytes_.size(), {});
  for (auto& retired : retired_) retired.reserve(kMostRetired);
}

Status Executor::MakeRecords() {
  arena_.reset();
  auto arena_memory = Buffer::Allocate(DType::kUInt8, plan_.arena_bytes, scope_.runtime_.budget());
  if (!arena_memory.ok()) return PlaceAtNode(graph_, LargestInArena(plan_), std::move(arena_memory).status());
  arena_ = std::move(*arena_memory);
  auto* arena = static_cast<std::byte*>(arena_->data());
  size_t steps = plan_.steps.size();
  records_.assign(steps, {});
  resources_.assign(steps, nullptr);
  resource_bound_.assign(steps, 0);
  auto any = [&](Step::Kind kind) { return std::ranges::find(plan_.steps, kind, &Step::kind) != plan_.steps.end(); };
  dynamic_.clear();
  if (any(Step::Kind::kDynamic)) dynamic_.resize(steps);
  const bool selects = any(Step::Kind::kSelect);
  selected_.assign(selects ? plan_.slots.size() : 0, -1);
  loop_at_.assign(plan_.loops.empty() ? 0 : steps, -1);
  for (size_t l = plan_.loops.size(); l-- > 0;) {
    if (plan_.loops[l].last >= plan_.loops[l].first) loop_at_[plan_.loops[l].first] = static_cast<int>(l);
  }
  for (size_t s = 0; s < steps; ++s) {
    const Step& step = plan_.steps[s];
    const Node& node = graph_.node(step.node);
    Record& record = records_[s];
    record.parameters = step.block.parameters.get();
    record.inputs = plan_.operands.data() + step.first_input;
    record.first_output = step.first_output - step.first_input;
    record.in_first = node.in_first.table().data();
    record.out_first = node.out_first.table().data();
    record.scratch = arena + step.scratch_offset;
    record.scratch_bytes = step.scratch_bytes;
    bool managed = false;
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      Slot::Storage storage = plan_.slots[record.outputs()[v]].storage;
      managed |= storage == Slot::Storage::kOwned || storage == Slot::Storage::kVariable;
    }
    if (step.kind == Step::Kind::kRun && step.updates.empty() && step.block.bind == nullptr && !managed) record.run = step.block.run;
  }
  for (size_t g = 0; g < plan_.fused.size(); ++g) {
    for (int s = plan_.fused[g].first; s <= plan_.fused[g].last; ++s) {
      records_[static_cast<size_t>(s)].fused = static_cast<int>(g);
      records_[static_cast<size_t>(s)].run = nullptr;
    }
  }
  whole_tiles_.reset();
  return fused_.Make(plan_, services_);
}

Status Executor::Bind(ResultSet& set) {
  size_t slots = plan_.slots.size();
  ResultSet fresh;
  fresh.values.assign(slots, {});
  fresh.owned.assign(slots, {});
  fresh.root.assign(slots, -1);
  fresh.lived.assign(plan_.loops.empty() ? 0 : slots, 0);
  fresh.spare.resize(plan_.loops.empty() ? 0 : slots);
  fresh.computed.assign(plan_.has_dead_values ? slots : 0, 0);
  fresh.stale.assign(plan_.has_dead_values ? slots : 0, {});
  for (size_t m = 0; m < kept_bytes_.size(); ++m) {
    WEFT_ASSIGN_OR_RETURN(auto memory, NewKept(m));
    fresh.memories.push_back(std::move(memory));
  }
  set = std::move(fresh);
  PointAtMemory(set);
  set.bound = true;
  return {};
}

Result<std::shared_ptr<KeptMemory>> Executor::NewKept(size_t memory) const {
  auto kept = std::make_shared<KeptMemory>();
  auto buffer = Buffer::Allocate(DType::kUInt8, kept_bytes_[memory], scope_.runtime_.budget());
  if (!buffer.ok()) return PlaceAtNode(graph_, plan_.slots[kept_slot_[memory]].value.node, std::move(buffer).status());
  kept->buffer = std::move(*buffer);
  return kept;
}

// Memory in the place of one that a reader holds: one that readers have let go, so that a page that is read all the time goes round in
// three; else new memory.
Result<std::shared_ptr<KeptMemory>> Executor::OtherKept(size_t memory, std::shared_ptr<KeptMemory> leased) {
  auto& retired = retired_[memory];
  auto idle = std::find_if(retired.begin(), retired.end(), [](const auto& kept) { return kept->leases.load(std::memory_order_acquire) == 0; });
  if (idle != retired.end()) {
    std::swap(*idle, leased);
    return leased;
  }
  auto fresh = NewKept(memory);
  if (!fresh.ok()) {
    for (auto& others : retired_) others.clear();  // makes room
    fresh = NewKept(memory);
  }
  if (!fresh.ok()) return fresh;
  const auto& budget = scope_.runtime_.budget();
  if (budget != nullptr && budget->used() > budget->limit() / 2) return fresh;  // others will want what this would keep for later
  if (retired.size() == kMostRetired) retired.erase(retired.begin());  // its readers' alone from now on
  retired.push_back(std::move(leased));
  return fresh;
}

void Executor::PointAtMemory(ResultSet& set) {
  auto* arena = static_cast<std::byte*>(arena_->data());
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    const Slot& slot = plan_.slots[s];
    Value& value = set.values[s];
    switch (slot.storage) {
      case Slot::Storage::kArena: value = {arena + slot.offset, slot.shape.count(), &slot.shape, value.dead}; break;
      case Slot::Storage::kKept: {
        auto* memory = static_cast<std::byte*>(set.memories[kept_memory_[s]]->buffer->data());
        value = {memory + kept_offset_[s], slot.shape.count(), &slot.shape, value.dead};
        break;
      }
      case Slot::Storage::kTile: {
        void* data = fused_.nowhere();
        if (whole_tiles_) data = static_cast<std::byte*>(whole_tiles_->data()) + slot.offset * WholeTileElements(slot.shape.count());
        value = {data, slot.shape.count(), &slot.shape, value.dead};
        break;
      }
      case Slot::Storage::kConstant: {
        const Tensor& constant = graph_.node(slot.value.node).constant;
        value = {const_cast<void*>(constant.data()), constant.count(), &constant.shape(), false};
        break;
      }
      case Slot::Storage::kShared: {
        // Sources come before the slots that share them.
        if (!slot.bound) break;
        int root = plan_.slots[slot.source].storage == Slot::Storage::kShared ? set.root[slot.source] : slot.source;
        value = {set.values[root].data, slot.shape.count(), &slot.shape, value.dead};
        set.root[s] = root;
        break;
      }
      default: break;  // set while the run goes on
    }
  }
}

// A reader may hold results of the run before the last: those stay with the reader, and this set gets new memory.
Status Executor::RenewLeased(ResultSet& set) {
  bool renewed = std::exchange(set.moved, false);
  for (Tensor& tensor : set.stale) tensor = Tensor();  // these hold leases, too
  for (size_t m = 0; m < set.memories.size(); ++m) {
    if (set.memories[m]->leases.load(std::memory_order_acquire) == 0) continue;
    renewed = true;
    if (front_ >= 0 && IsSpare(sets_[front_], m)) {
      std::lock_guard lock(results_mutex_);
      std::swap(set.memories[m], sets_[front_].memories[m]);
      sets_[front_].moved = true;
      continue;
    }
    auto memory = OtherKept(m, set.memories[m]);
    if (!memory.ok()) {
      set.moved = true;
      return std::move(memory).status();
    }
    set.memories[m] = std::move(*memory);
  }
  if (renewed) {
    runs_unread_ = 0;
    PointAtMemory(set);
  } else if (runs_unread_ < kRunsRetired && ++runs_unread_ == kRunsRetired) {
    for (auto& retired : retired_) retired.clear();
  }
  return {};
}

// A dead value's own memory is nobody's: what the value had before lies elsewhere, in what `stale` holds.
bool Executor::IsSpare(const ResultSet& set, size_t memory) const {
  return plan_.has_dead_values && set.values[kept_slot_[memory]].dead && set.memories[memory]->leases.load(std::memory_order_acquire) == 0;
}

}  // namespace weft
