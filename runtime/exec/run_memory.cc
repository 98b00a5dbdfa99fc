#include "runtime/exec/run_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/base/call_limit.h"
#include "weft/base/discard.h"

namespace weft {
namespace {

// Results up to this size share one memory.
constexpr int64_t kSmallResult = 4096;
constexpr int64_t kAlignment = 64;

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

/// `count` copies of `value`, made a piece at a time: plans may have millions of values.
template <class T>
void AssignInPieces(std::vector<T>& values, size_t count, const T& value = {}) {
  constexpr size_t kPiece = size_t{1} << 16;
  values.reserve(count);
  while (values.size() < count) {
    CallLimit::CheckNow();
    values.resize(std::min(count, values.size() + kPiece), value);
  }
}

/// What the vectors of a ResultSet take.
int64_t BytesOfSet(const Plan& plan) {
  size_t of_slot = sizeof(Value) + sizeof(Tensor) + sizeof(int);
  if (!plan.loops.empty()) of_slot += sizeof(std::vector<Tensor>);
  if (plan.has_dead_values) of_slot += sizeof(uint64_t) + sizeof(Tensor);
  return static_cast<int64_t>(plan.slots.size() * of_slot);
}

}  // namespace

ResultLayout::ResultLayout(const Plan& plan) : memory(plan.slots.size(), -1), offset(plan.slots.size(), 0) {
  int small = -1;
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    CallLimit::Check();
    if (plan.slots[s].storage != Slot::Storage::kKept) continue;
    const int64_t size = Aligned(BytesOf(plan.slots[s]));
    const bool alone = plan.has_dead_values || size > kSmallResult;
    if (alone || small < 0) {
      if (!alone) small = static_cast<int>(bytes.size());
      memory[s] = static_cast<int>(bytes.size());
      bytes.push_back(size);
      slot.push_back(static_cast<int>(s));
      continue;
    }
    memory[s] = small;
    offset[s] = bytes[static_cast<size_t>(small)];
    bytes[static_cast<size_t>(small)] += size;
  }
}

Status RunMemory::TakeArena() {
  auto memory = Buffer::Allocate(DType::kUInt8, plan_.arena_bytes, budget_);
  if (!memory.ok()) return PlaceAtNode(planned_.graph, LargestInArena(plan_), std::move(memory).status());
  arena_ = std::move(*memory);
  return {};
}

Status RunMemory::Bind(ResultSet& set) const {
  const size_t slots = plan_.slots.size();
  ResultSet fresh;
  fresh.held = MemoryCharge(budget_);
  if (Status status = fresh.held.Hold(BytesOfSet(plan_)); !status.ok()) return std::move(status).WithPage(planned_.graph.name());
  try {
    AssignInPieces(fresh.values, slots);
    AssignInPieces(fresh.owned, slots);
    AssignInPieces(fresh.root, slots, -1);
    AssignInPieces(fresh.reusable, plan_.loops.empty() ? 0 : slots);
    AssignInPieces(fresh.computed, plan_.has_dead_values ? slots : 0);
    AssignInPieces(fresh.stale, plan_.has_dead_values ? slots : 0);
  } catch (const CallStopped&) {
    Discard(std::move(fresh));
    throw;
  }
  for (size_t m = 0; m < planned_.layout.bytes.size(); ++m) {
    WEFT_ASSIGN_OR_RETURN(auto memory, NewResultMemory(m));
    fresh.memories.push_back(std::move(memory));
  }
  set = std::move(fresh);
  Point(set);
  set.bound = true;
  return {};
}

Result<std::shared_ptr<ResultMemory>> RunMemory::NewResultMemory(size_t memory) const {
  const ResultLayout& layout = planned_.layout;
  auto made = std::make_shared<ResultMemory>();
  auto buffer = Buffer::Allocate(DType::kUInt8, layout.bytes[memory], budget_);
  if (!buffer.ok()) return PlaceAtNode(planned_.graph, plan_.slots[layout.slot[memory]].value.node, std::move(buffer).status());
  made->buffer = std::move(*buffer);
  return made;
}

void RunMemory::Point(ResultSet& set) const {
  set.repoint = false;
  set.tiles_whole = fused_.whole();
  for (size_t s = 0; s < plan_.slots.size(); ++s) {  // sources come before the slots that share them
    CallLimit::Check();
    PointValue(set, s);
  }
}

void RunMemory::PointValue(ResultSet& set, size_t s) const {
  const Slot& slot = plan_.slots[s];
  Value& value = set.values[s];
  const auto point = [&](void* data) { value = {data, slot.shape.count(), &slot.shape, value.dead}; };
  switch (slot.storage) {
    case Slot::Storage::kArena: return point(arena() + slot.offset);
    case Slot::Storage::kKept: {
      const int memory = planned_.layout.memory[s];
      return point(static_cast<std::byte*>(set.memories[memory]->buffer->data()) + planned_.layout.offset[s]);
    }
    case Slot::Storage::kTile: return point(fused_.TileMemory(slot));
    case Slot::Storage::kConstant: {
      const Tensor& constant = planned_.graph.node(slot.value.node).constant;
      value = {const_cast<void*>(constant.data()), constant.count(), &constant.shape(), false};
      return;
    }
    case Slot::Storage::kShared: {
      if (!slot.bound) return;
      const int root = plan_.slots[slot.source].storage == Slot::Storage::kShared ? set.root[slot.source] : slot.source;
      point(set.values[root].data);
      set.root[s] = root;
      return;
    }
    default: return;  // set during the run
  }
}

Status RunMemory::Allocate(ResultSet& set, uint32_t slot, const Shape& shape) const {
  Tensor& owned = set.owned[slot];
  if (owned.defined() && owned.shape() == shape && SoleOwner(owned.owner())) {
    set.values[slot] = {owned.data(), owned.count(), &owned.shape(), false};
    return {};
  }
  if (!set.reusable.empty()) return AllocateInLoop(set, slot, shape);
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(plan_.slots[slot].dtype, shape, budget_));
  set.Own(slot, std::move(tensor));
  return {};
}

// A value of the last iteration may still be read while that of the next is computed, so that a slot uses several tensors in turn.
Status RunMemory::AllocateInLoop(ResultSet& set, uint32_t slot, const Shape& shape) const {
  constexpr size_t kMostReusable = 4;
  set.owned[slot] = Tensor();
  std::vector<Tensor>& reusable = set.reusable[slot];
  for (const Tensor& tensor : reusable) {
    if (!(tensor.shape() == shape) || !SoleOwner(tensor.owner())) continue;
    set.Own(slot, tensor);
    return {};
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(plan_.slots[slot].dtype, shape, budget_));
  if (reusable.size() >= kMostReusable) reusable.erase(reusable.begin());
  reusable.push_back(tensor);
  set.Own(slot, std::move(tensor));
  return {};
}

}  // namespace weft
