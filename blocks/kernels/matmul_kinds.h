// How products are computed (matmul.h), by the kind that fits their sizes; for the files of its instances alone.
#pragma once

#include <algorithm>

#include "blocks/kernels/matmul.h"
#include "blocks/kernels/matmul_tiles.h"
#include "blocks/kernels/narrow_columns.h"
#include "blocks/kernels/narrow_product.h"
#include "blocks/kernels/thin_product.h"

namespace weft::kernels {
namespace products {

using namespace panels;

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// ---- products of which one side has few rows or columns -------------------------------------------------------------------------

inline constexpr int64_t kFew = 4, kThinChunk = 256, kThinDepth = 1024;

/// Whether a product is computed as a thin one: panels serve short ones better.
template <class T>
bool IsThin(const Product<T>& p) {
  if (Complex<T> || (p.rows > kFew && p.columns > kFew)) return false;
  const ThinProduct<T> thin = AsThin(p);
  return thin.many_stride == 1 ? thin.length >= 64 : thin.inner >= 128;
}

/// Elements of the long side that one tile takes: some 64k multiplications, whole chunks.
template <class T>
int64_t ThinTile(const ThinProduct<T>& p) {
  const int64_t wanted = (int64_t{1} << 16) / std::max<int64_t>(p.inner, 1);
  return std::clamp<int64_t>(CeilDiv(wanted, kThinChunk), 1, 64) * kThinChunk;
}

template <class A>
A Dot(const A* x, const A* y, int64_t count) {
  constexpr int kLanes = kLanesOf<A>;
  typedef A Vector __attribute__((vector_size(kVectorBytes)));
  Vector sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      Vector a, b;
      __builtin_memcpy(&a, x + i + v * kLanes, sizeof(Vector));
      __builtin_memcpy(&b, y + i + v * kLanes, sizeof(Vector));
      sums[v] += a * b;
    }
  }
  const Vector total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  A sum = 0;
  for (; i < count; ++i) sum += x[i] * y[i];
  for (int lane = 0; lane < kLanes; ++lane) sum += total[lane];
  return sum;
}

/// sums[f][j] += few(f, .) * many(j, .) over `depth` steps, many's elements lying side by side along j.
template <class A, class T>
void ThinRows(const A (*few)[kThinDepth], int64_t count, const T* many, int64_t depth_stride, int64_t length, int64_t depth,
              A (*sums)[kThinChunk]) {
  A rows[4][kThinChunk];
  for (int64_t p = 0; p < depth; p += 4) {
    const int64_t steps = std::min<int64_t>(4, depth - p);
    const A* row[4];
    for (int64_t s = 0; s < 4; ++s) {
      const T* from = many + (p + std::min(s, steps - 1)) * depth_stride;
      if constexpr (std::is_same_v<A, T>) row[s] = from;
      else if (s < steps) Widen(from, rows[s], length), row[s] = rows[s];
    }
    for (int64_t f = 0; f < count; ++f) {
      A* sum = sums[f];
      const A* x = few[f] + p;
      if (steps == 4) {
        const A x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        const A *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
#pragma omp simd
        for (int64_t j = 0; j < length; ++j) sum[j] += (x0 * r0[j] + x1 * r1[j]) + (x2 * r2[j] + x3 * r3[j]);
      } else {
        for (int64_t s = 0; s < steps; ++s) {
          const A factor = x[s];
          const A* from = row[s];
#pragma omp simd
          for (int64_t j = 0; j < length; ++j) sum[j] += factor * from[j];
        }
      }
    }
  }
}

/// The same where many's elements lie side by side along the inner dimension, or nowhere.
template <class A, class T>
void ThinDots(const A (*few)[kThinDepth], int64_t count, const T* many, int64_t stride, int64_t depth_stride, int64_t length, int64_t depth,
              A (*sums)[kThinChunk]) {
  A copy[kThinDepth];
  for (int64_t j = 0; j < length; ++j) {
    const T* from = many + j * stride;
    const A* row = copy;
    if constexpr (std::is_same_v<A, T>) {
      if (depth_stride == 1) row = from;
    }
    if (row == copy) {
      if (depth_stride == 1) Widen(from, copy, depth);
      else
        for (int64_t p = 0; p < depth; ++p) copy[p] = WidenOne<A>(from[p * depth_stride]);
    }
    for (int64_t f = 0; f < count; ++f) sums[f][j] += Dot(few[f], row, depth);
  }
}

/// Elements [first, first + length) of the long side; length is at most kThinChunk.
template <class T>
void ThinChunk(const ThinProduct<T>& p, int64_t first, int64_t length) {
  using A = Computed<T>;
  A sums[kFew][kThinChunk];
  for (int64_t f = 0; f < p.count; ++f) std::fill(sums[f], sums[f] + length, A{0});
  A few[kFew][kThinDepth];
  for (int64_t start = 0; start < p.inner; start += kThinDepth) {
    const int64_t depth = std::min(kThinDepth, p.inner - start);
    for (int64_t f = 0; f < p.count; ++f) {
      const T* from = p.few + f * p.few_stride + start * p.few_depth_stride;
      for (int64_t i = 0; i < depth; ++i) few[f][i] = WidenOne<A>(from[i * p.few_depth_stride]);
    }
    const T* many = p.many + first * p.many_stride + start * p.many_depth_stride;
    if (p.many_stride == 1) ThinRows(few, p.count, many, p.many_depth_stride, length, depth, sums);
    else ThinDots(few, p.count, many, p.many_stride, p.many_depth_stride, length, depth, sums);
  }
  for (int64_t f = 0; f < p.count; ++f) {
    T* out = p.out + f * p.out_few_stride + first * p.out_stride;
    for (int64_t j = 0; j < length; ++j) {
      T& o = out[j * p.out_stride];
      o = static_cast<T>(p.add ? static_cast<A>(WidenOne<A>(o) + sums[f][j]) : sums[f][j]);
    }
  }
}

}  // namespace products

using namespace products;

template <class T>
int64_t TileCount(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0) return 0;
  if (p.inner == 0) return 1;
  if (IsThin(p)) {
    const ThinProduct<T> thin = AsThin(p);
    return CeilDiv(thin.length, ThinTile(thin));
  }
  if constexpr (kMayBeNarrow<T>) {
    if (NarrowProduct<T>::Takes(p)) return NarrowProduct<T>(p).tiles();
    if (NarrowColumns<T>::Takes(p)) return NarrowColumns<T>(p).tiles();
  }
  return TiledProduct<T>(p).tiles();
}

template <class T>
void ComputeTile(const Product<T>& p, int64_t tile) {
  if (p.inner == 0) return MultiplyNothing(p, 0, p.rows);
  if constexpr (!Complex<T>) {
    if (IsThin(p)) {
      const ThinProduct<T> thin = AsThin(p);
      const int64_t size = ThinTile(thin);
      const int64_t end = std::min(thin.length, (tile + 1) * size);
      for (int64_t first = tile * size; first < end; first += kThinChunk) ThinChunk(thin, first, std::min(kThinChunk, end - first));
      return;
    }
  }
  if constexpr (kMayBeNarrow<T>) {
    if (NarrowProduct<T>::Takes(p)) return NarrowProduct<T>(p).Compute(tile);
    if (NarrowColumns<T>::Takes(p)) return NarrowColumns<T>(p).Compute(tile);
  }
  const TiledProduct<T> tiled(p);
  Tile<T>(tiled, tile).Compute();
}

namespace products {

/// Whether a product is one of tiles that share a packed operand.
template <class T>
bool SharesPacked(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0 || p.inner == 0 || IsTiny(p) || IsThin(p)) return false;
  if constexpr (kMayBeNarrow<T>) {
    if (NarrowProduct<T>::Takes(p) || NarrowColumns<T>::Takes(p)) return false;
  }
  return TiledProduct<T>(p).SharesPacked();
}

/// Whether it is a narrow one whose threads share sums.
template <class T>
bool SharesSums(const Product<T>& p) {
  if constexpr (kMayBeNarrow<T>) {
    if (p.rows > 0 && p.columns > 0 && p.inner > 0 && !IsTiny(p) && !IsThin(p) && NarrowProduct<T>::Takes(p)) {
      return NarrowProduct<T>(p).SharesSums();
    }
  }
  return false;
}

}  // namespace products

template <class T>
int64_t PackedBytes(const Product<T>& p) {
  if constexpr (kMayBeNarrow<T>) {
    if (SharesSums(p)) return NarrowProduct<T>(p).SumsBytes();
  }
  return SharesPacked(p) ? TiledProduct<T>(p).PackedBytes() : 0;
}
template <class T>
int64_t PackCount(const Product<T>& p) {
  if constexpr (kMayBeNarrow<T>) {
    if (SharesSums(p)) return NarrowProduct<T>(p).pieces();
  }
  return SharesPacked(p) ? PackedRight<T>(TiledProduct<T>(p)).parts() : 0;
}
template <class T>
void PackPart(const Product<T>& p, int64_t part) {
  if constexpr (kMayBeNarrow<T>) {
    if (SharesSums(p)) return NarrowProduct<T>(p).SumPiece(part);
  }
  if constexpr (!Complex<T>) PackedRight<T>(TiledProduct<T>(p)).Fill(part);
}

#define WEFT_INSTANTIATE_PRODUCTS(T)                     \
  template int64_t TileCount(const Product<T>&);         \
  template void ComputeTile(const Product<T>&, int64_t); \
  template int64_t PackedBytes(const Product<T>&);       \
  template int64_t PackCount(const Product<T>&);         \
  template void PackPart(const Product<T>&, int64_t);

}  // namespace weft::kernels
