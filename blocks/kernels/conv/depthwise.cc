#include "blocks/kernels/conv/implementations.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/prefetch.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"

namespace weft::kernels {
namespace {

constexpr int64_t kGrain = 32768;  // multiplications of a task
constexpr int64_t kWantedTasks = 16, kMostLines = 16;  // lines that a task has so that its thread reads most of them once only

/// Lines of positions, those of all pictures one after another.
int64_t PositionLines(const Im2Col& g) { return g.batch * g.axes[0].positions * g.axes[1].positions; }

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
std::pair<int64_t, int64_t> PositionsInside(const ConvAxis& axis, int64_t t) {
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

  /// Calls body(first tap of the line, its line of the picture) for each line of taps that is inside.
  template <class Body>
  void ForTapLines(const Im2Col& g, Body&& body) const {
    const auto& [depth, height, width] = g.axes;
    for (int64_t td = d_first; td < d_last; ++td) {
      for (int64_t th = h_first; th < h_last; ++th) {
        body((td * height.taps + th) * width.taps, (front + td * depth.tap_step) * height.source + top + th * height.tap_step);
      }
    }
  }
};

/// Channels last: columns [first, first + kVectors registers) and the channels that they read. Where they are whole, all are there and each
/// reads its own channel.
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

/// One line of positions.
template <class T>
struct LineProduct {
  using A = VecElement<T>;
  // As many sums, factors and values as there are registers for.
  static constexpr int kTapsTogether = 3, kVectorsTogether = kVecBytes >= 64 ? 2 : 1, kPositionsTogether = 8;
  const ConvDesc& p;
  const Line& line;
  const T *const picture, *const source_end, *const weights, *const weights_end;
  T* const out;

  LineProduct(const ConvDesc& p, const Line& line, const T* source, const T* weights, T* out)
      : p(p), line(line), picture(source + line.picture * p.gather.pixels() * p.gather.channels),
        source_end(source + p.gather.batch * p.gather.pixels() * p.gather.channels), weights(weights),
        weights_end(weights + p.gather.taps() * p.inner() * p.columns), out(out) {}

  /// kPositions neighbours from `w` on, of whose taps those in [first, last) are inside.
  template <int kPositions, int kVectors, bool kWhole>
  void Multiply(const Columns<T, kVectors, kWhole>& columns, int64_t w, int64_t first, int64_t last) const {
    const Im2Col& g = p.gather;
    const ConvAxis& width = g.axes[2];
    const int64_t inner = kWhole ? 1 : p.inner(), next = width.step * g.channels;
    Vec<A> sums[kPositions][kVectors] = {};
    line.ForTapLines(g, [&](int64_t tap, int64_t source_line) {
      const T* pixel = picture + (source_line * width.source + width.at(w, first)) * g.channels;
      const T* row = weights + (tap + first) * inner * p.columns + columns.first;
      for (int64_t t = first; t < last; ++t, pixel += width.tap_step * g.channels) {
        for (int64_t u = 0; u < inner; ++u, row += p.columns) {
          Vec<A> factors[kVectors];
          for (int v = 0; v < kVectors; ++v) factors[v] = LoadUpTo<kWhole>(row + v * kLanes<A>, weights_end);
          for (int i = 0; i < kPositions; ++i) {
            Vec<A> values[kVectors];
            columns.Load(pixel + i * next, u, source_end, values);
            for (int v = 0; v < kVectors; ++v) sums[i][v] += values[v] * factors[v];
          }
        }
      }
    });
    Store(columns, w, sums);
  }

  template <int kPositions, int kVectors, bool kWhole>
  void Store(const Columns<T, kVectors, kWhole>& columns, int64_t w, const Vec<A> (&sums)[kPositions][kVectors]) const {
    const OutputAxis& place = p.place[2];
    const int64_t step = place.stride * p.columns;
    T* to = out + place.first * p.columns + w * step + columns.first;
    for (int i = 0; i < kPositions; ++i, to += step) {
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (kWhole) StoreVec(to + v * kLanes<A>, sums[i][v]);
        else StoreSome<T, A>(to + v * kLanes<A>, sums[i][v], columns.count - v * kLanes<A>);
      }
    }
  }

  /// Adds neighbouring taps of a line: each pixel is read once and multiplied by the factors of all taps that read it.
  template <int kTaps, int kPositions, int kVectors>
  static void AddTaps(const T* pixel, int64_t step, const T* row, int64_t row_step, Vec<A> (&sums)[kPositions][kVectors]) {
    Vec<A> factors[kTaps][kVectors];
#pragma GCC unroll 8
    for (int t = 0; t < kTaps; ++t) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) factors[t][v] = LoadVec(row + t * row_step + v * kLanes<A>);
    }
#pragma GCC unroll 16
    for (int k = 0; k < kPositions + kTaps - 1; ++k, pixel += step) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const Vec<A> value = LoadVec(pixel + v * kLanes<A>);
#pragma GCC unroll 8
        for (int t = 0; t < kTaps; ++t) {
          if (k - t >= 0 && k - t < kPositions) sums[k - t][v] += value * factors[t][v];
        }
      }
    }
  }

  /// kPositionsTogether neighbours from `w` on, all of whose taps are inside.
  template <int kVectors>
  void MultiplyTogether(const Columns<T, kVectors, true>& columns, int64_t w) const {
    const Im2Col& g = p.gather;
    const ConvAxis& width = g.axes[2];
    const int64_t step = width.step * g.channels, tap_step = width.tap_step * g.channels;
    const T *const pixels = picture + width.at(w, 0) * g.channels + columns.first, *const rows = weights + columns.first;
    // Neighbouring taps read the pixels of neighbouring positions, unless they lie further apart.
    const int64_t together = width.tap_step == width.step ? width.taps / kTapsTogether * kTapsTogether : 0;
    Vec<A> sums[kPositionsTogether][kVectors] = {};
    line.ForTapLines(g, [&](int64_t tap, int64_t source_line) {
      const T *pixel = pixels + source_line * width.source * g.channels, *row = rows + tap * p.columns;
      int64_t t = 0;
      for (; t < together; t += kTapsTogether, pixel += kTapsTogether * tap_step, row += kTapsTogether * p.columns) {
        AddTaps<kTapsTogether>(pixel, step, row, p.columns, sums);
      }
      for (; t < width.taps; ++t, pixel += tap_step, row += p.columns) AddTaps<1>(pixel, step, row, p.columns, sums);
    });
    Store(columns, w, sums);
  }

  /// Positions [w, w + count), at most kPositionsTogether, all of whose taps are inside, as those from `begin` on are.
  template <int kVectors, bool kWhole>
  void MultiplyInside(const Columns<T, kVectors, kWhole>& columns, int64_t begin, int64_t w, int64_t count) const {
    const int64_t end = w + count, taps = p.gather.axes[2].taps;
    if constexpr (kWhole) {
      if (end - kPositionsTogether >= begin) return MultiplyTogether(columns, end - kPositionsTogether);  // some perhaps once more
    }
    for (; w + 2 <= end; w += 2) Multiply<2>(columns, w, 0, taps);
    if (w < end) Multiply<1>(columns, w, 0, taps);
  }

  /// What the positions after those from `w` on write, and of what they read the line that the positions above have not read.
  void PrefetchNext(int64_t w) const {
    const Im2Col& g = p.gather;
    const auto& [depth, height, width] = g.axes;
    const int64_t in_bytes = kPositionsTogether * width.step * g.channels * static_cast<int64_t>(sizeof(T));
    const int64_t source_line = (line.front + (line.d_last - 1) * depth.tap_step) * height.source + line.top + (line.h_last - 1) * height.tap_step;
    const T* const pixel = picture + (source_line * width.source + width.at(w, 0)) * g.channels;
    for (int64_t i = 0; i < in_bytes; i += 64) PrefetchAfter(pixel, in_bytes + i);
    const int64_t position = p.place[2].stride * p.columns, out_bytes = kPositionsTogether * position * static_cast<int64_t>(sizeof(T));
    const T* const to = out + p.place[2].first * p.columns + w * position;
    for (int64_t i = 0; i < out_bytes; i += 64) PrefetchToWriteAfter(to, out_bytes + i);
  }

  /// All columns of some positions before the next ones, whose taps read many of the same pixels.
  void Run(StopCheck& stop) const {
    const ConvAxis& width = p.gather.axes[2];
    const int64_t taps = (line.d_last - line.d_first) * (line.h_last - line.h_first) * width.taps * p.inner();
    const int64_t cost = (1 + taps) * DivideUp(p.columns, int64_t{kVectorsTogether * kLanes<A>});
    // Positions all of whose taps are inside.
    const int64_t begin = width.taps == 0 ? 0 : PositionsInside(width, 0).first, end = width.taps == 0 ? 0 : PositionsInside(width, width.taps - 1).second;
    for (int64_t w = 0, count; w < width.positions; w += count) {
      const bool inside = w >= begin && w < end;
      count = inside ? std::min<int64_t>(kPositionsTogether, end - w) : 1;
      if (stop(count * cost)) return;
      if (inside && taps > 0) PrefetchNext(w);
      const int64_t left = width.at(w, 0), first = width.first_tap(left), last = width.last_tap(left, first);
      ForColumns<T, kVectorsTogether>(p.columns, p.groups, p.inner(), [&](const auto& columns) {
        if (inside) MultiplyInside(columns, begin, w, count);
        else Multiply<1>(columns, w, first, last);
      });
    }
  }
};

template <class T, int kVectors, bool kWhole>
void SumLine(const ConvDesc& s, const Columns<T, kVectors, kWhole>& columns, const Line& line, const T* source, const T* gradient,
             const T* gradient_end, Accumulator<T>* filter, StopCheck& stop) {
  using A = VecElement<T>;
  const Im2Col& g = s.gather;
  const ConvAxis& width = g.axes[2];
  const int64_t inner = s.inner(), step = width.step * g.channels;
  const T* const picture = source + line.picture * g.pixels() * g.channels;
  const T* const source_end = source + g.batch * g.pixels() * g.channels;
  line.ForTapLines(g, [&](int64_t tap, int64_t source_line) {
    for (int64_t t = 0; t < width.taps; ++t) {
      const auto [first, last] = PositionsInside(width, t);
      for (int64_t u = 0; u < inner; ++u) {
        if (stop(4 + last - first)) return;
        const T* pixel = picture + (source_line * width.source + width.at(first, t)) * g.channels;
        const T* row = gradient + first * s.columns + columns.first;
        Vec<A> sums[kVectors] = {};
        for (int64_t w = first; w < last; ++w, pixel += step, row += s.columns) {
          Vec<A> values[kVectors];
          columns.Load(pixel, u, source_end, values);
          for (int v = 0; v < kVectors; ++v) sums[v] += values[v] * LoadUpTo<kWhole>(row + v * kLanes<A>, gradient_end);
        }
        Accumulator<T>* to = filter + ((tap + t) * inner + u) * s.columns + columns.first;
        for (int64_t v = 0; v < kVectors; ++v) {
          for (int64_t i = 0; i < kLanes<A> && v * kLanes<A> + i < columns.count; ++i) to[v * kLanes<A> + i] += sums[v][i];
        }
      }
    }
  });
}

/// Channels first: lines [begin, end) of one picture's plane of `column` times what their taps read.
template <class T>
void SumPlaneLines(const ConvDesc& s, int64_t column, int64_t begin, int64_t end, const T* source, const T* gradient,
                   Accumulator<T>* filter, StopCheck& stop) {
  using A = VecElement<T>;
  constexpr int64_t kCount = kLanes<A>;
  const Im2Col& g = s.gather;
  const auto& [depth, height, width] = g.axes;
  const int64_t inner = s.inner(), plane_lines = depth.positions * height.positions, picture = begin / plane_lines;
  const int64_t channel = picture * g.channels + column / (s.columns / s.groups) * inner;
  const T* const plane = gradient + (picture * s.columns + column) * plane_lines * width.positions;
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    const int64_t td = tap / (height.taps * width.taps), th = tap / width.taps % height.taps, tw = tap % width.taps;
    const auto [first, last] = PositionsInside(width, tw);
    for (int64_t u = 0; u < inner; ++u) {
      Vec<A> sums = {};
      A rest = 0;
      for (int64_t i = begin; i < end; ++i) {
        if (stop(16 + (last - first) / 4)) return;
        const Line line(g, i);
        const int64_t d = depth.at(line.d, td), h = height.at(line.h, th);
        if (!depth.inside(d) || !height.inside(h)) continue;
        const T* from = source + (((channel + u) * depth.source + d) * height.source + h) * width.source + width.at(0, tw);
        const T* row = plane + i % plane_lines * width.positions;
        int64_t w = first;
        for (; width.step == 1 && w + kCount <= last; w += kCount) sums += LoadVec(from + w) * LoadVec(row + w);
        for (; w < last; ++w) rest += ToVecElement(from[w * width.step]) * ToVecElement(row[w]);
      }
      A sum;
      SumLanes<1, A>(sums, &sum);
      filter[(tap * inner + u) * s.columns + column] += sum + rest;
    }
  }
}

/// The sum of a share of the lines of positions, in the filter's layout.
template <class T>
void SumLines(const ConvDesc& s, const T* source, const T* gradient, int64_t begin, int64_t end, Accumulator<T>* filter, StopCheck& stop) {
  const Im2Col& g = s.gather;
  const int64_t positions = g.axes[2].positions, plane_lines = g.axes[0].positions * g.axes[1].positions;
  std::fill_n(filter, s.filter_count(), Accumulator<T>(0));
  if (g.channels_first) {
    for (int64_t first = begin, last; first < end; first = last) {
      last = std::min(end, (first / plane_lines + 1) * plane_lines);
      for (int64_t column = 0; column < s.columns; ++column) SumPlaneLines(s, column, first, last, source, gradient, filter, stop);
    }
    return;
  }
  const T* const gradient_end = gradient + PositionLines(g) * positions * s.columns;
  for (int64_t i = begin; i < end; ++i) {
    ForColumns<T, 4>(s.columns, s.groups, s.inner(), [&](const auto& columns) {
      SumLine(s, columns, Line(g, i), source, gradient + i * positions * s.columns, gradient_end, filter, stop);
    });
  }
}

/// Of the filter's gradient: sums that are made apart, and the elements of each.
struct Shares {
  int64_t count, size;
  explicit Shares(const ConvDesc& s) : size(DivideUp(s.filter_count(), int64_t{32}) * 32) {
    count = std::clamp<int64_t>((int64_t{1} << 21) / s.filter_count(), 1, s.work() <= kSmallConv ? 1 : std::min(PositionLines(s.gather), kFilterShares));
  }
};

}  // namespace

template <class T>
void RunDepthwise(const ConvDesc& p, const T* source, const T* weights, T* out, Workers& workers) {
  const Im2Col& g = p.gather;
  const auto& [depth, height, width] = p.place;
  const int64_t lines = PositionLines(g);
  const double line_work = p.work() / static_cast<double>(lines);
  const int64_t least = line_work >= kGrain ? 1 : static_cast<int64_t>(kGrain / std::max(line_work, 1.0));
  workers.For(lines, std::max(least, std::min(kMostLines, lines / kWantedTasks)), [&](int64_t begin, int64_t end) {
    StopCheck stop(workers);
    for (int64_t i = begin; i < end; ++i) {
      const Line line(g, i);
      const int64_t row = (depth.first + line.d * depth.stride) * height.size + height.first + line.h * height.stride;
      T* to = out + (line.picture * depth.size * height.size + row) * width.size * p.columns;
      LineProduct(p, line, source, weights, to).Run(stop);
    }
  });
}

int64_t DepthwiseFilterGradScratch(const ConvDesc& s) {
  const Shares shares(s);
  return shares.count * shares.size;
}

template <class T>
void RunDepthwiseFilterGrad(const ConvDesc& s, const T* source, const T* gradient, T* filter, Accumulator<T>* sums, Workers& workers) {
  const Shares shares(s);
  const int64_t lines = PositionLines(s.gather);
  workers.For(shares.count, 1, [&](int64_t i, int64_t) {
    StopCheck stop(workers);
    SumLines(s, source, gradient, i * lines / shares.count, (i + 1) * lines / shares.count, sums + i * shares.size, stop);
  });
  JoinFilterShares(s, sums, shares.count, shares.size, s.columns / s.groups, filter, workers);
}

#define WEFT_INSTANTIATE(T) template void RunDepthwise(const ConvDesc&, const T*, const T*, T*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE
#define WEFT_INSTANTIATE(T) template void RunDepthwiseFilterGrad(const ConvDesc&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
