// The geometry of sliding windows: how big the output of a convolution or a pooling is along one axis, and which inputs each window sees.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace weft::kernels {

/// One spatial axis. Output o sees the inputs o * stride - before + k * dilation, k in [0, window), as far as they exist.
struct WindowAxis {
  int64_t in = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding in front of the input
  int64_t out = 1;

  /// Where the window of output o starts; negative in the padding.
  int64_t start(int64_t o) const { return o * stride - before; }
  /// Inputs [first, last) that an undilated window of output o sees; first == last where it lies in the padding.
  int64_t first(int64_t o) const { return std::clamp<int64_t>(start(o), 0, in); }
  int64_t last(int64_t o) const { return std::clamp<int64_t>(start(o) + window, first(o), in); }
};

/// Depth, height, width. Pictures without a depth have the axis that WindowAxis{} is.
using WindowAxes = std::array<WindowAxis, 3>;

/// Sizes beyond this are absurd; below it sums of two never overflow.
inline constexpr int64_t kMaxExtent = int64_t{1} << 60;

/// Inputs from the first to the last that a window spans, or nullopt over kMaxExtent. window >= 0, dilation >= 1.
inline std::optional<int64_t> WindowSpan(int64_t window, int64_t dilation) {
  int64_t span = 0;
  if (window == 0) return span;
  if (__builtin_mul_overflow(window - 1, dilation, &span) || span >= kMaxExtent) return std::nullopt;
  ++span;
  return span;
}

/// SAME padding: as many outputs as strides fit, the padding shared out with the odd one behind. `span` is WindowSpan's; stride >= 1.
/// A stride past the end is cut to the input. False for an absurd size.
inline bool PadSame(WindowAxis& axis, int64_t span) {
  if (axis.in > kMaxExtent) return false;
  axis.stride = std::min(axis.stride, std::max<int64_t>(axis.in, 1));
  axis.out = axis.in / axis.stride + (axis.in % axis.stride != 0);
  axis.before = axis.out == 0 ? 0 : std::max<int64_t>((axis.out - 1) * axis.stride + span - axis.in, 0) / 2;
  return true;
}

/// Given padding (VALID: none): as many outputs as windows fit, -1 where none does. False for an absurd size.
inline bool PadExplicit(WindowAxis& axis, int64_t span, int64_t before, int64_t after) {
  int64_t padded = axis.in;
  if (__builtin_add_overflow(padded, before, &padded) || __builtin_add_overflow(padded, after, &padded)) return false;
  if (padded > kMaxExtent) return false;
  axis.stride = std::min(axis.stride, padded + 1);  // a window of size 0 still fits behind all inputs
  axis.before = before;
  axis.out = padded < span ? -1 : (padded - span) / axis.stride + 1;
  return true;
}

/// Whether the number of windows, (padded - span + stride) / stride cut towards zero, is 0 and not negative, where the window's span is
/// larger than the picture with its padding: where it is larger by less than two strides. Some blocks then give an empty result, as
/// TensorFlow's do; others refuse.
inline bool HasNoWindow(int64_t padded, int64_t span, int64_t stride) { return span - padded - stride < stride; }

}  // namespace weft::kernels
