// im2col, the patches of pictures as a matrix: for each position the values that the taps of a filter read, side by side, so that a convolution
// becomes a matrix product. Taps that fall outside the picture read zeros.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// One axis: the tap t of position p reads the source at p * step + offset + t * tap_step.
struct ConvAxis {
  int64_t source = 1;     // size of the axis that is read
  int64_t positions = 1;  // how many positions there are
  int64_t taps = 1;
  int64_t step = 1;
  int64_t offset = 0;
  int64_t tap_step = 1;

  int64_t at(int64_t p, int64_t t) const { return p * step + offset + t * tap_step; }
  bool inside(int64_t at) const { return at >= 0 && at < source; }
  bool copies() const { return taps == 1 && offset == 0 && step == 1 && positions == source; }
  /// Taps [first, last) of a position whose tap 0 reads `start` are those inside the source.
  int64_t first_tap(int64_t start) const { return start >= 0 ? 0 : std::min(DivideUp(-start, tap_step), taps); }
  int64_t last_tap(int64_t start, int64_t first) const {
    return start >= source ? first : std::clamp(DivideUp(source - start, tap_step), first, taps);
  }
};

/// Pictures [batch, depth, height, width, channels] or, channels_first, [batch, channels, depth, height, width].
struct Im2Col {
  bool channels_first = false;
  int64_t batch = 0;
  int64_t channels = 0;
  std::array<ConvAxis, 3> axes;  // depth, height, width

  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  /// Positions of one picture.
  int64_t positions() const { return axes[0].positions * axes[1].positions * axes[2].positions; }
  int64_t pixels() const { return axes[0].source * axes[1].source * axes[2].source; }
  /// Whether patches are the pictures as they lie.
  bool direct() const { return axes[0].copies() && axes[1].copies() && axes[2].copies(); }
};

/// Walks the positions of a picture in row-major order.
struct PositionWalk {
  int64_t d, h, w;
  PositionWalk(const Im2Col& g, int64_t position)
      : d(position / (g.axes[2].positions * g.axes[1].positions)), h(position / g.axes[2].positions % g.axes[1].positions),
        w(position % g.axes[2].positions) {}
};

template <class A, class T>
inline A PatchElement(T value) {
  if constexpr (std::is_same_v<A, T>) return value;
  else return WidenOne<A>(value);
}

template <class A, class T>
inline void CopyShort(const T* from, A* to, int64_t count) {
  if (count >= 16) return Widen(from, to, count);
  for (int64_t i = 0; i < count; ++i) to[i] = PatchElement<A>(from[i]);
}

/// Channels last: patches of channels [first, first + count) at positions [begin, end) of all pictures, as [rows, taps * count]. Left when
/// the run is to end.
template <class A, class T>
void Im2ColRows(const Im2Col& g, const T* source, int64_t first, int64_t count, int64_t begin, int64_t end, A* out, StopCheck& stop) {
  const auto& [depth, height, width] = g.axes;
  const int64_t line = width.taps * count, together = 1 + kItemsBetweenLooks / count;  // taps between two looks
  PositionWalk at(g, begin % g.positions());
  for (int64_t row = begin; row < end; ++row, ++at.w) {
    if (at.w == width.positions) at = PositionWalk(g, row % g.positions());
    const T* picture = source + row / g.positions() * g.pixels() * g.channels + first;
    const int64_t left = width.at(at.w, 0);
    const int64_t tap_begin = width.first_tap(left), tap_end = width.last_tap(left, tap_begin);
    for (int64_t td = 0; td < depth.taps; ++td) {
      const int64_t d = depth.at(at.d, td);
      for (int64_t th = 0; th < height.taps; ++th, out += line) {
        const int64_t h = height.at(at.h, th);
        if (stop(1)) return;
        if (!depth.inside(d) || !height.inside(h)) {
          FillUntilStopped(stop, out, line, A(0));
          continue;
        }
        const T* pixels = picture + (d * height.source + h) * width.source * g.channels;
        FillUntilStopped(stop, out, tap_begin * count, A(0));
        for (int64_t t = tap_begin; t < tap_end;) {
          const int64_t last = std::min(tap_end, t + together);
          if (stop((last - t) * count)) return;
          for (; t < last; ++t) CopyShort(pixels + (left + t * width.tap_step) * g.channels, out + t * count, count);
        }
        FillUntilStopped(stop, out + tap_end * count, line - tap_end * count, A(0));
      }
    }
  }
}

/// One line of a tap: positions [begin, end) of the width axis, read by the tap at `offset`.
template <class A, class T>
void Im2ColLine(const ConvAxis& width, const T* line, int64_t offset, int64_t begin, int64_t end, A* out) {
  const int64_t first = offset < 0 ? std::clamp(DivideUp(-offset, width.step), begin, end) : begin;
  const int64_t room = width.source - offset;  // p * step < room
  const int64_t last = room <= 0 ? first : std::clamp(DivideUp(room, width.step), first, end);
  std::fill(out, out + (first - begin), A(0));
  if (first < last && width.step == 1) {
    CopyShort(line + first + offset, out + (first - begin), last - first);
  } else {
    for (int64_t p = first; p < last; ++p) out[p - begin] = PatchElement<A>(line[p * width.step + offset]);
  }
  std::fill(out + (last - begin), out + (end - begin), A(0));
}

/// Channels first: patches of one picture, `source`, as [taps * count, end - begin], in rows of `stride` elements. Left when the run is to
/// end.
template <class A, class T>
void Im2ColColumns(const Im2Col& g, const T* source, int64_t first, int64_t count, int64_t begin, int64_t end, int64_t stride,
                   A* out, StopCheck& stop) {
  const auto& [depth, height, width] = g.axes;
  for (int64_t td = 0; td < depth.taps; ++td) {
    for (int64_t th = 0; th < height.taps; ++th) {
      for (int64_t tw = 0; tw < width.taps; ++tw) {
        for (int64_t c = first; c < first + count; ++c, out += stride) {
          if (stop(1 + end - begin)) return;
          const T* pixels = source + c * g.pixels();
          for (int64_t p = begin; p < end;) {
            const PositionWalk at(g, p);
            const int64_t line_end = std::min(end, p - at.w + width.positions);
            const int64_t d = depth.at(at.d, td), h = height.at(at.h, th);
            A* to = out + (p - begin);
            if (depth.inside(d) && height.inside(h)) {
              Im2ColLine(width, pixels + (d * height.source + h) * width.source, width.offset + tw * width.tap_step, at.w,
                  at.w + line_end - p, to);
            } else {
              std::fill(to, to + (line_end - p), A(0));
            }
            p = line_end;
          }
        }
      }
    }
  }
}

}  // namespace weft::kernels
