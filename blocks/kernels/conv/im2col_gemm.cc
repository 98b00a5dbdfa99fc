#include "blocks/kernels/conv/implementations.h"
#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {
namespace {

constexpr int64_t kPatchElements = 256 * 1024;  // of a workspace, where that leaves enough rows
constexpr int64_t kMinRows = 96, kMaxRows = 768;
// Of a window so large that kMinRows of its patches would take more, a workspace; and of all workspaces, of which there are two or more.
constexpr int64_t kMostPatchElements = int64_t{1} << 23, kMostPatchesElements = int64_t{1} << 26;
constexpr int64_t kWideColumns = 128;  // columns are cut only above this

int64_t WholeLines(int64_t elements) { return DivideUp(elements, int64_t{32}) * 32; }
/// Elements from row to row of so many positions' patches with channels first: lines of the cache, and an odd number, so that what products
/// read of each row is one line, and that of all rows goes to different sets of the nearest cache. Less than a line is not filled up.
int64_t PatchStride(int64_t positions) { return positions < 16 ? positions : (DivideUp(positions, int64_t{16}) | 1) * 16; }

/// How a convolution's matrices, one for all pictures where channels are last, else one each, are cut into tiles; all 0 for nothing to do.
struct ConvBlocking {
  int64_t pictures = 0, all = 0;              // matrices, and the positions of one
  int64_t rows = 0, row_tiles = 0;            // positions of a tile; tiles of a matrix
  int64_t columns = 0, column_tiles = 0;      // of a tile; tiles of a group
  int64_t work = 0;                           // multiplications, bounded
  int64_t patch = 0, block = 0, product = 0;  // elements of a workspace: patches; products or gradients; what matrix products need

  explicit ConvBlocking(const ConvDesc& conv)
      : pictures(conv.gather.channels_first ? conv.gather.batch : 1),
        all(conv.gather.positions() * (conv.gather.channels_first ? 1 : conv.gather.batch)),
        work(conv.work() > 1e15 ? int64_t{1} << 50 : static_cast<int64_t>(conv.work())) {}

  /// Elements of a tile's patches, of some steps (or columns).
  int64_t PatchElements(const Im2Col& g, int64_t steps) const { return WholeLines((g.channels_first ? PatchStride(rows) : rows) * steps); }
  /// `patch_steps`: those that are copied, all or none.
  int64_t CachedRows(int64_t steps, int64_t patch_steps) const {
    const int64_t least = std::clamp<int64_t>(kMostPatchElements / std::max<int64_t>(patch_steps, 1), 1, kMinRows);
    return std::min(all, std::clamp(kPatchElements / std::max<int64_t>(steps, 1), least, kMaxRows));
  }
  void CutRows(int64_t most) {
    rows = most;
    row_tiles = DivideUp(all, rows);
  }
  /// Cuts the columns of a group where there are too few other tiles to share out.
  void CutColumns(int64_t group_columns, int64_t other_tiles) {
    columns = group_columns;
    if (work > kSmallConv && other_tiles < 8 && columns >= 2 * kWideColumns) {
      const int64_t tiles = std::min(DivideUp(8, std::max<int64_t>(other_tiles, 1)), columns / kWideColumns);
      columns = WholeLines(DivideUp(columns, tiles));
    }
    column_tiles = DivideUp(group_columns, columns);
  }
};

/// Positions [begin, end) of a matrix.
struct Rows {
  int64_t picture, begin, end;
};

/// Their patches of the channels [first, first + count) as a matrix [positions, taps * count]: where the pictures have it, or in `patch`.
template <class A, class T>
MatrixView<A> PatchMatrix(const Im2Col& g, const T* source, const Rows& rows, int64_t first, int64_t count, A* patch,
                          const Workers& workers) {
  StopCheck stop(workers);
  if (g.channels_first) {
    const T* const planes = source + rows.picture * g.channels * g.pixels();
    if constexpr (std::is_same_v<T, A>) {
      if (g.direct()) return MatrixView<A>{planes + first * g.pixels() + rows.begin, g.pixels(), 1}.Transposed();
    }
    const int64_t stride = PatchStride(rows.end - rows.begin);
    Im2ColColumns(g, planes, first, count, rows.begin, rows.end, stride, patch, stop);
    return MatrixView<A>{patch, stride, 1}.Transposed();
  }
  if constexpr (std::is_same_v<T, A>) {
    if (g.direct()) return {source + rows.begin * g.channels + first, g.channels, 1};
  }
  Im2ColRows(g, source, first, count, rows.begin, rows.end, patch, stop);
  return {patch, g.taps() * count, 1};
}

// ---- the convolution -------------------------------------------------------------------------------------------------------------

struct ForwardBlocking : ConvBlocking {
  int64_t tasks = 0, workspaces = 0;
  /// Elements of T, then those of the matrix products.
  int64_t workspace_elements() const { return patch + block; }

  explicit ForwardBlocking(const ConvDesc& conv) : ConvBlocking(conv) {
    const int64_t steps = conv.steps(), group_columns = conv.columns / conv.groups, patch_steps = conv.gather.direct() ? 0 : steps;
    if (all == 0 || pictures == 0 || group_columns == 0) return;
    work /= pictures;
    // Many rows: enough to be worth packing the weights for; but few enough for the cache, and for some tiles.
    CutRows(work <= kSmallConv ? all : std::min(CachedRows(steps, patch_steps), std::max(kMinRows, DivideUp(all, DivideUp(8, pictures)))));
    CutColumns(group_columns, row_tiles * pictures * conv.groups);
    tasks = pictures * row_tiles * conv.groups * column_tiles;
    workspaces = work <= kSmallConv / 16 ? 1 : std::min(tasks, kConvWorkspaces);
    patch = PatchElements(conv.gather, patch_steps);
    workspaces = std::min(workspaces, std::max<int64_t>(2, kMostPatchesElements / std::max<int64_t>(patch, 1)));
    block = conv.fills() ? 0 : WholeLines(rows * columns);
    product = MostWorkspace(rows, columns, steps);
  }
};

template <class T>
struct ForwardRunner {
  const ConvDesc& conv;
  const ForwardBlocking& cut;
  const T* source;
  const T* filter;
  T* out;
  T* patch;
  T* block;
  void* space;  // of matrix products
  const Workers& workers;

  int64_t OutPixel(const PositionWalk& at) const {
    const auto& [d, h, w] = conv.place;
    return ((d.first + at.d * d.stride) * h.size + h.first + at.h * h.stride) * w.size + w.first + at.w * w.stride;
  }

  /// Tasks: columns within groups within rows within pictures. Where channels come first, products are transposed.
  void Run(int64_t task) const {
    const Im2Col& g = conv.gather;
    const bool first = g.channels_first;
    const int64_t group = task / cut.column_tiles % conv.groups, row_tile = task / (cut.column_tiles * conv.groups);
    const int64_t group_columns = conv.columns / conv.groups, in_group = task % cut.column_tiles * cut.columns;
    const int64_t columns = std::min(cut.columns, group_columns - in_group), column = group * group_columns + in_group;
    const int64_t begin = row_tile % cut.row_tiles * cut.rows, end = std::min(cut.all, begin + cut.rows), rows = end - begin;
    const Rows tile{row_tile / cut.row_tiles, begin, end};

    const MatrixView<T> patches = PatchMatrix(g, source, tile, group * conv.inner(), conv.inner(), patch, workers);
    const MatrixView<T> weights{filter + column, conv.columns, 1};
    Product<T> product{rows, columns, conv.steps(), patches, weights};
    if (first) product = {columns, rows, conv.steps(), weights.Transposed(), patches.Transposed()};
    // How many positions a tile has depends on the batch, and so does how many columns it has where there are many.
    product.order = first || group_columns >= kWideColumns ? SumOrder::kBySteps : SumOrder::kByColumns;
    const int64_t pixels = conv.place[0].size * conv.place[1].size * conv.place[2].size;
    const int64_t pixel_step = first ? 1 : conv.columns, column_step = first ? pixels : 1;
    T* const to = out + tile.picture * conv.columns * pixels + column * column_step;
    product.out = conv.fills() ? to + begin * pixel_step : block;
    product.out_stride = conv.fills() ? std::max(pixel_step, column_step) : product.columns;
    product.workers = &workers;
    product.scratch = space;
    MatMul(product);
    if (conv.fills()) return;
    for (int64_t row = begin; row < end; ++row) {
      const PositionWalk at(g, row % g.positions());
      T* const pixel = to + (row / g.positions() * pixels + OutPixel(at)) * pixel_step;
      const T* const from = first ? block + (row - begin) : block + (row - begin) * columns;
      for (int64_t c = 0; c < columns; ++c) pixel[c * column_step] = from[first ? c * rows : c];
    }
  }
};

}  // namespace

int64_t Im2ColScratch(const ConvDesc& conv) {
  const ForwardBlocking cut(conv);
  return cut.workspaces * (cut.workspace_elements() + cut.product);
}

template <class T>
void RunIm2Col(const ConvDesc& conv, const T* source, const T* filter, T* out, Accumulator<T>* scratch, Workers& workers) {
  const ForwardBlocking cut(conv);
  auto run_share = [&](int64_t i) {
    T* mine = reinterpret_cast<T*>(scratch) + i * cut.workspace_elements();
    Accumulator<T>* const product = scratch + cut.workspaces * cut.workspace_elements() + i * cut.product;
    const ForwardRunner<T> runner{conv, cut, source, filter, out, mine, mine + cut.patch, product, workers};
    StopCheck stop(workers);
    const double tile = static_cast<double>(cut.rows) * static_cast<double>(cut.columns) * static_cast<double>(conv.steps());
    const int64_t work = 1 + static_cast<int64_t>(std::min(tile / 16, 1e15));  // some multiplications are one item
    for (int64_t task = i * cut.tasks / cut.workspaces, end = (i + 1) * cut.tasks / cut.workspaces; task < end && !stop(work); ++task) {
      runner.Run(task);
    }
  };
  if (cut.workspaces == 1) return run_share(0);
  workers.Run(cut.workspaces, run_share);
}

// ---- the gradient of the filter ------------------------------------------------------------------------------------------------

namespace {

struct FilterGradBlocking : ConvBlocking {
  int64_t shares = 0;  // sums that are made apart and then added up in order
  int64_t workspaces() const { return shares * column_tiles; }
  int64_t workspace_elements() const { return patch + block + product; }
  int64_t sums = 0;  // elements of a share's

  explicit FilterGradBlocking(const ConvDesc& conv) : ConvBlocking(conv) {
    const bool small = work <= kSmallConv;
    CutRows(CachedRows(conv.steps(), conv.steps()));
    shares = std::clamp<int64_t>((int64_t{1} << 21) / conv.filter_count(), 1, small ? 1 : std::min(row_tiles * pictures, kFilterShares));
    CutColumns(conv.columns / conv.groups, shares);
    patch = PatchElements(conv.gather, conv.steps());
    block = PatchElements(conv.gather, columns);
    product = MostWorkspace(conv.steps(), columns, rows);
    sums = WholeLines(conv.filter_count());
  }
};

template <class T>
struct FilterGradShare {
  using A = Accumulator<T>;
  const ConvDesc& conv;
  const FilterGradBlocking& cut;
  const T* source;
  const T* gradient;
  A* space;
  const Workers& workers;

  /// Adds up the row tiles of a share for one tile of columns into `sum`, laid out as the filter.
  void Run(int64_t share, int64_t column_tile, A* sum) const {
    const Im2Col& g = conv.gather;
    Im2Col gradients{g.channels_first, g.batch, conv.columns, {}};
    gradients.axes[2].source = gradients.axes[2].positions = g.positions();
    const int64_t group_columns = conv.columns / conv.groups, tiles = cut.row_tiles * cut.pictures;
    const int64_t in_group = column_tile * cut.columns, columns = std::min(cut.columns, group_columns - in_group);
    const int64_t first = share * tiles / cut.shares, last = (share + 1) * tiles / cut.shares;
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t begin = tile % cut.row_tiles * cut.rows;
      const Rows rows{tile / cut.row_tiles, begin, std::min(cut.all, begin + cut.rows)};
      for (int64_t group = 0; group < conv.groups; ++group) {
        if (workers.Stopped()) return;
        const int64_t column = group * group_columns + in_group;
        Product<A> product{conv.steps(), columns, rows.end - begin,
                           PatchMatrix(g, source, rows, group * conv.inner(), conv.inner(), space, workers).Transposed(),
                           PatchMatrix(gradients, gradient, rows, column, columns, space + cut.patch, workers)};
        product.out = sum + column;
        product.out_stride = conv.columns;
        product.add = tile > first;
        product.workers = &workers;
        product.scratch = space + cut.patch + cut.block;
        MatMul(product);
      }
    }
  }
};

}  // namespace

int64_t Im2ColFilterGradScratch(const ConvDesc& conv) {
  const FilterGradBlocking cut(conv);
  return cut.workspaces() * cut.workspace_elements() + cut.shares * cut.sums;
}

template <class T>
void RunIm2ColFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers) {
  const FilterGradBlocking cut(conv);
  Accumulator<T>* const sums = scratch + cut.workspaces() * cut.workspace_elements();
  auto run = [&](int64_t i) {
    const FilterGradShare<T> part{conv, cut, source, gradient, scratch + i * cut.workspace_elements(), workers};
    part.Run(i / cut.column_tiles, i % cut.column_tiles, sums + i / cut.column_tiles * cut.sums);
  };
  if (cut.workspaces() == 1) run(0);
  else workers.Run(cut.workspaces(), run);
  JoinFilterShares(conv, sums, cut.shares, cut.sums, conv.columns / conv.groups, filter, workers);
}

#define WEFT_INSTANTIATE(T) template void RunIm2Col(const ConvDesc&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE
#define WEFT_INSTANTIATE(T) template void RunIm2ColFilterGrad(const ConvDesc&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)

}  // namespace weft::kernels
