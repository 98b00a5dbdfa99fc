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

/// What sets the order in which an element's products are summed, and so its bits: all sizes; the columns and the inner dimension, where rows
/// lie along that and may be in any number; or the inner dimension alone.
enum class SumOrder : uint8_t { kBySizes, kByColumns, kBySteps };

/// One product. `out` must not overlap the operands; row r of it starts at out + r * out_stride.
template <class T>
struct Product {
  int64_t rows = 0, columns = 0, inner = 0;
  MatrixView<T> left, right;
  T* out = nullptr;
  int64_t out_stride = 0;
  SumOrder order = SumOrder::kBySizes;
  bool add = false;        // out += left * right; for half and bfloat16 that rounds once more
  const Workers* workers = nullptr;  // a tile of a long inner dimension ends when their run is to end; null: it does not
  void* scratch = nullptr;  // for MatMul: as many bytes as it says; best aligned to 64. May be null where that is 0
  void* packed = nullptr;   // packed_bytes of memory, filled by PackPart; null: each tile does all for itself. MatMulAll sets it
};

/// Not worth packing or cutting: one tile, which needs no workspace.
template <class T>
bool IsTiny(const Product<T>& p) {
  constexpr int64_t kMost = 64;  // multiplications
  if (p.rows <= 0 || p.columns <= 0 || p.inner <= 0) return false;
  return p.rows <= kMost && p.columns <= kMost && p.inner <= kMost && p.rows * p.columns * p.inner <= kMost;
}

namespace internal {

/// Neighbours in row r from column c on, whose sums need not wait for one another.
template <int kCount, class T>
[[gnu::always_inline]] inline void MultiplyElements(const Product<T>& p, int64_t r, int64_t c) {
  using A = Accumulator<T>;
  const T* left = p.left.data + r * p.left.row_stride;
  const T* right = p.right.data + c * p.right.column_stride;
  A sum[kCount]{};
  for (int64_t i = 0; i < p.inner; ++i, left += p.left.column_stride, right += p.right.row_stride) {
    const auto value = static_cast<A>(*left);
    for (int k = 0; k < kCount; ++k) sum[k] = WrapAdd(sum[k], Multiplied(value, static_cast<A>(right[k * p.right.column_stride])));
  }
  T* const out = p.out + r * p.out_stride + c;
  for (int k = 0; k < kCount; ++k) out[k] = static_cast<T>(p.add ? WrapAdd(static_cast<A>(out[k]), sum[k]) : sum[k]);
}

}  // namespace internal

/// The whole product by plain loops: as ComputeTile of a tiny one, but here, where the compiler knows more of it.
template <class T>
[[gnu::always_inline]] inline void MultiplyPlain(const Product<T>& p) {
  constexpr int kTogether = 4;
  for (int64_t r = 0; r < p.rows; ++r) {
    int64_t c = 0;
    for (; c + kTogether <= p.columns; c += kTogether) internal::MultiplyElements<kTogether>(p, r, c);
    for (; c < p.columns; ++c) internal::MultiplyElements<1>(p, r, c);
  }
}

/// The implementations, in the order in which they are chosen (choose.h).
enum class Gemm : uint8_t { kPlain, kSkinnyGemv, kSkinnyDot, kBlocked };
const char* NameOf(Gemm implementation);

/// How a product is cut: by sizes, strides, and whether memory for what tiles share is brought.
struct GemmParts {
  int64_t tiles = 0;                           // computed in any order and at the same time; none where there are no elements
  int64_t workspace_bytes = 0;                 // of one tile
  int64_t packed_bytes = 0, packed_parts = 0;  // what tiles may share: 0 where that is no gain. All parts come before the first tile
};
template <class T>
GemmParts PartsOf(const Product<T>& product);
/// The implementation that such a product has.
template <class T>
Gemm ChooseGemm(const Product<T>& product);
/// Fills an independent part of what tiles share: the packed right operand, or a slice's sums, which the one tile joins.
template <class T>
void PackPart(const Product<T>& product, int64_t part);
/// `workspace`: workspace_bytes of memory.
template <class T>
void ComputeTile(const Product<T>& product, int64_t tile, void* workspace);

/// The whole product on the calling thread. Its scratch is one workspace.
template <class T>
void MatMul(const Product<T>& product) {
  const int64_t tiles = PartsOf(product).tiles;
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
  constexpr int64_t kMostPacked = int64_t{16} << 20, kMostWorkspaces = 32;  // kMostPacked: bytes, or one product's
  SharedScratch scratch;
  const auto whole_lines = [](int64_t bytes) { return DivideUp(bytes, int64_t{64}) * 64; };
  if (count == 0) return scratch;
  Product<T> p = product;
  GemmParts parts = PartsOf(p);
  scratch.together = count;
  if (parts.packed_bytes > 0) {
    scratch.packed = whole_lines(parts.packed_bytes);
    scratch.together = std::clamp<int64_t>(kMostPacked / scratch.packed, 1, count);
    p.packed = &scratch;  // whether there is memory is all that counts here
    parts = PartsOf(p);
  }
  scratch.workspace = whole_lines(parts.workspace_bytes);
  if (scratch.workspace > 0) scratch.workspaces = std::min(scratch.together * parts.tiles, kMostWorkspaces);
  return scratch;
}

/// `count` products that differ in addresses alone, product(i) the i-th, with the first one's scratch (ScratchOf), by `workers`.
template <class T, class ProductAt>
void MatMulAll(int64_t count, Workers& workers, ProductAt&& product) {
  if (count == 0) return;
  const Product<T> first = product(0);
  const double work = static_cast<double>(first.rows) * static_cast<double>(first.columns) *
                      static_cast<double>(std::max<int64_t>(first.inner, 1));
  const auto grain = static_cast<int64_t>(std::max(65536 / std::max(work, 1.0), 1.0));
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
    const GemmParts parts = PartsOf(one);
    if (scratch.packed > 0) {
      workers.Run(some * parts.packed_parts, [&](int64_t task) { PackPart(at(task / parts.packed_parts), task % parts.packed_parts); });
    }
    const int64_t tiles = parts.tiles, all = some * tiles, tasks = tiles == 1 ? DivideUp(all, grain) : all;
    if (all == 1) return ComputeTile(one, 0, spaces);
    const int64_t shares = scratch.workspace > 0 ? std::min(tasks, scratch.workspaces) : tasks;
    const auto tile_work = static_cast<int64_t>(std::min(work / static_cast<double>(std::max<int64_t>(tiles, 1)), 1e15));
    const auto run = [&](int64_t share) {
      StopCheck stop(workers);
      int64_t i = share * all / shares, which = i / tiles, tile = i % tiles;
      for (const int64_t end = (share + 1) * all / shares; i < end && !stop(1 + tile_work / 16); ++i) {
        ComputeTile(at(which), tile, spaces + share * scratch.workspace);
        if (++tile == tiles) tile = 0, ++which;
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
  if (IsTiny(whole)) return MultiplyPlain(whole);
  MatMulAll<T>(1, workers, [&](int64_t) { return whole; });
}

}  // namespace weft::kernels
