#include "blocks/kernels/image/resize.h"

#include <array>
#include <cfloat>
#include <cmath>

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

/// to[i] = the weighted sum of from[k][i]. Linear taps without a share in the second do not read it: it may be infinite.
template <int K>
void Mix(const ResizeTaps<K>& taps, const float* const* from, float* to, int64_t n) {
  const float *const first = from[0], *const second = from[1];
  if constexpr (K == 2) {
    const float share = taps.weight[1];
    if (share == 0) {
      std::copy_n(first, n, to);
      return;
    }
    for (int64_t i = 0; i < n; ++i) to[i] = first[i] + (second[i] - first[i]) * share;
  } else {
    const float *const third = from[2], *const fourth = from[3];
    const float a = taps.weight[0], b = taps.weight[1], c = taps.weight[2], d = taps.weight[3];
    for (int64_t i = 0; i < n; ++i) to[i] = a * first[i] + b * second[i] + c * third[i] + d * fourth[i];
  }
}

template <int K, int kChannels>
void ResizeLine(const ResizeTaps<K>* columns, int64_t count, const float* from, float* to, int64_t channels) {
  if constexpr (kChannels > 0) channels = kChannels;
  for (int64_t x = 0; x < count; ++x, to += channels) {
    const float* pixels[K];
    for (int k = 0; k < K; ++k) pixels[k] = from + columns[x].at[k] * channels;
    Mix(columns[x], pixels, to, channels);
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
ResizePieces PiecesOf(const ResizePlan& plan) {
  return {plan.batch * plan.y.out, plan.in_line() + 2 * K * plan.out_line()};
}
/// Floats of a piece: a source line widened, and the last K source lines resized.
template <int K>
int64_t PieceFloats(const ResizePlan& plan) { return plan.in_line() + K * plan.out_line(); }

ResizeTaps<4> CubicTapsOf(const ResizeAxis& axis, int64_t i) {
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

template <int K>
ResizeTaps<K> TapsOf(const ResizeAxis& axis, int64_t i) {
  if constexpr (K == 1) {
    const float place = (static_cast<float>(i) + (axis.half_pixel_centers ? 0.5f : 0.0f)) * axis.scale;
    const float nearest = axis.align_corners ? std::round(place) : std::floor(place);
    return {{std::clamp<int64_t>(static_cast<int64_t>(nearest), 0, axis.in - 1)}, {1.0f}};
  } else if constexpr (K == 2) {
    return LinearTapsAt(PlaceOf(axis, i), axis.in);
  } else {
    return CubicTapsOf(axis, i);
  }
}

ResizePieces::ResizePieces(int64_t all, int64_t work) : rows(all) {
  const int64_t least = std::max<int64_t>(1, 32768 / std::max<int64_t>(work, 1));  // rows that are worth a task
  length = std::max(least, (all + 63) / 64);
  count = DivideUp(all, length);
}

template <int K>
int64_t ResizeScratchBytes(const ResizePlan& plan) {
  const int64_t pieces = K == 1 ? 0 : PiecesOf<K>(plan).count;
  return ColumnBytes<K>(plan) + pieces * PieceFloats<K>(plan) * static_cast<int64_t>(sizeof(float));
}

template <int K>
void Resize(const ResizePlan& plan, const void* in, WidenLine widen, float* out, std::byte* scratch, Workers& workers) {
  const ResizePieces pieces = PiecesOf<K>(plan);
  const ResizeTaps<K>* columns = SetColumns<K>(plan, scratch, workers);
  if (columns == nullptr) return;
  float* const memory = reinterpret_cast<float*>(scratch + ColumnBytes<K>(plan));
  const int64_t line = plan.out_line(), channels = plan.channels;
  workers.For(pieces.rows, pieces.length, [&](int64_t begin, int64_t end) {
    float *const widened = memory + begin / pieces.length * PieceFloats<K>(plan), *const lines = widened + plan.in_line();
    int64_t held[K];  // the source lines there. Those that are needed together follow one another: each has a place of its own
    std::fill_n(held, K, -1);
    auto resized = [&](int64_t picture, int64_t at) -> const float* {
      const int64_t source = picture * plan.y.in + at;
      float* const to = lines + at % K * line;
      if (held[at % K] == source) return to;
      held[at % K] = source;
      const float* from = static_cast<const float*>(in) + source * plan.in_line();
      if (widen != nullptr) {
        ForTiles(workers, plan.in_line(), kItemsBetweenLooks, [&](int64_t first, int64_t last) {
          widen(in, source * plan.in_line() + first, widened + first, last - first);
        });
        from = widened;
      }
      ForTiles(workers, plan.x.out, 1 + kItemsBetweenLooks / channels, [&](int64_t first, int64_t last) {
        ResizeLine(columns + first, last - first, from, to + first * channels, channels);
      });
      return to;
    };
    for (int64_t row = begin; row < end; ++row) {
      const ResizeTaps<K> taps = TapsOf<K>(plan.y, row % plan.y.out);
      const float* sources[K] = {};
      const int needed = K == 2 && taps.weight[1] == 0 ? 1 : K;
      for (int k = 0; k < needed; ++k) sources[k] = resized(row / plan.y.out, taps.at[k]);
      ForTiles(workers, line, kItemsBetweenLooks, [&](int64_t first, int64_t last) {
        const float* parts[K] = {};
        for (int k = 0; k < needed; ++k) parts[k] = sources[k] + first;
        Mix(taps, parts, out + row * line + first, last - first);
      });
    }
  });
}

#define WEFT_INSTANTIATE(K)                                        \
  template ResizeTaps<K> TapsOf<K>(const ResizeAxis&, int64_t);    \
  template int64_t ResizeScratchBytes<K>(const ResizePlan&);
WEFT_INSTANTIATE(1)
WEFT_INSTANTIATE(2)
WEFT_INSTANTIATE(4)
#undef WEFT_INSTANTIATE
template void Resize<2>(const ResizePlan&, const void*, WidenLine, float*, std::byte*, Workers&);
template void Resize<4>(const ResizePlan&, const void*, WidenLine, float*, std::byte*, Workers&);

}  // namespace weft::kernels
