// The listeners of a runner.
#pragma once

#include <mutex>
#include <vector>

#include "weft/host/runner.h"

namespace weft {

/// Thread-safe. A list that was given stays as it is while others are added and removed.
class ListenerList {
 public:
  struct Entry {
    std::shared_ptr<RunListener> listener;
    uint64_t number = 0;  // grows with each that is added
  };
  using Entries = std::vector<Entry>;

  /// False where it is there already.
  bool Add(std::shared_ptr<RunListener> listener);
  void Remove(const RunListener* listener);
  void Clear();
  /// Null where there are none. Without a lock then.
  std::shared_ptr<const Entries> All() const;
  /// How many of them want the calls of steps; others may count themselves in.
  std::atomic<uint32_t>& steps_wanted() { return *steps_wanted_; }

 private:
  void MakeSpares(size_t entries);

  const std::shared_ptr<std::atomic<uint32_t>> steps_wanted_ = std::make_shared<std::atomic<uint32_t>>(0);
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_;
  std::vector<std::shared_ptr<Entries>> spares_;  // empty, with room; one for each entry that may be removed
  uint64_t last_number_ = 0;
};

}  // namespace weft
