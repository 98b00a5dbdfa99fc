// The geometry of poolings. An axis of windows is anything with `in`, `out`, first(o) and last(o): window o sees the inputs
// [first(o), last(o)), and neither end ever goes back from one window to the next.
#pragma once

#include <limits>
#include <ranges>

#include "blocks/kernels/conv/window.h"
#include "weft/base/float16.h"

namespace weft::kernels {

/// The lowest finite number.
template <class T>
constexpr Accumulator<T> LowestOf() {
  if constexpr (std::is_same_v<T, half>) return -65504.0f;
  else if constexpr (std::is_same_v<T, bfloat16>) return -3.3895314e38f;
  else return std::numeric_limits<T>::lowest();
}

/// Windows between given positions: window o starts at starts[o] and ends where the next one starts, or `overlap` inputs later.
struct SequenceAxis {
  int64_t in = 1, out = 1;
  const int64_t* starts = nullptr;  // out + 1 positions that never go back, in [0, in]
  int64_t overlap = 0;

  int64_t first(int64_t o) const { return starts == nullptr ? 0 : starts[o]; }
  int64_t last(int64_t o) const { return starts == nullptr ? in : std::min(starts[o + 1] + overlap, in); }
};

/// An axis seen from its inputs: "window" i holds the windows of the axis that see input i.
template <class Axis>
struct InverseAxis {
  Axis axis;
  int64_t in = 1, out = 1;

  explicit InverseAxis(const Axis& of) : axis(of), in(of.out), out(of.in) {}
  /// The windows that end before the input, and those that do not start behind it.
  int64_t first(int64_t i) const {
    if constexpr (std::is_same_v<Axis, WindowAxis>) {
      const int64_t room = i + axis.before - axis.window;
      return room < 0 ? 0 : std::min(room / axis.stride + 1, in);
    }
    return Count([&](int64_t o) { return axis.last(o) <= i; });
  }
  int64_t last(int64_t i) const {
    if constexpr (std::is_same_v<Axis, WindowAxis>) return std::min((i + axis.before) / axis.stride + 1, in);
    return Count([&](int64_t o) { return axis.first(o) <= i; });
  }

 private:
  template <class Holds>
  int64_t Count(Holds&& holds) const {
    const auto windows = std::views::iota(int64_t{0}, in);
    return static_cast<int64_t>(std::ranges::partition_point(windows, holds) - windows.begin());
  }
};

/// Windows on [batch, depth, height, width, channels]; with the channels first, batch * channels pictures of one channel.
template <class Axis>
struct PoolingOf {
  using AxisType = Axis;
  int64_t batch = 0;
  int64_t channels = 0;
  std::array<Axis, 3> axes;

  int64_t in_pixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t out_pixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  bool empty() const { return batch == 0 || channels == 0; }
};
using Pooling = PoolingOf<WindowAxis>;
using SequencePooling = PoolingOf<SequenceAxis>;
/// The types that are pooled under given windows.
#define WEFT_FOR_SEQUENCES(M) M(float) M(double) M(int32_t) M(int64_t)

template <class Axis>
PoolingOf<InverseAxis<Axis>> Inverse(const PoolingOf<Axis>& p) {
  return {p.batch, p.channels, {InverseAxis<Axis>(p.axes[0]), InverseAxis<Axis>(p.axes[1]), InverseAxis<Axis>(p.axes[2])}};
}

/// Inputs that a window sees at most, or nearly so: what a window costs.
inline double MostInputs(const WindowAxis& axis) { return static_cast<double>(std::min(axis.window, axis.in)); }
double MostInputs(const auto& axis) { return static_cast<double>(axis.in / std::max<int64_t>(axis.out, 1) + 1); }
inline double MostInputs(const InverseAxis<WindowAxis>& axis) {
  return static_cast<double>(std::min(axis.axis.window / axis.axis.stride + 1, axis.in));
}
template <class Axis>
double WindowCost(const PoolingOf<Axis>& p) {
  return MostInputs(p.axes[0]) * MostInputs(p.axes[1]) * MostInputs(p.axes[2]);
}

}  // namespace weft::kernels
