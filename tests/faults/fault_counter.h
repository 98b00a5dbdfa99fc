// Which of the requests that come fails: what MemoryFault and MallocFault count by.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::faults {

/// Made by the compiler, before any code runs, and without memory: operator new and malloc ask it. Any thread.
class FaultCounter {
 public:
  /// From now on request `number` (from 1 on) fails; all that follow it, too, where it `lasts`. 0: none fails.
  void Start(uint64_t number, bool lasts) {
    seen_.store(0);
    first_.store(number);
    lasts_.store(lasts);
    counts_.store(true);
  }
  void Stop() { counts_.store(false); }
  bool counts() const { return counts_.load(std::memory_order_relaxed); }
  /// Counts a request, and tells whether it is to fail.
  bool Fails() {
    if (!counts()) return false;
    const uint64_t number = seen_.fetch_add(1) + 1, first = first_.load();
    return first != 0 && (number == first || (number > first && lasts_.load()));
  }
  /// Requests since the last Start.
  uint64_t seen() const { return seen_.load(); }

 private:
  std::atomic<uint64_t> seen_{0}, first_{0};
  std::atomic<bool> counts_{false}, lasts_{false};
};

}  // namespace weft::faults
