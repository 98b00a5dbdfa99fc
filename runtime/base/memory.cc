#include "weft/base/memory.h"

#include <unistd.h>

#include <algorithm>

#include "weft/base/discard.h"
#include "weft/base/status.h"

namespace weft {

std::shared_ptr<MemoryBudget> MemoryBudget::ForMachine() {
  const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return std::make_shared<MemoryBudget>(machine / 5 * 4);
}

bool MemoryBudget::Reserve(int64_t bytes) {
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    // What has ended, but is yet to be destroyed, is none of the reasons for a refusal.
    while (bytes > limit_ - used) {
      if (bytes > limit_ || !AwaitDiscarded()) return false;
      used = used_.load(std::memory_order_relaxed);
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  if (parent_ == nullptr || parent_->Reserve(bytes)) return true;
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void MemoryBudget::Release(int64_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  if (parent_ != nullptr) parent_->Release(bytes);
}

int64_t MemoryBudget::available() const {
  const int64_t here = std::max<int64_t>(limit_ - used(), 0);
  return parent_ == nullptr ? here : std::min(here, parent_->available());
}

Status MemoryBudget::Refusal(int64_t bytes) const {
  if (parent_ != nullptr && parent_->available() < limit_ - used()) return parent_->Refusal(bytes);
  return ResourceExhausted("needs ", bytes, " bytes of memory; ", used(), " of the limit of ", limit_, " are in use");
}

bool MemoryCharge::Resize(int64_t bytes) {
  if (budget_ != nullptr) {
    if (bytes > bytes_ && !budget_->Reserve(bytes - bytes_)) return false;
    if (bytes < bytes_) budget_->Release(bytes_ - bytes);
  }
  bytes_ = bytes;
  return true;
}

Status MemoryCharge::Hold(int64_t bytes) { return Resize(bytes) ? Status() : budget_->Refusal(bytes - bytes_); }

}  // namespace weft
