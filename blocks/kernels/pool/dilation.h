// Morphological dilation: under each window the largest sum of input and filter, channel by channel; and the ways back.
#pragma once

#include "blocks/kernels/conv/im2col.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// Pictures [batch, height, width, channels] and a filter [taps down, taps across, channels].
struct Dilation {
  int64_t batch = 0, channels = 0;
  ConvAxis height, width;

  int64_t in_pixels() const { return height.source * width.source; }
  int64_t out_pixels() const { return height.positions * width.positions; }
  int64_t filter_count() const { return height.taps * width.taps * channels; }
};

/// Sums of integers wrap, those of half and bfloat16 are rounded before they are compared. NaN is passed over; a window without a number
/// gives the lowest finite one.
template <class T>
void Dilate(const Dilation& dilation, const T* in, const T* filter, T* out, Workers& workers);

/// Adds each gradient to `out` at the input of the first largest sum of its window; without one at the first input of the window.
template <class T>
void DilateGradInput(const Dilation& dilation, const T* in, const T* filter, const T* gradient, T* out, Workers& workers);

/// Adds each gradient to the tap of the first largest sum of its window; without one to the first tap. `sums` is workspace of
/// DilationShares() * filter_count() elements.
int64_t DilationShares(const Dilation& dilation);
template <class T>
void DilateGradFilter(const Dilation& dilation, const T* in, const T* filter, const T* gradient, T* out, Accumulator<T>* sums,
                      Workers& workers);

}  // namespace weft::kernels
