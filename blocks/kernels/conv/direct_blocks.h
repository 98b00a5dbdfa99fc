// Pictures with channels last as blocks of lines: products read a block as it lies in the picture, with what the positions at its edges
// read copied beside zeros, or all of it copied where that lies better.
#pragma once

#include "blocks/kernels/conv/convolution.h"
#include "blocks/kernels/gemm/micro_kernel.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// How a convolution is cut into blocks of positions: `lines` of one picture and depth, `strip` positions of each. All 0 where a
/// convolution is not computed line by line.
struct LineBlocking {
  int64_t lines = 0, line_tiles = 0;  // of one picture and depth
  int64_t strip = 0, strips = 0;
  int64_t blocks = 0;                         // of all pictures
  int64_t pixel = 0;                          // elements from pixel to pixel of a copied line
  int64_t copied_lines = 0, copied_line = 0;  // lines of a block and depth tap that are copied; elements of each
  int64_t patch = 0;                          // elements of a block's copied lines

  bool used() const { return blocks > 0; }
};

/// Up to `most_elements` are copied for a block (one line of positions may need more), of up to `most_positions`; `wanted` blocks or more
/// where there are lines enough. Positions that lie a multiple of `bad_stride` bytes apart share the lines of a cache: they are copied with
/// a gap between them.
LineBlocking BlockLines(const Im2Col& gather, int64_t most_elements, int64_t most_positions, int64_t wanted, int64_t bad_stride);

/// The same convolution with the axis of the longest lines last, where the last has but one position. `place`: null or the axes' places.
void MoveLongestAxisLast(Im2Col& gather, std::array<OutputAxis, 3>* place);

/// Some memory that will be read or written.
struct MemoryRange {
  const void* from = nullptr;
  int64_t bytes = 0;
};

/// Two stretches that are fetched evenly while `calls` sums are made.
class Prefetcher {
 public:
  Prefetcher(MemoryRange a, MemoryRange b, int64_t calls) : stretches_{a, b}, calls_(calls) {
    for (MemoryRange& s : stretches_) {
      if (s.bytes > kMostBytes) s = {};
    }
    if (stretches_[0].bytes == 0) stretches_[0] = {stretches_[1].from, 0};
    if (stretches_[1].bytes == 0) stretches_[1] = {stretches_[0].from, 0};
  }
  /// For the next sum, which takes `steps` steps: two, or null where there is nothing to fetch.
  const PrefetchStream* Next(int64_t steps) {
    if (stretches_[0].from == nullptr) return nullptr;
    for (int i = 0; i < 2; ++i) {
      const auto [from, bytes] = stretches_[i];
      const int64_t begin = bytes * call_ / calls_, end = bytes * (call_ + 1) / calls_;
      fetch_[i] = {static_cast<const char*>(from) + begin, DivideUp(end - begin, std::max<int64_t>(steps / 2, 1))};
    }
    ++call_;
    return fetch_;
  }

 private:
  static constexpr int64_t kMostBytes = 512 * 1024;
  MemoryRange stretches_[2];
  int64_t calls_, call_ = 0;
  PrefetchStream fetch_[2];
};

/// Positions of a block that read over an end of its lines: `count` of them from `first` on, in every line.
struct Edge {
  int64_t first = 0, count = 0;
  int64_t left = 0, pixels = 0;  // what they read, counted in pixels of the picture's line: partly outside
  int64_t at = 0;                // where that lies in the patch
};

/// Where the edges of a block are copied alone: in blocks of `lines` at least, of which edges are no more than one in `share`.
struct EdgeRule {
  int64_t lines, share;
};

/// A block of positions and the lines that its taps read.
template <class T>
class LineBlock {
 public:
  using A = gemm::Computed<T>;
  /// `patch` holds cut.patch elements. Blocks that `rule` is true of are read in place but for their edges.
  LineBlock(const Im2Col& gather, const LineBlocking& cut, const T* source, A* patch, EdgeRule rule)
      : g_(gather), cut_(cut), source_(source), patch_(patch), rule_(rule) {
    copies_ = !std::is_same_v<T, A> || cut.pixel != gather.channels;
  }
  /// The bytes that block `index` reads and the one before it does not, roughly; none where they are not one stretch.
  MemoryRange NewLines(int64_t index) const;
  /// Goes to block `index` and copies what is not read in place.
  void Load(int64_t index);

  int64_t picture, d, line, lines, position, positions;  // the block: depth d, lines [line, + lines), positions [position, + positions)
  int64_t inner_begin, inner_end;                        // of its positions, those that are no edges
  std::array<Edge, 2> edges;                             // the others, in the order of positions; empty ones have no count

  /// Elements from a pixel to the next.
  int64_t pixel() const { return copies_now_ ? cut_.pixel : g_.channels; }
  /// What tap 0 across of the position inner_begin reads in the block's `r`-th line, of the tap line (td, th); null outside the picture.
  const A* Start(int64_t r, int64_t td, int64_t th) const {
    const auto& [depth, height, width] = g_.axes;
    const int64_t at_d = depth.at(d, td), at_h = height.at(line + r, th);
    if (!depth.inside(at_d) || !height.inside(at_h)) return nullptr;
    if (copies_now_) return patch_ + (td * cut_.copied_lines + r * height.step + th * height.tap_step) * cut_.copied_line;
    return reinterpret_cast<const A*>(source_) +
           (picture * g_.pixels() + (at_d * height.source + at_h) * width.source + width.at(position + inner_begin, 0)) * g_.channels;
  }
  /// The same for an edge's first position in the block's first line; null outside the depth alone. The next line's is edge_step further.
  const A* EdgeStart(const Edge& edge, int64_t td, int64_t th) const {
    if (!g_.axes[0].inside(g_.axes[0].at(d, td))) return nullptr;
    return patch_ + edge.at + (td * cut_.copied_lines + th * g_.axes[1].tap_step) * edge_line_;
  }
  int64_t edge_step() const { return g_.axes[1].step * edge_line_; }

 private:
  /// The pixels [left, left + span) across are read; they may lie outside.
  int64_t left() const { return g_.axes[2].at(position, 0); }
  int64_t span(int64_t count) const { return (count - 1) * g_.axes[2].step + (g_.axes[2].taps - 1) * g_.axes[2].tap_step + 1; }
  /// Whether all but the edges is read in place, which are found then.
  bool FindEdges();
  /// Calls copy(its place among all copied lines, the line's pixels; null outside the picture) for every line that is read.
  template <class Copy>
  void ForLines(Copy&& copy) const;
  /// `count` pixels from `left` on, zeros outside.
  void CopyPixels(const T* line, int64_t left, int64_t count, A* to) const;

  const Im2Col& g_;
  const LineBlocking& cut_;
  const T* source_;
  A* patch_;
  EdgeRule rule_;
  int64_t edge_line_ = 0;  // elements of a line of either edge in the patch
  bool copies_, copies_now_ = false;
};

/// Taps whose elements lie side by side in a line, taken together: `count` of them, each a run of `run` elements; unit u starts `across`
/// pixels from tap 0 of its tap line.
struct TapRuns {
  int64_t count, run, per_line;
  int64_t tap_step;
  TapRuns(const Im2Col& g, int64_t inner, int64_t pixel) {
    const bool together = g.axes[2].tap_step == 1 && inner == pixel;
    per_line = together ? 1 : g.axes[2].taps;
    run = together ? g.axes[2].taps * inner : inner;
    count = g.axes[0].taps * g.axes[1].taps * per_line;
    tap_step = g.axes[2].tap_step * pixel;
  }
  template <class T>
  auto Start(const Im2Col& g, const LineBlock<T>& block, int64_t r, int64_t unit) const {
    const int64_t tap_line = unit / per_line;
    auto* start = block.Start(r, tap_line / g.axes[1].taps, tap_line % g.axes[1].taps);
    return start == nullptr ? start : start + unit % per_line * tap_step;
  }
  /// The same for an edge's first position.
  template <class T>
  auto EdgeStart(const Im2Col& g, const LineBlock<T>& block, const Edge& edge, int64_t unit) const {
    const int64_t tap_line = unit / per_line;
    auto* start = block.EdgeStart(edge, tap_line / g.axes[1].taps, tap_line % g.axes[1].taps);
    return start == nullptr ? start : start + unit % per_line * tap_step;
  }
};

}  // namespace weft::kernels
