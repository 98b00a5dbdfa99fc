#include "blocks/kernels/matmul.h"

#include <algorithm>

#include "blocks/kernels/matmul_panels.h"

namespace weft::kernels {
namespace {

using namespace panels;

/// What elements of T are computed as: a real type, complex numbers being pairs of it, and integers unsigned words.
template <class T>
struct ComputedAs {
  using Type = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;
};
template <>
struct ComputedAs<float> {
  using Type = float;
};
template <>
struct ComputedAs<double> {
  using Type = double;
};
template <>
struct ComputedAs<half> : ComputedAs<float> {};
template <>
struct ComputedAs<bfloat16> : ComputedAs<float> {};
template <class A>
struct ComputedAs<std::complex<A>> : ComputedAs<A> {};
template <class T>
using Computed = typename ComputedAs<T>::Type;

template <class T>
inline constexpr int kParts = Complex<T> ? 2 : 1;

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// ---- products of which one side has few rows or columns -------------------------------------------------------------------------

inline constexpr int64_t kFew = 4, kThinChunk = 256, kThinDepth = 1024;

/// out(f, j) = sum over p of few(f, p) * many(j, p), for f < count (at most kFew).
template <class T>
struct ThinProduct {
  int64_t count = 0, length = 0, inner = 0;
  const T* few = nullptr;
  int64_t few_stride = 0, few_depth_stride = 0;
  const T* many = nullptr;
  int64_t many_stride = 0, many_depth_stride = 0;
  T* out = nullptr;
  int64_t out_few_stride = 0, out_stride = 0;
  bool add = false;
};

template <class T>
ThinProduct<T> AsThin(const Product<T>& p) {
  const MatrixView<T>&a = p.left, &b = p.right;
  if (p.rows <= p.columns) {
    return {p.rows,   p.columns,       p.inner,      a.data,       a.row_stride, a.column_stride, b.data,
            b.column_stride, b.row_stride, p.out, p.out_stride, 1,            p.add};
  }
  return {p.columns,    p.rows,          p.inner, b.data, b.column_stride, b.row_stride, a.data,
          a.row_stride, a.column_stride, p.out,   1,      p.out_stride,    p.add};
}

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
  constexpr int kLanes = Sizes<A>::kLanes;
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
      else for (int64_t p = 0; p < depth; ++p) copy[p] = WidenOne<A>(from[p * depth_stride]);
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

// ---- products by panels --------------------------------------------------------------------------------------------------------

/// How a product is cut: tiles of `rows` (whole blocks) by `columns`.
struct Cut {
  int64_t rows, columns, row_tiles, column_tiles;
};

template <class T>
Cut CutOf(const Product<T>& p) {
  using S = Sizes<Computed<T>>;
  Cut cut;
  cut.columns = S::kTileColumns / kParts<T>;
  cut.column_tiles = CeilDiv(p.columns, cut.columns);
  const int64_t blocks = CeilDiv(p.rows, S::kRowBlock);
  // Up to four blocks share a packed right operand, but sixteen tiles come first. Short floats keep a tile's sums on the stack: one block.
  const int64_t share = ShortFloat<T> ? 1 : std::clamp<int64_t>(blocks * std::min<int64_t>(cut.column_tiles, 16) / 16, 1, 4);
  cut.rows = share * S::kRowBlock;
  cut.row_tiles = CeilDiv(p.rows, cut.rows);
  return cut;
}

/// A block of the left operand as real numbers: element (r, p) is data[r * row_stride + p] where row_stride is not 0, else it lies in panels
/// of kRows.
template <class A>
struct LeftBlock {
  const A* data;
  int64_t row_stride;
};

/// Rows of the right type that lie side by side along the inner dimension are used where they are.
template <class T>
LeftBlock<Computed<T>> PackBlock(const Product<T>& p, int64_t row, int64_t rows, int64_t start, int64_t depth, Computed<T>* panel) {
  using A = Computed<T>;
  const MatrixView<T>& a = p.left;
  const T* data = a.data + row * a.row_stride + start * a.column_stride;
  constexpr bool kSameWidth = sizeof(T) == sizeof(A) * kParts<T>;
  if (kSameWidth && a.column_stride == 1) return {reinterpret_cast<const A*>(data), a.row_stride * kParts<T>};
  if constexpr (Complex<T>) PackLeft<kRows>(data, a.row_stride, a.column_stride, rows, depth, panel);
  else Pack<kRows>(data, a.row_stride, a.column_stride, rows, depth, panel);
  return {panel, 0};
}

/// Packs a tile of the right operand in panels of two vectors; the last is of one where that is enough.
template <class T>
void PackTile(const Product<T>& p, int64_t column, int64_t columns, int64_t start, int64_t depth, Computed<T>* panel) {
  using A = Computed<T>;
  constexpr int kWide = Sizes<A>::kColumns, kNarrow = Sizes<A>::kLanes;
  const MatrixView<T>& b = p.right;
  const T* data = b.data + column * b.column_stride + start * b.row_stride;
  const int64_t rest = columns % (kWide / kParts<T>);
  const int64_t narrow = rest <= kNarrow / kParts<T> ? rest : 0, wide = columns - narrow;
  const T* last = data + wide * b.column_stride;
  A* last_panel = panel + wide * kParts<T> * depth * kParts<T>;
  if constexpr (Complex<T>) {
    PackRight<kWide>(data, b.column_stride, b.row_stride, wide, depth, panel);
    PackRight<kNarrow>(last, b.column_stride, b.row_stride, narrow, depth, last_panel);
  } else {
    Pack<kWide>(data, b.column_stride, b.row_stride, wide, depth, panel);
    Pack<kNarrow>(last, b.column_stride, b.row_stride, narrow, depth, last_panel);
  }
}

/// Columns of one panel: out[rows, width] = or += left * panel, `depth` real steps deep.
template <int kVectors, class A, class O>
void MultiplyByPanel(const LeftBlock<A>& left, const A* panel, int64_t rows, int64_t width, int64_t depth, O* out, int64_t stride,
                     bool add) {
  constexpr int64_t kWidth = kVectors * Sizes<A>::kLanes;
  constexpr bool kDirect = sizeof(O) == sizeof(A) && !ShortFloat<O>;
  const bool direct = kDirect && width == kWidth;
  for (int64_t r = 0; r < rows;) {
    alignas(64) A sums[kRows * kWidth];
    A* to = direct ? reinterpret_cast<A*>(out + r * stride) : sums;
    const int64_t to_stride = direct ? stride : kWidth;
    int64_t height = std::min<int64_t>(kRows, rows - r);
    if (left.row_stride == 0) {
      // The panel is filled up with zeros, but `out` has only so many rows.
      if (direct && height == kRows) {
        MultiplyPanels<kRows, kVectors>(depth, left.data + r * depth, 1, kRows, panel, to, to_stride, add);
        r += height;
        continue;
      }
      MultiplyPanels<kRows, kVectors>(depth, left.data + r * depth, 1, kRows, panel, sums, kWidth, false);
    } else {
      const A* from = left.data + r * left.row_stride;
      height = MultiplySome<kVectors>(height, depth, from, left.row_stride, 1, panel, to, to_stride, direct && add);
      if (direct) {
        r += height;
        continue;
      }
    }
    for (int64_t i = 0; i < height; ++i) {
      O* row = out + (r + i) * stride;
      const A* from = sums + i * kWidth;
      for (int64_t j = 0; j < width; ++j) row[j] = static_cast<O>(add ? static_cast<A>(static_cast<A>(row[j]) + from[j]) : from[j]);
    }
    r += height;
  }
}

/// out[rows, columns] = or += the product of a block and a packed tile.
template <class A, class O>
void MultiplyBlock(const LeftBlock<A>& left, const A* right, int64_t rows, int64_t columns, int64_t depth, O* out, int64_t stride,
                   bool add) {
  constexpr int64_t kWide = Sizes<A>::kColumns, kNarrow = Sizes<A>::kLanes;
  int64_t c = 0;
  for (; columns - c > kNarrow; c += kWide) {
    MultiplyByPanel<2>(left, right + c * depth, rows, std::min(kWide, columns - c), depth, out + c, stride, add);
  }
  if (c < columns) MultiplyByPanel<1>(left, right + c * depth, rows, columns - c, depth, out + c, stride, add);
}

template <class T>
void PanelTile(const Product<T>& p, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  using A = Computed<T>;
  using S = Sizes<A>;
  constexpr int kPart = kParts<T>;
  constexpr bool kThroughSums = ShortFloat<T>;
  using Out = std::conditional_t<Complex<T>, A, T>;
  alignas(64) A right[S::kTileColumns * S::kDepth];
  alignas(64) A left[(S::kRowBlock + kRows) * S::kDepth];
  [[maybe_unused]] alignas(64) A sums[kThroughSums ? S::kRowBlock * S::kTileColumns : 1];
  Out* out = reinterpret_cast<Out*>(p.out + row * p.out_stride + column);
  const int64_t stride = p.out_stride * kPart;
  constexpr int64_t kSteps = S::kDepth / kPart;
  for (int64_t start = 0; start < p.inner; start += kSteps) {
    const int64_t depth = std::min(kSteps, p.inner - start);
    PackTile(p, column, columns, start, depth, right);
    for (int64_t block = 0; block < rows; block += S::kRowBlock) {
      const int64_t height = std::min(S::kRowBlock, rows - block);
      const LeftBlock<A> block_left = PackBlock(p, row + block, height, start, depth, left);
      if constexpr (kThroughSums) {
        MultiplyBlock(block_left, right, height, columns, depth, sums, S::kTileColumns, start > 0);
      } else {
        MultiplyBlock(block_left, right, height, columns * kPart, depth * kPart, out + block * stride, stride, p.add || start > 0);
      }
    }
  }
  if constexpr (kThroughSums) {
    for (int64_t r = 0; r < rows; ++r) {
      T* to = p.out + (row + r) * p.out_stride + column;
      A* from = sums + r * S::kTileColumns;
      for (int64_t c = 0; p.add && c < columns; ++c) from[c] += WidenOne<A>(to[c]);
      Narrow(from, to, columns);
    }
  }
}

}  // namespace

template <class T>
int64_t TileCount(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0) return 0;
  if (p.inner == 0) return 1;
  if (IsThin(p)) {
    const ThinProduct<T> thin = AsThin(p);
    return CeilDiv(thin.length, ThinTile(thin));
  }
  const Cut cut = CutOf(p);
  return cut.row_tiles * cut.column_tiles;
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
  const Cut cut = CutOf(p);
  const int64_t row = tile / cut.column_tiles * cut.rows, column = tile % cut.column_tiles * cut.columns;
  PanelTile(p, row, std::min(cut.rows, p.rows - row), column, std::min(cut.columns, p.columns - column));
}

#define WEFT_INSTANTIATE(T)                        \
  template int64_t TileCount(const Product<T>&);   \
  template void ComputeTile(const Product<T>&, int64_t);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(half)
WEFT_INSTANTIATE(bfloat16)
WEFT_INSTANTIATE(int16_t)
WEFT_INSTANTIATE(int32_t)
WEFT_INSTANTIATE(int64_t)
WEFT_INSTANTIATE(uint8_t)
WEFT_INSTANTIATE(uint16_t)
WEFT_INSTANTIATE(uint32_t)
WEFT_INSTANTIATE(uint64_t)
WEFT_INSTANTIATE(complex64)
WEFT_INSTANTIATE(complex128)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
