// Taps outside of the picture have no product, also where the filter is infinite or NaN there: implementations that read zeros beside the
// picture give NaN then, and those positions are summed again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>

#include "blocks/kernels/conv/convolution.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

template <class T>
class OutsideTaps {
 public:
  using A = Accumulator<T>;
  OutsideTaps(const ConvDesc& conv, const T* source, const T* filter, T* out) : conv_(conv), source_(source), filter_(filter), out_(out) {}

  /// Sums the positions again that have taps outside, and a result that is NaN.
  void Mend(Workers& workers) const {
    if (any() && (!IsFilterSmall() || HasNonFinite(workers))) MendLines(workers);
  }

 private:
  bool any() const {
    return std::ranges::any_of(conv_.gather.axes, [](const ConvAxis& axis) { return Reaches(axis, 0) || Reaches(axis, axis.positions - 1); });
  }
  /// Whether it is quicker to look through the filter than through the results of the positions.
  bool IsFilterSmall() const {
    constexpr int64_t kEnds = 4;  // about so many positions of a line or column have taps outside
    const auto& [depth, height, width] = conv_.gather.axes;
    return conv_.steps() <= conv_.gather.batch * depth.positions * (height.positions + width.positions) * kEnds;
  }
  bool HasNonFinite(Workers& workers) const {
    constexpr int64_t kGrain = 65536;
    std::atomic<bool> found{false};
    workers.For(conv_.filter_count(), kGrain, [&](int64_t begin, int64_t end) {
      Vec<A> zeros{};  // products with 0, which of others are NaN
      int64_t i = begin;
      for (; i + kLanes<A> <= end; i += kLanes<A>) zeros += LoadVec(filter_ + i) * A(0);
      A zero = 0;
      for (; i < end; ++i) zero += PatchElement<A>(filter_[i]) * A(0);
      A lanes[kLanes<A>];
      StoreVec(lanes, zeros);
      if (zero != 0 || std::ranges::any_of(lanes, [](A x) { return x != 0; })) found.store(true, std::memory_order_relaxed);
    });
    return found.load();
  }

  void MendLines(Workers& workers) const {
    const auto& [depth, height, width] = conv_.gather.axes;
    const int64_t grain = std::max<int64_t>(1, 65536 / (width.positions * conv_.columns));  // of lines, of which most are looked at at their ends
    ForEach(workers, conv_.gather.batch * depth.positions * height.positions, grain, [&](int64_t line, StopCheck& stop) {
      const int64_t picture = line / height.positions / depth.positions, d = line / height.positions % depth.positions, h = line % height.positions;
      const bool whole = Reaches(depth, d) || Reaches(height, h);
      for (int64_t w = 0; w < width.positions && !stop(4); ++w) {
        if (whole || Reaches(width, w)) MendPosition(picture, d, h, w, stop);
        else w = std::max(w, LastInside(width, w));
      }
    });
  }

  static bool Reaches(const ConvAxis& axis, int64_t p) { return axis.at(p, 0) < 0 || axis.at(p, axis.taps - 1) >= axis.source; }
  /// The last position from `p` on, which has no tap outside, before one that has.
  static int64_t LastInside(const ConvAxis& axis, int64_t p) {
    const int64_t room = axis.source - 1 - axis.at(p, axis.taps - 1);
    return std::min(axis.positions - 1, p + room / axis.step);
  }

  void MendPosition(int64_t picture, int64_t d, int64_t h, int64_t w, StopCheck& stop) const {
    const auto& place = conv_.place;
    const auto at = [&](int axis, int64_t p) { return place[axis].first + p * place[axis].stride; };
    const int64_t pixels = place[0].size * place[1].size * place[2].size;
    const int64_t pixel = (at(0, d) * place[1].size + at(1, h)) * place[2].size + at(2, w);
    const bool planes = conv_.gather.channels_first;
    T* const to = out_ + picture * pixels * conv_.columns + (planes ? pixel : pixel * conv_.columns);
    const int64_t step = planes ? pixels : 1, group_columns = conv_.columns / conv_.groups;
    for (int64_t first = 0; first < conv_.columns && !stop(8);) {
      const int64_t group = first / group_columns, count = std::min<int64_t>(kColumns, (group + 1) * group_columns - first);
      bool is_nan = false;
      for (int64_t c = 0; c < count; ++c) is_nan |= std::isnan(PatchElement<A>(to[(first + c) * step]));
      if (is_nan) {
        A sums[kColumns] = {};
        SumColumns(picture, d, h, w, {group, first, count}, sums, stop);
        for (int64_t c = 0; c < count; ++c) Narrow(sums + c, to + (first + c) * step, 1);
      }
      first += count;
    }
  }

  struct Columns {
    int64_t group, first, count;
  };
  void SumColumns(int64_t picture, int64_t d, int64_t h, int64_t w, const Columns& columns, A* sums, StopCheck& stop) const {
    const Im2Col& g = conv_.gather;
    const auto& [depth, height, width] = g.axes;
    const int64_t inner = conv_.inner(), channel_step = g.channels_first ? g.pixels() : 1, pixel_step = g.channels_first ? 1 : g.channels;
    const T* const from = source_ + picture * g.pixels() * g.channels + columns.group * inner * channel_step;
    for (int64_t tap = 0; tap < g.taps(); ++tap) {
      const int64_t z = depth.at(d, tap / width.taps / height.taps), y = height.at(h, tap / width.taps % height.taps);
      const int64_t x = width.at(w, tap % width.taps);
      if (!depth.inside(z) || !height.inside(y) || !width.inside(x)) continue;
      const T* const pixel = from + ((z * height.source + y) * width.source + x) * pixel_step;
      for (int64_t i = 0; i < inner && !stop(columns.count / 8); ++i) {
        const A value = PatchElement<A>(pixel[i * channel_step]);
        const T* const weights = filter_ + (tap * inner + i) * conv_.columns + columns.first;
        for (int64_t c = 0; c < columns.count; ++c) sums[c] += value * PatchElement<A>(weights[c]);
      }
    }
  }

  static constexpr int64_t kColumns = 128;  // that are summed at a time
  const ConvDesc& conv_;
  const T* const source_;
  const T* const filter_;
  T* const out_;
};

}  // namespace weft::kernels
