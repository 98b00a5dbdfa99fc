// Which members of fused steps run as chains, on elements in registers.
#pragma once

#include "weft/plan/fused.h"

namespace weft {

/// Fills FusedSteps::chains. Operands must have their kinds.
void MakeChains(FusedSteps& fused);

}  // namespace weft
