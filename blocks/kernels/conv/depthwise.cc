#include "blocks/kernels/conv/depthwise_lines.h"
#include "blocks/kernels/conv/implementations.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/prefetch.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {
namespace {

constexpr int64_t kGrain = 32768;  // multiplications of a task
constexpr int64_t kWantedTasks = 16, kMostLines = 16;  // lines that a task has so that its thread reads most of them once only

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

  /// One position of so large a window that it may be left in between: the same sums.
  template <int kVectors, bool kWhole>
  void MultiplyLong(const Columns<T, kVectors, kWhole>& columns, int64_t w, int64_t first, int64_t last, StopCheck& stop) const {
    const Im2Col& g = p.gather;
    const ConvAxis& width = g.axes[2];
    const int64_t inner = p.inner();
    Vec<A> sums[1][kVectors] = {};
    line.ForTapLines(g, [&](int64_t tap, int64_t source_line) {
      const T* pixel = picture + (source_line * width.source + width.at(w, first)) * g.channels;
      const T* row = weights + (tap + first) * inner * p.columns + columns.first;
      for (int64_t t = first; t < last && !stop(inner); ++t, pixel += width.tap_step * g.channels) {
        for (int64_t u = 0; u < inner; ++u, row += p.columns) {
          Vec<A> values[kVectors];
          columns.Load(pixel, u, source_end, values);
          for (int v = 0; v < kVectors; ++v) sums[0][v] += values[v] * LoadUpTo<kWhole>(row + v * kLanes<A>, weights_end);
        }
      }
      return !stop(1);
    });
    Store(columns, w, sums);
  }

  /// All columns of some positions before the next ones, whose taps read many of the same pixels.
  void Run(StopCheck& stop) const {
    const ConvAxis& width = p.gather.axes[2];
    const int64_t taps = (line.d_last - line.d_first) * (line.h_last - line.h_first) * width.taps * p.inner();
    const bool is_long = taps > kItemsBetweenLooks;
    const int64_t cost = (1 + taps) * DivideUp(p.columns, int64_t{kVectorsTogether * kLanes<A>});
    // Positions all of whose taps are inside.
    const int64_t begin = width.taps == 0 ? 0 : PositionsInside(width, 0).first, end = width.taps == 0 ? 0 : PositionsInside(width, width.taps - 1).second;
    for (int64_t w = 0, count; w < width.positions; w += count) {
      const bool inside = w >= begin && w < end && !is_long;
      count = inside ? std::min<int64_t>(kPositionsTogether, end - w) : 1;
      if (stop(count * cost)) return;
      if (inside && taps > 0) PrefetchNext(w);
      const int64_t left = width.at(w, 0), first = width.first_tap(left), last = width.last_tap(left, first);
      ForColumns<T, kVectorsTogether>(p.columns, p.groups, p.inner(), [&](const auto& columns) {
        if (is_long) MultiplyLong(columns, w, first, last, stop);
        else if (inside) MultiplyInside(columns, begin, w, count);
        else Multiply<1>(columns, w, first, last);
      });
    }
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

#define WEFT_INSTANTIATE(T) template void RunDepthwise(const ConvDesc&, const T*, const T*, T*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
