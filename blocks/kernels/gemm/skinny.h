// Products of which one side has few rows or columns, seen from that side:
//   out(f, j) = sum over p of few(f, p) * many(j, p), for f < count and j < length.
#pragma once

#include <cstdint>

#include "blocks/kernels/gemm/gemm.h"

namespace weft::kernels {

template <class T>
struct SkinnyProduct {
  int64_t count = 0, length = 0, inner = 0;
  const T* few = nullptr;
  int64_t few_stride = 0, few_depth_stride = 0;
  const T* many = nullptr;
  int64_t many_stride = 0, many_depth_stride = 0;
  T* out = nullptr;
  int64_t out_few_stride = 0, out_stride = 0;
  bool add = false;
};

/// `few_columns`: the few are the columns, though there be as few rows.
template <class T>
SkinnyProduct<T> AsSkinny(const Product<T>& p, bool few_columns = false) {
  const MatrixView<T>&a = p.left, &b = p.right;
  if (p.rows <= p.columns && !few_columns) {
    return {p.rows,       p.columns, p.inner,      a.data, a.row_stride, a.column_stride, b.data, b.column_stride,
            b.row_stride, p.out,     p.out_stride, 1,      p.add};
  }
  return {p.columns,    p.rows,          p.inner, b.data, b.column_stride, b.row_stride, a.data,
          a.row_stride, a.column_stride, p.out,   1,      p.out_stride,    p.add};
}

}  // namespace weft::kernels
