// Convolutions and their gradients by the filter: direct, depthwise, or as matrix products of patches (im2col). They are cut into tiles by
// size alone; each of a few workspaces serves a share of the tiles, so that few are enough for any number of threads.
#pragma once

#include "blocks/kernels/conv/im2col.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// Where the positions of an axis lie in the output.
struct OutputAxis {
  int64_t size = 1, first = 0, stride = 1;
};

/// out[n, position, column] = sum over taps and inner channels of patch * weights[tap, inner, column]. Channels come in groups: group g
/// reads the g-th share of the source's channels and gives the g-th share of the columns.
struct ConvForward {
  Im2Col gather;
  std::array<OutputAxis, 3> place;  // depth, height, width
  int64_t groups = 1;
  int64_t columns = 0;         // of all groups

  int64_t inner() const { return gather.channels / groups; }
  /// Whether positions fill the output in order.
  bool fills() const {
    return place[0].stride == 1 && place[1].stride == 1 && place[2].stride == 1 && place[0].size == gather.axes[0].positions &&
           place[1].size == gather.axes[1].positions && place[2].size == gather.axes[2].positions;
  }
};

/// Elements of Accumulator<T> that RunConv needs. `widened`: T is computed in another type, as half and bfloat16 are.
int64_t ConvScratch(const ConvForward& product, bool widened);
/// `weights` is [taps * inner, columns]. Writes every position's place and no other.
template <class T>
void RunConv(const ConvForward& product, const T* source, const T* weights, T* out, Accumulator<T>* scratch, Workers& workers);

/// filter[tap, inner, column] = sum over all positions of patch * gradient: the gradient of a convolution by its filter. `gather` and
/// groups are the convolution's; `columns` are the channels of `gradient`.
struct ConvFilterGrad {
  Im2Col gather;
  int64_t groups = 1;
  int64_t columns = 0;

  int64_t inner() const { return gather.channels / groups; }
  int64_t filter_count() const { return gather.taps() * inner() * columns; }
};

/// Elements of Accumulator<T> that RunConvFilterGrad needs.
int64_t FilterGradScratch(const ConvFilterGrad& sum);
template <class T>
void RunConvFilterGrad(const ConvFilterGrad& sum, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

}  // namespace weft::kernels
