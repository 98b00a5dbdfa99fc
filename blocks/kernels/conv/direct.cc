#include "blocks/kernels/conv/direct.h"

#include <limits>

#include "blocks/kernels/conv/depthwise.h"
#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kCopied = 32 * 1024;  // elements of a block's lines, where that is a line of positions at least
constexpr int64_t kSteps = 1024;        // of one sum in registers: longer ones are added up in parts, as rounding errors grow
constexpr int64_t kNearColumns = 512;   // rows of weights no longer than this are read where they are
constexpr int64_t kMostSegments = 64;
constexpr EdgeRule kEdges = {4, 8};  // fewer lines leave registers idle
constexpr EdgeRule kNoEdges = {std::numeric_limits<int64_t>::max(), 1};
constexpr int64_t kSmallWork = 1 << 16;  // multiplications below which one task does all
constexpr int64_t kMostWorkspaces = 16, kWantedTasks = 16;
constexpr double kFetched = 256 * 1024;  // elements of the picture and the result, where they are fetched in advance
constexpr int64_t kLargeWeights = 256 * 1024;
constexpr int64_t kFewTaps = 4, kBadStrideFewTaps = 1024, kBadStride = 512;  // a copy that is read a few times alone is no gain
constexpr int64_t kFewColumns = 4;  // fewer than these are summed along the taps: as tiles they would leave registers idle

double WorkOf(const Im2Col& g, int64_t inner, int64_t columns) {
  return static_cast<double>(g.batch) * static_cast<double>(g.positions()) * static_cast<double>(g.taps()) * static_cast<double>(inner) *
         static_cast<double>(columns);
}

}  // namespace

// ---- the product -----------------------------------------------------------------------------------------------------------------

namespace {

/// A product and how it is cut: tasks are blocks within parts of the columns.
struct DirectPlan {
  ConvForward p;
  LineBlocking cut;
  int64_t tiles = 0, parts = 0;  // tiles of columns, of all groups; how they are shared out
  int64_t tasks = 0, workspaces = 0;
  int64_t group_columns = 0, group_tiles = 0, packed_columns = 0;  // of a group
  bool in_place = false;                                           // weights are read as they are, not packed
  bool along = false;                                              // sums run along the taps: weights are packed column by column
  bool fetches = false;                                            // pictures are more than the cache keeps
  int64_t weights = 0, block = 0;

  int64_t inner() const { return p.inner(); }
  int64_t workspace_elements() const { return cut.patch + block; }
  int64_t packed() const { return in_place ? 0 : DivideUp(weights, 32) * 32; }

  /// `widened`: elements are not computed as they are.
  DirectPlan(const ConvForward& product, int64_t vec_lanes, bool widened) : p(product) {
    if (p.gather.channels_first || p.gather.batch == 0 || IsDepthwise(p.groups, p.inner(), p.columns)) return;
    if (p.gather.direct() && p.fills()) return;
    MoveLongestAxisLast(p.gather, &p.place);
    const double work = WorkOf(p.gather, p.inner(), p.columns);
    const bool small = work <= kSmallWork;
    const int64_t width = 2 * vec_lanes;
    group_columns = p.columns / p.groups;
    group_tiles = DivideUp(group_columns, width);
    packed_columns = DivideUp(group_columns, vec_lanes) * vec_lanes;
    tiles = p.groups * group_tiles;
    weights = p.gather.taps() * p.inner() * p.groups * packed_columns;
    const bool large = weights > kLargeWeights;  // many: a part's stay in the cache while all blocks pass
    const int64_t wanted = small ? 1 : large ? DivideUp(kWantedTasks, tiles) : kWantedTasks;
    cut = BlockLines(p.gather, kCopied, int64_t{1} << 20, wanted, p.gather.taps() <= kFewTaps ? kBadStrideFewTaps : kBadStride);
    if (!cut.used()) return;
    parts = small ? 1 : large ? tiles : std::min(tiles, DivideUp(kWantedTasks / 2, cut.blocks));
    tasks = cut.blocks * parts;
    workspaces = work <= kSmallWork / 16 ? 1 : std::min(tasks, kMostWorkspaces);
    const TapRuns units(p.gather, p.inner(), cut.pixel);
    along = group_columns <= kFewColumns && units.run >= 2 * vec_lanes && units.count <= kMostSegments;
    const double pixels = static_cast<double>(p.gather.batch) * static_cast<double>(p.gather.pixels() * p.gather.channels);
    fetches = !along && pixels + static_cast<double>(p.gather.batch * p.gather.positions()) * static_cast<double>(p.columns) >= kFetched;
    in_place = !along && !widened && packed_columns == group_columns && p.columns <= kNearColumns;
    block = widened || group_columns % vec_lanes != 0 ? DivideUp(cut.lines * cut.strip * width, 32) * 32 : 0;
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
  static constexpr int64_t kWide = 2 * kLanes<A>;
  const DirectPlan& plan;
  const A* weights;  // packed, or as they are
  T* out;

  /// Columns [first, first + width) of a group as packed: `vectors` registers wide.
  struct Columns {
    int64_t group, first, width;
    int vectors;
  };
  Columns ColumnsOf(int64_t tile) const {
    Columns c{tile / plan.group_tiles, tile % plan.group_tiles * kWide, 0, 2};
    c.width = std::min(kWide, plan.group_columns - c.first);
    if (c.width <= kLanes<A>) c.vectors = 1;
    return c;
  }

  T* OutLine(const LineBlock<T>& block, int64_t r) const {
    const auto& [depth, height, width] = plan.p.place;
    const int64_t line =
        (block.picture * depth.size + depth.first + block.d * depth.stride) * height.size + height.first + (block.line + r) * height.stride;
    return out + (line * width.size + width.first + block.position * width.stride) * plan.p.columns;
  }

  /// The lines of the output from that of `block` on: those that the next block writes, or near them.
  MemoryRange NextOut(const LineBlock<T>& block) const {
    const auto& [depth, height, width] = plan.p.place;
    const int64_t line = height.stride * width.size * plan.p.columns, begin = OutLine(block, 0) - out + block.lines * line;
    const int64_t all = plan.p.gather.batch * depth.size * height.size * width.size * plan.p.columns;
    const int64_t end = std::min(begin + plan.cut.lines * line, all);
    return begin < end ? MemoryRange{out + begin, (end - begin) * static_cast<int64_t>(sizeof(T))} : MemoryRange{};
  }

  /// `more`: the next block follows.
  void Run(int64_t task, LineBlock<T>& block, A* sums, bool more, StopCheck& stop) const {
    block.Load(task % plan.cut.blocks);
    const int64_t part = task / plan.cut.blocks;
    const int64_t first_tile = part * plan.tiles / plan.parts, last_tile = (part + 1) * plan.tiles / plan.parts;
    more = more && plan.fetches;
    Prefetcher ahead(more ? block.NewLines(task % plan.cut.blocks + 1) : MemoryRange{}, more ? NextOut(block) : MemoryRange{},
                (last_tile - first_tile) * block.lines * SumsOfLine(block));
    for (int64_t tile = first_tile; tile < last_tile; ++tile) {
      if (stop()) return;
      const Columns columns = ColumnsOf(tile);
      const int64_t width = columns.vectors * kLanes<A>, stride = plan.p.place[2].stride * plan.p.columns;
      const int64_t line = plan.p.place[1].stride * plan.p.place[2].size * plan.p.columns;
      const int64_t first = columns.group * plan.group_columns + columns.first;
      if (plan.along) {
        for (int64_t r = 0; r < block.lines; ++r) SumLineAlong(block, columns, r, OutLine(block, r) + first, stride, stop);
        continue;
      }
      const bool direct = sizeof(T) == sizeof(A) && width == columns.width;
      if (direct) {
        SumUnits(block, columns, reinterpret_cast<A*>(OutLine(block, 0) + first), line, stride, ahead, stop);
        continue;
      }
      SumUnits(block, columns, sums, block.positions * width, width, ahead, stop);
      for (int64_t r = 0; r < block.lines; ++r) {
        T* to = OutLine(block, r) + first;
        for (int64_t w = 0; w < block.positions; ++w, to += stride) {
          const A* from = sums + (r * block.positions + w) * width;
          if constexpr (sizeof(T) == sizeof(A)) std::copy_n(reinterpret_cast<const T*>(from), columns.width, to);
          else Narrow(from, to, columns.width);
        }
      }
    }
  }

  /// A line of a block, a few positions and one column at a time.
  void SumLineAlong(const LineBlock<T>& block, const Columns& columns, int64_t r, T* to, int64_t stride, StopCheck& stop) const {
    const Im2Col& g = plan.p.gather;
    const int64_t inner = plan.inner(), step = g.axes[2].step * block.pixel();
    const TapRuns units(g, inner, block.pixel());
    const A* panel = weights + g.taps() * inner * (columns.group * plan.packed_columns + columns.first);
    const A* starts[kMostSegments];
    for (int64_t u = 0; u < units.count; ++u) {
      starts[u] = units.Start(g, block, r, u);
      if (starts[u] != nullptr) starts[u] += columns.group * inner;
    }
    for (int64_t w = 0, count; w < block.positions; w += count, to += count * stride) {
      const int64_t left = block.positions - w;
      count = left >= 8 ? 8 : left >= 4 ? 4 : 1;
      if (stop(1 + units.count * units.run * columns.width / 4)) return;
      for (int64_t c = 0; c < columns.width; ++c) {
        const A* column = panel + c * g.taps() * inner;
        if (count == 8) SumAlong<8>(starts, units, step, column, to + c, stride);
        else if (count == 4) SumAlong<4>(starts, units, step, column, to + c, stride);
        else SumAlong<1>(starts, units, step, column, to + c, stride);
      }
      for (int64_t u = 0; u < units.count; ++u) starts[u] += starts[u] != nullptr ? count * step : 0;
    }
  }

  /// How a sum over all taps is split: runs of taps, or slices of one, to sum together.
  struct Cut {
    int64_t pieces, most;
    explicit Cut(const TapRuns& units) : pieces(DivideUp(units.run, kSteps)) {
      most = std::clamp<int64_t>(kSteps * pieces / units.run, 1, kMostSegments);
    }
    int64_t together(int64_t count) const { return DivideUp(count, DivideUp(count, most)); }
  };
  int64_t SumsOfLine(const LineBlock<T>& block) const {
    const TapRuns units(plan.p.gather, plan.inner(), block.pixel());
    const Cut cut(units);
    return cut.pieces * DivideUp(units.count, cut.together(units.count));
  }

  /// One tile of columns for all positions of a block, in parts of kSteps steps or a few more: the weights of a part stay in the cache
  /// while all positions pass.
  void SumUnits(const LineBlock<T>& block, const Columns& columns, A* out, int64_t out_line, int64_t stride, Prefetcher& ahead,
                StopCheck& stop) const {
    const Im2Col& g = plan.p.gather;
    const int64_t inner = plan.inner(), pixel = block.pixel(), step = g.axes[2].step * pixel;
    const int64_t row = plan.in_place ? plan.p.columns : columns.vectors * kLanes<A>;
    const TapRuns units(g, inner, pixel);
    const int64_t column = columns.group * plan.packed_columns + columns.first;
    const A* panel = weights + (plan.in_place ? column : g.taps() * inner * column);
    const Cut cut(units);
    const int64_t together = cut.together(units.count);
    bool add = false;
    for (int64_t piece = 0; piece < cut.pieces; ++piece) {
      const int64_t begin = piece * units.run / cut.pieces, end = (piece + 1) * units.run / cut.pieces;
      for (int64_t unit = 0; unit < units.count; unit += together, add = true) {
        const int64_t last = std::min(units.count, unit + together);
        const Accumulate accumulate = add ? Accumulate::kAtEnd : Accumulate::kNo;
        for (int64_t r = 0; r < block.lines; ++r) {
          if (stop(1 + (last - unit) * (end - begin) * block.positions / 4)) return;
          Segment<A> segments[kMostSegments];
          int64_t count = 0;
          for (int64_t u = unit; u < last; ++u) {
            const A* start = units.Start(g, block, r, u);
            if (start != nullptr) segments[count++] = {start + columns.group * inner + begin, panel + (u * units.run + begin) * row};
          }
          MicroTile<A> tile{segments, count, end - begin, step, 1, row, out + r * out_line + block.inner_begin * stride, stride, accumulate};
          const int64_t rows = block.inner_end - block.inner_begin;
          tile.fetch = ahead.Next(DivideUp(rows, columns.vectors == 2 ? kMostRows<2> : kMostRows<1>) * count * (end - begin));
          columns.vectors == 2 ? RunMicroKernel<false, 2>(tile, rows) : RunMicroKernel<false, 1>(tile, rows);
        }
        for (const Edge& edge : block.edges) {  // a position in all lines at a time
          Segment<A> segments[kMostSegments];
          int64_t count = 0;
          for (int64_t u = unit; u < last && edge.count > 0; ++u) {
            const A* start = units.EdgeStart(g, block, edge, u);
            if (start != nullptr) segments[count++] = {start + columns.group * inner + begin, panel + (u * units.run + begin) * row};
          }
          for (int64_t w = 0; w < edge.count; ++w) {
            const MicroTile<A> tile{segments, count, end - begin, block.edge_step(), 1, row, out + (edge.first + w) * stride, out_line, accumulate};
            columns.vectors == 2 ? RunMicroKernel<false, 2>(tile, block.lines) : RunMicroKernel<false, 1>(tile, block.lines);
            for (int64_t i = 0; i < count; ++i) segments[i].left += step;
          }
        }
      }
    }
  }
};

/// From [steps, columns] to panels of two registers, of one where that is enough; the last is filled up with zeros.
template <class A, class T>
void PackPanel(const T* weights, int64_t stride, int64_t steps, int64_t width, int64_t packed, A* panel) {
  for (int64_t p = 0; p < steps; ++p, weights += stride, panel += packed) {
    Widen(weights, panel, width);
    std::fill(panel + width, panel + packed, A(0));
  }
}

/// From [steps, columns] to a row of steps for each column.
template <class A, class T>
void PackColumns(const T* weights, int64_t stride, int64_t steps, int64_t width, A* rows) {
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t p = 0; p < steps; ++p) rows[c * steps + p] = WidenOne<A>(weights[p * stride + c]);
  }
}

}  // namespace

int64_t DirectScratch(const ConvForward& product, bool widened) {
  const auto of = [&](int64_t vec_lanes) {
    const DirectPlan plan(product, vec_lanes, widened);
    return plan.cut.used() ? plan.packed() + plan.workspaces * plan.workspace_elements() : 0;
  };
  return std::max(of(kLanes<float>), of(kLanes<double>));
}

template <class T>
bool RunDirect(const ConvForward& product, const T* source, const T* weights, T* out, Computed<T>* scratch, Workers& workers) {
  using A = Computed<T>;
  const DirectPlan plan(product, kLanes<A>, sizeof(T) != sizeof(A));
  if (!plan.cut.used()) return false;
  const DirectRunner<T> runner{plan, plan.in_place ? reinterpret_cast<const A*>(weights) : scratch, out};
  const int64_t steps = plan.p.gather.taps() * plan.inner();
  const int64_t grain = std::max<int64_t>(1, 65536 / (steps * runner.kWide));
  workers.For(plan.in_place ? 0 : plan.tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const auto columns = runner.ColumnsOf(tile);
      const T* from = weights + columns.group * plan.group_columns + columns.first;
      A* to = scratch + steps * (columns.group * plan.packed_columns + columns.first);
      if (plan.along) PackColumns(from, plan.p.columns, steps, columns.width, to);
      else PackPanel(from, plan.p.columns, steps, columns.width, columns.vectors * kLanes<A>, to);
    }
  });
  A* const own = scratch + plan.packed();
  auto run_share = [&](int64_t i) {
    A* patch = own + i * plan.workspace_elements();
    LineBlock<T> block(plan.p.gather, plan.cut, source, patch, plan.along ? kNoEdges : kEdges);
    StopCheck stop(workers);
    for (int64_t task = i * plan.tasks / plan.workspaces, end = (i + 1) * plan.tasks / plan.workspaces; task < end && !stop(); ++task) {
      runner.Run(task, block, patch + plan.cut.patch, task + 1 < end, stop);
    }
  };
  if (plan.workspaces == 1) run_share(0);
  else workers.Run(plan.workspaces, run_share);
  return true;
}

#define WEFT_INSTANTIATE(T) template bool RunDirect(const ConvForward&, const T*, const T*, T*, Computed<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
