// The 16-bit element types, complete: half (IEEE binary16) and bfloat16 convert to and from float and compute in it. For code that reads or
// writes such elements, directly or through Dispatch.
#pragma once

#include <Eigen/Core>

#include "weft/base/dtype.h"

namespace weft {

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);

}  // namespace weft
