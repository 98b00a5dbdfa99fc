#include "blocks/kernels/conv/direct_blocks.h"

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

LineBlocking BlockLines(const Im2Col& g, int64_t most_elements, int64_t most_positions, int64_t wanted, int64_t bad_stride) {
  const auto& [depth, height, width] = g.axes;
  LineBlocking cut;
  if (g.channels_first || g.batch == 0 || g.positions() == 0 || g.taps() == 0 || g.channels == 0) return cut;
  if (width.positions < kFewestPositions) return cut;
  cut.pixel = g.channels;
  const double stride = static_cast<double>(g.channels) * static_cast<double>(width.step) * 4;
  if (stride < 1e15 && g.channels * width.step * 4 % bad_stride == 0) cut.pixel += 16;
  const double tap_reach = static_cast<double>(width.taps - 1) * static_cast<double>(width.tap_step) + 1;
  const double tap_lines = static_cast<double>(height.taps - 1) * static_cast<double>(height.tap_step) + 1;
  const double bytes = static_cast<double>(cut.pixel) * static_cast<double>(depth.taps);
  // The strip, then as many lines as there is room for.
  const double room = static_cast<double>(most_elements) / bytes / tap_lines;
  const int64_t longest = std::min<int64_t>(most_positions, static_cast<int64_t>((room - tap_reach) / static_cast<double>(width.step)) + 1);
  cut.strips = DivideUp(width.positions, std::max<int64_t>(longest, 8 * kRows));
  cut.strip = DivideUp(width.positions, cut.strips);
  cut.strips = DivideUp(width.positions, cut.strip);
  const double line = (static_cast<double>(cut.strip - 1) * static_cast<double>(width.step) + tap_reach);
  if (line * tap_lines * bytes > static_cast<double>(kMostCopied)) return {};
  cut.copied_line = static_cast<int64_t>(line) * cut.pixel;
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
void LineBlock<T>::CopyPixels(const T* line, int64_t left, int64_t count, A* to) const {
  const int64_t first = std::clamp<int64_t>(-left, 0, count), last = std::clamp<int64_t>(g_.axes[2].source - left, first, count);
  const T* pixels = line + (left + first) * g_.channels;
  const int64_t step = pixel();
  std::fill(to, to + first * step, A(0));
  if (step == g_.channels) {
    CopyShort(pixels, to + first * step, (last - first) * g_.channels);
  } else {
    for (int64_t i = first; i < last; ++i, pixels += g_.channels) CopyShort(pixels, to + i * step, g_.channels);
  }
  std::fill(to + last * step, to + count * step, A(0));
}

template <class T>
MemoryRange LineBlock<T>::NewLines(int64_t index) const {
  const auto& [depth, height, width] = g_.axes;
  if (cut_.strips > 1 || index >= cut_.blocks) return {};
  const int64_t top = index % cut_.line_tiles * cut_.lines, rest = index / cut_.line_tiles;
  const int64_t bottom = std::min(top + cut_.lines, height.positions) - 1;
  const int64_t at_d = depth.at(rest % depth.positions, depth.taps - 1);
  const int64_t begin = top == 0 ? 0 : std::clamp<int64_t>(height.at(top - 1, height.taps - 1) + 1, 0, height.source);
  const int64_t end = std::clamp<int64_t>(height.at(bottom, height.taps - 1) + 1, begin, height.source), line = width.source * g_.channels;
  if (!depth.inside(at_d)) return {};
  const T* from = source_ + (rest / depth.positions * g_.pixels() + (at_d * height.source + begin) * width.source) * g_.channels;
  return {from, (end - begin) * line * static_cast<int64_t>(sizeof(T))};
}

template <class T>
bool LineBlock<T>::FindEdges() {
  const ConvAxis& width = g_.axes[2];
  const int64_t room = width.source - span(1) - left();  // an inner position p has 0 <= left() + p * step and p * step <= room
  inner_begin = std::clamp<int64_t>(DivideUp(-left(), width.step), 0, positions);
  inner_end = room < 0 ? inner_begin : std::clamp<int64_t>(room / width.step + 1, inner_begin, positions);
  const int64_t count = positions - (inner_end - inner_begin);
  if (count == 0) return true;
  if (lines < rule_.lines || count * rule_.share > positions) return false;
  edges[0] = {0, inner_begin};
  edges[1] = {inner_end, positions - inner_end};
  edge_line_ = span(std::max(edges[0].count, edges[1].count)) * g_.channels;
  int64_t at = 0;
  for (Edge& edge : edges) {
    if (edge.count == 0) continue;
    edge.left = width.at(position + edge.first, 0);
    edge.pixels = span(edge.count);
    edge.at = at;
    at += g_.axes[0].taps * cut_.copied_lines * edge_line_;
  }
  return at <= cut_.patch;
}

template <class T>
template <class Copy>
void LineBlock<T>::ForLines(Copy&& copy) const {
  const auto& [depth, height, width] = g_.axes;
  const int64_t top = height.at(line, 0), count = (lines - 1) * height.step + (height.taps - 1) * height.tap_step + 1;
  for (int64_t td = 0; td < depth.taps; ++td) {
    const int64_t at_d = depth.at(d, td);
    if (!depth.inside(at_d)) continue;
    for (int64_t i = 0; i < count; ++i) {
      // Line i is read by the tap th of the r-th line where i = r * step + th * tap_step.
      bool read = height.step == 1 && height.tap_step == 1;
      for (int64_t th = 0; th < height.taps && !read; ++th) {
        const int64_t rest = i - th * height.tap_step;
        read = rest >= 0 && rest % height.step == 0 && rest / height.step < lines;
      }
      if (!read) continue;
      const int64_t first = picture * g_.pixels() + (at_d * height.source + top + i) * width.source;
      copy(td * cut_.copied_lines + i, height.inside(top + i) ? source_ + first * g_.channels : nullptr);
    }
  }
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
  edges = {};
  copies_now_ = copies_ || !FindEdges();
  if (copies_now_) {
    edges = {};
    inner_begin = 0;
    inner_end = positions;
    ForLines([&](int64_t place, const T* from) {
      if (from != nullptr) CopyPixels(from, left(), span(positions), patch_ + place * cut_.copied_line);
    });
    return;
  }
  for (const Edge& edge : edges) {
    if (edge.count == 0) continue;
    ForLines([&](int64_t place, const T* from) {
      A* to = patch_ + edge.at + place * edge_line_;
      if (from != nullptr) CopyPixels(from, edge.left, edge.pixels, to);
      else std::fill(to, to + edge_line_, A(0));
    });
  }
}

template class LineBlock<float>;
template class LineBlock<double>;
template class LineBlock<half>;
template class LineBlock<bfloat16>;
template class LineBlock<int32_t>;

}  // namespace weft::kernels
