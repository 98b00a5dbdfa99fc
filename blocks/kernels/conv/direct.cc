#include "blocks/kernels/conv/direct_blocks.h"
#include "blocks/kernels/gemm/packing.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/transpose.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kCopied = 32 * 1024;  // elements of a block's lines, where that is a line of positions at least
constexpr int64_t kSteps = 1024;        // of one sum in registers: longer ones are added up in parts, as rounding errors grow
constexpr int64_t kNearColumns = 512;   // rows of weights no longer than this are read where they are
constexpr int64_t kMostSegments = 64;
constexpr int64_t kWantedTasks = 16;
constexpr int64_t kLargeWeights = 256 * 1024;
constexpr int64_t kFewColumns = 4;  // fewer than these are summed along the taps: as tiles they would leave registers idle

/// A convolution and how it is cut: tasks are blocks within parts of the columns.
struct DirectPlan {
  ConvDesc p;
  ColumnTiles columns;
  LineBlocking cut;
  int64_t parts = 0;  // that the tiles of columns are shared out in
  int64_t tasks = 0, workspaces = 0;
  bool in_place = false;          // weights are read as they are, not packed
  bool along = false;             // sums run along the taps: weights are packed column by column
  int64_t weights = 0, block = 0;  // elements of the packed weights; of a workspace's sums, where they are not made in the output

  int64_t workspace_elements() const { return cut.patch + block; }

  /// `widened`: elements are not computed as they are.
  DirectPlan(const ConvDesc& conv, int64_t lanes, bool widened) : p(conv), columns(conv, lanes) {
    if (p.gather.direct() && p.fills()) return;  // 1x1: one matrix product
    if (p.gather.channels_first && !WorthTransposing(p)) return;
    MoveLongestAxisLast(p.gather, &p.place);
    const double work = p.work();
    const bool small = work <= kSmallConv;
    weights = DivideUp(p.steps() * p.groups * columns.padded, 32) * 32;
    const bool large = weights > kLargeWeights;  // many: a part's stay in the cache while all blocks pass
    const int64_t wanted = small ? 1 : large ? DivideUp(kWantedTasks, columns.count) : kWantedTasks;
    cut = BlockLines(p.gather, kCopied, int64_t{1} << 20, wanted);
    if (!cut.used()) return;
    parts = small ? 1 : large ? columns.count : std::min(columns.count, DivideUp(kWantedTasks / 2, cut.blocks));
    tasks = cut.blocks * parts;
    workspaces = work <= kSmallConv / 16 ? 1 : std::min(tasks, kConvWorkspaces);
    const TapRuns units(p.gather, p.inner());
    along = columns.of_group <= kFewColumns && units.run >= 2 * lanes && units.count <= kMostSegments;
    in_place = !along && !widened && columns.padded == columns.of_group && p.columns <= kNearColumns;
    if (in_place) weights = 0;
    block = widened || p.gather.channels_first || columns.of_group % lanes != 0 ? DivideUp(cut.lines * cut.strip * 2 * lanes, 32) * 32 : 0;
  }
};

/// to[j * to_step] = the sum over all units of source * weights, for kPositions positions that lie `step` apart. `starts`: what each unit
/// of the first position reads; null outside the picture. Weights are read once for all positions.
template <int kPositions, class A, class T>
void SumAlong(const A* const* starts, const TapRuns& units, int64_t step, const A* weights, T* to, int64_t to_step) {
  constexpr int kWidth = kLanes<A>;
  const int64_t whole = units.run / kWidth * kWidth, last = units.run - kWidth;
  const int fresh = static_cast<int>(whole - last);  // the first element of the last register that was not in one before
  Vec<A> sums[kPositions] = {};
  for (int64_t u = 0; u < units.count; ++u, weights += units.run) {
    const A* from = starts[u];
    if (from == nullptr) continue;
    for (int64_t i = 0; i < whole; i += kWidth) {
      const Vec<A> weight = LoadVec(weights + i);
#pragma GCC unroll 8
      for (int j = 0; j < kPositions; ++j) sums[j] += LoadVec(from + j * step + i) * weight;
    }
    if (whole == units.run) continue;
    const Vec<A> weight = LoadVec(weights + last);
#pragma GCC unroll 8
    for (int j = 0; j < kPositions; ++j) sums[j] += MaskLanes<A>(LoadVec(from + j * step + last) * weight, fresh, kWidth);
  }
#pragma GCC unroll 8
  for (int j = 0; j < kPositions; ++j) {
    A parts[2], total;
    SumLanes<2, A>(sums[j], parts);
    total = static_cast<A>(parts[0] + parts[1]);
    if constexpr (sizeof(T) == sizeof(A)) to[j * to_step] = static_cast<T>(total);
    else Narrow(&total, to + j * to_step, 1);
  }
}

template <class T>
struct DirectRunner {
  using A = Computed<T>;
  using Columns = ColumnTiles::Tile;
  const DirectPlan& plan;
  const A* weights;  // packed, or as they are
  OutputLines<T> out;

  void Run(int64_t task, LineBlock<T>& block, A* sums, StopCheck& stop) const {
    block.Load(task % plan.cut.blocks);
    const int64_t part = task / plan.cut.blocks;
    const int64_t first_tile = part * plan.columns.count / plan.parts, last_tile = (part + 1) * plan.columns.count / plan.parts;
    for (int64_t tile = first_tile; tile < last_tile; ++tile) {
      if (stop()) return;
      const Columns columns = plan.columns.At(tile);
      const int64_t width = columns.vectors * kLanes<A>, stride = out.position_step();
      const int64_t line = plan.p.place[1].stride * plan.p.place[2].size * out.pixel_step();
      const int64_t first = (columns.group * plan.columns.of_group + columns.first) * out.column_step();
      if (plan.along) {
        for (int64_t r = 0; r < block.lines; ++r) SumLineAlong(block, columns, r, out.Line(block, r) + first, stride, stop);
        continue;
      }
      if (sizeof(T) == sizeof(A) && width == columns.width && !out.planes()) {
        SumUnits(block, columns, reinterpret_cast<A*>(out.Line(block, 0) + first), line, stride, stop);
        continue;
      }
      SumUnits(block, columns, sums, block.positions * width, width, stop);
      for (int64_t r = 0; r < block.lines; ++r) out.Store(sums + r * block.positions * width, width, columns.width, block.positions, out.Line(block, r) + first);
    }
  }

  /// A line of a block, a few positions and one column at a time.
  void SumLineAlong(const LineBlock<T>& block, const Columns& columns, int64_t r, T* to, int64_t stride, StopCheck& stop) const {
    const Im2Col& g = plan.p.gather;
    const int64_t inner = plan.p.inner(), step = g.axes[2].step * g.channels;
    const TapRuns units(g, inner);
    const A* panel = weights + g.taps() * inner * (columns.group * plan.columns.padded + columns.first);
    const A* starts[kMostSegments];
    for (int64_t u = 0; u < units.count; ++u) {
      starts[u] = units.Start(block, r, u);
      if (starts[u] != nullptr) starts[u] += columns.group * inner;
    }
    for (int64_t w = 0, count; w < block.positions; w += count, to += count * stride) {
      count = block.positions - w >= 4 ? 4 : 1;
      if (stop(1 + units.count * units.run * columns.width / 4)) return;
      for (int64_t c = 0; c < columns.width; ++c) {
        const A* column = panel + c * g.taps() * inner;
        if (count == 4) SumAlong<4>(starts, units, step, column, to + c * out.column_step(), stride);
        else SumAlong<1>(starts, units, step, column, to + c * out.column_step(), stride);
      }
      for (int64_t u = 0; u < units.count; ++u) starts[u] += starts[u] != nullptr ? count * step : 0;
    }
  }

  /// One tile of columns for all positions of a block, in parts of kSteps steps or a few more: the weights of a part stay in the cache
  /// while all positions pass. A part is some runs of taps, or a slice of one.
  void SumUnits(const LineBlock<T>& block, const Columns& columns, A* to, int64_t to_line, int64_t stride, StopCheck& stop) const {
    const Im2Col& g = plan.p.gather;
    const int64_t inner = plan.p.inner(), step = g.axes[2].step * g.channels, row = plan.in_place ? plan.p.columns : columns.vectors * kLanes<A>;
    const TapRuns units(g, inner);
    const A* panel = weights + (plan.in_place ? 1 : plan.p.steps()) * (columns.group * plan.columns.padded + columns.first);
    const int64_t pieces = DivideUp(units.run, kSteps), most = std::clamp<int64_t>(kSteps * pieces / units.run, 1, kMostSegments);
    const int64_t together = DivideUp(units.count, DivideUp(units.count, most));
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t begin = piece * units.run / pieces, depth = (piece + 1) * units.run / pieces - begin;
      for (int64_t unit = 0; unit < units.count; unit += together) {
        const int64_t last = std::min(units.count, unit + together);
        for (int64_t r = 0; r < block.lines; ++r) {
          if (stop(1 + (last - unit) * depth * block.positions / 4)) return;
          Segment<A> segments[kMostSegments];
          int64_t count = 0;
          for (int64_t u = unit; u < last; ++u) {
            const A* start = units.Start(block, r, u);
            if (start != nullptr) segments[count++] = {start + columns.group * inner + begin, panel + (u * units.run + begin) * row};
          }
          RunMicroKernel(MicroTile<A>{segments, count, depth, step, 1, row, to + r * to_line, stride, piece > 0 || unit > 0}, block.positions, columns.vectors);
        }
      }
    }
  }
};

}  // namespace

bool TakesDirect(const ConvDesc& conv) { return DirectPlan(conv, kLanes<float>, false).cut.used(); }

int64_t DirectScratch(const ConvDesc& conv, bool widened) {
  const auto of = [&](int64_t lanes) {
    const DirectPlan plan(conv, lanes, widened);
    return plan.weights + plan.workspaces * plan.workspace_elements();
  };
  return std::max(of(kLanes<float>), of(kLanes<double>));
}

template <class T>
void RunDirect(const ConvDesc& conv, const T* source, const T* weights, T* out, Computed<T>* scratch, Workers& workers) {
  using A = Computed<T>;
  const DirectPlan plan(conv, kLanes<A>, sizeof(T) != sizeof(A));
  const DirectRunner<T> runner{plan, plan.in_place ? reinterpret_cast<const A*>(weights) : scratch, {plan.p, out}};
  const int64_t steps = conv.steps(), grain = std::max<int64_t>(1, 65536 / (steps * 2 * kLanes<A>));
  ForEach(workers, plan.in_place ? 0 : plan.columns.count, grain, [&](int64_t tile) {
    const auto columns = plan.columns.At(tile);
    const T* from = weights + columns.group * plan.columns.of_group + columns.first;
    A* to = scratch + steps * (columns.group * plan.columns.padded + columns.first);
    if (plan.along) Pack<1>(from, 1, plan.p.columns, columns.width, steps, to);
    else PackRight(MatrixView<T>{from, plan.p.columns, 1}, columns.width, steps, to);
  });
  A* const own = scratch + plan.weights;
  auto run_share = [&](int64_t i) {
    A* patch = own + i * plan.workspace_elements();
    LineBlock<T> block(plan.p.gather, plan.cut, source, patch);
    StopCheck stop(workers);
    for (int64_t task = i * plan.tasks / plan.workspaces, end = (i + 1) * plan.tasks / plan.workspaces; task < end && !stop(); ++task) {
      runner.Run(task, block, patch + plan.cut.patch, stop);
    }
  };
  if (plan.workspaces == 1) run_share(0);
  else workers.Run(plan.workspaces, run_share);
}

#define WEFT_INSTANTIATE(T) template void RunDirect(const ConvDesc&, const T*, const T*, T*, Computed<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)

}  // namespace weft::kernels
