// Convolutions whose groups are narrow, a depthwise one above all: each output channel is a sum over taps of a channel or a few, made
// directly, where a matrix product would mostly pack.
#pragma once

#include "blocks/kernels/conv/convolution.h"

namespace weft::kernels {

/// Whether a convolution is one. `columns` are those of all groups.
inline bool IsDepthwise(int64_t groups, int64_t inner, int64_t columns) { return groups > 1 && inner * (columns / groups) <= 8; }

/// RunConv for narrow groups; needs no workspace.
template <class T>
void RunDepthwise(const ConvForward& product, const T* source, const T* weights, T* out, Workers& workers);

/// Lines of positions, those of all pictures one after another.
inline int64_t PositionLines(const Im2Col& g) { return g.batch * g.axes[0].positions * g.axes[1].positions; }

/// RunConvFilterGrad's sum over the lines of positions [begin, end) for narrow groups, in the filter's layout.
template <class T>
void SumDepthwiseFilter(const ConvFilterGrad& sum, const T* source, const T* gradient, int64_t begin, int64_t end, Accumulator<T>* filter,
                    const Workers& workers);

}  // namespace weft::kernels
