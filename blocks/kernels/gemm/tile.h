// Matrix products by tiles: operands are read where they lie if their rows are near each other, else packed a slice at a time into the
// tile's workspace, and multiplied a few rows by a panel of columns at a time, in registers.
#pragma once

#include <algorithm>
#include <cstring>

#include "blocks/kernels/gemm/blocking.h"
#include "blocks/kernels/simd/transpose.h"

namespace weft::kernels::gemm {

/// Rows of the left operand whose distance is a multiple of so many bytes would push each other out of the cache: they are copied.
inline constexpr int64_t kBadStride = 1024;

/// Some rows of the left operand.
template <class A>
struct LeftRows {
  const A* data = nullptr;
  int64_t row = 0, step = 0;
};

/// The steps of a panel of the right operand.
template <class A>
struct RightPanel {
  const A* data = nullptr;
  int64_t step = 0, depth = 0;
};

template <class T>
class Tile {
 public:
  using A = Computed<T>;
  using S = TileSizes<A>;
  static constexpr int kPart = kParts<T>;

  /// `workspace`: Blocking::WorkspaceBytes of memory.
  Tile(const Blocking<T>& tiled, int64_t index, void* workspace)
      : tiled_(tiled),
        p_(tiled.p),
        transposed_(tiled.transposed),
        row_(index % tiled.row_tiles * tiled.rows),
        column_(index / tiled.row_tiles * tiled.columns),
        rows_(std::min(tiled.rows, p_.rows - row_)),
        columns_(std::min(tiled.columns, p_.columns - column_)),
        in_place_(ReadsRightInPlace(p_)),
        packed_(tiled.packed ? static_cast<const A*>(p_.packed) : nullptr),
        copies_left_(kSame<T> && packed_ != nullptr && p_.left.column_stride == 1 && columns_ >= 8 * S::kWide &&
                     p_.left.row_stride % (kBadStride / static_cast<int64_t>(sizeof(T))) == 0),
        right_(static_cast<A*>(workspace)),
        short_sums_(right_ + tiled.RightElements()) {}

  void Compute() {
    const int64_t slices = tiled_.slices();
    for (int64_t slice = 0; slice < slices; ++slice) {
      if (slice > 0 && p_.workers != nullptr && p_.workers->Stopped()) return;
      start_ = tiled_.SliceStart(slice);
      depth_ = tiled_.SliceStart(slice + 1) - start_;
      MultiplySlice();
    }
    if constexpr (ShortFloat<T>) Round();
  }

 private:
  static constexpr int64_t kPad = 64 / sizeof(A);  // between copied rows, so that they are not in the same lines of the cache
  using Out = std::conditional_t<Complex<T>, A, T>;

  int64_t Width(int64_t column) const { return std::min<int64_t>(S::kWide / kPart, columns_ - column); }
  static int Vectors(int64_t width) { return width * kPart <= S::kN ? 1 : 2; }

  /// The panel of the tile's columns from `column`. Packed ones lie one after another.
  RightPanel<A> Panel(int64_t column) {
    const int64_t width = Width(column), padded = Vectors(width) * S::kN;
    if (packed_ != nullptr) return {packed_ + start_ * tiled_.PackedColumns() + (column_ + column) * depth_, padded, depth_};
    const MatrixView<T>& b = p_.right;
    const T* data = b.data + (column_ + column) * b.column_stride + start_ * b.row_stride;
    if constexpr (kSame<T>) {
      // Whole registers are read: in the last rows of the operand they may reach over its end, where the last panel is packed.
      const int64_t over = std::max<int64_t>(column_ + column + padded - p_.columns, 0);
      if (in_place_ && start_ + depth_ <= p_.inner - DivideUp(over, b.row_stride)) return {reinterpret_cast<const A*>(data), b.row_stride, depth_};
    }
    A* const packed = in_place_ ? right_ : right_ + column * kPart * depth_ * kPart;
    PackRight(MatrixView<T>{data, b.row_stride, b.column_stride}, width, depth_, packed);
    return {packed, padded, depth_ * kPart};
  }

  bool ReadsLeft(int64_t panels) const {
    const MatrixView<T>& a = p_.left;
    if (sizeof(T) != sizeof(A) * kPart) return false;
    return a.column_stride == 1 ||
           (kSame<T> && a.row_stride == 1 && (panels < 3 || a.column_stride <= 512 / static_cast<int64_t>(sizeof(T))));
  }
  LeftRows<A> Left(bool in_place, int64_t row, int64_t rows) {
    const MatrixView<T>& a = p_.left;
    const T* data = a.data + (row_ + row) * a.row_stride + start_ * a.column_stride;
    if (in_place) {
      const A* from = reinterpret_cast<const A*>(data);
      if (a.column_stride != 1) return {from, 1, a.column_stride};
      if (!copies_left_) return {from, a.row_stride * kPart, 1};
      const int64_t stride = depth_ + kPad;
      for (int64_t r = 0; r < rows; ++r, from += a.row_stride) std::memcpy(left_ + r * stride, from, static_cast<size_t>(depth_) * sizeof(A));
      return {left_, stride, 1};
    }
    if constexpr (Complex<T>) PackLeft<kRows>(data, a.row_stride, a.column_stride, rows, depth_, left_);
    else Pack<kRows>(data, a.row_stride, a.column_stride, rows, depth_, left_);
    return {left_, 1, kRows};
  }

  /// Adds depth_ steps to the tile.
  void MultiplySlice() {
    const int64_t count = DivideUp(columns_, S::kWide / kPart);
    RightPanel<A> panels[S::kSharedColumns / S::kWide];
    for (int64_t i = 0; i < count; ++i) panels[i] = Panel(i * (S::kWide / kPart));
    const bool in_place = ReadsLeft(count);
    const int64_t groups = DivideUp(rows_, int64_t{kRows});
    for (int64_t i = 0; i < groups; ++i) {
      const int64_t row = i * rows_ / groups, height = (i + 1) * rows_ / groups - row;
      const LeftRows<A> left = Left(in_place, row, height);
      for (int64_t c = 0; c < count; ++c) Multiply(left, panels[c], row, height, c * (S::kWide / kPart));
    }
  }

  void Multiply(const LeftRows<A>& left, const RightPanel<A>& right, int64_t row, int64_t height, int64_t column) {
    const int vectors = Vectors(Width(column));
    const int64_t width = Width(column) * kPart, padded = vectors * S::kN;
    const bool add = p_.add || start_ > 0;
    const Segment<A> segment{left.data, right.data};
    MicroTile<A> tile{&segment, 1, right.depth, left.row, left.step, right.step, sums_, padded, false};
    if constexpr (ShortFloat<T>) {
      tile.out = short_sums_ + row * tiled_.columns + column;
      tile.out_row = tiled_.columns;
      tile.add = start_ > 0;
      return RunMicroKernel(tile, height, vectors);
    }
    const int64_t stride = p_.out_stride * kPart;
    Out* out = reinterpret_cast<Out*>(p_.out) + (row_ + row) * stride + (column_ + column) * kPart;
    if (sizeof(Out) == sizeof(A) && width == padded && !transposed_) {
      tile.out = reinterpret_cast<A*>(out);
      tile.out_row = stride;
      tile.add = add;
      return RunMicroKernel(tile, height, vectors);
    }
    RunMicroKernel(tile, height, vectors);
    if (transposed_) {  // column j of the sums becomes row j of the product
      out = reinterpret_cast<Out*>(p_.out) + (column_ + column) * stride + row_ + row;
      if constexpr (kSame<T>) {
        if (!add) return TransposeMatrix(sums_, padded, reinterpret_cast<A*>(out), stride, width, height);
      }
      for (int64_t j = 0; j < width; ++j) Store(sums_ + j, padded, height, add, out + j * stride);
    } else {
      for (int64_t i = 0; i < height; ++i) Store(sums_ + i * padded, 1, width, add, out + i * stride);
    }
  }
  static void Store(const A* from, int64_t step, int64_t count, bool add, Out* out) {
    for (int64_t i = 0; i < count; ++i) {
      const A sum = from[i * step];
      out[i] = static_cast<Out>(add ? static_cast<A>(static_cast<A>(out[i]) + sum) : sum);
    }
  }

  /// Sums of short floats are rounded once, at the end.
  void Round() {
    for (int64_t r = 0; r < rows_; ++r) {
      T* to = p_.out + (row_ + r) * p_.out_stride + column_;
      A* from = short_sums_ + r * tiled_.columns;
      for (int64_t c = 0; p_.add && c < columns_; ++c) from[c] += WidenOne<A>(to[c]);
      Narrow(from, to, columns_);
    }
  }

  const Blocking<T>& tiled_;
  const Product<T>& p_;
  const bool transposed_;
  const int64_t row_, column_, rows_, columns_;
  const bool in_place_;
  const A* const packed_;
  const bool copies_left_;
  int64_t start_ = 0, depth_ = 0;
  A *const right_, *const short_sums_;  // what the tile packs; the sums of half and bfloat16
  alignas(64) A left_[kRows * (S::kSharedDepth + kPad)];
  alignas(64) A sums_[kRows * S::kWide];
};

/// A product by tiles, which may share a packed right operand: that is packed a slice of the inner dimension and some panels at a time.
template <class T>
class BlockedGemm {
 public:
  static constexpr Gemm kName = Gemm::kBlocked;
  explicit BlockedGemm(const Product<T>& product) : cut_(product), chunks_(DivideUp(cut_.p.columns, kChunk)) {}
  GemmParts parts() const { return {cut_.tiles(), cut_.WorkspaceBytes(), cut_.PackedBytes(), cut_.SharesPacked() ? cut_.slices() * chunks_ : 0}; }
  void Compute(int64_t tile, void* workspace) const { Tile<T>(cut_, tile, workspace).Compute(); }

  void FillShared(int64_t part) const {
    const MatrixView<T>& b = cut_.p.right;
    const int64_t slice = part % cut_.slices(), start = cut_.SliceStart(slice), depth = cut_.SliceStart(slice + 1) - start;
    const int64_t column = part / cut_.slices() * kChunk, columns = std::min(kChunk, cut_.p.columns - column);
    const T* const from = b.data + start * b.row_stride + column * b.column_stride;
    A* const to = static_cast<A*>(cut_.p.packed) + start * cut_.PackedColumns() + column * depth;
    PackRight(MatrixView<T>{from, b.row_stride, b.column_stride}, columns, depth, to);
  }

 private:
  using A = Computed<T>;
  static constexpr int64_t kWide = TileSizes<A>::kWide, kChunk = 8 * kWide;  // columns of a part
  const Blocking<T> cut_;
  const int64_t chunks_;
};

}  // namespace weft::kernels::gemm
