// What the convolutions and their gradients share: the geometry, and how it becomes gathers and matrix products.
#pragma once

#include <vector>

#include "blocks/kernels/conv/convolution.h"
#include "blocks/nn/window_plan.h"

namespace weft::blocks {

/// The settings of a convolution as its attributes give them.
struct ConvolutionSettings {
  PictureOrder order;
  Ints strides, dilations, explicit_paddings;
  Padding padding = Padding::VALID;
  Code unsupported = Code::kUnsupported;  // for steps over batch or channels
  bool depthwise = false;                 // the filter is [taps..., in_channels, multiplier]: each channel is a group
  bool may_have_none = false;             // as in WindowSettings, for filters without dilation
  bool needs_weights = false;             // a filter without elements is refused even where there is no output
  DType dtype = DType::kInvalid;          // of the elements, where ConvDesc::in_float may follow from it
};

/// A convolution of pictures with a filter [taps..., in_channels / groups, out_channels], all sizes known to agree.
struct Convolution {
  PictureOrder order;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  kernels::WindowAxes axes;
  bool in_float = false;  // as in ConvDesc

  std::array<int64_t, 3> out_sizes() const { return {axes[0].out, axes[1].out, axes[2].out}; }
  int64_t taps() const { return axes[0].window * axes[1].window * axes[2].window; }
};

/// Checks ranks, channels, strides, dilations and padding. Errors are placed at the attribute at fault or at the ports named.
Result<Convolution> PlanConvolution(const ConvolutionSettings& settings, const Shape& picture, const Shape& filter,
                                    const char* picture_port, const char* filter_port);
/// Checks that a gradient has the shape of the convolution's output.
Status CheckGradientShape(const Convolution& convolution, const Shape& gradient, const char* port);

kernels::ConvDesc ForwardProduct(const Convolution& convolution);
/// Plans a convolution itself; gives the shape of its output too.
Result<kernels::ConvDesc> PlanForward(const ConvolutionSettings& settings, const Shape& picture, const Shape& filter,
                                      const char* picture_port, const char* filter_port, Shape& output);
/// Whether elements are computed in another type; the bytes of that.
inline bool IsWidened(DType dtype) { return dtype == DType::kHalf || dtype == DType::kBFloat16; }
inline int64_t SumBytes(DType dtype) { return dtype == DType::kDouble ? 8 : 4; }
/// Bytes of scratch memory for elements of the type.
inline int64_t ConvScratchBytes(const kernels::ConvDesc& conv, DType dtype) { return kernels::ConvScratch(conv, IsWidened(dtype)) * SumBytes(dtype); }

/// The gradient by the pictures. Input positions a stride apart are reached by the same taps: each such phase is a convolution of the
/// gradient with those taps alone, and no product is wasted on the gaps.
class InputGradient {
 public:
  /// `widened`: elements are half or bfloat16. `empty`: nothing is read, as the filter or the gradient has no elements.
  InputGradient(const Convolution& convolution, bool widened, bool empty);
  /// The name of the first phase's implementation.
  std::string implementation() const;

  /// Elements of Accumulator<T> that Run needs as scratch.
  int64_t scratch() const { return scratch_; }
  template <class T>
  void Run(const T* filter, const T* gradient, T* out, Accumulator<T>* scratch, Workers& workers) const;

 private:
  struct Phase {
    kernels::ConvAxis axis;
    kernels::OutputAxis place;
    int64_t filter_tap = 0, filter_step = 0;  // tap t of the phase is the filter's filter_tap - t * filter_step
    int64_t taps_before = 0;                  // of the axis' phases before this one
  };
  /// The phases of an axis, in the order of the filter's first tap of each.
  struct Phases {
    std::vector<Phase> all;
    int64_t taps = 0;  // of them together
    /// That of the filter's tap; null where no input is reached.
    const Phase* Of(int64_t filter_tap) const;
  };
  static Phases PhasesOf(const kernels::WindowAxis& axis);
  kernels::ConvDesc ProductOf(const Phase& d, const Phase& h, const Phase& w) const;
  /// Where the weights of the phases' product start, counted in taps.
  int64_t FirstTap(const Phase& d, const Phase& h, const Phase& w) const {
    return (d.taps_before * phases_[1].taps + d.axis.taps * h.taps_before) * phases_[2].taps + d.axis.taps * h.axis.taps * w.taps_before;
  }
  /// Where those of one of the filter's taps are; -1 where no input is reached.
  int64_t PlaceOf(int64_t filter_tap) const;
  int64_t tap_size() const { return convolution_.in_channels / convolution_.groups * convolution_.out_channels; }
  template <class T>
  void ArrangeWeights(const T* filter, T* weights, Workers& workers) const;

  Convolution convolution_;
  std::array<Phases, 3> phases_;
  bool covers_ = true;    // the phases write every input
  bool reverses_ = true;  // there is but one product, of all the filter's taps from the last to the first
  int64_t weights_ = 0, scratch_ = 0;
};

}  // namespace weft::blocks
