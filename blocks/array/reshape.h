// What Reshape and QuantizedReshape share.
#pragma once

#include "weft/block/context.h"

namespace weft::blocks {

/// Output 0 has the elements of input 0, `tensor`, under the sizes in input 1, `shape`; one of them may be -1.
Status PlanReshape(PlanContext& ctx);

}  // namespace weft::blocks
