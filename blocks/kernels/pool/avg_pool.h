// The average under each window, and the way back. Padding does not count.
#pragma once

#include "blocks/kernels/pool/pooling.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// half and bfloat16 are summed in float; integers wrap and are rounded towards zero. P is Pooling, of floats, or SequencePooling, of
/// float, double, int32_t and int64_t.
template <class P, class T>
void AvgPool(const P& pooling, const T* in, T* out, Workers& workers);

/// Each input takes its share from every window that sees it. `shares` is workspace of as many elements as `gradient` has. Of floats; those
/// of SequencePooling are float and double.
template <class P, class T>
void AvgPoolGrad(const P& pooling, const T* gradient, T* out, Accumulator<T>* shares, Workers& workers);

}  // namespace weft::kernels
