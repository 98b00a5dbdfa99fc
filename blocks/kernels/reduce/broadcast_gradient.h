// The way back of a reduction: each value is repeated for all elements it was reduced from.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// Whole cells that lie one after another, each a run: whole registers reach over the runs that come next.
template <class T>
void BroadcastShortRuns(const T* from, T* to, int64_t run, int64_t cells) {
  constexpr int64_t kN = kLanes<T>;
  const int64_t stored = (run + kN - 1) / kN * kN;
  int64_t cell = 0;
  for (; stored <= (cells - cell) * run; ++cell) {
    for (int64_t i = 0; i < stored; i += kN) StoreVec(to + cell * run + i, Broadcast(from[cell]));
  }
  for (; cell < cells; ++cell) std::fill_n(to + cell * run, run, from[cell]);
}

/// Elements [begin, end) of the reduced steps of `cells` [first, last), each from[its output]; cells as in ReduceCells.
template <class T>
void BroadcastCells(const ReduceLayout& layout, const T* from, T* to, int64_t first, int64_t last, int64_t begin, int64_t end,
                    StopCheck& stop) {
  constexpr int64_t kShortRun = 64;
  if constexpr (std::is_arithmetic_v<T>) {
    const bool together = layout.width == 1 && layout.reduced.empty() && layout.kept.size() == 1 && end - begin == layout.run;
    if (together && layout.run <= kShortRun) return BroadcastShortRuns(from + first, to + first * layout.run, layout.run, last - first);
  }
  const int64_t chunks = (layout.width + internal::kColumns - 1) / internal::kColumns;
  Walker kept(layout.kept, first / chunks);
  int64_t chunk = first % chunks;
  for (int64_t cell = first; cell < last; ++cell) {
    T* base = to + kept.offset() + chunk * internal::kColumns;
    const T* value = from + cell / chunks * layout.width + chunk * internal::kColumns;
    if (layout.width == 1) {
      const T x = *value;
      internal::ForRuns(layout, begin, end, stop, [&](int64_t offset, int64_t n) { FillUntilStopped(stop, base + offset, n, x); });
    } else {
      const int64_t width = std::min(internal::kColumns, layout.width - chunk * internal::kColumns);
      internal::ForRuns(layout, begin, end, stop, [&](int64_t offset, int64_t n) {
        for (int64_t r = 0; r < n && !stop(1 + width / 8); ++r) std::copy_n(value, width, base + offset + r * layout.width);
      });
    }
    if (++chunk == chunks) chunk = 0, kept.Next();
  }
}

/// to[i] = from[the output that element i was reduced to].
template <class T, class Workers>
void BroadcastReduced(const ReduceLayout& layout, const T* from, T* to, Workers& workers) {
  if (layout.outputs == 0 || layout.count == 0) return;
  const int64_t chunks = (layout.width + internal::kColumns - 1) / internal::kColumns;
  const int64_t cells = layout.kept_count * chunks;
  if (layout.pieces == 1) {
    const int64_t cell_elements = layout.count * std::min(layout.width, internal::kColumns);
    workers.For(cells, internal::kTaskElements / cell_elements, [&](int64_t first, int64_t last) {
      StopCheck stop(workers);
      BroadcastCells(layout, from, to, first, last, 0, layout.count, stop);
    });
    return;
  }
  const int64_t step = DivideUp(layout.count, layout.pieces);
  ForEach(workers, layout.pieces * cells, 1, [&](int64_t task, StopCheck& stop) {
    const int64_t start = std::min(layout.count, task / cells * step);
    BroadcastCells(layout, from, to, task % cells, task % cells + 1, start, std::min(layout.count, start + step), stop);
  });
}

}  // namespace weft::kernels
