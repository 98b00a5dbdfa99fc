// Asking for memory before it is used.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// Prefetches for reading what lies `bytes` after `from`, into the first-level cache (kLevel 3) or the second (2). That may be past the end of
/// the array, where no pointer may point: so addresses are numbers.
template <int kLevel = 3>
inline void PrefetchAfter(const void* from, int64_t bytes) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes)), 0, kLevel);
}

/// Memory that is wanted soon, a line or less at a time: `step` bytes further each time.
class PrefetchStream {
 public:
  PrefetchStream() = default;
  PrefetchStream(const void* from, int64_t step) : at_(reinterpret_cast<uintptr_t>(from)), step_(step) {}
  PrefetchStream After(int64_t times) const {
    PrefetchStream later = *this;
    later.at_ += static_cast<uintptr_t>(times * step_);
    return later;
  }
  /// Prefetches into the second-level cache, and goes on.
  void Next() {
    __builtin_prefetch(reinterpret_cast<const void*>(at_), 0, 2);
    at_ += static_cast<uintptr_t>(step_);
  }

 private:
  uintptr_t at_ = 0;
  int64_t step_ = 0;
};

}  // namespace weft::kernels
