// Running sums and products along one dimension.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// A tensor seen as [outer, size, inner], gone through along `size`.
struct ScanBox {
  int64_t outer = 1, size = 1, inner = 1;
  bool exclusive = false;  // an element does not count for its own result
  bool reverse = false;    // from the last element to the first

  /// Calls f(first, step, width) for each set of neighbouring columns: element i, in the order of the scan, of column j is at
  /// first + i * step + j. The widths are cut by the box alone and are at most kColumns.
  template <class Workers, class F>
  void ForColumns(Workers& workers, F&& f) const {
    if (outer == 0 || size == 0 || inner == 0) return;
    const int64_t chunks = (inner + kColumns - 1) / kColumns;
    const int64_t cost = size * std::min(inner, kColumns);
    ForEach(workers, outer * chunks, internal::kTaskElements / cost, [&](int64_t task) {
      const int64_t column = task % chunks * kColumns, start = task / chunks * size * inner + column;
      f(reverse ? start + (size - 1) * inner : start, reverse ? -inner : inner, std::min(kColumns, inner - column));
    });
  }
  static constexpr int64_t kColumns = 256;
};

namespace internal {

/// Calls body(begin, end) over the steps of a scan, `width` columns side by side, until the run is to end.
void ForSteps(const auto& workers, int64_t size, int64_t width, auto&& body) {
  ForTiles(workers, size, 2 * kItemsBetweenLooks / width, body);
}

}  // namespace internal

/// out[i] = the elements up to i reduced by Op, as in kernels/reduce/reduce.h.
template <class Op, class T, class Workers>
void Scan(const ScanBox& box, const T* in, T* out, Workers& workers) {
  box.ForColumns(workers, [&](int64_t first, int64_t step, int64_t width) {
    typename Op::Acc total[ScanBox::kColumns];
    std::fill(total, total + width, Op::Identity());
    const T* x = in + first;
    T* to = out + first;
    internal::ForSteps(workers, box.size, width, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i, x += step, to += step) {
        for (int64_t j = 0; j < width; ++j) {
          const typename Op::Acc before = total[j];
          total[j] = Op::Add(before, WidenOne<typename Op::In>(x[j]));
          to[j] = Op{}.Finish(box.exclusive ? before : total[j], 1);
        }
      }
    });
  });
}

/// out[i] = y[i - 1] + x[i - 1] * out[i - 1] in the order of the scan, beginning with 0.
template <class T, class Workers>
void ScanProducts(const ScanBox& box, const T* x, const T* y, T* out, Workers& workers) {
  using Op = ProductOf<T>;
  using Acc = typename Op::Acc;
  box.ForColumns(workers, [&](int64_t first, int64_t step, int64_t width) {
    Acc total[ScanBox::kColumns];
    std::fill(total, total + width, Acc(0));
    internal::ForSteps(workers, box.size, width, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = first + i * step;
        for (int64_t j = 0; j < width; ++j) {
          const auto wide = [](T v) { return static_cast<Acc>(WidenOne<typename Op::In>(v)); };
          out[at + j] = Op::Finish(total[j], 1);
          total[j] = wide(y[at + j]) + Op::Join(wide(x[at + j]), total[j]);
        }
      }
    });
  });
}

}  // namespace weft::kernels
