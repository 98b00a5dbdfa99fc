// Matrix products: out[rows, columns] = left[rows, inner] * right[inner, columns], of any number type.
//
// A product is cut into tiles by its sizes alone, so that it gives the same bits on any number of threads. half and bfloat16 are
// computed in float and rounded once; integers wrap. Elements of an empty inner dimension are zero. Nothing is allocated: a tile
// packs its operands on the stack (under 512 KiB), or all tiles share a right operand that was packed into memory that the caller brings.
// There may also be sums of pieces of the inner dimension, which the one tile joins.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/base/float16.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// A matrix in memory: element (r, c) is data[r * row_stride + c * column_stride]. One of the strides should be 1.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row_stride = 0, column_stride = 1;

  /// The same memory, its rows taken as columns.
  MatrixView Transposed() const { return {data, column_stride, row_stride}; }
};

/// One product. `out` must not overlap the operands; row r of it starts at out + r * out_stride.
template <class T>
struct Product {
  int64_t rows = 0, columns = 0, inner = 0;
  MatrixView<T> left, right;
  T* out = nullptr;
  int64_t out_stride = 0;
  bool add = false;        // out += left * right; for half and bfloat16 that rounds once more
  const ::weft::Workers* workers = nullptr;  // a tile of a long inner dimension ends when their run is to end; null: it does not
  void* packed = nullptr;  // PackedBytes of memory, 64-byte aligned, filled by PackPart; none: each tile does all for itself
};

/// How many tiles a product has; they may be computed in any order and at the same time. Zero where the product has no elements.
template <class T>
int64_t TileCount(const Product<T>& product);
template <class T>
void ComputeTile(const Product<T>& product, int64_t tile);

/// Memory for the packed right operand, where tiles would pack the same parts of it again and again, or for sums of pieces of the inner
/// dimension; 0 where that is no gain. It depends on sizes and strides alone, and how many tiles there are on whether it is brought. All of
/// PackCount parts are made before the first tile is computed; they are as independent as tiles.
template <class T>
int64_t PackedBytes(const Product<T>& product);
template <class T>
int64_t PackCount(const Product<T>& product);
template <class T>
void PackPart(const Product<T>& product, int64_t part);

/// Below this many multiplications a product is not worth packing or cutting.
inline constexpr int64_t kTinyProduct = 64;

template <class T>
bool IsTiny(const Product<T>& p) {
  return p.rows <= kTinyProduct && p.columns <= kTinyProduct && p.inner <= kTinyProduct && p.rows * p.columns * p.inner <= kTinyProduct;
}

/// a * b by the plain formula for complex numbers (no rescue of infinities), wrapping for integers.
template <class T>
T PlainMultiply(T a, T b) {
  if constexpr (Complex<T>) return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else return WrapMultiply(a, b);
}

/// Rows [begin, end) of a product whose inner size is 0.
template <class T>
void MultiplyNothing(const Product<T>& p, int64_t begin, int64_t end) {
  for (int64_t r = begin; !p.add && r < end; ++r) {
    for (int64_t c = 0; c < p.columns; ++c) p.out[r * p.out_stride + c] = T{};
  }
}

/// The whole product by plain loops, for tiny ones.
template <class T>
void MatMulTiny(const Product<T>& p) {
  using A = Accumulator<T>;
  if (p.inner == 0) return MultiplyNothing(p, 0, p.rows);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t c = 0; c < p.columns; ++c) {
      const T* left = p.left.data + r * p.left.row_stride;
      const T* right = p.right.data + c * p.right.column_stride;
      A sum{};
      for (int64_t i = 0; i < p.inner; ++i, left += p.left.column_stride, right += p.right.row_stride) {
        sum = WrapAdd(sum, PlainMultiply(static_cast<A>(*left), static_cast<A>(*right)));
      }
      T& out = p.out[r * p.out_stride + c];
      out = static_cast<T>(p.add ? WrapAdd(static_cast<A>(out), sum) : sum);
    }
  }
}

/// The whole product on the calling thread.
template <class T>
void MatMul(const Product<T>& product) {
  if (IsTiny(product)) return MatMulTiny(product);
  const int64_t tiles = TileCount(product);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    if (tile > 0 && product.workers != nullptr && product.workers->Stopped()) return;
    ComputeTile(product, tile);
  }
}

/// The whole product, its tiles shared out by `workers` (weft::Workers, or anything with Run(count, task)).
template <class T, class Workers>
void MatMul(const Product<T>& whole, Workers& workers) {
  if (IsTiny(whole)) return MatMulTiny(whole);
  Product<T> product = whole;
  if constexpr (std::derived_from<Workers, ::weft::Workers>) product.workers = &workers;
  if (product.packed != nullptr) workers.Run(PackCount(product), [&](int64_t part) { PackPart(product, part); });
  const int64_t tiles = TileCount(product);
  if (tiles == 1) return ComputeTile(product, 0);
  if (tiles > 1) workers.Run(tiles, [&](int64_t tile) { ComputeTile(product, tile); });
}

}  // namespace weft::kernels
