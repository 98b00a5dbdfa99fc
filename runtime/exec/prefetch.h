// Loops over many things bring what they will use soon into the caches: where there are many, waiting for memory takes most of the time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// How many variables, or steps, such a loop looks ahead.
constexpr size_t kPrefetchDistance = 8;
/// Plans of so many steps do not fit the nearer caches with what they use.
constexpr size_t kManySteps = 10'000;

/// Begins to load the lines of `bytes` bytes.
inline void Prefetch(const void* from, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(from);  // of a value that has no memory yet: null
  for (size_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(reinterpret_cast<const void*>(first + byte));
}

}  // namespace weft
