// Pictures resized by sampling: each output pixel is a weighted sum of input pixels round its place, rows and columns apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "blocks/kernels/stop_check.h"
#include "weft/base/float16.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// Input pixels to an output pixel. `align_corners`: the corner pixels of both pictures are the same, rather than their outer edges.
float ResizeScale(int64_t in, int64_t out, bool align_corners);

/// One axis of a picture. Sizes are 1 or more.
struct ResizeAxis {
  int64_t in = 1, out = 1;
  float scale = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;  // a pixel's place is its centre, not its lower edge
};

/// The K input pixels that an output pixel is made of, in ascending order, and their shares.
template <int K>
struct ResizeTaps {
  int64_t at[K];
  float weight[K];
};
/// The pixels round `place`; one that lies outside is the one at the edge.
ResizeTaps<2> LinearTapsAt(float place, int64_t in);
/// K = 1: the nearest pixel; 2: linear; 4: cubic, from a table of 1,024 weights.
template <int K>
ResizeTaps<K> TapsOf(const ResizeAxis& axis, int64_t i);

/// A batch of pictures [batch, height, width, channels].
struct ResizePlan {
  ResizeAxis y, x;
  int64_t batch = 0, channels = 0;

  int64_t in_line() const { return x.in * channels; }
  int64_t out_line() const { return x.out * channels; }
};

/// Rows are worked on in pieces, each with memory of its own; cut by size only.
struct ResizePieces {
  int64_t rows = 0, length = 1, count = 0;  // rows in all, rows of a piece, pieces

  ResizePieces() = default;
  /// Each row costs `work` element operations.
  ResizePieces(int64_t all, int64_t work);
};

/// The taps of all columns of the output, at the start of the scratch memory; what is behind them is for the pieces.
template <int K>
int64_t ColumnBytes(const ResizePlan& plan) { return plan.x.out * static_cast<int64_t>(sizeof(ResizeTaps<K>)); }
/// Null where the run is to end, and not every column is known.
template <int K>
const ResizeTaps<K>* SetColumns(const ResizePlan& plan, std::byte* scratch, Workers& workers) {
  auto* columns = reinterpret_cast<ResizeTaps<K>*>(scratch);
  ForEach(workers, plan.x.out, 16384, [&](int64_t x) { columns[x] = TapsOf<K>(plan.x, x); });
  return workers.Stopped() ? nullptr : columns;
}

/// Elements of a source line as floats: (from, first element, to, how many). Null: they are floats.
using WidenLine = void (*)(const void* from, int64_t first, float* to, int64_t n);

/// Bytes of scratch memory, aligned to 64, for Resize, and for ResizeNearest where K is 1.
template <int K>
int64_t ResizeScratchBytes(const ResizePlan& plan);
/// K is 2 or 4. `out` must not be empty.
template <int K>
void Resize(const ResizePlan& plan, const void* in, WidenLine widen, float* out, std::byte* scratch, Workers& workers);

/// Only moves elements.
template <class T>
void ResizeNearest(const ResizePlan& plan, const T* in, T* out, std::byte* scratch, Workers& workers) {
  const ResizeTaps<1>* columns = SetColumns<1>(plan, scratch, workers);
  if (columns == nullptr) return;
  const int64_t line = plan.out_line(), channels = plan.channels;
  const ResizePieces pieces(plan.batch * plan.y.out, line);
  workers.For(pieces.rows, pieces.length, [&](int64_t begin, int64_t end) {
    int64_t held = -1;  // the source of the row before
    StopCheck stop(workers);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t source = row / plan.y.out * plan.y.in + TapsOf<1>(plan.y, row % plan.y.out).at[0];
      T* pixel = out + row * line;
      if (source == held) {
        CopyLong(workers, pixel - line, pixel, line);
        continue;
      }
      held = source;
      for (int64_t x = 0; x < plan.x.out; ++x, pixel += channels) {
        if (stop(channels)) return;
        const T* from = in + source * plan.in_line() + columns[x].at[0] * channels;
        for (int64_t c = 0; c < channels; ++c) pixel[c] = from[c];
      }
    }
  });
}

/// The scratch memory of ResizeGradient, whose sums are of type A.
template <int K, class A>
int64_t ResizeGradientScratchBytes(const ResizePlan& plan) {
  const ResizePieces pieces(plan.batch * plan.y.in, plan.in_line() + 2 * plan.out_line());
  return ColumnBytes<K>(plan) + pieces.count * (plan.in_line() + plan.out_line()) * static_cast<int64_t>(sizeof(A));
}

/// The first output pixel that is made of input pixel `at` or later ones.
template <int K>
int64_t FirstThatReaches(const ResizeAxis& axis, int64_t at) {
  int64_t low = 0, high = axis.out;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (TapsOf<K>(axis, middle).at[K - 1] >= at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// Adds up the gradients of output pixels where they came from, by rows of the input, and these by columns.
template <int K, class G, class T>
void ResizeGradient(const ResizePlan& plan, const G* grads, T* out, std::byte* scratch, Workers& workers) {
  using A = Accumulator<T>;
  const int64_t from_line = plan.out_line(), to_line = plan.in_line(), channels = plan.channels;
  const ResizePieces pieces(plan.batch * plan.y.in, to_line + 2 * from_line);
  const ResizeTaps<K>* columns = SetColumns<K>(plan, scratch, workers);
  if (columns == nullptr) return;
  A* const lines = reinterpret_cast<A*>(scratch + ColumnBytes<K>(plan));
  workers.For(pieces.rows, pieces.length, [&](int64_t begin, int64_t end) {
    A* const column_sums = lines + begin / pieces.length * (from_line + to_line);
    A* const sums = column_sums + from_line;
    StopCheck stop(workers);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t picture = row / plan.y.in, at = row % plan.y.in;
      FillUntilStopped(stop, column_sums, from_line, A(0));
      for (int64_t y = FirstThatReaches<K>(plan.y, at); y < plan.y.out; ++y) {
        const ResizeTaps<K> taps = TapsOf<K>(plan.y, y);
        if (taps.at[0] > at) break;
        A weight = 0;
        for (int k = 0; k < K; ++k) weight += taps.at[k] == at ? static_cast<A>(taps.weight[k]) : A(0);
        if (weight == A(0)) continue;
        if (stop(from_line)) return;
        const G* from = grads + (picture * plan.y.out + y) * from_line;
        ForTiles(workers, from_line, kItemsBetweenLooks, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) column_sums[i] += weight * static_cast<A>(from[i]);
        });
      }
      FillUntilStopped(stop, sums, to_line, A(0));
      for (int64_t x = 0; x < plan.x.out; ++x) {
        if (stop(K * (channels + 1))) return;
        for (int k = 0; k < K; ++k) {
          const A weight = static_cast<A>(columns[x].weight[k]);
          if (weight == A(0)) continue;
          A* to = sums + columns[x].at[k] * channels;
          for (int64_t c = 0; c < channels; ++c) to[c] += weight * column_sums[x * channels + c];
        }
      }
      ForTiles(workers, to_line, kItemsBetweenLooks, [&](int64_t first, int64_t last) {
        std::transform(sums + first, sums + last, out + row * to_line + first, [](A sum) { return static_cast<T>(sum); });
      });
    }
  });
}

}  // namespace weft::kernels
