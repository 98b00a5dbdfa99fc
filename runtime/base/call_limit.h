// CallLimit: until when a call may work on a page (reading, connecting, editing, planning), how much memory it may take, and how that work
// ends early.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include "weft/base/memory.h"
#include "weft/base/status.h"

namespace weft {

/// Thrown by CallLimit::Check and Grow; caught where the limit was set. What the work has made is dropped on the way.
class CallStopped : public std::exception {
 public:
  explicit CallStopped(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }  // cancelled, or resource_exhausted
  const char* what() const noexcept override { return "a call was stopped"; }

 private:
  Status status_;
};

/// The limit of what this thread does while it lives; within another one the earlier deadline and both flags count, and the inner budget
/// where there is one.
class CallLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CallLimit(std::optional<Clock::time_point> deadline, const std::atomic<bool>* cancelled = nullptr,
                     std::shared_ptr<MemoryBudget> budget = nullptr);
  ~CallLimit() { current_ = outer_; }
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;

  /// Called between blocks, values and the like, where work may end. Costs little: the clock is read once in many calls.
  static void Check() {
    if (current_ != nullptr && --current_->unchecked_ <= 0) current_->Look();
  }

  /// Called before what takes milliseconds.
  static void CheckNow() {
    if (current_ != nullptr) current_->Look();
  }

  /// Called for each byte of a text that is passed, where one event may be a long one: looks every 64 KiB.
  static void CheckAt(size_t byte) {
    if (byte % (64 << 10) == 0) CheckNow();
  }

  /// Called where the work makes something that stays, before it is made: about so many bytes, for the block named, if any. The bytes are
  /// held until the call ends, or until Keep.
  static void Grow(int64_t bytes, std::string_view block = {}) {
    CallLimit* const holder = current_ == nullptr ? nullptr : current_->holder_;
    if (holder == nullptr) return;
    holder->grown_ += bytes;
    if (holder->grown_ > holder->charge_.bytes()) holder->Take(block);
  }
  /// A charge of `bytes` for what outlives the call, in place of those that Grow counted for it: resource_exhausted where the budget, which
  /// may be null, refuses.
  static Result<MemoryCharge> Keep(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget);
  /// That of the call, for what counts itself; null: no limit.
  static std::shared_ptr<MemoryBudget> budget() { return current_ == nullptr || current_->holder_ == nullptr ? nullptr : current_->holder_->budget_; }

 private:
  void Look();
  void Take(std::string_view block);
  bool cancelled() const { return (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) || (outer_ != nullptr && outer_->cancelled()); }

  static inline thread_local CallLimit* current_ = nullptr;
  CallLimit* const outer_;
  std::optional<Clock::time_point> deadline_;
  const std::atomic<bool>* const cancelled_;
  int unchecked_ = 0;  // calls of Check until the next look
  const std::shared_ptr<MemoryBudget> budget_;
  CallLimit* const holder_;  // the innermost limit that has a budget, or null
  MemoryCharge charge_;
  int64_t grown_ = 0;  // bytes; the charge is at least as large, and in larger portions
};

}  // namespace weft
