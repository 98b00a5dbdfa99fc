// Matrix products: out[rows, columns] = left[rows, inner] * right[inner, columns], of any number type.
//
// A product is cut into tiles by its sizes alone, so that it gives the same bits on any number of threads. half and bfloat16 are
// computed in float and rounded once; integers wrap. Elements of an empty inner dimension are zero. Nothing is allocated, and little is on
// the stack (under 64 KiB): the caller brings the memory into which all tiles share a packed right operand, or each packs its own; there may
// also be sums of slices of the inner dimension (split-K), which the one tile joins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"
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
  const Workers* workers = nullptr;  // a tile of a long inner dimension ends when their run is to end; null: it does not
  void* scratch = nullptr;  // for MatMul: as many bytes as it says; best aligned to 64. May be null where that is 0
  void* packed = nullptr;   // PackedBytes of memory, filled by PackPart; none: each tile does all for itself. MatMul sets it
};

/// How many tiles a product has; they may be computed in any order and at the same time. Zero where the product has no elements.
template <class T>
int64_t TileCount(const Product<T>& product);
/// What a tile keeps while it is computed. It depends on sizes and strides, and on whether there is a packed operand.
template <class T>
int64_t WorkspaceBytes(const Product<T>& product);
/// `workspace`: WorkspaceBytes of memory.
template <class T>
void ComputeTile(const Product<T>& product, int64_t tile, void* workspace);

/// Memory for the packed right operand, where tiles would pack the same parts of it again and again, or for sums of slices of the inner
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
        sum = WrapAdd(sum, Multiplied(static_cast<A>(*left), static_cast<A>(*right)));
      }
      T& out = p.out[r * p.out_stride + c];
      out = static_cast<T>(p.add ? WrapAdd(static_cast<A>(out), sum) : sum);
    }
  }
}

/// The whole product on the calling thread. Its scratch is one workspace.
template <class T>
void MatMul(const Product<T>& product) {
  if (IsTiny(product)) return MatMulTiny(product);
  const int64_t tiles = TileCount(product);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    if (tile > 0 && product.workers != nullptr && product.workers->Stopped()) return;
    ComputeTile(product, tile, product.scratch);
  }
}

/// A bound on the workspace of products of one size, whatever their strides and type but complex: elements of the type that sums have.
int64_t MostWorkspace(int64_t rows, int64_t columns, int64_t inner);

/// The scratch of products that workers share out: packed operands of as many products as are computed at a time, then workspaces.
struct SharedScratch {
  int64_t packed = 0, together = 0;  // bytes of a product's packed operand, how many products have one at a time
  int64_t workspace = 0, workspaces = 0;  // bytes of one, and how many: as many tasks run at a time at most
  int64_t bytes() const { return packed * together + workspace * workspaces; }
};
/// Of `count` products that differ in their addresses alone; by sizes and strides, so that it can be planned.
template <class T>
SharedScratch ScratchOf(const Product<T>& product, int64_t count = 1) {
  constexpr int64_t kMostPacked = int64_t{16} << 20, kMostWorkspaces = 32, kEnough = 16;  // kMostPacked: bytes, or one product's
  SharedScratch scratch;
  const auto whole_lines = [](int64_t bytes) { return DivideUp(bytes, int64_t{64}) * 64; };
  if (count == 0) return scratch;
  Product<T> p = product;
  scratch.packed = whole_lines(PackedBytes(p));
  scratch.together = scratch.packed == 0 ? count : std::clamp<int64_t>(kMostPacked / scratch.packed, 1, count);
  if (scratch.packed > 0) p.packed = &scratch;  // whether there is one is all that counts here
  if (scratch.packed > 0 && count >= kEnough && TileCount(p) == 1) {
    // Slices of the inner dimension are shared to have work for all threads, and there is enough.
    p.packed = nullptr;
    scratch.packed = 0;
    scratch.together = count;
  }
  scratch.workspace = whole_lines(WorkspaceBytes(p));
  if (scratch.workspace > 0) scratch.workspaces = std::min(scratch.together * TileCount(p), kMostWorkspaces);
  return scratch;
}

/// `count` products that differ in their addresses alone, shared out by `workers`: product(i) is the i-th. Their scratch, which the first one
/// has, is that of ScratchOf.
template <class T, class ProductAt>
void MatMulAll(int64_t count, Workers& workers, ProductAt&& product) {
  if (count == 0) return;
  const Product<T> first = product(0);
  const double work = static_cast<double>(first.rows) * static_cast<double>(first.columns) * static_cast<double>(first.inner);
  const auto grain = static_cast<int64_t>(std::max(65536 / std::max(work, 1.0), 1.0));
  if (IsTiny(first)) {
    return workers.For(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) MatMulTiny(product(i));
    });
  }
  const SharedScratch scratch = first.scratch == nullptr ? SharedScratch{0, count, 0, 0} : ScratchOf(first, count);
  std::byte* const packed = static_cast<std::byte*>(first.scratch);
  std::byte* const spaces = packed + scratch.packed * scratch.together;
  for (int64_t begin = 0; begin < count; begin += scratch.together) {
    const int64_t some = std::min(scratch.together, count - begin);
    const auto at = [&](int64_t i) {
      Product<T> p = product(begin + i);
      p.workers = &workers;
      p.packed = scratch.packed > 0 ? packed + i * scratch.packed : nullptr;
      return p;
    };
    const Product<T> one = at(0);
    if (scratch.packed > 0) {
      const int64_t parts = PackCount(one);
      workers.Run(some * parts, [&](int64_t task) { PackPart(at(task / parts), task % parts); });
    }
    const int64_t tiles = TileCount(one), all = some * tiles, tasks = tiles == 1 ? DivideUp(all, grain) : all;
    if (all == 1) return ComputeTile(one, 0, spaces);
    const int64_t shares = scratch.workspace > 0 ? std::min(tasks, scratch.workspaces) : tasks;
    const auto tile_work = static_cast<int64_t>(std::min(work / static_cast<double>(std::max<int64_t>(tiles, 1)), 1e15));
    const auto run = [&](int64_t share) {
      StopCheck stop(workers);
      for (int64_t i = share * all / shares, end = (share + 1) * all / shares; i < end && !stop(1 + tile_work / 16); ++i) {
        ComputeTile(at(i / tiles), i % tiles, spaces + share * scratch.workspace);
      }
    };
    if (shares == 1) run(0);
    else if (shares > 1) workers.Run(shares, run);
    if (begin + some < count && workers.Stopped()) return;
  }
}

/// The whole product, its tiles shared out by `workers`. Its scratch is that of ScratchOf.
template <class T>
void MatMul(const Product<T>& whole, Workers& workers) {
  MatMulAll<T>(1, workers, [&](int64_t) { return whole; });
}

}  // namespace weft::kernels
