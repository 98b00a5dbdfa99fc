// What depthwise convolutions and their gradients by the filter walk over: lines of positions, and columns of channels.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "blocks/kernels/conv/convolution.h"
#include "blocks/kernels/simd/vec.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// Lines of positions, those of all pictures one after another.
inline int64_t PositionLines(const Im2Col& g) { return g.batch * g.axes[0].positions * g.axes[1].positions; }

/// As many elements as a register takes, or as there are before `end`; the other lanes are 0. Whole ones are known to be there.
template <bool kWhole, class T>
Vec<VecElement<T>> LoadUpTo(const T* p, const T* end) {
  constexpr int64_t kCount = kLanes<VecElement<T>>;
  if (kWhole || end - p >= kCount) return LoadVec(p);
  T some[kCount] = {};
  std::copy(p, std::max(p, end), some);
  return LoadVec(some);
}

/// Positions [first, last) of an axis whose tap `t` is inside.
inline std::pair<int64_t, int64_t> PositionsInside(const ConvAxis& axis, int64_t t) {
  const int64_t start = axis.offset + t * axis.tap_step;
  const int64_t first = start >= 0 ? 0 : std::min(DivideUp(-start, axis.step), axis.positions);
  return {first, start >= axis.source ? first : std::clamp(DivideUp(axis.source - start, axis.step), first, axis.positions)};
}

/// The line of positions `index`, and the lines of taps [d_first, d_last) x [h_first, h_last) that are inside.
struct Line {
  int64_t picture, d, h, front, top, d_first, d_last, h_first, h_last;
  Line(const Im2Col& g, int64_t index)
      : picture(index / (g.axes[0].positions * g.axes[1].positions)), d(index / g.axes[1].positions % g.axes[0].positions),
        h(index % g.axes[1].positions), front(g.axes[0].at(d, 0)), top(g.axes[1].at(h, 0)), d_first(g.axes[0].first_tap(front)),
        d_last(g.axes[0].last_tap(front, d_first)), h_first(g.axes[1].first_tap(top)), h_last(g.axes[1].last_tap(top, h_first)) {}

  /// Calls body(first tap of the line, its line of the picture) for each line of taps that is inside, or until it gives false.
  void ForTapLines(const Im2Col& g, auto&& body) const {
    const auto& [depth, height, width] = g.axes;
    for (int64_t td = d_first; td < d_last; ++td) {
      for (int64_t th = h_first; th < h_last; ++th) {
        const int64_t tap = (td * height.taps + th) * width.taps;
        const int64_t source_line = (front + td * depth.tap_step) * height.source + top + th * height.tap_step;
        if constexpr (std::is_void_v<decltype(body(tap, source_line))>) body(tap, source_line);
        else if (!body(tap, source_line)) return;
      }
    }
  }
};

/// Channels last: columns [first, first + kVectors registers) and their channels. Whole: all are there, each reads its own channel.
template <class T, int kVectors, bool kWhole>
struct Columns {
  using A = VecElement<T>;
  static constexpr int kCount = kLanes<A>;
  int64_t first, count;   // count: columns that there are
  bool direct;            // each column reads the channel of its own number
  int64_t channel[kCount];  // where not: the channels that the columns of one register read, for the first of the inner ones

  Columns(int64_t first, int64_t columns, int64_t group_columns, int64_t inner)
      : first(first), count(std::min<int64_t>(kVectors * kCount, columns - first)), direct(group_columns == 1 && inner == 1) {
    for (int64_t i = 0; i < kCount && !direct; ++i) channel[i] = (first + std::min(i, count - 1)) / group_columns * inner;
  }
  /// The values of the columns' channels at a pixel.
  void Load(const T* pixel, int64_t inner, const T* end, Vec<A> (&values)[kVectors]) const {
    if (kWhole || direct) {
      for (int v = 0; v < kVectors; ++v) values[v] = LoadUpTo<kWhole>(pixel + first + v * kCount, end);
    } else {
      T read[kCount];
      for (int i = 0; i < kCount; ++i) read[i] = pixel[channel[i] + inner];
      values[0] = LoadVec(read);
    }
  }
};

/// Calls body(columns) for all columns, in blocks of kMost registers where a column reads its own channel, in single ones otherwise.
template <class T, int kMost, class Body>
void ForColumns(int64_t columns, int64_t groups, int64_t inner, Body&& body) {
  constexpr int64_t kCount = kLanes<VecElement<T>>;
  const int64_t group_columns = columns / groups;
  int64_t first = 0;
  if (group_columns == 1 && inner == 1) {
    for (; first + kMost * kCount <= columns; first += kMost * kCount) body(Columns<T, kMost, true>(first, columns, group_columns, inner));
    if constexpr (kMost > 1) {
      for (; first + kCount <= columns; first += kCount) body(Columns<T, 1, true>(first, columns, group_columns, inner));
    }
  }
  for (; first < columns; first += kCount) body(Columns<T, 1, false>(first, columns, group_columns, inner));
}

}  // namespace weft::kernels
