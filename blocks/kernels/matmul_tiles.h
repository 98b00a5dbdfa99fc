// Matrix products by tiles: operands are read where they lie if their rows are near each other, else packed a piece at a time on the
// stack, and multiplied a few rows by a panel of columns at a time, in registers.
#pragma once

#include <algorithm>
#include <cstring>

#include "blocks/kernels/matmul.h"
#include "blocks/kernels/matmul_panels.h"

namespace weft::kernels::panels {

template <class T>
inline constexpr int kParts = Complex<T> ? 2 : 1;
/// Whether an element is one of the computed type.
template <class T>
inline constexpr bool kSame = !Complex<T> && sizeof(T) == sizeof(Computed<T>);

/// Sizes of tiles for elements computed as A. A panel of the right operand is two registers wide; element w of step p is at p * width + w.
template <class A>
struct TileSizes {
  static constexpr int kLanes = kLanesOf<A>, kWide = 2 * kLanes;
  static constexpr int64_t kDepth = 1280 / sizeof(A);    // steps packed at a time
  static constexpr int64_t kColumns = 1024 / sizeof(A);  // columns of a tile: 320 KiB packed
};

inline constexpr int64_t kNearBytes = 2048;      // from row to row of a right operand that is read where it lies
inline constexpr int64_t kFewRows = 4 * kRows;   // fewer rows do not pay for packing the right operand
inline constexpr int64_t kTaskWork = 96 * 1024;  // multiplications that are worth a task
inline constexpr int64_t kWantedTiles = 16;
inline constexpr int64_t kMostPacked = int64_t{128} << 20;  // bytes of an operand that is packed for all tiles

inline int64_t TilesOf(int64_t size, int64_t most) { return size / most + (size % most != 0); }

template <class T>
bool ReadsRightInPlace(const Product<T>& p) {
  const MatrixView<T>& b = p.right;
  if (!kSame<T> || b.column_stride != 1 || b.row_stride < p.columns) return false;
  return b.row_stride <= kNearBytes / static_cast<int64_t>(sizeof(T)) || p.rows <= kFewRows;
}

/// A product as it is computed: `turned` ones are out^T = right^T * left^T.
template <class T>
struct TiledProduct {
  Product<T> p;
  bool turned = false;
  int64_t rows = 0, columns = 0;            // of a tile
  int64_t row_tiles = 0, column_tiles = 0;  // how many

  int64_t tiles() const { return row_tiles * column_tiles; }

  /// The right operand packed for all tiles: its columns filled up to whole panels, which lie one after another in each piece of the inner
  /// dimension. Worth it where several tiles read the same columns.
  int64_t PackedColumns() const { return TilesOf(p.columns, kWide) * kWide; }
  int64_t PackedBytes() const { return p.inner * PackedColumns() * static_cast<int64_t>(sizeof(Computed<T>)); }
  bool SharesPacked() const {
    const int64_t most = kMostPacked / static_cast<int64_t>(sizeof(Computed<T>));
    return !Complex<T> && row_tiles > 1 && !ReadsRightInPlace(p) && p.inner <= most / PackedColumns();
  }

  /// The inner dimension is summed in pieces, which sets the bits of the result.
  int64_t pieces() const { return TilesOf(p.inner, TileSizes<Computed<T>>::kDepth / kParts<T>); }
  int64_t PieceStart(int64_t piece) const { return piece * p.inner / pieces(); }

  explicit TiledProduct(const Product<T>& product) : p(product), turned(Turns(product)) {
    if (turned) {
      std::swap(p.rows, p.columns);
      p.left = product.right.Transposed();
      p.right = product.left.Transposed();
    }
    Cut();
  }

 private:
  static constexpr int64_t kWide = TileSizes<Computed<T>>::kWide / kParts<T>;

  /// Where few columns would leave registers idle and the left operand's rows lie side by side, or few rows would not pay for transposing
  /// the right operand.
  static bool Turns(const Product<T>& p) {
    if (!kSame<T>) return false;
    const bool left_down = p.left.row_stride == 1 && p.left.column_stride != 1;
    const bool right_down = p.right.row_stride == 1 && p.right.column_stride != 1;
    return (left_down && p.columns <= kWide / 2 && p.rows >= 2 * kWide) || (right_down && p.rows <= kFewRows && p.columns >= 2 * p.rows);
  }

  void Cut() {
    using S = TileSizes<Computed<T>>;
    const double padded = static_cast<double>(TilesOf(p.columns, kWide)) * kWide;
    const double work = static_cast<double>(p.rows) * padded * static_cast<double>(p.inner) * kParts<T> * kParts<T>;
    const int64_t wanted = work >= static_cast<double>(kWantedTiles * kTaskWork) ? kWantedTiles : static_cast<int64_t>(work / kTaskWork);
    row_tiles = TilesOf(p.rows, (ShortFloat<T> ? 7 : 28) * kRows);
    column_tiles = TilesOf(p.columns, S::kColumns / kParts<T>);
    const auto cut_rows = [&] { row_tiles = std::max(row_tiles, std::min(TilesOf(p.rows, 2 * kRows), TilesOf(wanted, column_tiles))); };
    const auto cut_columns = [&] {
      column_tiles = std::max(column_tiles, std::min(TilesOf(p.columns, kWide), TilesOf(wanted, row_tiles)));
    };
    if (p.rows > kFewRows && ReadsRightInPlace(p)) cut_rows(), cut_columns();
    else cut_columns(), cut_rows();
    rows = TilesOf(p.rows, row_tiles);
    row_tiles = TilesOf(p.rows, rows);
    columns = TilesOf(TilesOf(p.columns, kWide), column_tiles) * kWide;
    column_tiles = TilesOf(p.columns, columns);
  }
};

/// Some steps of a panel of the right operand: `depth` of them where `data` says, then `rest_depth` copied ones.
template <class A>
struct RightPanel {
  const A* data = nullptr;
  int64_t step = 0, depth = 0;
  const A* rest = nullptr;
  int64_t rest_depth = 0;
};

/// Some rows of the left operand.
template <class A>
struct LeftRows {
  const A* data = nullptr;
  int64_t row = 0, step = 0;
  bool together = false;
};

/// Fills the memory that a product brings for its packed right operand, a piece of the inner dimension and some panels at a time.
template <class T>
class PackedRight {
 public:
  explicit PackedRight(const TiledProduct<T>& tiled) : tiled_(tiled), chunks_(TilesOf(tiled.p.columns, kChunk)) {}
  int64_t parts() const { return tiled_.pieces() * chunks_; }

  void Fill(int64_t part) const {
    using A = Computed<T>;
    constexpr int64_t kWide = TileSizes<A>::kWide, kLanes = TileSizes<A>::kLanes;
    static_assert(kSame<T> || Complex<T> || kWide % 8 == 0);
    const Product<T>& p = tiled_.p;
    const int64_t start = tiled_.PieceStart(part / chunks_), depth = tiled_.PieceStart(part / chunks_ + 1) - start;
    const int64_t column = part % chunks_ * kChunk, columns = std::min(kChunk, p.columns - column), whole = columns / kWide * kWide;
    const T* const from = p.right.data + start * p.right.row_stride + column * p.right.column_stride;
    A* const to = static_cast<A*>(p.packed) + start * tiled_.PackedColumns() + column * depth;
    if (p.right.column_stride == 1) {
      // Row by row: a row of a part is read at once, and each panel is written in order.
      for (int64_t step = 0; step < depth; ++step) {
        const T* const row = from + step * p.right.row_stride;
        for (int64_t c = 0; c < whole; c += kWide) {
          A* const panel = to + c * depth + step * kWide;
          if constexpr (kSame<T>) {
            std::memcpy(panel, row + c, kWide * sizeof(A));
          } else {
            for (int64_t w = 0; w < kWide; w += 8) Widen(row + c + w, panel + w, 8);
          }
        }
      }
    } else {
      Pack<kWide>(from, p.right.column_stride, p.right.row_stride, whole, depth, to);
    }
    if (whole == columns) return;
    const T* const rest = from + whole * p.right.column_stride;
    if (columns - whole > kLanes) Pack<kWide>(rest, p.right.column_stride, p.right.row_stride, columns - whole, depth, to + whole * depth);
    else Pack<kLanes>(rest, p.right.column_stride, p.right.row_stride, columns - whole, depth, to + whole * depth);
  }

 private:
  static constexpr int64_t kChunk = 8 * TileSizes<Computed<T>>::kWide;  // columns of a part
  const TiledProduct<T> tiled_;
  const int64_t chunks_;
};

template <class T>
class Tile {
 public:
  using A = Computed<T>;
  using S = TileSizes<A>;
  static constexpr int kPart = kParts<T>;

  Tile(const TiledProduct<T>& tiled, int64_t index)
      : tiled_(tiled),
        p_(tiled.p),
        turned_(tiled.turned),
        row_(index / tiled.column_tiles * tiled.rows),
        column_(index % tiled.column_tiles * tiled.columns),
        rows_(std::min(tiled.rows, p_.rows - row_)),
        columns_(std::min(tiled.columns, p_.columns - column_)),
        in_place_(ReadsRightInPlace(p_)),
        packed_(static_cast<const A*>(p_.packed)) {}

  void Compute() {
    const int64_t pieces = tiled_.pieces();
    for (int64_t piece = 0; piece < pieces; ++piece) {
      start_ = tiled_.PieceStart(piece);
      depth_ = tiled_.PieceStart(piece + 1) - start_;
      MultiplyPiece();
    }
    if constexpr (ShortFloat<T>) Round();
  }

 private:
  static constexpr int64_t kShortRows = 7 * kRows;
  using Out = std::conditional_t<Complex<T>, A, T>;

  int64_t Width(int64_t column) const { return std::min<int64_t>(S::kWide / kPart, columns_ - column); }
  static int Vectors(int64_t width) { return width * kPart <= S::kLanes ? 1 : 2; }

  /// The panel of the tile's columns from `column`. Packed ones lie one after another.
  RightPanel<A> Panel(int64_t column) {
    const int64_t width = Width(column), padded = Vectors(width) * S::kLanes;
    if (packed_ != nullptr) return {packed_ + start_ * tiled_.PackedColumns() + (column_ + column) * depth_, padded, depth_, nullptr, 0};
    const MatrixView<T>& b = p_.right;
    const T* data = b.data + (column_ + column) * b.column_stride + start_ * b.row_stride;
    A* const packed = right_ + column * kPart * S::kDepth;
    if constexpr (kSame<T>) {
      // Whole registers are read: in the last rows of the operand they would reach over its end.
      const int64_t over = column_ + column + padded - p_.columns, over_rows = over > 0 ? TilesOf(over, b.row_stride) : 0;
      const int64_t unsafe = std::clamp<int64_t>(start_ + depth_ - (p_.inner - over_rows), 0, depth_);
      if (in_place_ && unsafe <= depth_ / 2) {
        PackRows(data + (depth_ - unsafe) * b.row_stride, unsafe, width, padded, packed);
        return {reinterpret_cast<const A*>(data), b.row_stride, depth_ - unsafe, packed, unsafe};
      }
    }
    if constexpr (Complex<T>) {
      if (padded == S::kWide) PackRight<S::kWide>(data, b.column_stride, b.row_stride, width, depth_, packed);
      else PackRight<S::kLanes>(data, b.column_stride, b.row_stride, width, depth_, packed);
    } else {
      if (padded == S::kWide) Pack<S::kWide>(data, b.column_stride, b.row_stride, width, depth_, packed);
      else Pack<S::kLanes>(data, b.column_stride, b.row_stride, width, depth_, packed);
    }
    return {packed, padded, depth_ * kPart, nullptr, 0};
  }
  void PackRows(const T* data, int64_t rows, int64_t width, int64_t padded, A* to) const {
    for (int64_t p = 0; p < rows; ++p, data += p_.right.row_stride, to += padded) {
      for (int64_t w = 0; w < padded; ++w) to[w] = w < width ? WidenOne<A>(data[w]) : A{0};
    }
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
      if (a.column_stride == 1) return {from, a.row_stride * kPart, 1, false};
      return {from, 1, a.column_stride, true};
    }
    if constexpr (Complex<T>) PackLeft<kRows>(data, a.row_stride, a.column_stride, rows, depth_, left_);
    else Pack<kRows>(data, a.row_stride, a.column_stride, rows, depth_, left_);
    return {left_, 1, kRows, true};
  }

  /// Adds depth_ steps to the tile.
  void MultiplyPiece() {
    const int64_t count = TilesOf(columns_, S::kWide / kPart);
    RightPanel<A> panels[S::kColumns / S::kWide];
    for (int64_t i = 0; i < count; ++i) panels[i] = Panel(i * (S::kWide / kPart));
    const bool in_place = ReadsLeft(count);
    const int64_t most = in_place && columns_ * kPart <= S::kLanes ? 2 * kRows : kRows, groups = TilesOf(rows_, most);
    for (int64_t i = 0; i < groups; ++i) {
      const int64_t row = i * rows_ / groups, height = (i + 1) * rows_ / groups - row;
      const LeftRows<A> left = Left(in_place, row, height);
      const int64_t next = i + 1 < groups ? (i + 2) * rows_ / groups - row - height : 0;
      for (int64_t c = 0; c < count; ++c) {
        if (in_place) FetchLeft(row + height + next * c / count, row + height + next * (c + 1) / count);
        Multiply(left, panels[c], row, height, c * (S::kWide / kPart));
      }
    }
  }

  /// Rows of the left operand that are next, into the second-level cache: they lie too far apart for the processor to see them come.
  void FetchLeft(int64_t begin, int64_t end) const {
    const MatrixView<T>& a = p_.left;
    if (a.column_stride != 1) return;
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    for (int64_t r = begin; r < end; ++r) {
      const T* const from = a.data + (row_ + r) * a.row_stride + start_;
      for (int64_t i = 0; i < depth_; i += kLine) __builtin_prefetch(from + i, 0, 2);
    }
  }

  void Multiply(const LeftRows<A>& left, const RightPanel<A>& right, int64_t row, int64_t height, int64_t column) {
    const int64_t width = Width(column) * kPart, padded = Vectors(Width(column)) * S::kLanes;
    const bool add = p_.add || start_ > 0;
    if constexpr (ShortFloat<T>) {
      A* to = sums_ + row * S::kColumns + column;
      return Sum(left, right, height, to, S::kColumns, start_ > 0 ? Onto::kThere : Onto::kNothing, padded);
    } else {
      Out* out = reinterpret_cast<Out*>(p_.out) + (row_ + row) * p_.out_stride * kPart + (column_ + column) * kPart;
      if (sizeof(Out) == sizeof(A) && width == padded && !turned_) {
        const Onto onto = add ? Onto::kThere : Onto::kNothing;
        return Sum(left, right, height, reinterpret_cast<A*>(out), p_.out_stride * kPart, onto, padded);
      }
      A* const sums = sums_;
      Sum(left, right, height, sums, padded, Onto::kNothing, padded);
      if (turned_) {
        out = reinterpret_cast<Out*>(p_.out) + (column_ + column) * p_.out_stride + row_ + row;
        PlaceTurned(sums, padded, height, width, add, out);
      } else {
        for (int64_t i = 0; i < height; ++i, out += p_.out_stride * kPart) Place(sums + i * padded, 1, width, add, out);
      }
    }
  }
  static void Place(const A* from, int64_t step, int64_t count, bool add, Out* out) {
    if (add) {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(static_cast<A>(static_cast<A>(out[i]) + from[i * step]));
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(from[i * step]);
    }
  }

  /// Column j of the sums becomes row j of the product.
  void PlaceTurned(const A* sums, int64_t padded, int64_t height, int64_t width, bool add, Out* out) const {
    int64_t i = 0;
    if constexpr (kSame<T> && sizeof(A) == 4) {
      for (; !add && i + 4 <= height; i += 4)
        TransposeFourRows(sums + i * padded, padded, width, reinterpret_cast<A*>(out) + i, p_.out_stride);
    }
    for (int64_t j = 0; j < width && i < height; ++j) Place(sums + i * padded + j, padded, height - i, add, out + j * p_.out_stride + i);
  }

  static void Sum(const LeftRows<A>& left, const RightPanel<A>& right, int64_t height, A* to, int64_t to_row, Onto onto, int64_t padded) {
    const auto sum = [&](const Segment<A>& segment, int64_t depth, int64_t step, Onto where) {
      const TileSum<A> tile{&segment, 1, depth, left.row, left.step, step, to, to_row, where};
      const bool wide = padded == S::kWide;
      if (left.together) wide ? SumRows<true, 2>(tile, height) : SumRows<true, 1>(tile, height);
      else wide ? SumRows<false, 2>(tile, height) : SumRows<false, 1>(tile, height);
    };
    sum({left.data, right.data}, right.depth, right.step, onto);
    if (right.rest_depth > 0) sum({left.data + right.depth * left.step, right.rest}, right.rest_depth, padded, Onto::kOn);
  }

  /// Sums of short floats are rounded once, at the end.
  void Round() {
    for (int64_t r = 0; r < rows_; ++r) {
      T* to = p_.out + (row_ + r) * p_.out_stride + column_;
      A* from = sums_ + r * S::kColumns;
      for (int64_t c = 0; p_.add && c < columns_; ++c) from[c] += WidenOne<A>(to[c]);
      Narrow(from, to, columns_);
    }
  }

  const TiledProduct<T>& tiled_;
  const Product<T>& p_;
  const bool turned_;
  const int64_t row_, column_, rows_, columns_;
  const bool in_place_;
  const A* const packed_;
  int64_t start_ = 0, depth_ = 0;
  alignas(64) A right_[S::kColumns * S::kDepth];
  alignas(64) A left_[kRows * S::kDepth];
  alignas(64) A sums_[ShortFloat<T> ? kShortRows * S::kColumns : 2 * kRows * S::kWide];
};

}  // namespace weft::kernels::panels
