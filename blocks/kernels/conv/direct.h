// Direct convolutions of pictures whose channels are last, line by line: the micro-kernel reads blocks of lines as direct_blocks.h lays them
// out, without im2col.
#pragma once

#include "blocks/kernels/conv/direct_blocks.h"

namespace weft::kernels {

/// Elements of T's computed type that RunDirect needs; 0 where `product` is not computed line by line. `widened`: T is half or bfloat16.
int64_t DirectScratch(const ConvForward& product, bool widened);
/// RunConv, line by line; false where it is not computed so.
template <class T>
bool RunDirect(const ConvForward& product, const T* source, const T* weights, T* out, gemm::Computed<T>* scratch, Workers& workers);

/// The same for RunConvFilterGrad.
int64_t DirectFilterGradScratch(const ConvFilterGrad& sum);
template <class T>
bool RunDirectFilterGrad(const ConvFilterGrad& sum, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

}  // namespace weft::kernels
