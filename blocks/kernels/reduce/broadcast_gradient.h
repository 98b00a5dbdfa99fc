// The way back of a reduction: each value is repeated for all elements it was reduced from.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/kernels/simd/vec.h"

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

/// Elements [begin, end) of the reduced steps of the cells [first, last), each from[its output].
template <class T>
void BroadcastCells(const ReduceLayout& layout, const T* from, T* to, int64_t first, int64_t last, int64_t begin, int64_t end) {
  constexpr int64_t kShortRun = 64;
  if constexpr (std::is_arithmetic_v<T>) {
    if (layout.runs_follow() && end - begin == layout.run && layout.run <= kShortRun) {
      return BroadcastShortRuns(from + first, to + first * layout.run, layout.run, last - first);
    }
  }
  internal::ForCells(layout, first, last, [&](int64_t at, int64_t output, int64_t width) {
    T* const base = to + at;
    const T* const value = from + output;
    if (layout.width == 1) {
      internal::ForRuns(layout, begin, end, [base, x = *value](int64_t offset, int64_t n) { std::fill_n(base + offset, n, x); });
    } else {
      internal::ForRuns(layout, begin, end, [&](int64_t offset, int64_t n) {
        for (int64_t r = 0; r < n; ++r) std::copy_n(value, width, base + offset + r * layout.width);
      });
    }
  });
}

/// to[i] = from[the output that element i was reduced to].
template <class T, class Workers>
void BroadcastReduced(const ReduceLayout& layout, const T* from, T* to, Workers& workers) {
  if (layout.outputs == 0 || layout.count == 0) return;
  internal::ForCellTasks(layout, workers, [&](int64_t, int64_t first, int64_t last, int64_t begin, int64_t end) {
    BroadcastCells(layout, from, to, first, last, begin, end);
  });
}

}  // namespace weft::kernels
