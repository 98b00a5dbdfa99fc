// Rows of a matrix reduced together: what the segment blocks are made of.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// Some rows of a matrix of T: row j is that of number rows[j], or j itself where rows is null.
struct SegmentRows {
  const void* data;
  int64_t inner;  // elements of a row
  const int64_t* rows;
  const Workers* workers = nullptr;  // of the run: a segment of many rows ends when that is to end; null: it does not

  template <class T>
  const T* row(int64_t j) const { return static_cast<const T*>(data) + (rows == nullptr ? j : rows[j]) * inner; }
  /// Calls body(first, last) for the rows [begin, end), `tile` at a time, until the run is to end.
  void ForTiles(int64_t begin, int64_t end, int64_t tile, auto&& body) const {
    for (int64_t first = begin; first < end; first += tile) {
      if (first > begin && workers != nullptr && workers->Stopped()) return;
      body(first, std::min(end, first + tile));
    }
  }
};

/// Columns that are reduced side by side.
inline constexpr int64_t kSegmentColumns = 256;

/// out[c] = rows [begin, end), in order, reduced by op (reduce.h), for columns [column, column + width), kSegmentColumns at most.
template <class Op, class T>
[[gnu::noinline]] void ReduceSegment(const Op op, const SegmentRows& rows, int64_t begin, int64_t end, int64_t column, int64_t width,
                                     T* out) {
  using Acc = typename Op::Acc;
  using In = typename Op::In;
  if (width == 1) {
    Acc total = Op::Identity();
    rows.ForTiles(begin, end, kItemsBetweenLooks, [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j) total = op.Add(total, WidenOne<In>(rows.row<T>(j)[column]));
    });
    out[0] = op.Finish(total, end - begin);
    return;
  }
  Acc totals[kSegmentColumns];
  std::fill(totals, totals + width, Op::Identity());
  rows.ForTiles(begin, end, 2 * kItemsBetweenLooks / width, [&](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      const T* x = rows.row<T>(j) + column;
      for (int64_t c = 0; c < width; ++c) totals[c] = op.Add(totals[c], WidenOne<In>(x[c]));
    }
  });
  for (int64_t c = 0; c < width; ++c) out[c] = op.Finish(totals[c], end - begin);
}

/// Sorts n rows by segment: those of segment s are then order[starts[s]] ... order[starts[s + 1] - 1], in their first order. Ids below 0 or
/// not below `segments` belong to none. What is sorted are the numbers of the rows, or values[number]. `starts` has segments + 2 elements.
/// False where it left because the run is to end.
template <class I>
[[nodiscard]] bool GroupBySegment(const I* ids, const int64_t* values, int64_t n, int64_t segments, int64_t* starts, int64_t* order,
                                  const Workers& workers) {
  const auto valid = [&](I id) { return id >= 0 && static_cast<int64_t>(id) < segments; };
  constexpr int64_t kTile = kItemsBetweenLooks;
  const auto clear = [&](int64_t begin, int64_t end) { std::fill(starts + begin, starts + end, int64_t{0}); };
  const auto count = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      if (valid(ids[j])) ++starts[static_cast<int64_t>(ids[j]) + 2];
    }
  };
  const auto add_up = [&](int64_t begin, int64_t end) {
    for (int64_t s = begin + 2; s < end + 2; ++s) starts[s] += starts[s - 1];
  };
  // starts[s + 1] is where the next row of segment s goes.
  const auto place = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      if (valid(ids[j])) order[starts[static_cast<int64_t>(ids[j]) + 1]++] = values == nullptr ? j : values[j];
    }
  };
  return kernels::ForTiles(workers, segments + 2, kTile, clear) && kernels::ForTiles(workers, n, kTile, count) &&
         kernels::ForTiles(workers, segments, kTile, add_up) && kernels::ForTiles(workers, n, kTile, place);
}

}  // namespace weft::kernels
