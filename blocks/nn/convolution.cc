#include "blocks/nn/convolution.h"

#include <algorithm>
#include <numeric>

#include "blocks/kernels/instantiate.h"
#include "runtime/base/call_limit.h"
#include "weft/base/divide.h"

namespace weft::blocks {

using kernels::ConvDesc;
using kernels::WindowAxis;

namespace {

constexpr int64_t kStripChannels = 32;        // of a tap, arranged at a time
constexpr int64_t kArrangedTogether = 16384;  // weights

/// A filter [taps..., in_channels / groups, out_channels].
Status SetGroups(Convolution& c, const Shape& picture, const Shape& filter, const char* picture_port, const char* filter_port) {
  const int64_t inner = filter[filter.rank() - 2];
  c.out_channels = filter[filter.rank() - 1];
  if (inner == 0) return InvalidArgument("needs at least one input channel, found shape ", filter).WithPort(filter_port);
  if (c.in_channels == 0) return InvalidArgument("needs at least one channel, found shape ", picture).WithPort(picture_port);
  if (c.in_channels % inner != 0) {
    return InvalidArgument("needs input channels that divide the ", c.in_channels, " of ", picture_port, ", found ", inner)
        .WithPort(filter_port);
  }
  c.groups = c.in_channels / inner;
  if (c.out_channels % c.groups != 0) {
    return InvalidArgument("needs output channels that are a multiple of the ", c.groups, " groups, found ", c.out_channels)
        .WithPort(filter_port);
  }
  return {};
}

/// A depthwise filter [taps..., in_channels, multiplier]: its elements lie as those of [taps..., 1, in_channels * multiplier].
Status SetChannelGroups(Convolution& c, const Shape& picture, const Shape& filter, const char* filter_port) {
  const int64_t channels = filter[filter.rank() - 2], multiplier = filter[filter.rank() - 1];
  if (channels != c.in_channels) {
    return InvalidArgument("needs [taps..., channels, multiplier] with the channels of pictures of shape ", picture, ", found ", filter)
        .WithPort(filter_port);
  }
  const auto out_channels = CheckedMultiply(channels, multiplier);
  if (!out_channels) return InvalidArgument("needs sizes that can be counted, found shape ", filter).WithPort(filter_port);
  c.groups = std::max<int64_t>(channels, 1);
  c.out_channels = *out_channels;
  return {};
}

}  // namespace

Result<Convolution> PlanConvolution(const ConvolutionSettings& settings, const Shape& picture, const Shape& filter,
                                    const char* picture_port, const char* filter_port) {
  const PictureOrder order = settings.order;
  const int rank = order.rank();
  if (picture.rank() != rank) return InvalidArgument("needs rank ", rank, ", found shape ", picture).WithPort(picture_port);
  if (filter.rank() != rank) {
    return InvalidArgument("needs rank ", rank, ", [taps..., in_channels, out_channels], found shape ", filter).WithPort(filter_port);
  }
  WindowSettings window;
  window.order = order;
  WEFT_ASSIGN_OR_RETURN(window.strides, ReadPerAxis("strides", settings.strides, order));
  WEFT_ASSIGN_OR_RETURN(window.dilations, ReadPerAxis("dilations", settings.dilations, order));
  if (!settings.may_have_none) {
    WEFT_RETURN_IF_ERROR(CheckSpatialSteps("strides", window.strides));
    WEFT_RETURN_IF_ERROR(CheckSpatialSteps("dilations", window.dilations));
  }
  WEFT_RETURN_IF_ERROR(CheckSteps("strides", window.strides, settings.unsupported));
  WEFT_RETURN_IF_ERROR(CheckSteps("dilations", window.dilations, settings.unsupported));
  WEFT_ASSIGN_OR_RETURN(window.paddings, ReadPaddings(settings.padding, settings.explicit_paddings, order));
  window.may_have_none = settings.may_have_none && std::ranges::all_of(settings.dilations, [](int64_t d) { return d == 1; });

  Convolution c;
  c.order = order;
  c.batch = picture[0];
  c.in_float = settings.dtype == DType::kFloat || IsWidened(settings.dtype);
  c.in_channels = picture[order.channel_axis()];
  WEFT_RETURN_IF_ERROR(settings.depthwise ? SetChannelGroups(c, picture, filter, filter_port)
                                          : SetGroups(c, picture, filter, picture_port, filter_port));
  std::array<int64_t, 3> taps = {1, 1, 1};
  for (int i = order.first_axis(); i < 3; ++i) taps[i] = filter[i - order.first_axis()];
  WEFT_ASSIGN_OR_RETURN(c.axes, MakeWindowAxes(window, picture, taps, picture_port));
  return c;
}

Status CheckGradientShape(const Convolution& c, const Shape& gradient, const char* port) {
  if (gradient.rank() != c.order.rank()) return InvalidArgument("needs rank ", c.order.rank(), ", found shape ", gradient).WithPort(port);
  WEFT_ASSIGN_OR_RETURN(const Shape needed, PictureShape(c.order, c.batch, c.out_channels, c.out_sizes(), port));
  if (gradient != needed) return InvalidArgument("needs the convolution's output shape ", needed, ", found ", gradient).WithPort(port);
  return {};
}

ConvDesc ForwardProduct(const Convolution& c) {
  ConvDesc conv{{c.order.channels_first, c.batch, c.in_channels, {}}, c.groups, c.out_channels, {}};
  conv.in_float = c.in_float;
  for (int i = 0; i < 3; ++i) {
    const WindowAxis& axis = c.axes[i];
    conv.gather.axes[i] = {axis.in, axis.out, axis.window, axis.stride, -axis.before, axis.dilation};
    conv.place[i].size = axis.out;
  }
  return conv;
}

Result<ConvDesc> PlanForward(const ConvolutionSettings& settings, const Shape& picture, const Shape& filter, const char* picture_port,
                             const char* filter_port, Shape& output) {
  WEFT_ASSIGN_OR_RETURN(const Convolution c, PlanConvolution(settings, picture, filter, picture_port, filter_port));
  WEFT_ASSIGN_OR_RETURN(output, PictureShape(c.order, c.batch, c.out_channels, c.out_sizes(), picture_port));
  const bool may_be_empty = settings.depthwise || (output.count() == 0 && !settings.needs_weights);
  if (filter.count() == 0 && !may_be_empty) {
    return InvalidArgument("needs at least one tap, found shape ", filter).WithPort(filter_port);
  }
  ConvDesc conv = ForwardProduct(c);
  if (output.count() == 0) conv.gather.batch = 0;
  return conv;
}

InputGradient::InputGradient(const Convolution& convolution, bool widened, bool empty) : convolution_(convolution) {
  if (empty) {
    covers_ = false;
    return;
  }
  for (int i = 0; i < 3; ++i) {
    phases_[i] = PhasesOf(convolution.axes[i]);
    const int64_t all = std::min(convolution.axes[i].stride, convolution.axes[i].in);
    covers_ = covers_ && static_cast<int64_t>(phases_[i].all.size()) == all;
    reverses_ = reverses_ && phases_[i].all.size() == 1 && phases_[i].taps == convolution.axes[i].window;
  }
  for (const Phase& d : phases_[0].all) {
    for (const Phase& h : phases_[1].all) {
      for (const Phase& w : phases_[2].all) {
        CallLimit::Check();  // large strides make many phases
        scratch_ = std::max(scratch_, kernels::ConvScratch(ProductOf(d, h, w), widened));
      }
    }
  }
  weights_ = DivideUp(phases_[0].taps * phases_[1].taps * phases_[2].taps * tap_size(), 32) * 32;
  scratch_ += weights_;
}

InputGradient::Phases InputGradient::PhasesOf(const WindowAxis& axis) {
  // Input r + j * stride gets tap k of output j + (r + before - k * dilation) / stride: taps that agree modulo `apart` share r.
  const int64_t stride = axis.stride, common = std::gcd(stride, axis.dilation), apart = stride / common;
  Phases phases;
  for (int64_t k = 0; k < std::min(apart, axis.window); ++k) {
    CallLimit::Check();
    const int64_t r = ((k * axis.dilation - axis.before) % stride + stride) % stride;
    if (r >= axis.in) continue;
    Phase phase;
    const int64_t taps = DivideUp(axis.window - k, apart), last = k + (taps - 1) * apart;
    phase.axis = {axis.out, DivideUp(axis.in - r, stride), taps, 1, (r + axis.before - last * axis.dilation) / stride,
                  axis.dilation / common};
    phase.place = {axis.in, r, stride};
    phase.filter_tap = last;
    phase.filter_step = apart;
    phase.taps_before = phases.taps;
    phases.taps += taps;
    phases.all.push_back(phase);
  }
  return phases;
}

const InputGradient::Phase* InputGradient::Phases::Of(int64_t filter_tap) const {
  if (all.empty()) return nullptr;
  const auto first_tap = [apart = all[0].filter_step](const Phase& phase) { return phase.filter_tap % apart; };
  const int64_t wanted = filter_tap % all[0].filter_step;
  const auto phase = std::ranges::lower_bound(all, wanted, {}, first_tap);
  return phase != all.end() && first_tap(*phase) == wanted ? &*phase : nullptr;
}

ConvDesc InputGradient::ProductOf(const Phase& d, const Phase& h, const Phase& w) const {
  const Convolution& c = convolution_;
  return {{c.order.channels_first, c.batch, c.out_channels, {d.axis, h.axis, w.axis}}, c.groups, c.in_channels, {d.place, h.place, w.place}, false,
          c.in_float};
}

std::string InputGradient::implementation() const {
  if (std::ranges::any_of(phases_, [](const Phases& axis) { return axis.all.empty(); })) return "zeros";
  return ProductOf(phases_[0].all[0], phases_[1].all[0], phases_[2].all[0]).implementation();
}

int64_t InputGradient::PlaceOf(int64_t filter_tap) const {
  const auto& axes = convolution_.axes;
  if (reverses_) return convolution_.taps() - 1 - filter_tap;
  const int64_t line = filter_tap / axes[2].window;
  const int64_t kd = line / axes[1].window, kh = line % axes[1].window, kw = filter_tap % axes[2].window;
  const Phase *d = phases_[0].Of(kd), *h = phases_[1].Of(kh), *w = phases_[2].Of(kw);
  if (d == nullptr || h == nullptr || w == nullptr) return -1;
  const auto tap = [](const Phase& phase, int64_t k) { return (phase.filter_tap - k) / phase.filter_step; };
  return FirstTap(*d, *h, *w) + (tap(*d, kd) * h->axis.taps + tap(*h, kh)) * w->axis.taps + tap(*w, kw);
}

/// The weights of all products: from the filter's [tap, in channel of a group, out channel] to [tap, out channel of a group, in channel].
template <class T>
void InputGradient::ArrangeWeights(const T* filter, T* weights, Workers& workers) const {
  const Convolution& c = convolution_;
  const int64_t in = c.in_channels / c.groups, out = c.out_channels / c.groups, size = tap_size();
  if (weights_ == 0) return;
  const int64_t strips = DivideUp(in, kStripChannels), taps = c.taps();
  const int64_t grain = std::max<int64_t>(1, kArrangedTogether / (std::min(in, kStripChannels) * c.out_channels));
  workers.For(taps * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t tap = strip / strips, first = strip % strips * kStripChannels, last = std::min(in, first + kStripChannels);
      const int64_t place = PlaceOf(tap);
      if (place < 0) continue;
      const T* from = filter + tap * size + first * c.out_channels;
      T* to = weights + place * size + first;
      if (in == 1 && out == 1) {  // depthwise: as it lies
        std::copy_n(from, size, to);
        continue;
      }
      for (int64_t group = 0; group < c.groups; ++group, from += out, to += in) {
        for (int64_t o = 0; o < out; ++o) {
          for (int64_t i = 0; i < last - first; ++i) to[o * c.in_channels + i] = from[i * c.out_channels + o];
        }
      }
    }
  });
}

template <class T>
void InputGradient::Run(const T* filter, const T* gradient, T* out, Accumulator<T>* scratch, Workers& workers) const {
  const Convolution& c = convolution_;
  if (!covers_) {
    const int64_t count = c.batch * c.in_channels * c.axes[0].in * c.axes[1].in * c.axes[2].in;
    workers.For(count, 65536, [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, T(0)); });
  }
  T* const weights = reinterpret_cast<T*>(scratch);
  ArrangeWeights(filter, weights, workers);
  for (const Phase& d : phases_[0].all) {
    for (const Phase& h : phases_[1].all) {
      for (const Phase& w : phases_[2].all) {
        if (workers.Stopped()) return;
        kernels::RunConv(ProductOf(d, h, w), gradient, weights + FirstTap(d, h, w) * tap_size(), out, scratch + weights_, workers);
      }
    }
  }
}

#define WEFT_INSTANTIATE(T) template void InputGradient::Run(const T*, const T*, T*, Accumulator<T>*, Workers&) const;
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)

}  // namespace weft::blocks
