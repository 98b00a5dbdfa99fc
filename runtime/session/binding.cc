// Binding: where each slot's memory is, for the two sets of results.
#include "runtime/session/executor.h"

namespace weft {
namespace {

// Results up to this size share one memory.
constexpr int64_t kSmallResult = 4096;
constexpr int64_t kAlignment = 64;

int64_t BytesOf(const Slot& slot) { return slot.shape.count() * static_cast<int64_t>(ElementSize(slot.dtype)); }
int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

bool SoleOwner(const std::shared_ptr<const void>& owner) {
  // The copy's end acquires what other owners did before they let go; use_count alone would not.
  { std::shared_ptr<const void> copy = owner; }
  return owner.use_count() == 1;
}

// Small results lie together; large ones have memory of their own, and all have where a stale one may have to stay while others change.
void Executor::LayOutKept() {
  kept_memory_.assign(plan_.slots.size(), -1);
  kept_offset_.assign(plan_.slots.size(), 0);
  kept_bytes_.clear();
  int small = -1;
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    const Slot& slot = plan_.slots[s];
    if (slot.storage != Slot::Storage::kKept) continue;
    int64_t bytes = Aligned(BytesOf(slot));
    if (plan_.has_dead_values || bytes > kSmallResult) {
      kept_memory_[s] = static_cast<int>(kept_bytes_.size());
      kept_bytes_.push_back(bytes);
      continue;
    }
    if (small < 0) {
      small = static_cast<int>(kept_bytes_.size());
      kept_bytes_.push_back(0);
    }
    kept_memory_[s] = small;
    kept_offset_[s] = kept_bytes_[small];
    kept_bytes_[small] += bytes;
  }
}

Status Executor::MakeRecords() {
  WEFT_ASSIGN_OR_RETURN(arena_, Buffer::Allocate(DType::kUInt8, plan_.arena_bytes, scope_.runtime_.budget()));
  auto* arena = static_cast<std::byte*>(arena_->data());
  size_t steps = plan_.steps.size();
  records_.assign(steps, {});
  resources_.assign(steps, nullptr);
  resource_bound_.assign(steps, 0);
  dynamic_.clear();
  dynamic_.resize(steps);
  for (size_t s = 0; s < steps; ++s) {
    const Step& step = plan_.steps[s];
    const Node& node = graph_.node(step.node);
    Record& record = records_[s];
    record.parameters = step.block.parameters.get();
    record.inputs = plan_.operands.data() + step.first_input;
    record.outputs = plan_.operands.data() + step.first_output;
    record.in_first = node.in_first.table().data();
    record.out_first = node.out_first.table().data();
    record.scratch = arena + step.scratch_offset;
    record.scratch_bytes = step.scratch_bytes;
    record.resource = &resources_[s];
    bool managed = false;
    for (size_t v = 0; v < node.output_types.size(); ++v) managed |= plan_.slots[record.outputs[v]].storage == Slot::Storage::kOwned;
    if (step.kind == Step::Kind::kRun && step.updates.empty() && step.block.bind == nullptr && !managed) record.run = step.block.run;
  }
  return {};
}

Status Executor::Bind(ResultSet& set) {
  set.values.assign(plan_.slots.size(), {});
  set.owned.assign(plan_.slots.size(), {});
  set.root.assign(plan_.slots.size(), -1);
  set.computed.assign(plan_.has_dead_values ? plan_.slots.size() : 0, 0);
  set.memories.clear();
  for (int64_t bytes : kept_bytes_) {
    auto memory = std::make_shared<KeptMemory>();
    WEFT_ASSIGN_OR_RETURN(memory->buffer, Buffer::Allocate(DType::kUInt8, bytes, scope_.runtime_.budget()));
    set.memories.push_back(std::move(memory));
  }
  PointAtMemory(set);
  set.bound = true;
  return {};
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
      case Slot::Storage::kConstant: {
        const Tensor& constant = graph_.node(slot.value.node).constant;
        value = {const_cast<void*>(constant.data()), constant.count(), &constant.shape(), false};
        break;
      }
      case Slot::Storage::kShared: {
        // Sources come before the slots that share them.
        if (slot.source < 0 || set.values[slot.source].data == nullptr || !slot.shape_known) break;
        Slot::Storage source = plan_.slots[slot.source].storage;
        int root = source == Slot::Storage::kShared ? set.root[slot.source] : slot.source;
        if (root < 0 || set.owned[root].defined()) break;
        value = {set.values[slot.source].data, slot.shape.count(), &slot.shape, value.dead};
        set.root[s] = root;
        break;
      }
      default: break;  // set while the run goes on
    }
  }
}

// A reader may hold results of the run before the last: those stay with the reader, and this set gets new memory.
Status Executor::RenewLeased(ResultSet& set) {
  bool renewed = false;
  for (size_t m = 0; m < set.memories.size(); ++m) {
    if (set.memories[m]->leases.load(std::memory_order_acquire) == 0) continue;
    auto memory = std::make_shared<KeptMemory>();
    WEFT_ASSIGN_OR_RETURN(memory->buffer, Buffer::Allocate(DType::kUInt8, kept_bytes_[m], scope_.runtime_.budget()));
    set.memories[m] = std::move(memory);
    renewed = true;
  }
  if (renewed) PointAtMemory(set);
  return {};
}

}  // namespace weft
