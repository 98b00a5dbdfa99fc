// How matrix products are cut into tiles.
#pragma once

#include <algorithm>

#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/gemm/packing.h"
#include "weft/base/divide.h"
#include "weft/base/processor.h"

namespace weft::kernels::gemm {

template <class T>
inline constexpr int kParts = Complex<T> ? 2 : 1;
/// Whether an element is one of the computed type.
template <class T>
inline constexpr bool kSame = !Complex<T> && sizeof(T) == sizeof(Computed<T>);

/// Sizes of tiles for elements computed as A. A panel of the right operand is two registers wide; element w of step p is at p * width + w.
template <class A>
struct TileSizes {
  static constexpr int kN = kLanes<A>, kWide = 2 * kN;
  static constexpr int64_t kDepth = 1280 / sizeof(A);    // steps packed at a time
  static constexpr int64_t kColumns = 1024 / sizeof(A);  // columns of a tile: 320 KiB packed
  // The same where all tiles share a packed operand, by the second-level caches of the machines with these registers; and the columns of
  // tiles that pack as many steps for themselves.
  static constexpr int64_t kSharedDepth = kVecBytes == 64 ? 2048 / sizeof(A) : kDepth;
  static constexpr int64_t kSharedColumns = kVecBytes == 64 ? 2048 / sizeof(A) : kColumns;
  static constexpr int64_t kDeepColumns = kColumns * kDepth / kSharedDepth;
};

inline constexpr int64_t kFewRows = 4 * kRows;   // fewer rows do not pay for packing the right operand
inline constexpr int64_t kTransposedRows = kVecBytes == 64 ? kFewRows : 8 * kRows;  // so many pay for transposing it, not for packing it so
inline constexpr int64_t kLongInner = 256;       // which hides the transposed store of the result
inline constexpr int64_t kMostShortRows = 7 * kRows;  // of a tile of half or bfloat16, whose sums are kept
inline constexpr int64_t kTaskWork = 96 * 1024;  // multiplications that are worth a task
inline constexpr int64_t kWantedTiles = 16, kWantedSharing = 8;
inline constexpr int64_t kMostPacked = int64_t{128} << 20;  // bytes of an operand that is packed for all tiles

/// Bytes from row to row of a right operand that is read where it lies. Rows further apart push each other out of a first-level cache, all the
/// more if the distance is a power of two: one of 32 KiB holds fewer of them than one of 48.
inline int64_t NearBytes(int64_t rows) {
  if (kVecBytes == 64) return 2048;
  return rows <= 2 * kFewRows || FirstCacheBytes() > 32 << 10 ? 1024 : 512;
}

template <class T>
bool ReadsRightInPlace(const Product<T>& p) {
  const MatrixView<T>& b = p.right;
  if (!kSame<T> || b.column_stride != 1 || b.row_stride < p.columns) return false;
  return b.row_stride <= NearBytes(p.rows) / static_cast<int64_t>(sizeof(T)) || p.rows <= kFewRows;
}

/// A product as it is computed: `transposed` ones are out^T = right^T * left^T.
template <class T>
struct Blocking {
  Product<T> p;
  bool transposed = false;
  bool packed = false;                      // the right operand is, for all tiles
  int64_t rows = 0, columns = 0;            // of a tile
  int64_t row_tiles = 0, column_tiles = 0;  // how many

  int64_t tiles() const { return row_tiles * column_tiles; }

  /// What a tile keeps in its workspace: the panels that it packs of a slice of the inner dimension, and sums that are rounded at the end.
  int64_t RightElements() const {
    if (packed) return 0;
    int64_t panels = columns;
    if (ReadsRightInPlace(p)) panels = p.columns % S::kN == 0 ? 0 : kWide;  // the last one, where it may reach over the operand's end
    return DivideUp(panels * kParts<T> * kParts<T> * DivideUp(p.inner, slices()), kLine) * kLine;
  }
  int64_t WorkspaceBytes() const {
    const int64_t sums = ShortFloat<T> ? DivideUp(rows * columns, kLine) * kLine : 0;
    return (RightElements() + sums) * static_cast<int64_t>(sizeof(Computed<T>));
  }

  /// The right operand packed for all tiles: its columns filled up to whole panels, which lie one after another in each slice of the inner
  /// dimension.
  int64_t PackedColumns() const { return DivideUp(p.columns, kWide) * kWide; }
  bool SharesPacked() const { return shares_; }
  int64_t PackedBytes() const { return shares_ ? p.inner * PackedColumns() * static_cast<int64_t>(sizeof(Computed<T>)) : 0; }

  /// The inner dimension is summed in slices, which sets the bits of the result.
  int64_t slices() const { return DivideUp(p.inner, (shares_ ? S::kSharedDepth : S::kDepth) / kParts<T>); }
  int64_t SliceStart(int64_t slice) const { return slice * p.inner / slices(); }

  explicit Blocking(const Product<T>& product) : p(product), transposed(Transposes(product)) {
    if (transposed) {
      std::swap(p.rows, p.columns);
      p.left = product.right.Transposed();
      p.right = product.left.Transposed();
    }
    Cut(S::kColumns / kParts<T>, kWantedTiles);
    // Worth packing where several tiles read the same columns.
    const int64_t most = kMostPacked / static_cast<int64_t>(sizeof(Computed<T>));
    shares_ = !Complex<T> && p.order == SumOrder::kBySizes && row_tiles > 1 && !ReadsRightInPlace(p) && p.inner <= most / PackedColumns();
    packed = shares_ && p.packed != nullptr;
    if (packed) Cut(ShortFloat<T> ? S::kColumns : S::kSharedColumns, kWantedSharing);
    else if (shares_) Cut(S::kDeepColumns, kWantedTiles);
  }

 private:
  using S = TileSizes<Computed<T>>;
  bool shares_ = false;
  static constexpr int64_t kWide = S::kWide / kParts<T>, kLine = 64 / sizeof(Computed<T>);

  /// Where few columns would leave registers idle and the left operand's rows lie side by side, or few rows would not pay for transposing
  /// the right operand.
  static bool Transposes(const Product<T>& p) {
    if (!kSame<T>) return false;
    const bool left_down = p.left.row_stride == 1 && p.left.column_stride != 1;
    const bool right_down = p.right.row_stride == 1 && p.right.column_stride != 1;
    const int64_t few_columns = kVecBytes == 64 ? kWide / 2 : 3 * kWide / 4;
    const int64_t few_rows = p.inner < kLongInner ? kFewRows : kTransposedRows;
    return (left_down && p.columns <= few_columns && p.rows >= 2 * kWide) || (right_down && p.rows <= few_rows && p.columns >= 2 * p.rows);
  }

  static constexpr int64_t kMostRows = ShortFloat<T> ? kMostShortRows : 28 * kRows;

  void Cut(int64_t most_columns, int64_t most_wanted) {
    if (p.rows <= kMostRows && p.columns <= most_columns && p.inner <= kTaskWork) {
      // Small products are one tile, found without the divisions below, which take longer than a product of 8 by 8.
      const int64_t padded = DivideUp(p.columns, kWide) * kWide;
      if (p.rows * padded * p.inner < kTaskWork / (kParts<T> * kParts<T>)) {
        rows = p.rows, columns = padded;
        row_tiles = column_tiles = 1;
        return;
      }
    }
    const double padded = static_cast<double>(DivideUp(p.columns, kWide)) * kWide;
    const double work = static_cast<double>(p.rows) * padded * static_cast<double>(p.inner) * kParts<T> * kParts<T>;
    const int64_t wanted = work >= static_cast<double>(most_wanted * kTaskWork) ? most_wanted : static_cast<int64_t>(work / kTaskWork);
    row_tiles = DivideUp(p.rows, kMostRows);
    column_tiles = DivideUp(p.columns, most_columns);
    const auto cut_rows = [&] { row_tiles = std::max(row_tiles, std::min(DivideUp(p.rows, 2 * kRows), DivideUp(wanted, column_tiles))); };
    const auto cut_columns = [&] {
      column_tiles = std::max(column_tiles, std::min(DivideUp(p.columns, kWide), DivideUp(wanted, row_tiles)));
    };
    if (packed || (p.rows > kFewRows && ReadsRightInPlace(p))) cut_rows(), cut_columns();
    else cut_columns(), cut_rows();
    rows = DivideUp(p.rows, row_tiles);
    row_tiles = DivideUp(p.rows, rows);
    columns = DivideUp(DivideUp(p.columns, kWide), column_tiles) * kWide;
    column_tiles = DivideUp(p.columns, columns);
  }
};

}  // namespace weft::kernels::gemm
