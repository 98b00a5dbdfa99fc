// When results go past the cache.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// Outputs of at least so many bytes are better written past the cache.
inline constexpr int64_t kStreamBytes = 4 << 20;

}  // namespace weft::kernels
