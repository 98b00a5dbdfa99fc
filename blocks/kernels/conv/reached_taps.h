// Convolutions with windows far larger than the pictures: most taps are outside wherever the window lies, and only the others are computed.
#pragma once

#include <algorithm>
#include <array>

#include "blocks/kernels/conv/convolution.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// The taps of each axis that some position reads within the picture, with those between them; one where there is none.
struct ReachedTaps {
  std::array<int64_t, 3> first = {};
  ConvDesc conv;  // of these taps alone

  explicit ReachedTaps(const ConvDesc& whole) : conv(whole) {
    for (size_t i = 0; i < first.size(); ++i) {
      ConvAxis& axis = conv.gather.axes[i];
      const int64_t reached = axis.first_tap(axis.at(axis.positions - 1, 0)), last = axis.last_tap(axis.offset, reached);
      first[i] = std::min(reached, axis.taps - 1);
      axis.taps = std::max<int64_t>(last - first[i], 1);
      axis.offset += first[i] * axis.tap_step;
    }
  }

  /// Whether so many taps are left out that it is worth a copy of the others' weights.
  static bool Worth(const ConvDesc& whole) {
    constexpr int64_t kLargeWindow = 1024;
    return whole.gather.taps() >= kLargeWindow && 2 * ReachedTaps(whole).conv.gather.taps() <= whole.gather.taps();
  }

  /// Elements of Accumulator<T> that the weights take.
  int64_t WeightElements() const { return DivideUp(conv.filter_count(), int64_t{32}) * 32; }
  /// Copies the weights of these taps out of the filter of all, or back.
  template <class T>
  void TakeWeights(const ConvDesc& whole, const T* filter, T* weights, Workers& workers) const {
    ForLines(whole, workers, [&](int64_t at, int64_t to, int64_t n) { CopyLong(workers, filter + at, weights + to, n); });
  }
  template <class T>
  void PutWeights(const ConvDesc& whole, const T* weights, T* filter, Workers& workers) const {
    ForLines(whole, workers, [&](int64_t at, int64_t from, int64_t n) { CopyLong(workers, weights + from, filter + at, n); });
  }

 private:
  /// Calls body(first element of the filter, of the weights, elements) for each line of taps.
  void ForLines(const ConvDesc& whole, Workers& workers, auto&& body) const {
    constexpr int64_t kTogether = 65536;  // elements of a task
    const auto& [depth, height, width] = conv.gather.axes;
    const int64_t tap = conv.inner() * conv.columns, line = width.taps * tap;
    ForEach(workers, depth.taps * height.taps, kTogether / line, [&](int64_t i) {
      const int64_t d = first[0] + i / height.taps, h = first[1] + i % height.taps;
      body(((d * whole.gather.axes[1].taps + h) * whole.gather.axes[2].taps + first[2]) * tap, i * line, line);
    });
  }
};

}  // namespace weft::kernels
