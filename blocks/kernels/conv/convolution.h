// Convolutions and their gradients by the filter: depthwise, direct, or as matrix products of patches (im2col). They are cut into tiles by
// size alone; each of a few workspaces serves a share of the tiles, so that few are enough for any number of threads.
#pragma once

#include <string>

#include "blocks/kernels/conv/im2col.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// Where the positions of an axis lie in the output.
struct OutputAxis {
  int64_t size = 1, first = 0, stride = 1;
};

/// out[n, position, column] = sum over taps and inner channels of patch * filter[tap, inner, column]. Channels come in groups: group g
/// reads the g-th share of the source's channels and gives the g-th share of the columns.
/// Or its gradient by the filter: filter[tap, inner, column] = sum over all positions of patch * gradient[n, position, column].
struct ConvDesc {
  Im2Col gather;
  int64_t groups = 1;
  int64_t columns = 0;              // of all groups
  std::array<OutputAxis, 3> place;  // depth, height, width; of no meaning to the gradient by the filter
  bool by_filter = false;           // the gradient by the filter
  bool in_float = false;            // elements are float, half or bfloat16: its sums may be made of other products (minimal.h)

  int64_t inner() const { return gather.channels / groups; }
  int64_t steps() const { return gather.taps() * inner(); }
  int64_t filter_count() const { return steps() * columns; }
  /// Multiplications.
  double work() const {
    return static_cast<double>(gather.batch) * static_cast<double>(gather.positions()) * static_cast<double>(steps()) *
           static_cast<double>(columns);
  }
  /// Whether positions fill the output in order.
  bool fills() const {
    return place[0].stride == 1 && place[1].stride == 1 && place[2].stride == 1 && place[0].size == gather.axes[0].positions &&
           place[1].size == gather.axes[1].positions && place[2].size == gather.axes[2].positions;
  }
  /// The name of the implementation.
  std::string implementation() const;
};

/// The implementations, in the order in which they are chosen.
enum class ConvImplementation : uint8_t { kNone, kDepthwise, kWinograd, kDirect, kIm2Col };
const char* NameOf(ConvImplementation implementation);
ConvImplementation ChooseConv(const ConvDesc& conv);

/// A description and what is chosen for it, once for all runs; at the call where a description alone is given.
class ChosenConv {
 public:
  ChosenConv() = default;
  ChosenConv(const ConvDesc& desc) : desc_(desc), chosen_(ChooseConv(desc)) {}
  const ConvDesc& desc() const { return desc_; }
  ConvImplementation chosen() const { return chosen_; }
  std::string implementation() const { return desc_.implementation(); }

 private:
  ConvDesc desc_;
  ConvImplementation chosen_ = ConvImplementation::kNone;
};

/// Elements of Accumulator<T> that a run needs. `widened`: T is computed in another type, as half and bfloat16 are.
int64_t ConvScratch(const ConvDesc& conv, bool widened);
/// The convolution. Writes every position's place and no other.
template <class T>
void RunConv(const ChosenConv& conv, const T* source, const T* filter, T* out, Accumulator<T>* scratch, Workers& workers);

/// The gradient by the filter.
template <class T>
void RunConvFilterGrad(const ChosenConv& conv, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

}  // namespace weft::kernels
