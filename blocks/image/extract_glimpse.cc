// ExtractGlimpse: windows cut out of pictures, with noise where they lie outside.
#include <algorithm>
#include <cmath>

#include "blocks/image/resized.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/random/random_stream.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_FLOAT", "[batch, height, width, channels]"};
constexpr In<1> size{"size", "DT_INT32", "[2]: height and width of the windows"};
constexpr In<2> offsets{"offsets", "DT_FLOAT", "[batch, 2]: row and column of the middle of each window"};
constexpr Out<0> glimpse{"glimpse", "DT_FLOAT", "[batch, window height, window width, channels]"};
constexpr Attr<bool> centered{"centered", "true",
                              "whether offsets are counted from the middle of the picture, -1 to 1 (or sizes) its ends"};
constexpr Attr<bool> normalized{"normalized", "true", "whether offsets of 1 are a whole picture, rather than a pixel"};
constexpr Attr<bool> uniform_noise{"uniform_noise", "true", "where noise is empty: whether it is uniform, rather than gaussian"};
constexpr Attr<std::string> noise{"noise", "uniform",
    "what is outside: uniform (between the least and greatest pixel), gaussian (like the pixels of the channel) or zero"};

enum class Noise : uint8_t { kUniform, kGaussian, kZero };

/// One axis: sizes in pixels, of the picture and of the window.
struct WindowAxis {
  int64_t picture = 0, window = 0;

  /// Where the window of an offset begins, cut towards 0. Places far outside are all the same.
  int64_t Begin(float offset, bool is_normalized, bool is_centered) const {
    const auto whole = static_cast<float>(picture);
    if (is_normalized) offset *= whole;
    if (is_centered) offset = offset / 2.0f + whole / 2.0f;
    offset -= static_cast<float>(window) / 2.0f;
    return std::isnan(offset) ? picture : static_cast<int64_t>(std::clamp(offset, -0x1p40f, 0x1p40f));
  }
};

struct Windows {
  int64_t batch = 0, channels = 0;
  WindowAxis y, x;
  bool normalized = true, centered = true;
  Noise noise = Noise::kUniform;

  int64_t picture() const { return y.picture * x.picture * channels; }
  int64_t window() const { return y.window * x.window * channels; }
};

Result<Noise> NoiseOf(const PlanContext& ctx) {
  const std::string kind = ctx.attr(noise);
  if (kind.empty()) return ctx.attr(uniform_noise) ? Noise::kUniform : Noise::kGaussian;
  if (ctx.attr(uniform_noise) && kind != "uniform") return ctx.Error(noise, "needs uniform_noise_ = false, found noise_ = ", kind);
  if (kind == "uniform") return Noise::kUniform;
  if (kind == "gaussian") return Noise::kGaussian;
  if (kind == "zero") return Noise::kZero;
  return ctx.Error(noise, "needs uniform, gaussian or zero, found ", kind);
}

Result<Windows> Plan(PlanContext& ctx) {
  const Shape &shape = ctx.shape(input), &places = ctx.shape(offsets);
  if (shape.rank() != 4) return ctx.Error(input, "needs rank 4, found shape ", shape);
  if (places != Shape{shape[0], 2}) {
    return ctx.Error(offsets, "needs row and column for each of the ", shape[0], " pictures, found shape ", places);
  }
  WEFT_ASSIGN_OR_RETURN(const Ints sizes, HeightAndWidth(ctx, size, 0));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, input.name));
  WEFT_ASSIGN_OR_RETURN(const Noise kind, NoiseOf(ctx));
  const int64_t dims[] = {shape[0], sizes[0], sizes[1], shape[3]};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(glimpse, dims, size));
  const bool takes_after = kind != Noise::kZero && std::ranges::count(dims, 0) == 0;
  if (takes_after && shape[1] * shape[2] == 0) {
    return ctx.Error(input, "needs pictures of at least one pixel for noise that takes after them, found shape ", shape);
  }
  return Windows{shape[0], shape[3], {shape[1], sizes[0]}, {shape[2], sizes[1]}, ctx.attr(normalized), ctx.attr(centered), kind};
}

/// Of the pixels that noise takes after.
struct Statistics {
  float mean = 0, deviation = 0, least = 0, greatest = 0;
};

/// Of the pixels `step` apart.
Statistics StatisticsOf(const float* from, int64_t count, int64_t step, kernels::StopCheck& stop) {
  Statistics found{0, 0, from[0], from[0]};
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count && !stop(); ++i) {
    const float value = from[i * step];
    sum += static_cast<double>(value);
    found.least = std::min(found.least, value);
    found.greatest = std::max(found.greatest, value);
  }
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count && !stop(); ++i) {
    squares += (static_cast<double>(from[i * step]) - mean) * (static_cast<double>(from[i * step]) - mean);
  }
  found.mean = static_cast<float>(mean);
  found.deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(count)));
  return found;
}

void FillNoise(const Windows& w, const float* from, float* to, kernels::Philox stream, kernels::StopCheck& stop) {
  if (w.noise == Noise::kZero) {
    for (int64_t i = 0; i < w.window() && !stop(); ++i) to[i] = 0;
    return;
  }
  if (w.noise == Noise::kUniform) {
    const Statistics found = StatisticsOf(from, w.picture(), 1, stop);
    for (int64_t i = 0; i < w.window() && !stop(4); i += 4) {
      const kernels::Philox::Words words = stream();
      for (int64_t k = i; k < std::min(i + 4, w.window()); ++k) {
        to[k] = found.least + kernels::UnitFloat(words[static_cast<size_t>(k - i)]) * (found.greatest - found.least);
      }
    }
    return;
  }
  for (int64_t c = 0; c < w.channels && !stop(); ++c) {
    const Statistics found = StatisticsOf(from + c, w.picture() / w.channels, w.channels, stop);
    for (int64_t i = c; i < w.window() && !stop(16); i += 4 * w.channels) {
      const auto normal = kernels::Normal<float>{}(stream);
      for (int64_t k = 0; k < 4 && i + k * w.channels < w.window(); ++k) {
        to[i + k * w.channels] = std::max(std::min(found.mean + normal[static_cast<size_t>(k)] * found.deviation, found.greatest), found.least);
      }
    }
  }
}

/// Copies the part of a window that lies in the picture; the rest is noise.
void CutWindow(const Windows& w, const float* offset, const float* from, float* to, const kernels::Philox& stream,
               kernels::StopCheck& stop) {
  const int64_t top = w.y.Begin(offset[0], w.normalized, w.centered), left = w.x.Begin(offset[1], w.normalized, w.centered);
  const int64_t first_y = std::max<int64_t>(0, -top), last_y = std::min(w.y.window, w.y.picture - top);
  const int64_t first_x = std::max<int64_t>(0, -left), last_x = std::min(w.x.window, w.x.picture - left);
  if (first_y > 0 || first_x > 0 || last_y < w.y.window || last_x < w.x.window) FillNoise(w, from, to, stream, stop);
  if (first_x >= last_x) return;
  for (int64_t y = first_y; y < last_y && !stop((last_x - first_x) * w.channels); ++y) {
    const float* source = from + ((y + top) * w.x.picture + first_x + left) * w.channels;
    std::copy_n(source, (last_x - first_x) * w.channels, to + (y * w.x.window + first_x) * w.channels);
  }
}

constexpr auto Run = [](const Windows& w, RunContext& ctx) {
  const auto to = ctx.out<float>(glimpse);
  if (to.empty()) return;
  const float *from = ctx.in<float>(input).data(), *places = ctx.in<float>(offsets).data();
  const auto groups = static_cast<uint64_t>(w.window());  // of the stream, for each window; more than enough
  const kernels::Philox start =
      ctx.state<RandomStream>().ReserveGroups(w.noise == Noise::kZero ? 0 : groups * static_cast<uint64_t>(w.batch));
  ctx.workers().For(w.batch, std::max<int64_t>(1, 8192 / (w.window() + w.picture())), [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(ctx.workers());
    for (int64_t i = begin; i < end && !stop(); ++i) {
      kernels::Philox own = start;
      own.Skip(static_cast<uint64_t>(i) * groups);
      CutWindow(w, places + 2 * i, from + i * w.picture(), to.data() + i * w.window(), own, stop);
    }
  });
};

constexpr auto Bind = [](const Windows&, BindContext& ctx) { return BindStream(Seeds{}, ctx); };

}  // namespace

BlockDef ExtractGlimpse() {
  return Block("ExtractGlimpse", "Windows of one size cut out of pictures.")
      .Details("What lies outside is noise: other numbers in every run.")
      .Ports(input, size, offsets, glimpse)
      .Attrs(centered, normalized, uniform_noise, noise)
      .ShapedBy(size)
      .NotDifferentiable()
      .Kernel(Plan, Run, Bind);
}

}  // namespace weft::blocks
