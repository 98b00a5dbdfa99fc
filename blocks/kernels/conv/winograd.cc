// Convolutions of 3x3 and 5x5 taps by minimal filtering: for each tile the points of the source are multiplied with those of the filter, point
// by point, each a matrix product over the channels; the tile's outputs are made of these products.
#include "blocks/kernels/conv/winograd.h"

#include "blocks/kernels/instantiate.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kFewestChannels = 16, kMostChannels = 1024;  // of one sum; fewer do not pay for making the points
constexpr int64_t kFewestPositions = 196;      // of a picture: fewer do not pay for the points of the filter
constexpr int64_t kMostAcross = 64;            // tiles of a block
constexpr int64_t kNearElements = 128 * 1024;  // of a block's points and products: they stay in the second cache
constexpr int64_t kLeastTiles = 28;  // of a block, even where there are few blocks: products of fewer rows leave registers idle
constexpr int64_t kFewestTiles = 40, kMostTiles = 96;  // of a block, where there are many: the filter's points are read once for each
constexpr int64_t kPartColumns = 64, kMostPartColumns = 256;
constexpr int64_t kWantedTasks = 8;

int64_t PointsOf(int64_t taps) { return taps == 3 ? Minimal<3>::kPoints : Minimal<5>::kPoints; }

bool Fits(const ConvDesc& conv) {
  const auto& [depth, height, width] = conv.gather.axes;
  const auto plain = [](const ConvAxis& a) { return a.step == 1 && a.tap_step == 1; };
  if (!conv.in_float || conv.groups != 1 || !plain(height) || !plain(width)) return false;
  if (height.taps != width.taps || (width.taps != 3 && width.taps != 5)) return false;
  if (depth.taps != 1 || depth.positions != 1 || depth.source != 1 || depth.offset != 0) return false;
  if (conv.inner() < kFewestChannels || conv.inner() > kMostChannels || conv.columns < kFewestChannels) return false;
  return conv.gather.batch > 0 && conv.gather.positions() >= kFewestPositions && (!conv.gather.channels_first || WorthTransposing(conv));
}

}  // namespace

TileBlocking::TileBlocking(const ConvDesc& conv, int64_t most_tiles, int64_t wanted) : gather(conv.gather) {
  if (!Fits(conv)) return;
  auto& [depth, height, width] = gather.axes;
  const int64_t down = DivideUp(height.positions, int64_t{2}), across = DivideUp(width.positions, int64_t{2});
  height.positions = 2 * down, width.positions = 2 * across;
  points = PointsOf(height.taps) * PointsOf(width.taps);
  cut.strips = DivideUp(across, kMostAcross);
  const int64_t strip = DivideUp(across, cut.strips);
  cut.strips = DivideUp(across, strip);
  const int64_t shares = DivideUp(wanted, gather.batch * cut.strips);
  const int64_t near = std::max<int64_t>(most_tiles / strip, 1), least = std::min(DivideUp(kLeastTiles, strip), near);
  cut.line_tiles = DivideUp(down, std::min(std::clamp(DivideUp(down, shares), least, near), down));
  const int64_t lines = DivideUp(down, cut.line_tiles);
  cut.line_tiles = DivideUp(down, lines);
  cut.strip = 2 * strip, cut.lines = 2 * lines;
  cut.copied_line = (cut.strip + width.taps - 1) * gather.channels;
  cut.copied_lines = cut.lines + height.taps - 1;
  cut.patch = DivideUp(cut.copied_lines * cut.copied_line, int64_t{32}) * 32;
  cut.blocks = gather.batch * cut.line_tiles * cut.strips;
  source_stride = Stride(tiles() * gather.channels);
}

namespace {

/// A convolution and how it is cut: tasks are blocks of tiles within parts of the columns.
struct WinogradPlan {
  ConvDesc conv;
  ColumnTiles columns;
  TileBlocking cut;
  int64_t parts = 0, tasks = 0, workspaces = 0;
  int64_t weights = 0;         // elements of the filter's points
  int64_t product_stride = 0;  // from point to point of a block's products
  int64_t lines = 0;           // elements of two lines of outputs, for those that are not made in place

  int64_t blocks() const { return cut.cut.blocks; }
  int64_t workspace_elements() const { return cut.space() + cut.points * product_stride + lines; }
  int64_t flags() const { return DivideUp(tasks, int64_t{32}) * 32; }
  int64_t elements() const { return weights + flags() + workspaces * workspace_elements(); }

  explicit WinogradPlan(const ConvDesc& c) : conv(c), columns(c, kLanes<float>), cut(c, TilesOf(c), kWantedTasks) {
    if (!cut.cut.used()) return;
    parts = std::max(std::min(DivideUp(columns.padded, kPartColumns), DivideUp(kWantedTasks, blocks())), DivideUp(columns.padded, kMostPartColumns));
    tasks = blocks() * parts;
    workspaces = std::min(tasks, kConvWorkspaces);
    weights = DivideUp(cut.points * c.inner() * columns.padded, int64_t{32}) * 32;
    const int64_t part_columns = columns.WidestPart(parts);
    product_stride = TileBlocking::Stride(cut.tiles() * part_columns);
    lines = 2 * cut.cut.strip * part_columns;
  }

 private:
  static int64_t TilesOf(const ConvDesc& c) {
    const int64_t near = kNearElements / (PointsOf(c.gather.axes[2].taps) * (c.inner() + std::min(c.columns, kMostPartColumns)));
    return std::clamp(near, kFewestTiles, kMostTiles);
  }
};

/// The points of a channel of the filter for a tile of columns, `stride` from point to point.
template <int kTaps, class T>
void MakeWeights(const ConvDesc& conv, const T* filter, int64_t channel, const ColumnTiles::Tile& columns, int64_t stride, float* to) {
  using Axis = Minimal<kTaps>;
  constexpr int kPoints = Axis::kPoints, kN = kLanes<float>;
  const int64_t tap_size = conv.inner() * conv.columns;
  const T* const from = filter + channel * conv.columns + columns.first;
  for (int64_t c = 0; c < columns.vectors * kN; c += kN) {
    Vec<float> rows[kTaps][kPoints];
    for (int i = 0; i < kTaps; ++i) {
      Vec<float> taps[kTaps];
      for (int j = 0; j < kTaps; ++j) taps[j] = LoadColumns(from + (i * kTaps + j) * tap_size + c, columns.width - c);
      Axis::Filter(taps, rows[i]);
    }
    for (int j = 0; j < kPoints; ++j) {
      Vec<float> column[kTaps], points[kPoints];
      for (int i = 0; i < kTaps; ++i) column[i] = rows[i][j];
      Axis::Filter(column, points);
      for (int i = 0; i < kPoints; ++i) StoreVec(to + (i * kPoints + j) * stride + c, points[i]);
    }
  }
}

template <class T, int kTaps>
struct WinogradRunner {
  using Axis = Minimal<kTaps>;
  using V = Vec<float>;
  static constexpr int kPoints = Axis::kPoints, kN = kLanes<float>;

  const WinogradPlan& plan;
  const float* weights;
  OutputLines<T> out;

  /// Whether all results are finite.
  bool Run(int64_t task, SourcePoints<T, kTaps>& source, float* products, StopCheck& stop) const {
    const ColumnTiles::Part part = plan.columns.PartOf(task / plan.blocks(), plan.parts);
    if (!source.Load(task % plan.blocks(), stop)) return true;
    const int64_t channels = plan.conv.inner();
    for (int64_t point = 0; point < plan.cut.points; ++point) {
      for (int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
        const ColumnTiles::Tile columns = plan.columns.At(tile);
        const Segment<float> segment{source.at(point), weights + channels * (point * plan.columns.padded + columns.first)};
        const MicroTile<float> product{&segment, 1, channels, channels, 1, columns.vectors * kN,
                                       products + point * plan.product_stride + columns.first - part.first, part.padded, false};
        RunMicroKernel(product, source.tiles(), columns.vectors);
      }
      if (stop(source.tiles() * part.padded / 4)) return true;
    }
    float* const lines = products + plan.cut.points * plan.product_stride;
    V sums{};
    for (int64_t t = 0; t < source.down(); ++t, products += source.across() * part.padded) {
      sums += StoreTiles(products, source.block, 2 * t, part, lines);
      if (stop(source.across() * part.padded)) return true;
    }
    return AreFinite(sums);
  }

  /// The outputs of a line of tiles: two lines of a block from the `line`-th on. Gives zeros, or NaN where a result is not finite.
  V StoreTiles(const float* products, const LineBlock<T>& block, int64_t line, const ColumnTiles::Part& part, float* buffer) const {
    const int64_t lines = std::min<int64_t>(2, plan.conv.gather.axes[1].positions - block.line - line);
    const int64_t positions = std::min(block.positions, plan.conv.gather.axes[2].positions - block.position);
    float* to[2] = {buffer, buffer + block.positions * part.padded};
    int64_t step = part.padded;
    const bool in_place = std::is_same_v<T, float> && !out.planes() && part.width == part.padded;
    if constexpr (std::is_same_v<T, float>) {
      for (int64_t r = 0; in_place && r < lines; ++r) to[r] = out.Line(block, line + r) + part.first;
      if (in_place) step = out.position_step();
    }
    V sums{};
    for (int64_t w = 0; w < positions; w += 2, products += part.padded) {
      for (int64_t c = 0; c < part.padded; c += kN) {
        V outputs[2][2];
        MakeOutputs(products + c, outputs);
        sums += ((outputs[0][0] + outputs[0][1]) + (outputs[1][0] + outputs[1][1])) * 0.0f;
        for (int64_t r = 0; r < lines; ++r) {
          StoreVec(to[r] + w * step + c, outputs[r][0]);
          if (w + 1 < positions) StoreVec(to[r] + (w + 1) * step + c, outputs[r][1]);
        }
      }
    }
    for (int64_t r = 0; r < lines && !in_place; ++r) {
      out.Store(to[r], part.padded, part.width, positions, out.Line(block, line + r) + part.first * out.column_step());
    }
    return sums;
  }

  /// A register of columns of a tile's four outputs.
  void MakeOutputs(const float* products, V (*outputs)[2]) const {
    V rows[2][kPoints];
#pragma GCC unroll 7
    for (int j = 0; j < kPoints; ++j) {
      V column[kPoints], two[2];
#pragma GCC unroll 7
      for (int i = 0; i < kPoints; ++i) column[i] = LoadVec(products + (i * kPoints + j) * plan.product_stride);
      Axis::Outputs(column, two);
      rows[0][j] = two[0], rows[1][j] = two[1];
    }
    Axis::Outputs(rows[0], outputs[0]);
    Axis::Outputs(rows[1], outputs[1]);
  }
};

/// Computes all pictures. The flags behind the weights, one for each task, are 0 where all its results are finite.
template <int kTaps, class T>
void RunTasks(const WinogradPlan& plan, const T* source, const T* filter, T* out, float* scratch, Workers& workers) {
  const int64_t channels = plan.conv.inner(), stride = channels * plan.columns.padded;
  constexpr int64_t kGrain = 16;  // channels
  ForEach(workers, plan.columns.count * channels, kGrain, [&](int64_t i) {
    const ColumnTiles::Tile columns = plan.columns.At(i / channels);
    const int64_t channel = i % channels;
    MakeWeights<kTaps>(plan.conv, filter, channel, columns, stride, scratch + channels * columns.first + channel * columns.vectors * kLanes<float>);
  });
  float *const flags = scratch + plan.weights, *const own = flags + plan.flags();
  const WinogradRunner<T, kTaps> runner{plan, scratch, {plan.conv, out}};
  workers.Run(plan.workspaces, [&](int64_t i) {
    float* const space = own + i * plan.workspace_elements();
    SourcePoints<T, kTaps> points(plan.cut, source, space);
    StopCheck stop(workers);
    for (int64_t task = i * plan.tasks / plan.workspaces, end = (i + 1) * plan.tasks / plan.workspaces; task < end && !stop(); ++task) {
      flags[task] = runner.Run(task, points, space + plan.cut.space(), stop) ? 0.0f : 1.0f;
    }
  });
}

/// One picture by plain sums.
ConvDesc PlainPicture(const ConvDesc& conv) {
  ConvDesc plain = PlainSums(conv);
  plain.gather.batch = 1;
  return plain;
}

bool IsFinite(const WinogradPlan& plan, int64_t picture, const float* flags) {
  const int64_t blocks = plan.blocks() / plan.conv.gather.batch;
  for (int64_t part = 0; part < plan.parts; ++part) {
    const float* const first = flags + part * plan.blocks() + picture * blocks;
    if (std::any_of(first, first + blocks, [](float flag) { return flag != 0; })) return false;
  }
  return true;
}

}  // namespace

bool TakesWinograd(const ConvDesc& conv) { return Fits(conv); }

int64_t WinogradScratch(const ConvDesc& conv, bool widened) {
  return WinogradPlan(conv).elements() + ConvScratch(PlainPicture(conv), widened);
}

template <class T>
void RunWinograd(const ConvDesc& conv, const T* source, const T* filter, T* out, float* scratch, Workers& workers) {
  const WinogradPlan plan(conv);
  if (conv.gather.axes[2].taps == 3) RunTasks<3>(plan, source, filter, out, scratch, workers);
  else RunTasks<5>(plan, source, filter, out, scratch, workers);
  const int64_t read = conv.gather.pixels() * conv.gather.channels;
  const int64_t written = conv.place[0].size * conv.place[1].size * conv.place[2].size * conv.columns;
  for (int64_t picture = 0; picture < conv.gather.batch && !workers.Stopped(); ++picture) {
    if (IsFinite(plan, picture, scratch + plan.weights)) continue;
    RunConv(PlainPicture(conv), source + picture * read, filter, out + picture * written, scratch + plan.elements(), workers);
  }
}

#define WEFT_INSTANTIATE(T) template void RunWinograd(const ConvDesc&, const T*, const T*, T*, float*, Workers&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(half)
WEFT_INSTANTIATE(bfloat16)

}  // namespace weft::kernels
