#include "blocks/kernels/tap_lines.h"

#include "blocks/kernels/channel_taps.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/lanes.h"
#include "blocks/kernels/matmul.h"

namespace weft::kernels {

using namespace panels;

namespace {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

constexpr int64_t kFewestPositions = 3;   // of a line: shorter ones leave registers idle
constexpr int64_t kMostCopied = 1 << 20;  // elements of a block's lines
constexpr int64_t kCopied = 32 * 1024;    // the same, where that is a line of positions at least
constexpr int64_t kSteps = 1024;          // of one sum in registers: longer ones are added up in parts, as rounding errors grow
constexpr int64_t kNearColumns = 512;     // rows of weights no longer than this are read where they are
constexpr int64_t kMostSegments = 64;
constexpr int64_t kSmallWork = 1 << 16;  // multiplications below which one task does all
constexpr int64_t kMostLanes = 16, kWantedTasks = 16;
constexpr int64_t kLargeWeights = 256 * 1024;
constexpr int64_t kFewColumns = 4;  // fewer than these are summed along the taps: as tiles they would leave registers idle

/// Strides that are a multiple of this put few rows of a tile in the cache.
constexpr int64_t kBadStride = 512;

double WorkOf(const TapGather& g, int64_t inner, int64_t columns) {
  return static_cast<double>(g.batch) * static_cast<double>(g.positions()) * static_cast<double>(g.taps()) * static_cast<double>(inner) *
         static_cast<double>(columns);
}

}  // namespace

void TurnToLines(TapGather& g, std::array<Place, 3>* place) {
  const auto trivial = [&](int i) {
    const TapAxis& a = g.axes[i];
    return a.source == 1 && a.positions == 1 && a.taps == 1 && a.offset == 0 && (place == nullptr || (*place)[i].size == 1);
  };
  for (int turn = 0; turn < 2 && trivial(2); ++turn) {
    std::rotate(g.axes.begin(), g.axes.end() - 1, g.axes.end());
    if (place != nullptr) std::rotate(place->begin(), place->end() - 1, place->end());
  }
}

LineCut CutLines(const TapGather& g, int64_t most_elements, int64_t most_positions, int64_t wanted) {
  const auto& [depth, height, width] = g.axes;
  LineCut cut;
  if (g.channels_first || g.batch == 0 || g.positions() == 0 || g.taps() == 0 || g.channels == 0) return cut;
  if (width.positions < kFewestPositions) return cut;
  cut.pixel = g.channels;
  const double stride = static_cast<double>(g.channels) * static_cast<double>(width.step) * 4;
  if (stride >= kBadStride && stride < 1e15 && g.channels * width.step * 4 % kBadStride == 0) cut.pixel += 16;
  const double tap_reach = static_cast<double>(width.taps - 1) * static_cast<double>(width.tap_step) + 1;
  const double tap_lines = static_cast<double>(height.taps - 1) * static_cast<double>(height.tap_step) + 1;
  const double bytes = static_cast<double>(cut.pixel) * static_cast<double>(depth.taps);
  // The strip, then as many lines as there is room for.
  const double room = static_cast<double>(most_elements) / bytes / tap_lines;
  const int64_t longest = std::min<int64_t>(most_positions, static_cast<int64_t>((room - tap_reach) / static_cast<double>(width.step)) + 1);
  cut.strips = CeilDiv(width.positions, std::max<int64_t>(longest, 8 * kRows));
  cut.strip = CeilDiv(width.positions, cut.strips);
  cut.strips = CeilDiv(width.positions, cut.strip);
  const double line = (static_cast<double>(cut.strip - 1) * static_cast<double>(width.step) + tap_reach);
  if (line * tap_lines * bytes > static_cast<double>(kMostCopied)) return {};
  cut.copied_line = static_cast<int64_t>(line) * cut.pixel;
  const int64_t fits = (most_elements / (depth.taps * cut.copied_line) - static_cast<int64_t>(tap_lines)) / height.step + 1;
  const int64_t shares = CeilDiv(wanted, g.batch * depth.positions * cut.strips);
  cut.lines = std::clamp<int64_t>(std::min({fits, most_positions / cut.strip, CeilDiv(height.positions, shares)}), 1, height.positions);
  cut.line_tiles = CeilDiv(height.positions, cut.lines);
  cut.lines = CeilDiv(height.positions, cut.line_tiles);
  cut.line_tiles = CeilDiv(height.positions, cut.lines);
  cut.copied_lines = (cut.lines - 1) * height.step + static_cast<int64_t>(tap_lines);
  cut.patch = CeilDiv(depth.taps * cut.copied_lines * cut.copied_line, 32) * 32;
  if (cut.patch > kMostCopied) return {};
  cut.blocks = g.batch * depth.positions * cut.line_tiles * cut.strips;
  return cut;
}

// ---- the lines of a block --------------------------------------------------------------------------------------------------------

template <class T>
void LineBlock<T>::CopyLine(const T* from, A* to) const {
  const int64_t first = std::clamp<int64_t>(-left(), 0, span()), last = std::clamp<int64_t>(g_.axes[2].source - left(), first, span());
  const T* pixels = from + (left() + first) * g_.channels;
  std::fill(to, to + first * cut_.pixel, A(0));
  if (cut_.pixel == g_.channels) {
    CopyShort(pixels, to + first * cut_.pixel, (last - first) * g_.channels);
  } else {
    for (int64_t i = first; i < last; ++i, pixels += g_.channels) CopyShort(pixels, to + i * cut_.pixel, g_.channels);
  }
  std::fill(to + last * cut_.pixel, to + span() * cut_.pixel, A(0));
}

template <class T>
void LineBlock<T>::Load(int64_t index) {
  const auto& [depth, height, width] = g_.axes;
  position = index % cut_.strips * cut_.strip;
  index /= cut_.strips;
  line = index % cut_.line_tiles * cut_.lines;
  index /= cut_.line_tiles;
  d = index % depth.positions;
  picture = index / depth.positions;
  positions = std::min(cut_.strip, width.positions - position);
  lines = std::min(cut_.lines, height.positions - line);
  copies_now_ = copies_ || left() < 0 || left() + span() > width.source;
  if (!copies_now_) return;
  for (int64_t td = 0; td < depth.taps; ++td) {
    const int64_t at_d = depth.at(d, td);
    if (!depth.inside(at_d)) continue;
    const int64_t top = height.at(line, 0), count = (lines - 1) * height.step + (height.taps - 1) * height.tap_step + 1;
    for (int64_t i = std::max<int64_t>(0, -top), end = std::min(count, height.source - top); i < end; ++i) {
      // Line i is read by the tap th of the r-th line where i = r * step + th * tap_step.
      bool read = height.step == 1 && height.tap_step == 1;
      for (int64_t th = 0; th < height.taps && !read; ++th) {
        const int64_t rest = i - th * height.tap_step;
        read = rest >= 0 && rest % height.step == 0 && rest / height.step < lines;
      }
      if (!read) continue;
      const T* from = source_ + (picture * g_.pixels() + (at_d * height.source + top + i) * width.source) * g_.channels;
      CopyLine(from, patch_ + (td * cut_.copied_lines + i) * cut_.copied_line);
    }
  }
}

// ---- the product -----------------------------------------------------------------------------------------------------------------

namespace {

/// A product and how it is cut: tasks are blocks within parts of the columns.
struct LinePlan {
  TapProduct p;
  LineCut cut;
  int64_t tiles = 0, parts = 0;  // tiles of columns, of all groups; how they are shared out
  int64_t tasks = 0, lanes = 0;
  int64_t group_columns = 0, group_tiles = 0, packed_columns = 0;  // of a group
  bool in_place = false;                                           // weights are read as they are, not packed
  bool along = false;                                              // sums run along the taps: weights are packed column by column
  int64_t weights = 0, block = 0;

  int64_t inner() const { return p.inner(); }
  int64_t lane_elements() const { return cut.patch + block; }
  int64_t packed() const { return in_place ? 0 : CeilDiv(weights, 32) * 32; }

  /// `widened`: elements are not computed as they are.
  LinePlan(const TapProduct& product, int64_t lanes_of_vector, bool widened) : p(product) {
    if (p.gather.channels_first || p.gather.batch == 0 || p.gather.direct() || IsNarrow(p.groups, p.inner(), p.columns)) return;
    TurnToLines(p.gather, &p.place);
    const double work = WorkOf(p.gather, p.inner(), p.columns);
    const bool small = work <= kSmallWork;
    const int64_t width = 2 * lanes_of_vector;
    group_columns = p.columns / p.groups;
    group_tiles = CeilDiv(group_columns, width);
    packed_columns = CeilDiv(group_columns, lanes_of_vector) * lanes_of_vector;
    tiles = p.groups * group_tiles;
    weights = p.gather.taps() * p.inner() * p.groups * packed_columns;
    const bool large = weights > kLargeWeights;  // many: a part's stay in the cache while all blocks pass
    cut = CutLines(p.gather, kCopied, int64_t{1} << 20, small ? 1 : large ? CeilDiv(kWantedTasks, tiles) : kWantedTasks);
    if (!cut.used()) return;
    parts = small ? 1 : large ? tiles : std::min(tiles, CeilDiv(kWantedTasks / 2, cut.blocks));
    tasks = cut.blocks * parts;
    lanes = work <= kSmallWork / 16 ? 1 : std::min(tasks, kMostLanes);
    const TapUnits units(p.gather, p.inner(), cut.pixel);
    along = group_columns <= kFewColumns && units.run >= 2 * lanes_of_vector && units.count <= kMostSegments;
    in_place = !along && !widened && packed_columns == group_columns && p.columns <= kNearColumns;
    block = widened || group_columns % lanes_of_vector != 0 ? CeilDiv(cut.lines * cut.strip * width, 32) * 32 : 0;
  }
};

/// to[j * to_step] = the sum over all units of source * weights, for kPositions positions that lie `step` apart. `starts`: what each unit
/// of the first position reads; null outside the picture. Weights are read once for all positions.
template <int kPositions, class A, class T>
void SumAlong(const A* const* starts, const TapUnits& units, int64_t step, const A* weights, T* to, int64_t to_step) {
  constexpr int kWidth = kLanes<A>;
  const int64_t whole = units.run / kWidth * kWidth, last = units.run - kWidth;
  const int fresh = static_cast<int>(whole - last);  // the first lane of the last register that was not in one before
  Lanes<A> sums[kPositions] = {};
  for (int64_t u = 0; u < units.count; ++u, weights += units.run) {
    const A* from = starts[u];
    if (from == nullptr) continue;
    for (int64_t i = 0; i < whole; i += kWidth) {
      const Lanes<A> weight = LoadLanes(weights + i);
#pragma GCC unroll 8
      for (int j = 0; j < kPositions; ++j) sums[j] += LoadLanes(from + j * step + i) * weight;
    }
    if (whole == units.run) continue;
    const Lanes<A> weight = LoadLanes(weights + last);
#pragma GCC unroll 8
    for (int j = 0; j < kPositions; ++j) sums[j] += KeepLanes<A>(LoadLanes(from + j * step + last) * weight, fresh, kWidth);
  }
#pragma GCC unroll 8
  for (int j = 0; j < kPositions; ++j) {
    A parts[2], total;
    FoldLanes<2, A>(sums[j], parts);
    total = static_cast<A>(parts[0] + parts[1]);
    if constexpr (sizeof(T) == sizeof(A)) to[j * to_step] = static_cast<T>(total);
    else Narrow(&total, to + j * to_step, 1);
  }
}

template <class T>
struct LineRunner {
  using A = Computed<T>;
  static constexpr int64_t kWide = 2 * kLanesOf<A>;
  const LinePlan& plan;
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
    if (c.width <= kLanesOf<A>) c.vectors = 1;
    return c;
  }

  T* OutLine(const LineBlock<T>& block, int64_t r) const {
    const auto& [depth, height, width] = plan.p.place;
    const int64_t line =
        (block.picture * depth.size + depth.first + block.d * depth.stride) * height.size + height.first + (block.line + r) * height.stride;
    return out + (line * width.size + width.first + block.position * width.stride) * plan.p.columns;
  }

  void Run(int64_t task, LineBlock<T>& block, A* sums) const {
    block.Load(task % plan.cut.blocks);
    const int64_t part = task / plan.cut.blocks;
    for (int64_t tile = part * plan.tiles / plan.parts, end = (part + 1) * plan.tiles / plan.parts; tile < end; ++tile) {
      const Columns columns = ColumnsOf(tile);
      const int64_t width = columns.vectors * kLanesOf<A>, stride = plan.p.place[2].stride * plan.p.columns;
      const int64_t first = columns.group * plan.group_columns + columns.first;
      if (plan.along) {
        for (int64_t r = 0; r < block.lines; ++r) SumLineAlong(block, columns, r, OutLine(block, r) + first, stride);
        continue;
      }
      const bool direct = sizeof(T) == sizeof(A) && width == columns.width;
      if (direct) {
        SumUnits(
            block, columns, [&](int64_t r) { return reinterpret_cast<A*>(OutLine(block, r) + first); }, stride);
        continue;
      }
      SumUnits(
          block, columns, [&](int64_t r) { return sums + r * block.positions * width; }, width);
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
  void SumLineAlong(const LineBlock<T>& block, const Columns& columns, int64_t r, T* to, int64_t stride) const {
    const TapGather& g = plan.p.gather;
    const int64_t inner = plan.inner(), step = g.axes[2].step * block.pixel();
    const TapUnits units(g, inner, block.pixel());
    const A* panel = weights + g.taps() * inner * (columns.group * plan.packed_columns + columns.first);
    const A* starts[kMostSegments];
    for (int64_t u = 0; u < units.count; ++u) {
      starts[u] = units.Start(g, block, r, u);
      if (starts[u] != nullptr) starts[u] += columns.group * inner;
    }
    for (int64_t w = 0, count; w < block.positions; w += count, to += count * stride) {
      const int64_t left = block.positions - w;
      count = left >= 8 ? 8 : left >= 4 ? 4 : 1;
      for (int64_t c = 0; c < columns.width; ++c) {
        const A* column = panel + c * g.taps() * inner;
        if (count == 8) SumAlong<8>(starts, units, step, column, to + c, stride);
        else if (count == 4) SumAlong<4>(starts, units, step, column, to + c, stride);
        else SumAlong<1>(starts, units, step, column, to + c, stride);
      }
      for (int64_t u = 0; u < units.count; ++u) starts[u] += starts[u] != nullptr ? count * step : 0;
    }
  }

  /// One tile of columns for all positions of a block, in parts of kSteps steps or a few more: the weights of a part stay in the cache
  /// while all positions pass.
  template <class Line>
  void SumUnits(const LineBlock<T>& block, const Columns& columns, Line&& line, int64_t stride) const {
    const TapGather& g = plan.p.gather;
    const int64_t inner = plan.inner(), pixel = block.pixel();
    const int64_t row = plan.in_place ? plan.p.columns : columns.vectors * kLanesOf<A>;
    const TapUnits units(g, inner, pixel);
    const int64_t column = columns.group * plan.packed_columns + columns.first;
    const A* panel = weights + (plan.in_place ? column : g.taps() * inner * column);
    const int64_t pieces = CeilDiv(units.run, kSteps);
    bool add = false;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t begin = piece * units.run / pieces, end = (piece + 1) * units.run / pieces;
      const int64_t most = std::clamp<int64_t>(kSteps / (end - begin), 1, kMostSegments);
      const int64_t together = CeilDiv(units.count, CeilDiv(units.count, most));
      for (int64_t unit = 0; unit < units.count; unit += together, add = true) {
        const int64_t last = std::min(units.count, unit + together);
        for (int64_t r = 0; r < block.lines; ++r) {
          Segment<A> segments[kMostSegments];
          int64_t count = 0;
          for (int64_t u = unit; u < last; ++u) {
            const A* start = units.Start(g, block, r, u);
            if (start != nullptr) segments[count++] = {start + columns.group * inner + begin, panel + (u * units.run + begin) * row};
          }
          const TileSum<A> tile{
              segments, count, end - begin, g.axes[2].step * pixel, 1, row, line(r), stride, add ? Onto::kThere : Onto::kNothing};
          columns.vectors == 2 ? SumRows<false, 2>(tile, block.positions) : SumRows<false, 1>(tile, block.positions);
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

int64_t LineScratch(const TapProduct& product, bool widened) {
  const auto of = [&](int64_t lanes_of_vector) {
    const LinePlan plan(product, lanes_of_vector, widened);
    return plan.cut.used() ? plan.packed() + plan.lanes * plan.lane_elements() : 0;
  };
  return std::max(of(kLanesOf<float>), of(kLanesOf<double>));
}

template <class T>
bool RunLines(const TapProduct& product, const T* source, const T* weights, T* out, Computed<T>* scratch, Workers& workers) {
  using A = Computed<T>;
  const LinePlan plan(product, kLanesOf<A>, sizeof(T) != sizeof(A));
  if (!plan.cut.used()) return false;
  const LineRunner<T> runner{plan, plan.in_place ? reinterpret_cast<const A*>(weights) : scratch, out};
  const int64_t steps = plan.p.gather.taps() * plan.inner();
  const int64_t grain = std::max<int64_t>(1, 65536 / (steps * runner.kWide));
  workers.For(plan.in_place ? 0 : plan.tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const auto columns = runner.ColumnsOf(tile);
      const T* from = weights + columns.group * plan.group_columns + columns.first;
      A* to = scratch + steps * (columns.group * plan.packed_columns + columns.first);
      if (plan.along) PackColumns(from, plan.p.columns, steps, columns.width, to);
      else PackPanel(from, plan.p.columns, steps, columns.width, columns.vectors * kLanesOf<A>, to);
    }
  });
  A* const lanes = scratch + plan.packed();
  auto lane = [&](int64_t i) {
    A* patch = lanes + i * plan.lane_elements();
    LineBlock<T> block(plan.p.gather, plan.cut, source, patch);
    for (int64_t task = i * plan.tasks / plan.lanes, end = (i + 1) * plan.tasks / plan.lanes; task < end; ++task) {
      runner.Run(task, block, patch + plan.cut.patch);
    }
  };
  if (plan.lanes == 1) lane(0);
  else workers.Run(plan.lanes, lane);
  return true;
}

template class LineBlock<float>;
template class LineBlock<double>;
template class LineBlock<half>;
template class LineBlock<bfloat16>;
template class LineBlock<int32_t>;
#define WEFT_INSTANTIATE(T) template bool RunLines(const TapProduct&, const T*, const T*, T*, Computed<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
