// Packing operands of matrix products into panels: element w of step p is panel[p * W + w].
#pragma once

#include <cstdint>

#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/gemm/micro_kernel.h"
#include "blocks/kernels/simd/transpose.h"
#include "blocks/kernels/simd/widen.h"

namespace weft::kernels::gemm {

/// Packs four rows of `depth` elements of 4 bytes, transposed in registers.
template <int W, class A>
void PackFour(const A* data, int64_t row_stride, int64_t depth, A* panel) {
  typedef A Four __attribute__((vector_size(16)));
  int64_t p = 0;
  for (; p + 4 <= depth; p += 4) {
    Four columns[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) __builtin_memcpy(&columns[i], data + i * row_stride + p, 16);
    TransposeVecs(columns);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) __builtin_memcpy(panel + (p + i) * W, &columns[i], 16);
  }
  for (; p < depth; ++p) {
    for (int i = 0; i < 4; ++i) panel[p * W + i] = data[i * row_stride + p];
  }
}

/// Packs data[w * width_stride + p * depth_stride], w < count, p < depth, into panels of W; zeros fill the last one.
template <int W, class A, class T>
void Pack(const T* data, int64_t width_stride, int64_t depth_stride, int64_t count, int64_t depth, A* panel) {
  for (int64_t first = 0; first < count; first += W, panel += W * depth, data += W * width_stride) {
    const int64_t width = count - first < W ? count - first : W;
    if (width < W) std::memset(static_cast<void*>(panel), 0, static_cast<size_t>(W * depth) * sizeof(A));
    if (width_stride == 1) {
      if (width == W) {
        for (int64_t p = 0; p < depth; ++p) Widen(data + p * depth_stride, panel + p * W, W);
      } else {
        for (int64_t p = 0; p < depth; ++p) Widen(data + p * depth_stride, panel + p * W, width);
      }
      continue;
    }
    int64_t w = 0;
    if constexpr (std::is_same_v<A, T> && sizeof(A) == 4) {
      for (; depth_stride == 1 && w + 4 <= width; w += 4) PackFour<W>(data + w * width_stride, width_stride, depth, panel + w);
    }
    for (; w < width; ++w) {
      const T* row = data + w * width_stride;
      if (depth_stride == 1) {
        for (int64_t p = 0; p < depth; ++p) panel[p * W + w] = WidenOne<A>(row[p]);
      } else {
        for (int64_t p = 0; p < depth; ++p) panel[p * W + w] = WidenOne<A>(row[p * depth_stride]);
      }
    }
  }
}

/// Complex operands become real ones of twice the size: the left [rows, 2 inner] holds (re, im) pairs, the right [2 inner, 2 columns] has
/// (re, im) over (-im, re) for each element, and the product [rows, 2 columns] is (re, im) pairs again.
template <int W, class A>
void PackLeft(const std::complex<A>* data, int64_t row_stride, int64_t inner_stride, int64_t rows, int64_t depth, A* panel) {
  for (int64_t first = 0; first < rows; first += W, panel += 2 * W * depth) {
    for (int64_t w = 0; w < W; ++w) {
      for (int64_t p = 0; p < depth; ++p) {
        const std::complex<A> z = first + w < rows ? data[(first + w) * row_stride + p * inner_stride] : std::complex<A>();
        panel[2 * p * W + w] = z.real();
        panel[(2 * p + 1) * W + w] = z.imag();
      }
    }
  }
}
template <int W, class A>
void Pack(const std::complex<A>* data, int64_t column_stride, int64_t inner_stride, int64_t columns, int64_t depth, A* panel) {
  for (int64_t first = 0; first < columns; first += W / 2, panel += 2 * W * depth) {
    for (int64_t p = 0; p < depth; ++p) {
      A* top = panel + 2 * p * W;
      A* bottom = top + W;
      for (int64_t w = 0; w < W / 2; ++w) {
        const std::complex<A> z = first + w < columns ? data[(first + w) * column_stride + p * inner_stride] : std::complex<A>();
        top[2 * w] = z.real(), top[2 * w + 1] = z.imag();
        bottom[2 * w] = -z.imag(), bottom[2 * w + 1] = z.real();
      }
    }
  }
}

/// `columns` of the right operand, `depth` steps of each, in panels of two registers; the last has one where that is enough.
template <class A, class T>
void PackRight(const MatrixView<T>& right, int64_t columns, int64_t depth, A* to) {
  constexpr int kN = kLanes<A>, kWide = 2 * kN, kParts = Complex<T> ? 2 : 1;
  const int64_t wide = columns * kParts % kWide > kN ? columns : columns * kParts / kWide * kWide / kParts;
  Pack<kWide>(right.data, right.column_stride, right.row_stride, wide, depth, to);
  Pack<kN>(right.data + wide * right.column_stride, right.column_stride, right.row_stride, columns - wide, depth, to + wide * kParts * kParts * depth);
}

}  // namespace weft::kernels::gemm
