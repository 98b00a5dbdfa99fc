#include "runtime/host/late_release.h"

#include <utility>

namespace weft {

thread_local LateRelease* LateRelease::outermost_ = nullptr;

LateRelease::LateRelease() {
  if (outermost_ == nullptr) outermost_ = this;
}

// What a host does when it has something back may let go of more, which is then given back at once.
LateRelease::~LateRelease() {
  if (outermost_ != this) return;
  outermost_ = nullptr;
  while (first_ != nullptr) {
    const std::unique_ptr<Item> item = std::exchange(first_, std::move(first_->next_));
    item->Release();
  }
}

void LateRelease::Give(std::unique_ptr<Item> item) noexcept {
  if (outermost_ == nullptr) return item->Release();
  std::unique_ptr<Item>& end = *outermost_->last_;
  outermost_->last_ = &item->next_;
  end = std::move(item);
}

}  // namespace weft
