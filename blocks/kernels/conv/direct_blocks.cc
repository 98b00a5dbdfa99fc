#include "blocks/kernels/conv/direct_blocks.h"

#include "blocks/kernels/simd/transpose.h"
#include "blocks/kernels/simd/widen.h"

namespace weft::kernels {

using namespace gemm;

namespace {

constexpr int64_t kFewestPositions = 3;   // of a line: shorter ones leave registers idle
constexpr int64_t kMostCopied = 1 << 20;  // elements of a block's lines

}  // namespace

void MoveLongestAxisLast(Im2Col& g, std::array<OutputAxis, 3>* place) {
  const auto trivial = [&](int i) {
    const ConvAxis& a = g.axes[i];
    return a.source == 1 && a.positions == 1 && a.taps == 1 && a.offset == 0 && (place == nullptr || (*place)[i].size == 1);
  };
  for (int turn = 0; turn < 2 && trivial(2); ++turn) {
    std::rotate(g.axes.begin(), g.axes.end() - 1, g.axes.end());
    if (place != nullptr) std::rotate(place->begin(), place->end() - 1, place->end());
  }
}

LineBlocking BlockLines(const Im2Col& g, int64_t most_elements, int64_t most_positions, int64_t wanted) {
  const auto& [depth, height, width] = g.axes;
  LineBlocking cut;
  if (g.batch == 0 || g.positions() == 0 || g.taps() == 0 || g.channels == 0) return cut;
  if (width.positions < kFewestPositions) return cut;
  const double tap_reach = static_cast<double>(width.taps - 1) * static_cast<double>(width.tap_step) + 1;
  const double tap_lines = static_cast<double>(height.taps - 1) * static_cast<double>(height.tap_step) + 1;
  const double bytes = static_cast<double>(g.channels) * static_cast<double>(depth.taps);
  // The strip, then as many lines as there is room for.
  const double room = static_cast<double>(most_elements) / bytes / tap_lines;
  const int64_t longest = std::min<int64_t>(most_positions, static_cast<int64_t>((room - tap_reach) / static_cast<double>(width.step)) + 1);
  cut.strips = DivideUp(width.positions, std::max<int64_t>(longest, 8 * kRows));
  cut.strip = DivideUp(width.positions, cut.strips);
  cut.strips = DivideUp(width.positions, cut.strip);
  const double line = (static_cast<double>(cut.strip - 1) * static_cast<double>(width.step) + tap_reach);
  if (line * tap_lines * bytes > static_cast<double>(kMostCopied)) return {};
  cut.copied_line = static_cast<int64_t>(line) * g.channels;
  const int64_t fits = (most_elements / (depth.taps * cut.copied_line) - static_cast<int64_t>(tap_lines)) / height.step + 1;
  const int64_t shares = DivideUp(wanted, g.batch * depth.positions * cut.strips);
  cut.lines = std::clamp<int64_t>(std::min({fits, most_positions / cut.strip, DivideUp(height.positions, shares)}), 1, height.positions);
  cut.line_tiles = DivideUp(height.positions, cut.lines);
  cut.lines = DivideUp(height.positions, cut.line_tiles);
  cut.line_tiles = DivideUp(height.positions, cut.lines);
  cut.copied_lines = (cut.lines - 1) * height.step + static_cast<int64_t>(tap_lines);
  cut.patch = DivideUp(depth.taps * cut.copied_lines * cut.copied_line, 32) * 32;
  if (cut.patch > kMostCopied) return {};
  cut.blocks = g.batch * depth.positions * cut.line_tiles * cut.strips;
  return cut;
}

// ---- the lines of a block --------------------------------------------------------------------------------------------------------

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
  copies_ = !std::is_same_v<T, A> || g_.channels_first || width.at(position, 0) < 0 || width.at(position + positions - 1, width.taps - 1) >= width.source;
  if (copies_) CopyLines();
}

template <class T>
void LineBlock<T>::CopyPixels(int64_t pixel, int64_t count, A* to) const {
  const T* const from = source_ + picture * g_.pixels() * g_.channels;
  if (g_.channels_first) TransposeMatrix(from + pixel, g_.pixels(), to, g_.channels, count, g_.channels);
  else CopyShort(from + pixel * g_.channels, to, count * g_.channels);
}

template <class T>
void LineBlock<T>::CopyLines() {
  const auto& [depth, height, width] = g_.axes;
  const int64_t top = height.at(line, 0), count = (lines - 1) * height.step + (height.taps - 1) * height.tap_step + 1;
  // Pixels [left, left + span) across are read, of which [first, last) are inside.
  const int64_t left = width.at(position, 0), span = (positions - 1) * width.step + (width.taps - 1) * width.tap_step + 1;
  const int64_t first = std::clamp<int64_t>(-left, 0, span), last = std::clamp<int64_t>(width.source - left, first, span);
  for (int64_t td = 0; td < depth.taps; ++td) {
    const int64_t at_d = depth.at(d, td);
    if (!depth.inside(at_d)) continue;
    for (int64_t i = 0; i < count; ++i) {
      if (!height.inside(top + i)) continue;
      // Line i is read by the tap th of the r-th line where i = r * step + th * tap_step.
      bool read = height.step == 1 && height.tap_step == 1;
      for (int64_t th = 0; th < height.taps && !read; ++th) {
        const int64_t rest = i - th * height.tap_step;
        read = rest >= 0 && rest % height.step == 0 && rest / height.step < lines;
      }
      if (!read) continue;
      const int64_t pixel = (at_d * height.source + top + i) * width.source + left;
      A* const to = patch_ + (td * cut_.copied_lines + i) * cut_.copied_line;
      std::fill(to, to + first * g_.channels, A(0));
      CopyPixels(pixel + first, last - first, to + first * g_.channels);
      std::fill(to + last * g_.channels, to + span * g_.channels, A(0));
    }
  }
}

template class LineBlock<float>;
template class LineBlock<double>;
template class LineBlock<half>;
template class LineBlock<bfloat16>;
template class LineBlock<int32_t>;

}  // namespace weft::kernels
