// The gradient by filters of 3x3 and 5x5 taps by minimal filtering: for each tile the points of the source are multiplied with those of the
// gradients of its outputs, point by point, each a matrix product over the tiles; the filter's gradient is made of the sums.
#include "blocks/kernels/conv/winograd.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/transpose.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kBlockTiles = 96;
constexpr int64_t kPartColumns = 64;             // of a task: the sums stay in the second cache
constexpr int64_t kMostSums = int64_t{1} << 21;  // elements of all shares
constexpr int64_t kFewestTiles = 1024;            // of all pictures: fewer do not pay for making the gradient of the sums

/// A gradient and how it is cut: tasks are parts of the columns within shares of the blocks.
struct FilterPlan {
  ConvDesc conv;
  ColumnTiles columns;
  TileBlocking cut;
  int64_t shares = 0, parts = 0;
  int64_t gradient_stride = 0;  // from point to point of a block's gradients
  int64_t line = 0;             // elements of a line of gradients, for planes
  int64_t sums = 0;             // elements of a share's

  int64_t workspaces() const { return shares * parts; }
  int64_t workspace_elements() const { return cut.space() + cut.points * gradient_stride + 2 * line; }
  int64_t flags() const { return DivideUp(conv.inner(), int64_t{32}) * 32; }
  int64_t elements() const { return flags() + workspaces() * workspace_elements() + shares * sums; }
  bool used() const { return shares > 0; }

  explicit FilterPlan(const ConvDesc& c) : conv(c), columns(c, kLanes<float>), cut(c, kBlockTiles, kFilterShares) {
    if (!cut.cut.used() || cut.cut.blocks * cut.tiles() < kFewestTiles) return;
    sums = DivideUp(cut.points * c.inner() * columns.padded, int64_t{32}) * 32;
    if (sums > kMostSums) return;
    parts = DivideUp(columns.padded, kPartColumns);
    shares = std::clamp<int64_t>(kMostSums / sums, 1, std::min(cut.cut.blocks, DivideUp(kFilterShares, parts)));
    const int64_t part_columns = columns.WidestPart(parts);
    gradient_stride = TileBlocking::Stride(cut.tiles() * part_columns);
    line = c.gather.channels_first ? cut.cut.strip * part_columns : 0;
  }
};

template <class T, int kTaps>
struct FilterRunner {
  using Axis = Minimal<kTaps>;
  using V = Vec<float>;
  static constexpr int kPoints = Axis::kPoints, kN = kLanes<float>;

  const FilterPlan& plan;
  const T* gradient;

  /// Adds a block to the sums of some tiles of columns, or makes them of it. `space` has the points of its gradients.
  void AddBlock(SourcePoints<T, kTaps>& source, const ColumnTiles::Part& part, float* space, float* sums, bool add, StopCheck& stop) const {
    const int64_t channels = plan.conv.inner();
    for (int64_t t = 0; t < source.down(); ++t) {
      MakeLine(source.block, 2 * t, part, t * source.across(), source.tiles(), space);
      if (stop(source.across() * part.padded)) return;
    }
    for (int64_t point = 0; point < plan.cut.points; ++point) {
      for (int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
        const ColumnTiles::Tile columns = plan.columns.At(tile);
        const Segment<float> segment{source.at(point), space + point * plan.gradient_stride + source.tiles() * (columns.first - part.first)};
        const MicroTile<float> product{&segment, 1, source.tiles(), 1, channels, columns.vectors * kN,
                                       sums + point * channels * plan.columns.padded + columns.first, plan.columns.padded, add};
        RunMicroKernel(product, channels, columns.vectors);
      }
      if (stop(source.tiles() * part.padded / 4)) return;
    }
  }

  /// The points of the gradients of two lines of outputs, as panels of a tile of columns each: to[tile of the block * columns + column].
  void MakeLine(const LineBlock<T>& block, int64_t line, const ColumnTiles::Part& part, int64_t first, int64_t tiles, float* space) const {
    const ConvAxis &height = plan.conv.gather.axes[1], &width = plan.conv.gather.axes[2];
    const int64_t lines = std::min<int64_t>(2, height.positions - block.line - line);
    const int64_t positions = std::min(block.positions, width.positions - block.position);
    const int64_t pixel = (block.line + line) * width.positions + block.position;
    for (int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
      const ColumnTiles::Tile columns = plan.columns.At(tile);
      const int64_t row = columns.vectors * kN;
      float* const to = space + tiles * (columns.first - part.first) + first * row;
      if (!plan.conv.gather.channels_first) {
        const T* const from = gradient + (block.picture * plan.conv.gather.positions() + pixel) * plan.conv.columns + columns.first;
        MakePanel(from, plan.conv.columns, width.positions * plan.conv.columns, lines, positions, columns, to);
        continue;
      }
      float* const copy = space + plan.cut.points * plan.gradient_stride;
      const int64_t all = plan.conv.gather.positions();
      const T* const from = gradient + (block.picture * plan.conv.columns + columns.first) * all + pixel;
      for (int64_t r = 0; r < lines; ++r) TransposeMatrix(from + r * width.positions, all, copy + r * plan.line, row, positions, columns.width);
      MakePanel(copy, row, plan.line, lines, positions, columns, to);
    }
  }

  /// `lines` and `positions` are those that are there: the rest of the last tiles is zeros.
  template <class E>
  void MakePanel(const E* from, int64_t step, int64_t line, int64_t lines, int64_t positions, const ColumnTiles::Tile& columns, float* to) const {
    for (int64_t w = 0; w < positions; w += 2, to += columns.vectors * kN) {
      for (int64_t c = 0; c < columns.vectors * kN; c += kN) {
        V rows[2][kPoints];
        for (int r = 0; r < 2; ++r) {
          V outputs[2] = {};
          for (int j = 0; j < 2 && r < lines && w + j < positions; ++j) outputs[j] = LoadColumns(from + r * line + (w + j) * step + c, columns.width - c);
          Axis::OutputGradients(outputs, rows[r]);
        }
#pragma GCC unroll 7
        for (int j = 0; j < kPoints; ++j) {
          const V column[2] = {rows[0][j], rows[1][j]};
          V points[kPoints];
          Axis::OutputGradients(column, points);
#pragma GCC unroll 7
          for (int i = 0; i < kPoints; ++i) StoreVec(to + (i * kPoints + j) * plan.gradient_stride + c, points[i]);
        }
      }
    }
  }

  /// The gradient of a channel's weights, of the sums of all shares. Whether it is finite.
  bool MakeGradient(const float* sums, int64_t channel, T* filter) const {
    const int64_t channels = plan.conv.inner(), padded = plan.columns.padded, columns = plan.conv.columns;
    V bad{};
    for (int64_t c = 0; c < columns; c += kN) {
      V rows[kTaps][kPoints];
      for (int j = 0; j < kPoints; ++j) {
        V column[kPoints], taps[kTaps];
        for (int i = 0; i < kPoints; ++i) {
          const float* from = sums + ((i * kPoints + j) * channels + channel) * padded + c;
          column[i] = LoadVec(from);
          for (int64_t share = 1; share < plan.shares; ++share) column[i] += LoadVec(from + share * plan.sums);
        }
        Axis::FilterGradient(column, taps);
        for (int i = 0; i < kTaps; ++i) rows[i][j] = taps[i];
      }
      for (int i = 0; i < kTaps; ++i) {
        V taps[kTaps];
        Axis::FilterGradient(rows[i], taps);
        for (int j = 0; j < kTaps; ++j) {
          bad += taps[j] * 0.0f;
          StoreSome<T, float>(filter + ((i * kTaps + j) * channels + channel) * columns + c, taps[j], columns - c);
        }
      }
    }
    return AreFinite(bad);
  }
};

/// The flags, one for each channel, are 0 where all its gradients are finite.
template <int kTaps, class T>
void RunTasks(const FilterPlan& plan, const T* source, const T* gradient, T* filter, float* flags, Workers& workers) {
  float *const own = flags + plan.flags(), *const sums = own + plan.workspaces() * plan.workspace_elements();
  const FilterRunner<T, kTaps> runner{plan, gradient};
  workers.Run(plan.workspaces(), [&](int64_t i) {
    const int64_t share = i / plan.parts, blocks = plan.cut.cut.blocks, first = share * blocks / plan.shares;
    float* const space = own + i * plan.workspace_elements();
    const ColumnTiles::Part part = plan.columns.PartOf(i % plan.parts, plan.parts);
    SourcePoints<T, kTaps> points(plan.cut, source, space);
    StopCheck stop(workers);
    for (int64_t index = first; index < (share + 1) * blocks / plan.shares; ++index) {
      if (!points.Load(index, stop)) return;
      runner.AddBlock(points, part, space + plan.cut.space(), sums + share * plan.sums, index > first, stop);
      if (stop()) return;
    }
  });
  constexpr int64_t kGrain = 4;  // channels
  ForEach(workers, plan.conv.inner(), kGrain, [&](int64_t channel) { flags[channel] = runner.MakeGradient(sums, channel, filter) ? 0.0f : 1.0f; });
}

}  // namespace

bool TakesWinogradFilterGrad(const ConvDesc& conv) { return FilterPlan(conv).used(); }

int64_t WinogradFilterGradScratch(const ConvDesc& conv, bool widened) { return FilterPlan(conv).elements() + ConvScratch(PlainSums(conv), widened); }

template <class T>
void RunWinogradFilterGrad(const ConvDesc& conv, const T* source, const T* gradient, T* filter, float* scratch, Workers& workers) {
  const FilterPlan plan(conv);
  if (conv.gather.axes[2].taps == 3) RunTasks<3>(plan, source, gradient, filter, scratch, workers);
  else RunTasks<5>(plan, source, gradient, filter, scratch, workers);
  if (workers.Stopped() || std::all_of(scratch, scratch + conv.inner(), [](float flag) { return flag == 0; })) return;
  RunConvFilterGrad(PlainSums(conv), source, gradient, filter, scratch + plan.elements(), workers);
}

#define WEFT_INSTANTIATE(T) template void RunWinogradFilterGrad(const ConvDesc&, const T*, const T*, T*, float*, Workers&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(half)
WEFT_INSTANTIATE(bfloat16)

}  // namespace weft::kernels
