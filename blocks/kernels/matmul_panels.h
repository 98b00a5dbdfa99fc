// The inner parts of the matrix product: packing operands into panels, and multiplying a panel of each.
#pragma once

#include <cstdint>

#include "blocks/kernels/widen.h"

namespace weft::kernels::panels {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kRows = 12;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kRows = 6;
#else
inline constexpr int kVectorBytes = 16, kRows = 6;
#endif

/// Sizes for elements computed as A. A panel of the left operand is kRows rows, one of the right operand kColumns columns; both hold up
/// to kDepth steps of the inner dimension: element w of step p is panel[p * width + w].
template <class A>
struct Sizes {
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(A));
  static constexpr int kColumns = 2 * kLanes;
  static constexpr int64_t kDepth = 1024 / sizeof(A);
  static constexpr int64_t kRowBlock = 96;                       // rows packed at a time: 96 KiB
  static constexpr int64_t kTileColumns = 1024 / sizeof(A);      // columns of a tile: 256 KiB packed
};

/// Packs element (w, p) = data[w * width_stride + p * depth_stride] for w < count, p < depth into panels of W; the last is filled with
/// zeros.
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
    for (int64_t w = 0; w < width; ++w) {
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
void PackRight(const std::complex<A>* data, int64_t column_stride, int64_t inner_stride, int64_t columns, int64_t depth, A* panel) {
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

/// out[kRows][kColumns] = left panel * right panel.
template <class A>
void MultiplyPanels(int64_t depth, const A* left, const A* right, A* out) {
  constexpr int kLanes = Sizes<A>::kLanes;
  typedef A Vector __attribute__((vector_size(kVectorBytes)));
  Vector sum[kRows][2] = {};
  for (int64_t p = 0; p < depth; ++p, left += kRows, right += 2 * kLanes) {
    Vector first, second;
    __builtin_memcpy(&first, right, sizeof(Vector));
    __builtin_memcpy(&second, right + kLanes, sizeof(Vector));
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      sum[r][0] += left[r] * first;
      sum[r][1] += left[r] * second;
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) __builtin_memcpy(out + r * 2 * kLanes, sum[r], sizeof(sum[r]));
}

}  // namespace weft::kernels::panels
