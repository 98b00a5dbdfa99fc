// VariableStore: the lock of a scope's variables. Their values lie in the cells of its revisions.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "weft/state/revision.h"

namespace weft {

class VariableStore {
 public:
  /// How often a value was set, in any revision: who remembers it knows whether what was taken is what the cells hold.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

 private:
  friend class VariableAccess;
  std::mutex mutex_;
  std::atomic<uint64_t> changes_{0};  // changed with the lock
};

/// While one lives, its thread alone reads and writes the values of a scope's variables. Held for moments: to look, to start, to commit.
class VariableAccess {
 public:
  explicit VariableAccess(VariableStore& store) : store_(store), lock_(store.mutex_) {}

  uint64_t changes() const { return store_.changes(); }
  void CountChange() { store_.changes_.store(changes() + 1, std::memory_order_release); }

 private:
  VariableStore& store_;
  std::lock_guard<std::mutex> lock_;
};

inline void VariableCell::Set(Tensor value, VariableAccess& access) {
  value_ = std::move(value);
  access.CountChange();
}

/// The shapes that values of variables have when they are asked for: PlanRequest::shape_of. Both outlive what is returned, which takes the lock.
inline std::function<std::optional<Shape>(int)> ShapesNow(const Revision& revision, VariableStore& store) {
  return [&revision, &store](int variable) -> std::optional<Shape> {
    const VariableAccess access(store);
    const Tensor& value = revision.variables[static_cast<size_t>(variable)]->value(access);
    return value.defined() ? std::optional(value.shape()) : std::nullopt;
  };
}

}  // namespace weft
