#include "blocks/kernels/image/resize.h"

#include <array>
#include <cfloat>
#include <cmath>

#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"

namespace weft::kernels {
namespace {

constexpr int kTableSize = 1024;

/// Weights of the pixels at a distance of i / 1,024 and of one more, turn about.
using CubicTable = std::array<float, 2 * (kTableSize + 1)>;

CubicTable MakeCubicTable(double a) {
  CubicTable table;
  for (int i = 0; i <= kTableSize; ++i) {
    const double x = static_cast<double>(i) / kTableSize, beyond = x + 1;
    table[2 * i] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
    table[2 * i + 1] = static_cast<float>(((a * beyond - 5 * a) * beyond + 8 * a) * beyond - 4 * a);
  }
  return table;
}

float PlaceOf(const ResizeAxis& axis, int64_t i) {
  const auto at = static_cast<float>(i);
  return axis.half_pixel_centers ? (at + 0.5f) * axis.scale - 0.5f : at * axis.scale;
}

/// Pixels outside have no share, and the others share it.
void ShareInside(ResizeTaps<4>& taps, int64_t first, int64_t in) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (first + k < 0 || first + k >= in) taps.weight[k] = 0;
    sum += taps.weight[k];
  }
  if (std::abs(sum) < 1000 * FLT_MIN) return;
  for (float& weight : taps.weight) weight *= 1.0f / sum;
}

template <int K, int kChannels>
void ResizeLine(const ResizeTaps<K>* columns, int64_t count, const float* from, float* to, int64_t channels) {
  if constexpr (kChannels > 0) channels = kChannels;
  for (int64_t x = 0; x < count; ++x, to += channels) {
    const ResizeTaps<K>& taps = columns[x];
    const float* pixel[K];
    for (int k = 0; k < K; ++k) pixel[k] = from + taps.at[k] * channels;
    for (int64_t c = 0; c < channels; ++c) {
      if constexpr (K == 2) {
        const float low = pixel[0][c], share = taps.weight[1];
        to[c] = share == 0 ? low : low + (pixel[1][c] - low) * share;  // what has no share may be infinite
      } else {
        to[c] = taps.weight[0] * pixel[0][c] + taps.weight[1] * pixel[1][c] + taps.weight[2] * pixel[2][c] + taps.weight[3] * pixel[3][c];
      }
    }
  }
}

template <int K>
void ResizeLine(const ResizeTaps<K>* columns, int64_t count, const float* from, float* to, int64_t channels) {
  switch (channels) {
    case 1: return ResizeLine<K, 1>(columns, count, from, to, channels);
    case 3: return ResizeLine<K, 3>(columns, count, from, to, channels);
    case 4: return ResizeLine<K, 4>(columns, count, from, to, channels);
    default: return ResizeLine<K, 0>(columns, count, from, to, channels);
  }
}

template <int K>
void MixLines(const ResizeTaps<K>& taps, const float* const* lines, float* to, int64_t n) {
  const float* const first = lines[0];
  if constexpr (K == 2) {
    const float share = taps.weight[1];
    if (share == 0) {
      std::copy_n(first, n, to);
      return;
    }
    const float* const second = lines[1];
    for (int64_t i = 0; i < n; ++i) to[i] = first[i] + (second[i] - first[i]) * share;
  } else {
    const float *const second = lines[1], *const third = lines[2], *const fourth = lines[3];
    const float a = taps.weight[0], b = taps.weight[1], c = taps.weight[2], d = taps.weight[3];
    for (int64_t i = 0; i < n; ++i) to[i] = a * first[i] + b * second[i] + c * third[i] + d * fourth[i];
  }
}

template <int K>
ResizePieces PiecesOf(const ResizePlan& plan) {
  return {plan.batch * plan.y.out, plan.in_line() + 2 * K * plan.out_line()};
}

/// The last K source lines, resized. Lines that are needed together follow one another, so that each has a place of its own.
template <int K>
class ResizedLines {
 public:
  ResizedLines(const ResizePlan& plan, const ResizeTaps<K>* columns, float* memory, const Workers& workers)
      : plan_(plan), columns_(columns), widened_(memory), lines_(memory + plan.in_line()), workers_(workers) {
    std::fill_n(held_, K, -1);
  }

  const float* Get(int64_t source, int64_t at, const void* in, WidenLine widen) {
    float* const line = lines_ + at % K * plan_.out_line();
    if (held_[at % K] == source) return line;
    held_[at % K] = source;
    const float* from = static_cast<const float*>(in) + source * plan_.in_line();
    if (widen != nullptr) {
      widen(in, source * plan_.in_line(), widened_, plan_.in_line());
      from = widened_;
    }
    const int64_t channels = plan_.channels;
    ForTiles(workers_, plan_.x.out, 1 + kItemsBetweenLooks / channels, [&](int64_t begin, int64_t end) {
      ResizeLine(columns_ + begin, end - begin, from, line + begin * channels, channels);
    });
    return line;
  }

 private:
  const ResizePlan& plan_;
  const ResizeTaps<K>* columns_;
  float *widened_, *lines_;
  const Workers& workers_;
  int64_t held_[K];
};

}  // namespace

float ResizeScale(int64_t in, int64_t out, bool align_corners) {
  const bool corners = align_corners && out > 1;
  return static_cast<float>(in - corners) / static_cast<float>(out - corners);
}

ResizeTaps<2> LinearTapsAt(float place, int64_t in) {
  const float floor = std::floor(place), share = place - floor;
  const auto low = static_cast<int64_t>(floor);
  return {{std::clamp<int64_t>(low, 0, in - 1), std::clamp<int64_t>(low + 1, 0, in - 1)}, {1.0f - share, share}};
}

template <>
ResizeTaps<1> TapsOf(const ResizeAxis& axis, int64_t i) {
  const float place = (static_cast<float>(i) + (axis.half_pixel_centers ? 0.5f : 0.0f)) * axis.scale;
  const float nearest = axis.align_corners ? std::round(place) : std::floor(place);
  return {{std::clamp<int64_t>(static_cast<int64_t>(nearest), 0, axis.in - 1)}, {1.0f}};
}

template <>
ResizeTaps<2> TapsOf(const ResizeAxis& axis, int64_t i) { return LinearTapsAt(PlaceOf(axis, i), axis.in); }

template <>
ResizeTaps<4> TapsOf(const ResizeAxis& axis, int64_t i) {
  static const CubicTable kCentres = MakeCubicTable(-0.5), kEdges = MakeCubicTable(-0.75);
  const CubicTable& table = axis.half_pixel_centers ? kCentres : kEdges;
  const float place = PlaceOf(axis, i), floor = std::floor(place);
  const auto share = static_cast<size_t>(std::lrint((place - floor) * kTableSize)), rest = kTableSize - share;
  const int64_t first = static_cast<int64_t>(floor) - 1;
  ResizeTaps<4> taps{{}, {table[2 * share + 1], table[2 * share], table[2 * rest], table[2 * rest + 1]}};
  for (int k = 0; k < 4; ++k) taps.at[k] = std::clamp<int64_t>(first + k, 0, axis.in - 1);
  if (axis.half_pixel_centers) ShareInside(taps, first, axis.in);
  return taps;
}

ResizePieces::ResizePieces(int64_t all, int64_t work) : rows(all) {
  const int64_t least = std::max<int64_t>(1, 32768 / std::max<int64_t>(work, 1));  // rows that are worth a task
  length = std::max(least, (all + 63) / 64);
  count = DivideUp(all, length);
}

template <int K>
int64_t ResizeScratchBytes(const ResizePlan& plan) {
  return plan.x.out * static_cast<int64_t>(sizeof(ResizeTaps<K>)) +
         PiecesOf<K>(plan).count * (plan.in_line() + K * plan.out_line()) * static_cast<int64_t>(sizeof(float));
}

template <int K>
void Resize(const ResizePlan& plan, const void* in, WidenLine widen, float* out, std::byte* scratch, Workers& workers) {
  const ResizePieces pieces = PiecesOf<K>(plan);
  auto* columns = reinterpret_cast<ResizeTaps<K>*>(scratch);
  SetColumns(plan, columns, workers);
  if (workers.Stopped()) return;  // not every column is known
  float* const memory = reinterpret_cast<float*>(columns + plan.x.out);
  const int64_t line = plan.out_line();
  workers.For(pieces.rows, pieces.length, [&](int64_t begin, int64_t end) {
    ResizedLines<K> resized(plan, columns, memory + begin / pieces.length * (plan.in_line() + K * line), workers);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t picture = row / plan.y.out;
      const ResizeTaps<K> taps = TapsOf<K>(plan.y, row % plan.y.out);
      const float* lines[K];
      const int needed = K == 2 && taps.weight[1] == 0 ? 1 : K;
      for (int k = 0; k < needed; ++k) lines[k] = resized.Get(picture * plan.y.in + taps.at[k], taps.at[k], in, widen);
      MixLines<K>(taps, lines, out + row * line, line);
    }
  });
}

template int64_t ResizeScratchBytes<2>(const ResizePlan&);
template int64_t ResizeScratchBytes<4>(const ResizePlan&);
template void Resize<2>(const ResizePlan&, const void*, WidenLine, float*, std::byte*, Workers&);
template void Resize<4>(const ResizePlan&, const void*, WidenLine, float*, std::byte*, Workers&);

}  // namespace weft::kernels
