// Convolutions of pictures whose channels are last, line by line: products read the pictures as they lie, or a few lines at a time copied
// with the padding that their taps read. No patch is gathered.
#pragma once

#include "blocks/kernels/register_tile.h"
#include "blocks/kernels/tap_product.h"

namespace weft::kernels {

/// How a convolution is cut into blocks of positions: `lines` of one picture and depth, `strip` positions of each. All 0 where a
/// convolution is not computed line by line.
struct LineCut {
  int64_t lines = 0, line_tiles = 0;  // of one picture and depth
  int64_t strip = 0, strips = 0;
  int64_t blocks = 0;                         // of all pictures
  int64_t pixel = 0;                          // elements from pixel to pixel of a copied line
  int64_t copied_lines = 0, copied_line = 0;  // lines of a block and depth tap that are copied; elements of each
  int64_t patch = 0;                          // elements of a block's copied lines

  bool used() const { return blocks > 0; }
};

/// Up to `most_elements` are copied for a block (one line of positions may need more), of up to `most_positions`; `wanted` blocks or more
/// where there are lines enough.
LineCut CutLines(const TapGather& gather, int64_t most_elements, int64_t most_positions, int64_t wanted);

/// The same convolution with the axis of the longest lines last, where the last has but one position. `place`: null or the axes' places.
void TurnToLines(TapGather& gather, std::array<Place, 3>* place);

/// A block of positions and the lines that its taps read.
template <class T>
class LineBlock {
 public:
  using A = panels::Computed<T>;
  /// `patch` holds cut.patch elements.
  LineBlock(const TapGather& gather, const LineCut& cut, const T* source, A* patch)
      : g_(gather), cut_(cut), source_(source), patch_(patch) {
    copies_ = !std::is_same_v<T, A> || cut.pixel != gather.channels;
  }
  /// Goes to block `index` and copies its lines where taps reach over the edge, or T is not computed as it is.
  void Load(int64_t index);

  int64_t picture, d, line, lines, position, positions;  // the block: depth d, lines [line, + lines), positions [position, + positions)

  /// Elements from a pixel to the next.
  int64_t pixel() const { return copies_now_ ? cut_.pixel : g_.channels; }
  /// What tap 0 across of the block's first position in its `r`-th line reads, of the tap line (td, th); null outside the picture.
  const A* Start(int64_t r, int64_t td, int64_t th) const {
    const auto& [depth, height, width] = g_.axes;
    const int64_t at_d = depth.at(d, td), at_h = height.at(line + r, th);
    if (!depth.inside(at_d) || !height.inside(at_h)) return nullptr;
    if (copies_now_) return patch_ + (td * cut_.copied_lines + r * height.step + th * height.tap_step) * cut_.copied_line;
    return reinterpret_cast<const A*>(source_) +
           (picture * g_.pixels() + (at_d * height.source + at_h) * width.source + left()) * g_.channels;
  }

 private:
  /// The pixels [left, left + span) across are read; they may lie outside.
  int64_t left() const { return g_.axes[2].at(position, 0); }
  int64_t span() const { return (positions - 1) * g_.axes[2].step + (g_.axes[2].taps - 1) * g_.axes[2].tap_step + 1; }
  void CopyLine(const T* from, A* to) const;

  const TapGather& g_;
  const LineCut& cut_;
  const T* source_;
  A* patch_;
  bool copies_, copies_now_ = false;
};

/// Taps whose elements lie side by side in a line, taken together: `count` of them, each a run of `run` elements; unit u starts `across`
/// pixels from tap 0 of its tap line.
struct TapUnits {
  int64_t count, run, per_line;
  int64_t tap_step;
  TapUnits(const TapGather& g, int64_t inner, int64_t pixel) {
    const bool together = g.axes[2].tap_step == 1 && inner == pixel;
    per_line = together ? 1 : g.axes[2].taps;
    run = together ? g.axes[2].taps * inner : inner;
    count = g.axes[0].taps * g.axes[1].taps * per_line;
    tap_step = g.axes[2].tap_step * pixel;
  }
  template <class T>
  auto Start(const TapGather& g, const LineBlock<T>& block, int64_t r, int64_t unit) const {
    const int64_t tap_line = unit / per_line;
    auto* start = block.Start(r, tap_line / g.axes[1].taps, tap_line % g.axes[1].taps);
    return start == nullptr ? start : start + unit % per_line * tap_step;
  }
};

/// Elements of T's computed type that RunLines needs; 0 where `product` is not computed line by line. `widened`: T is half or bfloat16.
int64_t LineScratch(const TapProduct& product, bool widened);
/// RunTapProduct, line by line; false where it is not computed so.
template <class T>
bool RunLines(const TapProduct& product, const T* source, const T* weights, T* out, panels::Computed<T>* scratch, Workers& workers);

/// The same for RunFilterSum.
int64_t LineSumScratch(const FilterSum& sum);
template <class T>
bool RunLineSum(const FilterSum& sum, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers);

}  // namespace weft::kernels
