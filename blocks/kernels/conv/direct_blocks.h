// Pictures as blocks of lines with channels last: products read a block as it lies in the picture, or copied, with zeros beside it, where its
// positions read over the ends of lines or channels come first.
#pragma once

#include "blocks/kernels/conv/implementations.h"
#include "blocks/kernels/simd/transpose.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// How a convolution is cut into blocks: `lines` of a picture's depth, `strip` positions of each; all 0 where it is not done by lines.
struct LineBlocking {
  int64_t lines = 0, line_tiles = 0;  // of one picture and depth
  int64_t strip = 0, strips = 0;
  int64_t blocks = 0;                         // of all pictures
  int64_t copied_lines = 0, copied_line = 0;  // lines of a block and depth tap that are copied; elements of each
  int64_t patch = 0;                          // elements of a block's copied lines

  bool used() const { return blocks > 0; }
};

/// Whether a convolution multiplies so often, for each element that it reads or writes, that a picture of planes is worth transposing.
inline bool WorthTransposing(const ConvDesc& conv) {
  constexpr double kFewest = 32;
  const double read = static_cast<double>(conv.gather.pixels()) * static_cast<double>(conv.gather.channels);
  const double written = static_cast<double>(conv.gather.positions()) * static_cast<double>(conv.columns);
  return conv.work() >= kFewest * static_cast<double>(conv.gather.batch) * (read + written);
}

/// Blocks of `most_elements` copied (or one line of positions) and `most_positions` at most; `wanted` of them if there are lines enough.
LineBlocking BlockLines(const Im2Col& gather, int64_t most_elements, int64_t most_positions, int64_t wanted);

/// The same convolution with the axis of the longest lines last, where the last has but one position. `place`: null or the axes' places.
void MoveLongestAxisLast(Im2Col& gather, std::array<OutputAxis, 3>* place);

/// A block of positions and the lines that its taps read.
template <class T>
class LineBlock {
 public:
  using A = gemm::Computed<T>;
  /// `patch` holds cut.patch elements.
  LineBlock(const Im2Col& gather, const LineBlocking& cut, const T* source, A* patch)
      : g_(gather), cut_(cut), source_(source), patch_(patch) {}
  /// Goes to block `index` and copies what is not read in place.
  void Load(int64_t index);

  int64_t picture, d, line, lines, position, positions;  // the block: depth d, lines [line, + lines), positions [position, + positions)

  /// What tap 0 across of the first position reads in the block's `r`-th line, of the tap line (td, th); null outside the picture.
  const A* Start(int64_t r, int64_t td, int64_t th) const {
    const auto& [depth, height, width] = g_.axes;
    const int64_t at_d = depth.at(d, td), at_h = height.at(line + r, th);
    if (!depth.inside(at_d) || !height.inside(at_h)) return nullptr;
    if (copies_) return patch_ + (td * cut_.copied_lines + r * height.step + th * height.tap_step) * cut_.copied_line;
    return reinterpret_cast<const A*>(source_) +
           (picture * g_.pixels() + (at_d * height.source + at_h) * width.source + width.at(position, 0)) * g_.channels;
  }

 private:
  void CopyLines();
  /// `count` pixels from `pixel` of the picture on.
  void CopyPixels(int64_t pixel, int64_t count, A* to) const;

  const Im2Col& g_;
  const LineBlocking& cut_;
  const T* source_;
  A* patch_;
  bool copies_ = false;
};

/// Where the results of a convolution's blocks go.
template <class T>
struct OutputLines {
  using A = gemm::Computed<T>;
  const ConvDesc& p;
  T* out;

  bool planes() const { return p.gather.channels_first; }
  /// Elements from pixel to pixel of the output, from position to position of a line, and from column to column.
  int64_t pixel_step() const { return planes() ? 1 : p.columns; }
  int64_t position_step() const { return p.place[2].stride * pixel_step(); }
  int64_t column_step() const { return planes() ? p.place[0].size * p.place[1].size * p.place[2].size : 1; }

  /// The first position of a block's `r`-th line.
  T* Line(const LineBlock<T>& block, int64_t r) const {
    const auto& [depth, height, width] = p.place;
    const int64_t line = (depth.first + block.d * depth.stride) * height.size + height.first + (block.line + r) * height.stride;
    const int64_t picture = block.picture * depth.size * height.size * width.size * p.columns;
    return out + picture + (line * width.size + width.first + block.position * width.stride) * pixel_step();
  }

  /// A line of sums, `width` of each position, of which `columns` are there.
  void Store(const A* sums, int64_t width, int64_t columns, int64_t positions, T* to) const {
    const int64_t stride = position_step();
    if (planes() && stride == 1) return TransposeMatrix(sums, width, to, column_step(), columns, positions);
    for (int64_t w = 0; w < positions; ++w, sums += width, to += stride) {
      if (planes()) {
        for (int64_t c = 0; c < columns; ++c) to[c * column_step()] = FromVecElement<T>(sums[c]);
      } else if constexpr (sizeof(T) == sizeof(A)) {
        std::copy_n(reinterpret_cast<const T*>(sums), columns, to);
      } else {
        Narrow(sums, to, columns);
      }
    }
  }
};

/// Taps whose elements lie side by side in a line, taken together: `count` of them, each a run of `run` elements; unit u starts `across`
/// pixels from tap 0 of its tap line.
struct TapRuns {
  int64_t count, run, per_line;
  int64_t tap_step, taps_down;
  TapRuns(const Im2Col& g, int64_t inner) : tap_step(g.axes[2].tap_step * g.channels), taps_down(g.axes[1].taps) {
    const bool together = g.axes[2].tap_step == 1 && inner == g.channels;
    per_line = together ? 1 : g.axes[2].taps;
    run = together ? g.axes[2].taps * inner : inner;
    count = g.axes[0].taps * g.axes[1].taps * per_line;
  }
  /// What the unit reads, as LineBlock::Start.
  template <class T>
  auto Start(const LineBlock<T>& block, int64_t r, int64_t unit) const {
    const int64_t tap_line = unit / per_line;
    auto* start = block.Start(r, tap_line / taps_down, tap_line % taps_down);
    return start == nullptr ? start : start + unit % per_line * tap_step;
  }
};

/// Columns in tiles of one or two registers, within groups; those of a group are filled up to whole registers.
struct ColumnTiles {
  int64_t lanes;     // of a register
  int64_t of_group;  // columns
  int64_t padded;    // of a group, filled up
  int64_t tiles_of_group, count;

  ColumnTiles(const ConvDesc& conv, int64_t lanes)
      : lanes(lanes), of_group(conv.columns / conv.groups), padded(DivideUp(of_group, lanes) * lanes),
        tiles_of_group(DivideUp(of_group, 2 * lanes)), count(conv.groups * tiles_of_group) {}

  struct Tile {
    int64_t group, first, width;  // first: in its group
    int vectors;
  };
  Tile At(int64_t tile) const {
    const int64_t first = tile % tiles_of_group * 2 * lanes, width = std::min(2 * lanes, of_group - first);
    return {tile / tiles_of_group, first, width, width <= lanes ? 1 : 2};
  }

  /// Tiles [first_tile, last_tile) of one group, and their columns.
  struct Part {
    int64_t first_tile, last_tile;
    int64_t first, width, padded;
  };
  /// The `part`-th of `parts`; of all of one group.
  Part PartOf(int64_t part, int64_t parts) const {
    const int64_t first_tile = part * count / parts, last_tile = (part + 1) * count / parts, first = At(first_tile).first;
    const int64_t filled = std::min(padded, last_tile * 2 * lanes) - first;
    return {first_tile, last_tile, first, std::min(of_group - first, filled), filled};
  }
  /// The padded columns of the widest of `parts`.
  int64_t WidestPart(int64_t parts) const { return std::min(padded, DivideUp(count, parts) * 2 * lanes); }
};

}  // namespace weft::kernels
