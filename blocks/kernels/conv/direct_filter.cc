// The gradient of a convolution by its filter, line by line: for each line of taps, rows of the filter that lie side by side times columns
// of the gradient, summed in registers over a block of positions.
#include "blocks/kernels/conv/depthwise.h"
#include "blocks/kernels/conv/direct.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kCopied = 32 * 1024;  // elements of a block's lines, where that is a line of positions at least
constexpr int64_t kPositions = 224;     // of a block: its gradients and the pixels that a tile reads stay in the cache
constexpr EdgeRule kEdges = {1, 48};    // they are sums of their own
constexpr int64_t kBadStride = 1024;
constexpr int64_t kShares = 8;
constexpr int64_t kNearSums = 96 * 1024;         // elements of a workspace's part
constexpr int64_t kMostSums = int64_t{1} << 21;  // elements of all shares
constexpr int64_t kSmallWork = 1 << 16;          // multiplications below which one task does all
constexpr int64_t kNearColumns = 32;             // gradients of more columns are copied, so that they lie close together
constexpr int64_t kMostSegments = kPositions;    // lines of a block have a position at least

/// A sum and how it is cut: tasks are parts of the columns within shares of the blocks.
struct FilterGradPlan {
  ConvFilterGrad s;
  LineBlocking cut;
  int64_t shares = 0, tiles = 0, parts = 0;                        // tiles of columns, of all groups
  int64_t group_columns = 0, group_tiles = 0, padded_columns = 0;  // of a group, with those that fill its last register
  int64_t sums = 0, gradients = 0;

  int64_t workspaces() const { return shares * parts; }
  int64_t workspace_elements() const { return cut.patch + gradients; }
  int64_t row() const { return s.groups * padded_columns; }

  FilterGradPlan(const ConvFilterGrad& sum, int64_t vec_lanes) : s(sum) {
    if (s.gather.batch == 0 || s.filter_count() == 0 || IsDepthwise(s.groups, s.inner(), s.columns)) return;
    if (!s.gather.channels_first && s.gather.direct()) {  // a line of all pixels
      s.gather.axes[2].source = s.gather.axes[2].positions = s.gather.batch * s.gather.pixels();
      s.gather.axes[0] = s.gather.axes[1] = ConvAxis{};
      s.gather.batch = 1;
    }
    MoveLongestAxisLast(s.gather, nullptr);
    const double work =
        static_cast<double>(s.gather.batch) * static_cast<double>(s.gather.positions()) * static_cast<double>(s.filter_count());
    cut = BlockLines(s.gather, kCopied, kPositions, work <= kSmallWork ? 1 : kShares, kBadStride);
    if (!cut.used()) return;
    const int64_t width = 2 * vec_lanes;
    group_columns = s.columns / s.groups;
    group_tiles = DivideUp(group_columns, width);
    padded_columns = DivideUp(group_columns, vec_lanes) * vec_lanes;
    tiles = s.groups * group_tiles;
    sums = DivideUp(s.gather.taps() * s.inner() * row(), 32) * 32;
    // Large sums are cut by columns, so that a task's stay in the cache.
    const bool small = work <= kSmallWork;
    parts = small ? 1 : DivideUp(tiles, std::max<int64_t>(1, kNearSums * tiles / sums));
    shares = std::clamp<int64_t>(kMostSums / sums, 1, small ? 1 : std::min(cut.blocks, DivideUp(kShares, parts)));
    if (!small) parts = std::max(parts, std::min(tiles, DivideUp(kShares, shares)));
    gradients = DivideUp(cut.lines * cut.strip * width, 32) * 32;
  }
};

template <class T>
struct FilterGradRunner {
  using A = Computed<T>;
  static constexpr int64_t kWide = 2 * kLanes<A>;
  const FilterGradPlan& plan;
  const T* gradient;

  const T* GradientLine(const LineBlock<T>& block, int64_t r) const {
    const auto& [depth, height, width] = plan.s.gather.axes;
    const int64_t line = (block.picture * depth.positions + block.d) * height.positions + block.line + r;
    return gradient + (line * width.positions + block.position) * plan.s.columns;
  }

  /// The gradients of the block after `block`, or near them.
  MemoryRange NextGradient(const LineBlock<T>& block) const {
    const int64_t line = plan.s.gather.axes[2].positions * plan.s.columns, begin = GradientLine(block, block.lines) - gradient;
    const int64_t end = std::min(begin + plan.cut.lines * line, plan.s.gather.batch * plan.s.gather.positions() * plan.s.columns);
    return begin < end ? MemoryRange{gradient + begin, (end - begin) * static_cast<int64_t>(sizeof(T))} : MemoryRange{};
  }

  /// Adds the blocks [first, last) to one part of the columns of `sums`, or makes it of them.
  void Run(int64_t first, int64_t last, int64_t part, LineBlock<T>& block, A* copy, A* sums, const Workers& workers) const {
    StopCheck stop(workers);
    for (int64_t index = first; index < last; ++index) {
      if (stop()) return;
      block.Load(index);
      const int64_t first_tile = part * plan.tiles / plan.parts, last_tile = (part + 1) * plan.tiles / plan.parts;
      const TapRuns units(plan.s.gather, plan.s.inner(), block.pixel());
      const bool more = index + 1 < last;
      Prefetcher ahead(more ? block.NewLines(index + 1) : MemoryRange{}, more ? NextGradient(block) : MemoryRange{},
                  (last_tile - first_tile) * units.count);
      for (int64_t tile = first_tile; tile < last_tile; ++tile) {
        const int64_t group = tile / plan.group_tiles, column = tile % plan.group_tiles * kWide;
        AddBlock(block, group, column, copy, sums + group * plan.padded_columns + column, index > first, ahead, stop);
        if (stop()) return;
      }
    }
  }

  void AddBlock(const LineBlock<T>& block, int64_t group, int64_t column, A* copy, A* sums, bool add, Prefetcher& ahead,
                StopCheck& stop) const {
    const Im2Col& g = plan.s.gather;
    const int64_t columns = std::min(kWide, plan.group_columns - column), inner = plan.s.inner();
    const int vectors = columns <= kLanes<A> ? 1 : 2;
    const int64_t width = vectors * kLanes<A>, first = group * plan.group_columns + column;
    const bool direct = std::is_same_v<T, A> && columns == width && plan.s.columns <= kNearColumns;
    const A* lines[kMostSegments];
    for (int64_t r = 0; r < block.lines; ++r) {
      const T* from = GradientLine(block, r) + first;
      A* to = copy + r * block.positions * width;
      lines[r] = direct ? reinterpret_cast<const A*>(from) : to;
      if (!direct) CopyColumns(from, block.positions, columns, vectors, to);
    }
    const int64_t step = g.axes[2].step * block.pixel(), right_step = direct ? plan.s.columns : width;
    const int64_t line_step = direct ? g.axes[2].positions * plan.s.columns : block.positions * width;
    const TapRuns units(g, inner, block.pixel());
    for (int64_t unit = 0; unit < units.count; ++unit) {
      if (stop(1 + units.run * block.lines * block.positions / 4)) return;
      // The positions of a line are a segment; of the edges, those below one another are.
      Segment<A> inners[kMostSegments], edges[kMostSegments];
      int64_t inner_count = 0, edge_count = 0;
      for (int64_t r = 0; r < block.lines; ++r) {
        const A* start = units.Start(g, block, r, unit);
        if (start != nullptr) inners[inner_count++] = {start + group * inner, lines[r] + block.inner_begin * right_step};
      }
      for (const Edge& edge : block.edges) {
        const A* start = edge.count > 0 ? units.EdgeStart(g, block, edge, unit) : nullptr;
        for (int64_t w = 0; w < edge.count && start != nullptr; ++w) {
          edges[edge_count++] = {start + group * inner + w * step, lines[0] + (edge.first + w) * right_step};
        }
      }
      A* const out = sums + unit * units.run * plan.row();
      const Accumulate accumulate = add ? Accumulate::kAtEnd : Accumulate::kNo;
      MicroTile<A> tile{inners, inner_count, block.inner_end - block.inner_begin, 1, step, right_step, out, plan.row(), accumulate};
      const MicroTile<A> edge_tile{edges, edge_count, block.lines, 1, block.edge_step(), line_step, out, plan.row(), Accumulate::kAtEnd};
      tile.fetch = ahead.Next(DivideUp(units.run, vectors == 2 ? kMostRows<2> : kMostRows<1>) * inner_count * tile.depth);
      vectors == 2 ? RunMicroKernel<true, 2>(tile, units.run) : RunMicroKernel<true, 1>(tile, units.run);
      if (edge_count > 0) vectors == 2 ? RunMicroKernel<true, 2>(edge_tile, units.run) : RunMicroKernel<true, 1>(edge_tile, units.run);
    }
  }

  /// `positions` rows of `columns` elements, side by side with zeros after them that fill `vectors` registers.
  void CopyColumns(const T* from, int64_t positions, int64_t columns, int vectors, A* to) const {
    const int64_t width = vectors * kLanes<A>;
    for (int64_t w = 0; w < positions; ++w, from += plan.s.columns, to += width) {
      if (std::is_same_v<T, A> && columns == width) {
        for (int v = 0; v < vectors; ++v) StoreVec(to + v * kLanes<A>, LoadVec(from + v * kLanes<A>));
      } else {
        CopyShort(from, to, columns);
        std::fill(to + columns, to + width, A(0));
      }
    }
  }
};

}  // namespace

int64_t DirectFilterGradScratch(const ConvFilterGrad& sum) {
  const auto of = [&](int64_t vec_lanes) {
    const FilterGradPlan plan(sum, vec_lanes);
    return plan.cut.used() ? plan.workspaces() * plan.workspace_elements() + plan.shares * plan.sums : 0;
  };
  return std::max(of(kLanes<float>), of(kLanes<double>));
}

template <class T>
bool RunDirectFilterGrad(const ConvFilterGrad& sum, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers) {
  using A = Computed<T>;
  const FilterGradPlan plan(sum, kLanes<A>);
  if (!plan.cut.used()) return false;
  A* const sums = scratch + plan.workspaces() * plan.workspace_elements();
  const FilterGradRunner<T> runner{plan, gradient};
  auto run_share = [&](int64_t i) {
    const int64_t share = i / plan.parts, blocks = plan.cut.blocks;
    A* patch = scratch + i * plan.workspace_elements();
    LineBlock<T> block(plan.s.gather, plan.cut, source, patch, kEdges);
    runner.Run(share * blocks / plan.shares, (share + 1) * blocks / plan.shares, i % plan.parts, block, patch + plan.cut.patch,
               sums + share * plan.sums, workers);
  };
  if (plan.workspaces() == 1) run_share(0);
  else workers.Run(plan.workspaces(), run_share);
  // The shares are added up in order.
  const int64_t rows = plan.s.gather.taps() * plan.s.inner(), row = plan.row();
  workers.For(rows, std::max<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
    for (int64_t share = 1; share < plan.shares; ++share) {
      const A* part = sums + share * plan.sums;
      for (int64_t i = begin * row; i < end * row; ++i) sums[i] += part[i];
    }
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t group = 0; group < plan.s.groups; ++group) {
        Narrow(sums + r * row + group * plan.padded_columns, filter + r * plan.s.columns + group * plan.group_columns, plan.group_columns);
      }
    }
  });
  return true;
}

#define WEFT_INSTANTIATE(T) template bool RunDirectFilterGrad(const ConvFilterGrad&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
