#include "blocks/kernels/conv/im2col_gemm.h"

#include "blocks/kernels/conv/depthwise.h"
#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {
namespace {

constexpr int64_t kMostWorkspaces = 16;
constexpr int64_t kPatchElements = 256 * 1024;  // of a workspace, where that leaves enough rows
constexpr int64_t kMinRows = 96, kMaxRows = 768;
constexpr int64_t kWideColumns = 128;  // columns are cut only above this
constexpr int64_t kSmallWork = 1 << 16;  // multiplications below which one task does all

/// Rows of a tile, of `all` in each of `pictures`: many enough to be worth packing the weights for, few enough for the cache, and for a
/// few tiles.
int64_t TileRows(int64_t all, int64_t pictures, int64_t inner, int64_t work) {
  if (work <= kSmallWork) return all;
  const int64_t cached = std::clamp(kPatchElements / std::max<int64_t>(inner, 1), kMinRows, kMaxRows);
  return std::min({all, cached, std::max(kMinRows, DivideUp(all, DivideUp(8, pictures)))});
}

/// Cuts the columns of a group where there are too few row tiles to share out. Gives the columns of a tile.
int64_t TileColumns(int64_t columns, int64_t row_tiles, int64_t work) {
  if (work <= kSmallWork || row_tiles >= 8 || columns < 2 * kWideColumns) return columns;
  const int64_t tiles = std::min(DivideUp(8, std::max<int64_t>(row_tiles, 1)), columns / kWideColumns);
  return DivideUp(DivideUp(columns, tiles), 32) * 32;
}

/// How a ConvForward is cut; all 0 where there is nothing to compute.
struct ConvBlocking {
  int64_t rows = 0;                // positions of a tile
  int64_t row_tiles = 0;           // channels first: of one picture
  int64_t columns = 0;             // columns of a tile, within a group
  int64_t column_tiles = 0;        // of a group
  int64_t tasks = 0, workspaces = 0;
  int64_t patch = 0, block = 0;    // elements of a workspace: patches, products that are yet to be placed
  int64_t product = 0;             // what its matrix products need, of Accumulator<T>
  int64_t workspace_elements() const { return patch + block; }
};

/// A product of the tile (rows [begin, end) of picture `picture`, or of all where channels are last).
struct Tile {
  int64_t picture, begin, end, group, column, columns;
  int64_t rows() const { return end - begin; }
};

template <class T>
struct TileRunner {
  const ConvForward& p;
  const ConvBlocking& cut;
  const T* source;
  const T* weights;
  T* out;
  T* patch;
  T* block;
  void* space;  // of matrix products
  const Workers& workers;

  int64_t out_pixels() const { return p.place[0].size * p.place[1].size * p.place[2].size; }
  int64_t OutPixel(const PositionWalk& at) const {
    const auto& [d, h, w] = p.place;
    return ((d.first + at.d * d.stride) * h.size + h.first + at.h * h.stride) * w.size + w.first + at.w * w.stride;
  }

  void RunLast(const Tile& t) const {
    const int64_t inner = p.inner(), first = t.group * inner;
    const int64_t column = t.group * (p.columns / p.groups) + t.column;
    MatrixView<T> left{patch, p.gather.taps() * inner, 1};
    if (p.gather.direct()) {
      left = {source + t.begin * p.gather.channels + first, p.gather.channels, 1};
    } else {
      Im2ColRows(p.gather, source, first, inner, t.begin, t.end, patch);
    }
    const bool fills = p.fills();
    Product<T> product{t.rows(), t.columns, p.gather.taps() * inner, left, {weights + column, p.columns, 1}};
    product.out = fills ? out + t.begin * p.columns + column : block;
    product.out_stride = fills ? p.columns : t.columns;
    product.workers = &workers;
    product.scratch = space;
    MatMul(product);
    if (fills) return;
    for (int64_t row = t.begin; row < t.end; ++row) {
      const PositionWalk at(p.gather, row % p.gather.positions());
      const int64_t pixel = row / p.gather.positions() * out_pixels() + OutPixel(at);
      std::copy_n(block + (row - t.begin) * t.columns, t.columns, out + pixel * p.columns + column);
    }
  }

  void RunFirst(const Tile& t) const {
    const int64_t inner = p.inner(), first = t.group * inner;
    const int64_t column = t.group * (p.columns / p.groups) + t.column;
    const T* picture = source + t.picture * p.gather.channels * p.gather.pixels();
    MatrixView<T> right{patch, t.rows(), 1};
    if (p.gather.direct()) {
      right = {picture + first * p.gather.pixels() + t.begin, p.gather.pixels(), 1};
    } else {
      Im2ColColumns(p.gather, picture, first, inner, t.begin, t.end, patch);
    }
    T* planes = out + (t.picture * p.columns + column) * out_pixels();
    const bool fills = p.fills();
    Product<T> product{t.columns, t.rows(), p.gather.taps() * inner, MatrixView<T>{weights + column, p.columns, 1}.Transposed(), right};
    product.out = fills ? planes + t.begin : block;
    product.out_stride = fills ? out_pixels() : t.rows();
    product.workers = &workers;
    product.scratch = space;
    MatMul(product);
    if (fills) return;
    for (int64_t row = t.begin; row < t.end; ++row) {
      const int64_t pixel = OutPixel(PositionWalk(p.gather, row));
      for (int64_t c = 0; c < t.columns; ++c) planes[c * out_pixels() + pixel] = block[c * t.rows() + row - t.begin];
    }
  }

  /// Tasks: columns within groups within row tiles within pictures.
  void Run(int64_t task) const {
    const int64_t group_columns = p.columns / p.groups;
    const int64_t column_tile = task % cut.column_tiles, group = task / cut.column_tiles % p.groups;
    const int64_t row_tile = task / (cut.column_tiles * p.groups);
    const bool first = p.gather.channels_first;
    const int64_t all = first ? p.gather.positions() : p.gather.batch * p.gather.positions();
    Tile t;
    t.picture = row_tile / cut.row_tiles;
    t.begin = row_tile % cut.row_tiles * cut.rows;
    t.end = std::min(all, t.begin + cut.rows);
    t.group = group;
    t.column = column_tile * cut.columns;
    t.columns = std::min(cut.columns, group_columns - t.column);
    first ? RunFirst(t) : RunLast(t);
  }
};

ConvBlocking BlockConv(const ConvForward& p) {
  ConvBlocking cut;
  if (p.gather.batch == 0) return cut;
  const int64_t pictures = p.gather.channels_first ? p.gather.batch : 1;
  const int64_t all = p.gather.positions() * (p.gather.channels_first ? 1 : p.gather.batch);
  const int64_t inner = p.gather.taps() * p.inner(), group_columns = p.columns / p.groups;
  if (all == 0 || pictures == 0 || group_columns == 0) return cut;
  const double work = static_cast<double>(all) * static_cast<double>(inner) * static_cast<double>(p.columns);
  const int64_t bounded = work > 1e15 ? int64_t{1} << 50 : static_cast<int64_t>(work);
  cut.rows = TileRows(all, pictures, inner, bounded);
  cut.row_tiles = DivideUp(all, cut.rows);
  cut.columns = TileColumns(group_columns, cut.row_tiles * pictures * p.groups, bounded);
  cut.column_tiles = DivideUp(group_columns, cut.columns);
  cut.tasks = pictures * cut.row_tiles * p.groups * cut.column_tiles;
  cut.workspaces = bounded <= kSmallWork / 16 ? 1 : std::min(cut.tasks, kMostWorkspaces);
  cut.patch = p.gather.direct() ? 0 : DivideUp(cut.rows * inner, 32) * 32;
  cut.block = p.fills() ? 0 : DivideUp(cut.rows * cut.columns, 32) * 32;
  cut.product = MostWorkspace(cut.rows, cut.columns, inner);
  return cut;
}

/// Some multiplications take as long as one item of a StopCheck.
int64_t TileWork(const ConvForward& p, const ConvBlocking& cut) {
  constexpr double kTogether = 16, kMost = 1e15;
  const double steps = static_cast<double>(p.gather.taps()) * static_cast<double>(p.inner());
  return 1 + static_cast<int64_t>(std::min(static_cast<double>(cut.rows) * static_cast<double>(cut.columns) * steps / kTogether, kMost));
}

}  // namespace

int64_t Im2ColScratch(const ConvForward& product) {
  const ConvBlocking cut = BlockConv(product);
  return cut.workspaces * (cut.workspace_elements() + cut.product);
}

template <class T>
void RunIm2Col(const ConvForward& p, const T* source, const T* weights, T* out, Accumulator<T>* space, Workers& workers) {
  T* const scratch = reinterpret_cast<T*>(space);
  const ConvBlocking cut = BlockConv(p);
  if (cut.tasks == 0) return;
  auto run_share = [&](int64_t i) {
    T* mine = scratch + i * cut.workspace_elements();
    Accumulator<T>* const product = space + cut.workspaces * cut.workspace_elements() + i * cut.product;
    const TileRunner<T> runner{p, cut, source, weights, out, mine, mine + cut.patch, product, workers};
    StopCheck stop(workers);
    const int64_t work = TileWork(p, cut);
    for (int64_t task = i * cut.tasks / cut.workspaces, end = (i + 1) * cut.tasks / cut.workspaces; task < end && !stop(work); ++task) {
      runner.Run(task);
    }
  };
  if (cut.workspaces == 1) return run_share(0);
  workers.Run(cut.workspaces, run_share);
}

// ---- the gradient of the filter ------------------------------------------------------------------------------------------------

namespace {

struct FilterGradBlocking {
  int64_t rows = 0, row_tiles = 0;        // positions of a tile; tiles of all pictures
  int64_t columns = 0, column_tiles = 0;  // of a group
  int64_t shares = 0;                     // sums that are made apart and then added up in order
  int64_t patch = 0, block = 0;           // elements of a workspace: patches, gradients
  int64_t product = 0;                    // what its matrix products need
  int64_t workspaces() const { return shares * column_tiles; }
  int64_t workspace_elements() const { return patch + block + product; }
};

template <class T>
struct FilterGradShare {
  using A = Accumulator<T>;
  const ConvFilterGrad& s;
  const FilterGradBlocking& cut;
  const T* source;
  const T* gradient;
  A* patch;
  A* block;
  A* space;  // of matrix products
  const Workers& workers;

  /// Patches as a matrix [taps * inner, rows].
  MatrixView<A> Patches(int64_t picture, int64_t begin, int64_t end, int64_t group) const {
    const Im2Col& g = s.gather;
    const int64_t inner = s.inner(), first = group * inner;
    if (g.channels_first) {
      const T* planes = source + picture * g.channels * g.pixels();
      if constexpr (std::is_same_v<T, A>) {
        if (g.direct()) return {planes + first * g.pixels() + begin, g.pixels(), 1};
      }
      Im2ColColumns(g, planes, first, inner, begin, end, patch);
      return {patch, end - begin, 1};
    }
    if constexpr (std::is_same_v<T, A>) {
      if (g.direct()) return MatrixView<A>{source + begin * g.channels + first, g.channels, 1}.Transposed();
    }
    Im2ColRows(g, source, first, inner, begin, end, patch);
    return MatrixView<A>{patch, g.taps() * inner, 1}.Transposed();
  }

  /// Gradients as a matrix [rows, columns].
  MatrixView<A> Gradients(int64_t picture, int64_t begin, int64_t end, int64_t column, int64_t columns) const {
    const int64_t pixels = s.gather.positions();
    const bool first = s.gather.channels_first;
    const T* from = first ? gradient + (picture * s.columns + column) * pixels + begin : gradient + begin * s.columns + column;
    const int64_t stride = first ? pixels : s.columns;
    if constexpr (std::is_same_v<T, A>) {
      const MatrixView<A> view{from, stride, 1};
      return first ? view.Transposed() : view;
    } else {
      const int64_t lines = first ? columns : end - begin, length = first ? end - begin : columns;
      for (int64_t i = 0; i < lines; ++i) Widen(from + i * stride, block + i * length, length);
      const MatrixView<A> view{block, length, 1};
      return first ? view.Transposed() : view;
    }
  }

  /// Adds up the row tiles of a share for one tile of columns into `sum`, laid out as the filter.
  void Run(int64_t share, int64_t column_tile, A* sum) const {
    const Im2Col& g = s.gather;
    const int64_t group_columns = s.columns / s.groups, inner = g.taps() * s.inner();
    const int64_t all = g.channels_first ? g.positions() : g.batch * g.positions();
    const int64_t picture_tiles = g.channels_first ? cut.row_tiles / std::max<int64_t>(g.batch, 1) : cut.row_tiles;
    const int64_t column = column_tile * cut.columns, columns = std::min(cut.columns, group_columns - column);
    const int64_t first = share * cut.row_tiles / cut.shares, last = (share + 1) * cut.row_tiles / cut.shares;
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t picture = tile / picture_tiles, begin = tile % picture_tiles * cut.rows, end = std::min(all, begin + cut.rows);
      for (int64_t group = 0; group < s.groups; ++group) {
        if (workers.Stopped()) return;
        const int64_t at = group * group_columns + column;
        Product<A> product{inner, columns, end - begin, Patches(picture, begin, end, group), Gradients(picture, begin, end, at, columns)};
        product.out = sum + at;
        product.out_stride = s.columns;
        product.add = tile > first;
        product.workers = &workers;
        product.scratch = space;
        MatMul(product);
      }
    }
  }
};

FilterGradBlocking BlockFilterGrad(const ConvFilterGrad& s) {
  FilterGradBlocking cut;
  const Im2Col& g = s.gather;
  if (g.batch == 0) return cut;
  const int64_t pictures = g.channels_first ? g.batch : 1;
  const int64_t all = g.positions() * (g.channels_first ? 1 : g.batch);
  const int64_t inner = g.taps() * s.inner(), group_columns = s.columns / s.groups;
  if (all == 0 || pictures == 0 || s.filter_count() == 0) return cut;
  const double work = static_cast<double>(all) * static_cast<double>(pictures) * static_cast<double>(inner)
      * static_cast<double>(s.columns);
  const int64_t bounded = work > 1e15 ? int64_t{1} << 50 : static_cast<int64_t>(work);
  if (IsDepthwise(s.groups, s.inner(), s.columns)) {
    const int64_t wanted = bounded <= kSmallWork ? 1 : std::min<int64_t>(PositionLines(g), 8);
    cut.shares = std::clamp<int64_t>((int64_t{1} << 21) / s.filter_count(), 1, wanted);
    cut.column_tiles = 1;
    return cut;
  }
  cut.rows = std::min(all, std::clamp(kPatchElements / std::max<int64_t>(inner, 1), kMinRows, kMaxRows));
  const int64_t picture_tiles = DivideUp(all, cut.rows);
  cut.row_tiles = picture_tiles * pictures;
  const int64_t wanted = bounded <= kSmallWork ? 1 : std::min<int64_t>(cut.row_tiles, 8);
  cut.shares = std::clamp<int64_t>((int64_t{1} << 21) / s.filter_count(), 1, wanted);
  cut.columns = TileColumns(group_columns, bounded <= kSmallWork ? 8 : cut.shares, bounded);
  cut.column_tiles = DivideUp(group_columns, cut.columns);
  cut.patch = DivideUp(cut.rows * inner, 32) * 32;
  cut.block = DivideUp(cut.rows * cut.columns, 32) * 32;
  cut.product = MostWorkspace(inner, cut.columns, cut.rows);
  return cut;
}

}  // namespace

int64_t SharedFilterGradScratch(const ConvFilterGrad& sum) {
  const FilterGradBlocking cut = BlockFilterGrad(sum);
  return cut.workspaces() * cut.workspace_elements() + cut.shares * DivideUp(sum.filter_count(), 32) * 32;
}

template <class T>
void RunSharedFilterGrad(const ConvFilterGrad& s, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers) {
  using A = Accumulator<T>;
  const FilterGradBlocking cut = BlockFilterGrad(s);
  const int64_t count = s.filter_count(), padded = DivideUp(count, 32) * 32;
  if (cut.shares == 0) {
    FillLong(workers, filter, count, T(0));
    return;
  }
  A* sums = scratch + cut.workspaces() * cut.workspace_elements();
  auto run = [&](int64_t i) {
    if (IsDepthwise(s.groups, s.inner(), s.columns)) {
      const int64_t lines = PositionLines(s.gather);
      return SumDepthwiseFilter(s, source, gradient, i * lines / cut.shares, (i + 1) * lines / cut.shares, sums + i * padded, workers);
    }
    A* mine = scratch + i * cut.workspace_elements();
    const FilterGradShare<T> part{s, cut, source, gradient, mine, mine + cut.patch, mine + cut.patch + cut.block, workers};
    part.Run(i / cut.column_tiles, i % cut.column_tiles, sums + i / cut.column_tiles * padded);
  };
  if (cut.workspaces() == 1) {
    run(0);
  } else {
    workers.Run(cut.workspaces(), run);
  }
  workers.For(count, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t share = 1; share < cut.shares; ++share) {
      const A* part = sums + share * padded;
      for (int64_t i = begin; i < end; ++i) sums[i] += part[i];
    }
    Narrow(sums + begin, filter + begin, end - begin);
  });
}

#define WEFT_INSTANTIATE(T) template void RunIm2Col(const ConvForward&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE
#define WEFT_INSTANTIATE(T) template void RunSharedFilterGrad(const ConvFilterGrad&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
