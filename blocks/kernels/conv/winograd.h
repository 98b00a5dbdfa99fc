// What convolutions by minimal filtering and their gradients by the filter share: pictures in blocks of tiles, each of two by two positions, and
// the points of what their taps read.
#pragma once

#include "blocks/kernels/conv/direct_blocks.h"
#include "blocks/kernels/conv/minimal.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// How pictures are cut into blocks of tiles; nothing is, where minimal filtering does not fit the convolution.
struct TileBlocking {
  Im2Col gather;  // with the positions of whole tiles
  LineBlocking cut;
  int64_t points = 0;         // of a tile and channel
  int64_t source_stride = 0;  // elements of a block from point to point of the source

  /// Blocks of `most_tiles` (or one line of tiles), and at least `wanted` of them if there are lines enough.
  TileBlocking(const ConvDesc& conv, int64_t most_tiles, int64_t wanted);

  /// Tiles of a block, at most.
  int64_t tiles() const { return cut.lines / 2 * (cut.strip / 2); }
  /// Elements of a line of zeros.
  int64_t zeros() const { return DivideUp(cut.copied_line, int64_t{32}) * 32; }
  /// Elements that a SourcePoints needs.
  int64_t space() const { return cut.patch + zeros() + points * source_stride; }
  /// Elements from point to point, where each has so many: an odd number of cache lines, so that those of all points do not push each other
  /// out.
  static int64_t Stride(int64_t elements) { return (DivideUp(elements, int64_t{16}) | 1) * 16; }
};

/// A block of tiles, and the points of its source: at(point)[tile * channels + channel].
template <class T, int kTaps>
class SourcePoints {
 public:
  static constexpr int kPoints = Minimal<kTaps>::kPoints;

  /// `space` has cut.space() elements.
  SourcePoints(const TileBlocking& cut, const T* source, float* space)
      : block(cut.gather, cut.cut, source, space), cut_(cut), zeros_(space + cut.cut.patch), points_(zeros_ + cut.zeros()) {
    std::fill_n(zeros_, cut.zeros(), 0.0f);
  }

  LineBlock<T> block;
  int64_t across() const { return block.positions / 2; }
  int64_t down() const { return block.lines / 2; }
  int64_t tiles() const { return across() * down(); }
  const float* at(int64_t point) const { return points_ + point * cut_.source_stride; }

  /// Goes to block `index`. False where the run is to end.
  bool Load(int64_t index, StopCheck& stop) {
    block.Load(index);
    for (int64_t t = 0; t < down(); ++t) {
      const float* lines[kIn];
      for (int i = 0; i < kIn; ++i) {
        const int tap = std::min(i, kTaps - 1);
        const float* const line = block.Start(2 * t + i - tap, 0, tap);
        lines[i] = line == nullptr ? zeros_ : line;
      }
      MakeLine(lines, points_ + t * across() * cut_.gather.channels);
      if (stop(across() * cut_.gather.channels)) return false;
    }
    return true;
  }

 private:
  static constexpr int kIn = kTaps + 1;

  /// A line of tiles.
  void MakeLine(const float* const* lines, float* to) const {
    using V = Vec<float>;
    constexpr int kN = kLanes<float>;
    const int64_t channels = cut_.gather.channels;
    for (int64_t tile = 0; tile < across(); ++tile, to += channels) {
      for (int64_t at = 0; at < channels; at += kN) {
        const int64_t c = std::min(at, channels - kN), from = 2 * tile * channels + c;
        V rows[kPoints][kIn];
#pragma GCC unroll 6
        for (int j = 0; j < kIn; ++j) {
          V column[kIn], points[kPoints];
#pragma GCC unroll 6
          for (int i = 0; i < kIn; ++i) column[i] = LoadVec(lines[i] + from + j * channels);
          Minimal<kTaps>::Source(column, points);
#pragma GCC unroll 7
          for (int i = 0; i < kPoints; ++i) rows[i][j] = points[i];
        }
#pragma GCC unroll 7
        for (int i = 0; i < kPoints; ++i) {
          V points[kPoints];
          Minimal<kTaps>::Source(rows[i], points);
#pragma GCC unroll 7
          for (int j = 0; j < kPoints; ++j) StoreVec(to + (i * kPoints + j) * cut_.source_stride + c, points[j]);
        }
      }
    }
  }

  const TileBlocking& cut_;
  float* const zeros_;  // a line
  float* const points_;
};

/// The same by plain sums.
inline ConvDesc PlainSums(ConvDesc conv) {
  conv.in_float = false;
  return conv;
}

/// Whether values are finite whose products with 0 add up to these lanes: what is made of an infinity, or overflows on the way, is not what
/// plain sums are.
inline bool AreFinite(Vec<float> zeros) {
  float all[kLanes<float>];
  StoreVec(all, zeros);
  return std::ranges::none_of(all, [](float x) { return x != 0; });
}

/// A register of columns of which `count` are there, then zeros.
template <class T>
Vec<float> LoadColumns(const T* from, int64_t count) {
  if (count >= kLanes<float>) return LoadVec(from);
  T some[kLanes<float>] = {};
  std::copy_n(from, std::max<int64_t>(count, 0), some);
  return LoadVec(some);
}

}  // namespace weft::kernels
