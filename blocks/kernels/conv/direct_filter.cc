// The gradient of a convolution by its filter, line by line: for each line of taps, rows of the filter that lie side by side times columns
// of the gradient, summed in registers over a block of positions.
#include "blocks/kernels/conv/direct_blocks.h"
#include "blocks/kernels/gemm/packing.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kCopied = 32 * 1024;  // elements of a block's lines, where that is a line of positions at least
constexpr int64_t kPositions = 224;     // of a block: its gradients and the pixels that a tile reads stay in the cache
constexpr int64_t kNearSums = 96 * 1024;         // elements of a workspace's part
constexpr int64_t kMostSums = int64_t{1} << 21;  // elements of all shares
constexpr int64_t kNearColumns = 32;             // gradients of more columns are copied, so that they lie close together
constexpr int64_t kMostSegments = kPositions;    // lines of a block have a position at least

/// A sum and how it is cut: tasks are parts of the columns within shares of the blocks.
struct FilterGradPlan {
  ConvDesc s;
  ColumnTiles columns;
  LineBlocking cut;
  int64_t shares = 0, parts = 0;
  int64_t sums = 0, gradients = 0;

  int64_t workspaces() const { return shares * parts; }
  int64_t workspace_elements() const { return cut.patch + gradients; }
  int64_t row() const { return s.groups * columns.padded; }

  FilterGradPlan(const ConvDesc& conv, int64_t lanes) : s(conv), columns(conv, lanes) {
    if (s.gather.channels_first && (s.gather.direct() || !WorthTransposing(s))) return;
    if (s.gather.direct()) {  // small pictures as one line of all pixels: sums are read and written less often
      s.gather.axes[2].source = s.gather.axes[2].positions = s.gather.batch * s.gather.pixels();
      s.gather.axes[0] = s.gather.axes[1] = ConvAxis{};
      s.gather.batch = 1;
    }
    MoveLongestAxisLast(s.gather, nullptr);
    const bool small = s.work() <= kSmallConv;
    cut = BlockLines(s.gather, kCopied, kPositions, small ? 1 : kFilterShares);
    if (!cut.used()) return;
    sums = DivideUp(s.steps() * row(), 32) * 32;
    // Large sums are cut by columns, so that a task's stay in the cache.
    parts = small ? 1 : DivideUp(columns.count, std::max<int64_t>(1, kNearSums * columns.count / sums));
    shares = std::clamp<int64_t>(kMostSums / sums, 1, small ? 1 : std::min(cut.blocks, DivideUp(kFilterShares, parts)));
    if (!small) parts = std::max(parts, std::min(columns.count, DivideUp(kFilterShares, shares)));
    gradients = DivideUp(cut.lines * cut.strip * 2 * lanes, 32) * 32;
  }
};

template <class T>
struct FilterGradRunner {
  using A = Computed<T>;
  const FilterGradPlan& plan;
  const T* gradient;

  /// The gradients of a block's `r`-th line from column `first` on, a row for each position.
  MatrixView<T> GradientLine(const LineBlock<T>& block, int64_t r, int64_t first) const {
    const auto& [depth, height, width] = plan.s.gather.axes;
    const int64_t position = (block.d * height.positions + block.line + r) * width.positions + block.position;
    const int64_t all = plan.s.gather.positions();
    const T* const picture = gradient + block.picture * all * plan.s.columns;
    if (plan.s.gather.channels_first) return {picture + first * all + position, 1, all};
    return {picture + position * plan.s.columns + first, plan.s.columns, 1};
  }

  /// Adds the blocks [first, last) to one part of the columns of `sums`, or makes it of them.
  void Run(int64_t first, int64_t last, int64_t part, LineBlock<T>& block, A* copy, A* sums, const Workers& workers) const {
    StopCheck stop(workers);
    for (int64_t index = first; index < last; ++index) {
      if (stop()) return;
      block.Load(index);
      const int64_t first_tile = part * plan.columns.count / plan.parts, last_tile = (part + 1) * plan.columns.count / plan.parts;
      for (int64_t tile = first_tile; tile < last_tile; ++tile) {
        const ColumnTiles::Tile columns = plan.columns.At(tile);
        AddBlock(block, columns, copy, sums + columns.group * plan.columns.padded + columns.first, index > first, stop);
        if (stop()) return;
      }
    }
  }

  void AddBlock(const LineBlock<T>& block, const ColumnTiles::Tile& columns, A* copy, A* sums, bool add, StopCheck& stop) const {
    const Im2Col& g = plan.s.gather;
    const int vectors = columns.vectors;
    const int64_t width = vectors * kLanes<A>, first = columns.group * plan.columns.of_group + columns.first;
    const int64_t channel = columns.group * plan.s.inner();
    const bool direct = std::is_same_v<T, A> && !g.channels_first && columns.width == width && plan.s.columns <= kNearColumns;
    const A* lines[kMostSegments];
    for (int64_t r = 0; r < block.lines; ++r) {
      const MatrixView<T> from = GradientLine(block, r, first);
      A* to = copy + r * block.positions * width;
      lines[r] = direct ? reinterpret_cast<const A*>(from.data) : to;
      if (!direct) PackRight(from, columns.width, block.positions, to);
    }
    const TapRuns units(g, plan.s.inner());
    for (int64_t unit = 0; unit < units.count; ++unit) {
      if (stop(1 + units.run * block.lines * block.positions / 4)) return;
      Segment<A> segments[kMostSegments];  // the positions of a line each
      int64_t count = 0;
      for (int64_t r = 0; r < block.lines; ++r) {
        const A* start = units.Start(block, r, unit);
        if (start != nullptr) segments[count++] = {start + channel, lines[r]};
      }
      const MicroTile<A> tile{segments, count, block.positions, 1, g.axes[2].step * g.channels, direct ? plan.s.columns : width,
                              sums + unit * units.run * plan.row(), plan.row(), add};
      RunMicroKernel(tile, units.run, vectors);
    }
  }
};

}  // namespace

bool TakesDirectFilterGrad(const ConvDesc& conv) { return FilterGradPlan(conv, kLanes<float>).cut.used(); }

int64_t DirectFilterGradScratch(const ConvDesc& conv) {
  const auto of = [&](int64_t lanes) {
    const FilterGradPlan plan(conv, lanes);
    return plan.workspaces() * plan.workspace_elements() + plan.shares * plan.sums;
  };
  return std::max(of(kLanes<float>), of(kLanes<double>));
}

template <class T>
void RunDirectFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers) {
  const FilterGradPlan plan(conv, kLanes<Computed<T>>);
  Computed<T>* const sums = scratch + plan.workspaces() * plan.workspace_elements();
  const FilterGradRunner<T> runner{plan, gradient};
  auto run_share = [&](int64_t i) {
    const int64_t share = i / plan.parts, blocks = plan.cut.blocks;
    Computed<T>* const patch = scratch + i * plan.workspace_elements();
    LineBlock<T> block(plan.s.gather, plan.cut, source, patch);
    runner.Run(share * blocks / plan.shares, (share + 1) * blocks / plan.shares, i % plan.parts, block, patch + plan.cut.patch,
               sums + share * plan.sums, workers);
  };
  if (plan.workspaces() == 1) run_share(0);
  else workers.Run(plan.workspaces(), run_share);
  JoinFilterShares(conv, sums, plan.shares, plan.sums, plan.columns.padded, filter, workers);
}

#define WEFT_INSTANTIATE(T) template void RunDirectFilterGrad(const ConvDesc&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)

}  // namespace weft::kernels
