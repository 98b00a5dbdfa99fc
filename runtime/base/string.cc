#include "weft/base/string.h"

#include <atomic>
#include <new>

#include "weft/base/status.h"

namespace weft {

struct String::Shared {
  explicit Shared(size_t size) : size(size) {}

  std::atomic<uint64_t> owners{1};
  std::atomic<bool> charged{false};
  const size_t size;
  std::shared_ptr<MemoryBudget> budget;  // written once, by the thread that sets `charged`; read by the last owner

  char* data() { return reinterpret_cast<char*>(this + 1); }
};

String::String(size_t size) {
  static_assert(sizeof(String) == 16 && sizeof(Shared) <= kHeader);
  if (size > kInPlace) words_[0] = reinterpret_cast<uint64_t>(new (::operator new(sizeof(Shared) + size)) Shared(size));
  reinterpret_cast<uint8_t*>(words_)[15] = size > kInPlace ? kSharedTag : static_cast<uint8_t>(size);
}

Result<String> String::Uninitialized(size_t size, const std::shared_ptr<MemoryBudget>& budget) {
  MemoryCharge room(budget);
  if (size > kInPlace) WEFT_RETURN_IF_ERROR(room.Hold(static_cast<int64_t>(size)));
  String made(size);
  room.Resize(0);
  WEFT_RETURN_IF_ERROR(made.Hold(budget));
  return made;
}

String::String(std::string_view first, std::string_view second) : String(first.size() + second.size()) {
  // Either may be empty, and then have no address.
  if (!first.empty()) std::memcpy(mutable_data(), first.data(), first.size());
  if (!second.empty()) std::memcpy(mutable_data() + first.size(), second.data(), second.size());
}

const char* String::shared_data() const { return shared()->data(); }

size_t String::shared_size() const { return shared()->size; }

void String::Share() const { shared()->owners.fetch_add(1, std::memory_order_relaxed); }

void String::Drop() const {
  Shared* bytes = shared();
  // The only owner need not tell others: nobody can become one but by a copy of its own.
  if (bytes->owners.load(std::memory_order_acquire) > 1 && bytes->owners.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (bytes->budget != nullptr) bytes->budget->Release(static_cast<int64_t>(kHeader + bytes->size));
  bytes->~Shared();
  ::operator delete(bytes);
}

Status String::Hold(const std::shared_ptr<MemoryBudget>& budget) const {
  if (budget == nullptr || !is_shared()) return {};
  Shared* bytes = shared();
  if (bytes->charged.load(std::memory_order_relaxed)) return {};
  const auto held = static_cast<int64_t>(heap_bytes());
  if (!budget->Reserve(held)) return budget->Refusal(held);
  if (bytes->charged.exchange(true)) {
    budget->Release(held);  // another thread was first
    return {};
  }
  bytes->budget = budget;
  return {};
}

}  // namespace weft
