// Sizes of the processor's caches that decide how kernels read and write. Constant during a process; thread-safe.
#pragma once

#include <cstdint>

namespace weft {

/// The size in bytes of the second and third level of cache where results up to that size are written faster through the caches than with
/// non-temporal stores; 0 where they are not (on Intel's servers non-temporal stores already win at 4 MB).
int64_t FastCacheBytes();

/// The first level's for data, in bytes; 0 where the system does not tell.
int64_t FirstCacheBytes();

}  // namespace weft
