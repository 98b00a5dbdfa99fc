#include "blocks/kernels/register_sums.h"

namespace weft::kernels::panels {

WEFT_SUM_ROWS(float)

}  // namespace weft::kernels::panels
