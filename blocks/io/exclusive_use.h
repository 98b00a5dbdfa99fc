// ExclusiveUse: one run at a time reads from a reader.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string_view>

#include "weft/block/services.h"

namespace weft::blocks {

/// From Begin to the end of its life nobody else has begun. Others wait with the engine's waiter, so that they can be cancelled while this one
/// waits for something itself. `in_use` is guarded by the mutex, which is not held in between.
class ExclusiveUse {
 public:
  ExclusiveUse(std::mutex& mutex, std::condition_variable& changed, bool& in_use) : mutex_(mutex), changed_(changed), in_use_(in_use) {}
  ~ExclusiveUse() {
    if (!begun_) return;
    std::lock_guard lock(mutex_);
    in_use_ = false;
    changed_.notify_all();
  }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;

  /// Errors as Waiter::Wait; `what` is waited for.
  Status Begin(const Services& services, std::string_view what) {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return !in_use_; };
    if (!ready()) WEFT_RETURN_IF_ERROR(services.waiter->Wait(lock, changed_, ready, -1, what));
    begun_ = in_use_ = true;
    return {};
  }

 private:
  std::mutex& mutex_;
  std::condition_variable& changed_;
  bool& in_use_;
  bool begun_ = false;
};

}  // namespace weft::blocks
