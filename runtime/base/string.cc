#include "weft/base/string.h"

#include <atomic>
#include <new>

namespace weft {

struct String::Shared {
  explicit Shared(size_t size) : size(size) {}

  std::atomic<uint32_t> owners{1};
  std::atomic<bool> charged{false};
  const size_t size;
  std::shared_ptr<MemoryBudget> budget;  // written once, by the thread that sets `charged`; read by the last owner

  char* data() { return reinterpret_cast<char*>(this + 1); }
};

String::String(std::string_view first, std::string_view second) {
  static_assert(sizeof(String) == 16 && sizeof(Shared) <= kHeader);
  const size_t size = first.size() + second.size();
  char* to = reinterpret_cast<char*>(words_);
  if (size > kInPlace) {
    auto* made = new (::operator new(sizeof(Shared) + size)) Shared(size);
    to = made->data();
    words_[0] = reinterpret_cast<uint64_t>(made);
  }
  // Either may be empty, and then have no address.
  if (!first.empty()) std::memcpy(to, first.data(), first.size());
  if (!second.empty()) std::memcpy(to + first.size(), second.data(), second.size());
  reinterpret_cast<uint8_t*>(words_)[15] = size > kInPlace ? kSharedTag : static_cast<uint8_t>(size);
}

const char* String::shared_data() const { return shared()->data(); }

size_t String::shared_size() const { return shared()->size; }

void String::Share() const { shared()->owners.fetch_add(1, std::memory_order_relaxed); }

void String::Drop() const {
  Shared* bytes = shared();
  if (bytes->owners.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  if (bytes->budget != nullptr) bytes->budget->Release(static_cast<int64_t>(kHeader + bytes->size));
  bytes->~Shared();
  ::operator delete(bytes);
}

bool String::ChargeShared(const std::shared_ptr<MemoryBudget>& budget) const {
  Shared* bytes = shared();
  if (budget == nullptr || bytes->charged.load(std::memory_order_relaxed)) return true;
  const auto held = static_cast<int64_t>(kHeader + bytes->size);
  if (!budget->Reserve(held)) return false;
  if (bytes->charged.exchange(true)) {
    budget->Release(held);  // another thread was first
    return true;
  }
  bytes->budget = budget;
  return true;
}

}  // namespace weft
