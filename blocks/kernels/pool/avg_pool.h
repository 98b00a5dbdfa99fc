// The average under each window, and the way back. Padding does not count.
#pragma once

#include "blocks/kernels/pool/pooling.h"
#include "weft/base/float16.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// half and bfloat16 are summed in float; integers wrap and are rounded towards zero.
template <class T>
void AvgPool(const Pooling& pooling, const T* in, T* out, Workers& workers);
/// For windows at given positions: of float, double, int32_t and int64_t.
template <class T>
void AvgPool(const SequencePooling& pooling, const T* in, T* out, Workers& workers);

/// Each input takes its share from every window that sees it. `shares` is workspace of as many elements as `gradient` has.
template <class T>
void AvgPoolGrad(const Pooling& pooling, const T* gradient, T* out, Accumulator<T>* shares, Workers& workers);
/// For windows at given positions: of float and double.
template <class T>
void AvgPoolGrad(const SequencePooling& pooling, const T* gradient, T* out, Accumulator<T>* shares, Workers& workers);

}  // namespace weft::kernels
