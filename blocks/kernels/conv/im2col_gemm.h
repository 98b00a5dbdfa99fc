// Convolutions as matrix products of patches (im2col), a tile of positions at a time.
#pragma once

#include "blocks/kernels/conv/convolution.h"

namespace weft::kernels {

/// Elements of Accumulator<T> that RunIm2Col needs.
int64_t Im2ColScratch(const ConvForward& product);
/// RunConv by im2col.
template <class T>
void RunIm2Col(const ConvForward& product, const T* source, const T* weights, T* out, Accumulator<T>* scratch, Workers& workers);

/// RunConvFilterGrad by shares of the positions, whose sums are added up in order: each by im2col, or of a depthwise convolution directly.
int64_t SharedFilterGradScratch(const ConvFilterGrad& sum);
template <class T>
void RunSharedFilterGrad(const ConvFilterGrad& sum, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch,
                         Workers& workers);

}  // namespace weft::kernels
