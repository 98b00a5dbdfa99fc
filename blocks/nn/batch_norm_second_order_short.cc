#include "blocks/nn/batch_norm_second_order.h"

namespace weft::blocks::second_order {

template void RunSecondOrder<half>(const SecondOrder&, RunContext&);
template void RunSecondOrder<bfloat16>(const SecondOrder&, RunContext&);

}  // namespace weft::blocks::second_order
