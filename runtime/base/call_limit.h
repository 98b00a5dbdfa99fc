// CallLimit: until when a call may work on a page (reading, connecting, editing, planning), and how that work ends early.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>

#include "weft/base/status.h"

namespace weft {

/// Thrown by CallLimit::Check; caught where the limit was set. What the work has made is dropped on the way.
class CallStopped : public std::exception {
 public:
  explicit CallStopped(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }  // cancelled
  const char* what() const noexcept override { return "a call was stopped"; }

 private:
  Status status_;
};

/// The limit of what this thread does while it lives; within another one the earlier deadline and both flags count.
class CallLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CallLimit(std::optional<Clock::time_point> deadline, const std::atomic<bool>* cancelled = nullptr);
  ~CallLimit() { current_ = outer_; }
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;

  /// Called between blocks, values and the like, where work may end. Costs little: the clock is read once in many calls.
  static void Check() {
    if (current_ != nullptr && --current_->unchecked_ <= 0) current_->Look();
  }

 private:
  void Look();
  bool cancelled() const { return (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) || (outer_ != nullptr && outer_->cancelled()); }

  static inline thread_local CallLimit* current_ = nullptr;
  CallLimit* const outer_;
  std::optional<Clock::time_point> deadline_;
  const std::atomic<bool>* const cancelled_;
  int unchecked_ = 0;  // calls of Check until the next look
};

}  // namespace weft
