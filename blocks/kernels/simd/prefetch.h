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

/// The same for writing.
inline void PrefetchToWriteAfter(const void* from, int64_t bytes) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes)), 1);
}

}  // namespace weft::kernels
