// Properties of the processor that decide how large results are written.
#pragma once

#include <cstdint>

namespace weft {

/// The size in bytes of the second and third level of cache where results up to that size are written faster through the caches than with
/// non-temporal stores; 0 where they are not (on Intel's servers non-temporal stores already win at 4 MB). Constant during a process;
/// thread-safe.
int64_t FastCacheBytes();

}  // namespace weft
