#include "blocks/kernels/conv/depthwise_lines.h"
#include "blocks/kernels/conv/implementations.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {
namespace {

/// The filter's gradient from one line of positions: some columns.
template <class T, int kVectors, bool kWhole>
struct LineSum {
  using A = VecElement<T>;
  // As many sums and positions of the gradient as there are registers for.
  static constexpr int kTapsTogether = 3, kPositionsTogether = kVecBytes >= 64 ? 4 : 2;
  const ConvDesc& s;
  const Columns<T, kVectors, kWhole>& columns;
  const T *const picture, *const source_end, *const gradient, *const gradient_end;
  Accumulator<T>* const filter;
  const ConvAxis& width = s.gather.axes[2];
  const int64_t step = width.step * s.gather.channels;

  /// The pixels that tap `t` of a line of the picture reads at position `w`, and the gradient there.
  const T* Pixel(int64_t source_line, int64_t w, int64_t t) const {
    return picture + (source_line * width.source + width.at(w, t)) * s.gather.channels;
  }
  const T* Row(int64_t w) const { return gradient + w * s.columns + columns.first; }

  void Add(int64_t tap, const Vec<A> (&sums)[kVectors]) const {
    Accumulator<T>* to = filter + tap * s.columns + columns.first;
    for (int64_t v = 0; v < kVectors; ++v) {
      for (int64_t i = 0; i < kLanes<A> && v * kLanes<A> + i < columns.count; ++i) to[v * kLanes<A> + i] += sums[v][i];
    }
  }

  /// Positions [first, last), none where they are in no order, for tap `t` of a line: `inner` of the channel's.
  void SumTap(int64_t source_line, int64_t t, int64_t inner, int64_t first, int64_t last, Vec<A> (&sums)[kVectors]) const {
    if (first >= last) return;
    const T *pixel = Pixel(source_line, first, t), *row = Row(first);
    for (int64_t w = first; w < last; ++w, pixel += step, row += s.columns) {
      Vec<A> values[kVectors];
      columns.Load(pixel, inner, source_end, values);
      for (int v = 0; v < kVectors; ++v) sums[v] += values[v] * LoadUpTo<kWhole>(row + v * kLanes<A>, gradient_end);
    }
  }

  /// kPositions positions for neighbouring taps, each of which reads the pixel after that of the one before.
  template <int kPositions>
  void SumTaps(const T* pixel, const T* row, Vec<A> (&sums)[kTapsTogether][kVectors]) const {
    pixel += columns.first;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v, pixel += kLanes<A>, row += kLanes<A>) {
      Vec<A> rows[kPositions];
#pragma GCC unroll 4
      for (int i = 0; i < kPositions; ++i) rows[i] = LoadVec(row + i * s.columns);
#pragma GCC unroll 8
      for (int k = 0; k < kPositions + kTapsTogether - 1; ++k) {
        const Vec<A> value = LoadVec(pixel + k * step);
#pragma GCC unroll 4
        for (int t = 0; t < kTapsTogether; ++t) {
          if (k - t >= 0 && k - t < kPositions) sums[t][v] += value * rows[k - t];
        }
      }
    }
  }

  /// Taps [t, t + kTapsTogether), each of which reads the pixel after that of the one before: what all of them read is loaded once.
  void SumTogether(int64_t tap, int64_t source_line, int64_t t) const {
    const int64_t first = PositionsInside(width, t).first, last = std::max(first, PositionsInside(width, t + kTapsTogether - 1).second);
    Vec<A> sums[kTapsTogether][kVectors] = {};
    int64_t w = first;
    for (; w + kPositionsTogether <= last; w += kPositionsTogether) SumTaps<kPositionsTogether>(Pixel(source_line, w, t), Row(w), sums);
    for (; w < last; ++w) SumTaps<1>(Pixel(source_line, w, t), Row(w), sums);
    for (int64_t i = 0; i < kTapsTogether; ++i) {
      const auto [begin, end] = PositionsInside(width, t + i);
      SumTap(source_line, t + i, 0, begin, std::min(end, first), sums[i]);
      SumTap(source_line, t + i, 0, std::max(begin, last), end, sums[i]);
      Add(tap + t + i, sums[i]);
    }
  }

  void Run(const Line& line, StopCheck& stop) const {
    const int64_t inner = s.inner(), cost = 4 + width.positions;
    line.ForTapLines(s.gather, [&](int64_t tap, int64_t source_line) {
      int64_t t = 0;
      if constexpr (kWhole) {
        for (; width.tap_step == width.step && t + kTapsTogether <= width.taps; t += kTapsTogether) {
          if (stop(kTapsTogether * cost)) return;
          SumTogether(tap, source_line, t);
        }
      }
      for (; t < width.taps; ++t) {
        const auto [first, last] = PositionsInside(width, t);
        for (int64_t u = 0; u < inner; ++u) {
          if (stop(cost)) return;
          Vec<A> sums[kVectors] = {};
          SumTap(source_line, t, u, first, last, sums);
          Add((tap + t) * inner + u, sums);
        }
      }
    });
  }
};

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
  FillUntilStopped(stop, filter, s.filter_count(), Accumulator<T>(0));
  if (g.channels_first) {
    for (int64_t first = begin, last; first < end; first = last) {
      last = std::min(end, (first / plane_lines + 1) * plane_lines);
      for (int64_t column = 0; column < s.columns; ++column) SumPlaneLines(s, column, first, last, source, gradient, filter, stop);
    }
    return;
  }
  const T* const gradient_end = gradient + PositionLines(g) * positions * s.columns;
  for (int64_t i = begin; i < end; ++i) {
    const Line line(g, i);
    const T *const picture = source + line.picture * g.pixels() * g.channels, *const source_end = source + g.batch * g.pixels() * g.channels;
    ForColumns<T, 4>(s.columns, s.groups, s.inner(), [&]<int kVectors, bool kWhole>(const Columns<T, kVectors, kWhole>& columns) {
      LineSum<T, kVectors, kWhole>{s, columns, picture, source_end, gradient + i * positions * s.columns, gradient_end, filter}.Run(line, stop);
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

#define WEFT_INSTANTIATE(T) template void RunDepthwiseFilterGrad(const ConvDesc&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)

}  // namespace weft::kernels
