#include "runtime/capi/handles.h"

#include <array>
#include <atomic>
#include <mutex>

namespace weft::capi {
namespace {

static_assert(sizeof(void*) == 8, "handles store kind, generation and slot in 64 bits");

constexpr uint64_t kHandleBit = uint64_t{1} << 63;
constexpr int kKindShift = 56, kGenerationShift = 24;
constexpr uint32_t kChunkSlots = 1024, kMostChunks = 16384;  // 2^24 slots
constexpr uint32_t kStripes = 64;

struct Slot {
  std::shared_ptr<Object> object;  // null: free
  uint32_t generation = 0;         // of the current object or, in a free slot, of the last; 0: never used
  uint32_t references = 0;
  Kind kind{};
  uint32_t next_free = 0;  // guarded by free_mutex
};

struct Table {
  std::array<std::mutex, kStripes> stripes;  // a slot belongs to the stripe index % kStripes
  std::array<std::atomic<Slot*>, kMostChunks> chunks{};
  std::mutex free_mutex;
  // Free slots, linked by next_free, so that to close a handle takes no memory; first in, first out, so that a slot is not reused soon.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t first_free = kNone, last_free = kNone;  // guarded by free_mutex
  uint32_t slots = 0;                              // guarded by free_mutex
  std::atomic<size_t> live{0};

  std::mutex& StripeOf(uint32_t index) { return stripes[index % kStripes]; }
  Slot* At(uint32_t index) {
    Slot* chunk = chunks[index / kChunkSlots].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % kChunkSlots;
  }
  Result<uint32_t> TakeIndex();
  void FreeIndex(uint32_t index);
  void Append(uint32_t index);
};

// Never destroyed, since threads may use handles while the process exits.
Table& TheTable() {
  static Table* table = new Table;
  return *table;
}

Result<uint32_t> Table::TakeIndex() {
  std::lock_guard lock(free_mutex);
  if (first_free == kNone) {
    uint32_t chunk = slots / kChunkSlots;
    if (chunk == kMostChunks) return ResourceExhausted("there are ", slots, " handles already").WithHint("release what is no longer used");
    chunks[chunk].store(new Slot[kChunkSlots], std::memory_order_release);
    for (uint32_t i = 0; i < kChunkSlots; ++i) Append(slots++);
  }
  const uint32_t index = first_free;
  first_free = At(index)->next_free;
  if (first_free == kNone) last_free = kNone;
  return index;
}

// Called with the lock of the free slots held.
void Table::Append(uint32_t index) {
  At(index)->next_free = kNone;
  if (last_free == kNone) first_free = index;
  else At(last_free)->next_free = index;
  last_free = index;
}

void Table::FreeIndex(uint32_t index) {
  std::lock_guard lock(free_mutex);
  Append(index);
}

struct Parts {
  Kind kind;
  uint32_t generation, index;
};

Parts PartsOf(uint64_t bits) {
  return {static_cast<Kind>(bits >> kKindShift & 0x3f), static_cast<uint32_t>(bits >> kGenerationShift),
          static_cast<uint32_t>(bits & 0xffffff)};
}

Status NoHandle(Kind needed) { return InvalidArgument("needs a ", KindName(needed), ", found a pointer that is no handle"); }

// Calls use(slot) with the slot of a live handle, locked.
template <class Use>
Status WithSlot(Kind kind, const void* handle, Use use) {
  if (handle == nullptr) return InvalidArgument("needs a ", KindName(kind), ", found NULL");
  uint64_t bits = reinterpret_cast<uintptr_t>(handle);
  Parts parts = PartsOf(bits);
  std::string_view found = KindName(parts.kind);
  if ((bits >> 62) != 2 || found.empty()) return NoHandle(kind);
  Table& table = TheTable();
  Slot* slot = table.At(parts.index);
  if (slot == nullptr) return NoHandle(kind);
  std::lock_guard lock(table.StripeOf(parts.index));
  if (parts.generation == 0 || parts.generation > slot->generation) return NoHandle(kind);
  if (parts.kind != kind) return InvalidArgument("needs a ", KindName(kind), ", found a ", found);
  if (parts.generation != slot->generation || slot->object == nullptr) {
    return FailedPrecondition("the ", found, " was closed").WithHint("a handle stays invalid after its close or release");
  }
  if (slot->kind != kind) return NoHandle(kind);
  use(*slot);
  return {};
}

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kStrings: return "weft_strings";
    case Kind::kDiagnostics: return "weft_diagnostics";
    case Kind::kRuntime: return "weft_runtime";
    case Kind::kPage: return "weft_page";
    case Kind::kSession: return "weft_session";
    case Kind::kView: return "weft_view";
    case Kind::kEvents: return "weft_events";
    case Kind::kSubscription: return "weft_subscription";
    case Kind::kBreakpoint: return "weft_breakpoint";
    case Kind::kSnapshot: return "weft_snapshot";
    case Kind::kEdit: return "weft_edit";
    case Kind::kPageRun: return "weft_page_run";
    case Kind::kValues: return "weft_results";
    case Kind::kSharded: return "weft_sharded";
  }
  return {};
}

Result<void*> AddHandle(Kind kind, std::shared_ptr<Object> object) {
  Table& table = TheTable();
  WEFT_ASSIGN_OR_RETURN(uint32_t index, table.TakeIndex());
  Slot& slot = *table.At(index);
  std::lock_guard lock(table.StripeOf(index));
  slot.object = std::move(object);
  slot.kind = kind;
  slot.references = 1;
  ++slot.generation;
  table.live.fetch_add(1, std::memory_order_relaxed);
  uint64_t bits = kHandleBit | uint64_t{static_cast<uint8_t>(kind)} << kKindShift | uint64_t{slot.generation} << kGenerationShift | index;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(bits));
}

Result<std::shared_ptr<Object>> FindHandle(Kind kind, const void* handle) {
  std::shared_ptr<Object> object;
  WEFT_RETURN_IF_ERROR(WithSlot(kind, handle, [&](Slot& slot) { object = slot.object; }));
  return object;
}

Result<std::shared_ptr<Object>> CountReference(Kind kind, const void* handle, int change) {
  std::shared_ptr<Object> object;
  bool ended = false, retired = false;
  WEFT_RETURN_IF_ERROR(WithSlot(kind, handle, [&](Slot& slot) {
    object = slot.object;
    slot.references += static_cast<uint32_t>(change);
    ended = slot.references == 0;
    if (ended) slot.object = nullptr;
    retired = slot.generation == UINT32_MAX;  // not reused: the generation would wrap
  }));
  if (ended) {
    Table& table = TheTable();
    table.live.fetch_sub(1, std::memory_order_relaxed);
    if (!retired) table.FreeIndex(PartsOf(reinterpret_cast<uintptr_t>(handle)).index);
  }
  return object;
}

size_t LiveHandles() { return TheTable().live.load(std::memory_order_relaxed); }

}  // namespace weft::capi
