// Rows of a matrix reduced together: what the segment blocks are made of.
#pragma once

#include "blocks/kernels/reduce.h"

namespace weft::kernels {

/// Some rows of a matrix of T: row j is that of number rows[j], or j itself where rows is null.
struct SegmentRows {
  const void* data;
  int64_t inner;  // elements of a row
  const int64_t* rows;

  template <class T>
  const T* row(int64_t j) const { return static_cast<const T*>(data) + (rows == nullptr ? j : rows[j]) * inner; }
};

/// Columns that are reduced side by side.
inline constexpr int64_t kSegmentColumns = 256;

/// out[c] = rows [begin, end) reduced by op, as in reduce.h, for the columns [column, column + width), at most kSegmentColumns. Rows are
/// taken in their order.
template <class Op, class T>
[[gnu::noinline]] void ReduceSegment(const Op op, const SegmentRows& rows, int64_t begin, int64_t end, int64_t column, int64_t width,
                                     T* out) {
  using Acc = typename Op::Acc;
  using In = typename Op::In;
  if (width == 1) {
    Acc total = Op::Identity();
    for (int64_t j = begin; j < end; ++j) total = op.Add(total, WidenOne<In>(rows.row<T>(j)[column]));
    out[0] = op.Finish(total, end - begin);
    return;
  }
  Acc totals[kSegmentColumns];
  std::fill(totals, totals + width, Op::Identity());
  for (int64_t j = begin; j < end; ++j) {
    const T* x = rows.row<T>(j) + column;
    for (int64_t c = 0; c < width; ++c) totals[c] = op.Add(totals[c], WidenOne<In>(x[c]));
  }
  for (int64_t c = 0; c < width; ++c) out[c] = op.Finish(totals[c], end - begin);
}

/// Sorts n rows by segment: those of segment s are then order[starts[s]] ... order[starts[s + 1] - 1], in their first order. Ids below 0 or
/// not below `segments` belong to none. What is sorted are the numbers of the rows, or values[number]. `starts` has segments + 2 elements.
template <class I>
void GroupBySegment(const I* ids, const int64_t* values, int64_t n, int64_t segments, int64_t* starts, int64_t* order) {
  const auto valid = [&](I id) { return id >= 0 && static_cast<int64_t>(id) < segments; };
  std::fill(starts, starts + segments + 2, int64_t{0});
  for (int64_t j = 0; j < n; ++j) {
    if (valid(ids[j])) ++starts[static_cast<int64_t>(ids[j]) + 2];
  }
  for (int64_t s = 2; s < segments + 2; ++s) starts[s] += starts[s - 1];
  // starts[s + 1] is where the next row of segment s goes.
  for (int64_t j = 0; j < n; ++j) {
    if (valid(ids[j])) order[starts[static_cast<int64_t>(ids[j]) + 1]++] = values == nullptr ? j : values[j];
  }
}

}  // namespace weft::kernels
