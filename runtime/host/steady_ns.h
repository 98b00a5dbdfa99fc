// The time that events and samples carry.
#pragma once

#include <chrono>
#include <cstdint>

namespace weft {

/// Nanoseconds of the steady clock.
inline int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace weft
