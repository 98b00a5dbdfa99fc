#include "blocks/kernels/register_sums.h"

namespace weft::kernels::panels {

WEFT_SUM_ROWS(double)

}  // namespace weft::kernels::panels
