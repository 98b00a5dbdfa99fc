// Allocations that fail when a test wants them to: operator new of this program, in all its forms, on every thread.
#pragma once

#include <cstdint>

namespace weft::faults {

/// While it lives, allocation `number` (from 1 on) of those that come fails; all that follow it, too, where it `lasts`. 0: none fails, they
/// are counted. One at a time.
class MemoryFault {
 public:
  explicit MemoryFault(uint64_t number, bool lasts = false);
  ~MemoryFault();
  MemoryFault(const MemoryFault&) = delete;
  MemoryFault& operator=(const MemoryFault&) = delete;
  /// How many have been asked for while it lives.
  uint64_t seen() const;
  bool happened() const { return number_ != 0 && seen() >= number_; }

 private:
  const uint64_t number_;
};

/// Allocations that were made while the last fault lived and have not been given back.
int64_t Kept();

/// Ends the program, saying what hung, unless it ends within `seconds`.
class Watchdog {
 public:
  Watchdog(const char* what, uint64_t number, unsigned seconds = 30);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace weft::faults
