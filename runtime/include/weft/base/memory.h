// MemoryBudget and MemoryCharge: how many bytes a runtime and its pages hold, and how many they may.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace weft {

class Status;

/// Counts the bytes that are held in its name and refuses to exceed a limit. One for each Runtime, and one for each page that counts in the
/// runtime's as well. Thread-safe.
class MemoryBudget {
 public:
  /// What is reserved here is also reserved in `parent`, which may be null.
  explicit MemoryBudget(int64_t limit, std::shared_ptr<MemoryBudget> parent = nullptr) : limit_(limit), parent_(std::move(parent)) {}
  /// Four fifths of this machine's memory.
  static std::shared_ptr<MemoryBudget> ForMachine();

  /// Adds `bytes` to used(). False, with nothing added, where that would exceed the limit or the parent's.
  bool Reserve(int64_t bytes);
  void Release(int64_t bytes);
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }
  /// How much more may be reserved, the parent's limit included.
  int64_t available() const;
  /// resource_exhausted: that `bytes` are needed, and how much of which limit is in use.
  Status Refusal(int64_t bytes) const;

 private:
  const int64_t limit_;
  const std::shared_ptr<MemoryBudget> parent_;
  std::atomic<int64_t> used_{0};
};

/// What one object holds of a budget; given back when it ends. For one thread at a time.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  /// Of nothing yet. `budget` may be null: no limit.
  explicit MemoryCharge(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ~MemoryCharge() { Resize(0); }
  MemoryCharge(MemoryCharge&& from) noexcept : budget_(std::move(from.budget_)), bytes_(std::exchange(from.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& from) noexcept {
    std::swap(budget_, from.budget_);
    std::swap(bytes_, from.bytes_);
    return *this;
  }

  /// Holds `bytes` from now on. False, with nothing changed, where the budget lacks them; less is always granted.
  bool Resize(int64_t bytes);
  /// Resize, with resource_exhausted where it refuses.
  Status Hold(int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  int64_t bytes_ = 0;
};

}  // namespace weft
