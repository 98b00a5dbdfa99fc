// Division of sizes.
#pragma once

#include <cstdint>

namespace weft {

/// size / unit, rounded up; unit > 0 and size > -unit. Cannot overflow.
constexpr int64_t DivideUp(int64_t size, int64_t unit) { return size / unit + (size % unit > 0); }

}  // namespace weft
