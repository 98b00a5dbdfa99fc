// The implementations that convolution.cc chooses from: what each takes, the elements of scratch that it needs (of Accumulator<T>, of the
// computed type for a direct one), and its runs; and what they have in common.
#pragma once

#include "blocks/kernels/conv/convolution.h"
#include "blocks/kernels/gemm/micro_kernel.h"

namespace weft::kernels {

inline constexpr int64_t kSmallConv = 1 << 16;  // multiplications below which one task does all
inline constexpr int64_t kConvWorkspaces = 16;  // at most: as many tasks run at a time
inline constexpr int64_t kFilterShares = 8;     // of positions, whose sums are made apart and then added up in order

// ---- depthwise.cc, depthwise_filter.cc: groups so narrow that a matrix product would mostly pack. Each output channel is a sum over taps
// of a channel or a few. Planes, where channels come first, are faster by im2col, but for the gradient by the filter ----

inline bool IsDepthwise(const ConvDesc& conv) {
  return conv.groups > 1 && conv.inner() * (conv.columns / conv.groups) <= 8 && (conv.by_filter || !conv.gather.channels_first);
}
template <class T>
void RunDepthwise(const ConvDesc& conv, const T* source, const T* filter, T* out, Workers& workers);
int64_t DepthwiseFilterGradScratch(const ConvDesc& conv);
template <class T>
void RunDepthwiseFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

// ---- direct.cc, direct_filter.cc: pictures line by line. The micro-kernel reads blocks of lines as direct_blocks.h
// lays them out, without im2col ----

bool TakesDirect(const ConvDesc& conv);
/// `widened`: T is half or bfloat16.
int64_t DirectScratch(const ConvDesc& conv, bool widened);
template <class T>
void RunDirect(const ConvDesc& conv, const T* source, const T* filter, T* out, gemm::Computed<T>* scratch, Workers& workers);
bool TakesDirectFilterGrad(const ConvDesc& conv);
int64_t DirectFilterGradScratch(const ConvDesc& conv);
template <class T>
void RunDirectFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

// ---- winograd.cc, winograd_filter.cc: 3x3 and 5x5 taps of many channels by fewer multiplications (minimal.h) ----

bool TakesWinograd(const ConvDesc& conv);
int64_t WinogradScratch(const ConvDesc& conv, bool widened);
template <class T>
void RunWinograd(const ConvDesc& conv, const T* source, const T* filter, T* out, float* scratch, Workers& workers);
bool TakesWinogradFilterGrad(const ConvDesc& conv);
int64_t WinogradFilterGradScratch(const ConvDesc& conv, bool widened);
template <class T>
void RunWinogradFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, float* scratch, Workers& workers);

// ---- im2col_gemm.cc: patches as a matrix, a tile of positions at a time ----

int64_t Im2ColScratch(const ConvDesc& conv);
template <class T>
void RunIm2Col(const ConvDesc& conv, const T* source, const T* filter, T* out, Accumulator<T>* scratch, Workers& workers);
int64_t Im2ColFilterGradScratch(const ConvDesc& conv);
template <class T>
void RunIm2ColFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

// ---- sums of filters ----

/// The shares' sums, `share_size` apart, added up in order and rounded; laid out as the filter, but with `padded` columns a group.
template <class T, class A>
void JoinFilterShares(const ConvDesc& conv, A* sums, int64_t shares, int64_t share_size, int64_t padded, T* filter, Workers& workers) {
  const int64_t group_columns = conv.columns / conv.groups, row = conv.groups * padded;
  workers.For(conv.steps(), std::max<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
    for (int64_t share = 1; share < shares; ++share) {
      const A* part = sums + share * share_size;
      for (int64_t i = begin * row; i < end * row; ++i) sums[i] += part[i];
    }
    if (padded == group_columns) return Narrow(sums + begin * row, filter + begin * row, (end - begin) * row);
    for (int64_t i = begin * conv.groups; i < end * conv.groups; ++i) Narrow(sums + i * padded, filter + i * group_columns, group_columns);
  });
}

}  // namespace weft::kernels
