// QuantizedInstanceNorm: each channel of each picture gets mean 0 and variance 1.
#include <cmath>

#include "blocks/kernels/stop_check.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "[batch, height, width, channels]"};
constexpr RangeIn<1> x_ends{"x_min", "x_max"};
constexpr Out<0> y{"y", "T", "the shape of x"};
constexpr RangeOut y_ends{"y_min", "y_max"};
constexpr Attr<bool> output_range_given{"output_range_given", "false", "the range of y is given; false: it is that of the results"};
constexpr Attr<float> given_y_min{"given_y_min", "0.0", "what the lowest integer of y stands for, where given"};
constexpr Attr<float> given_y_max{"given_y_max", "0.0", "what the highest integer of y stands for, where given"};
constexpr Attr<float> variance_epsilon{"variance_epsilon", "1e-05",
    "a small number added to the variance; as in TensorFlow any number, also one that leaves a sum below 0, whose root, nan, counts as the lowest integer"};
constexpr Attr<float> min_separation{"min_separation", "0.001", "the least size of the range of y"};

/// Pictures as [pictures, pixels, channels]; a part is some pixels of one picture.
struct Norm {
  int64_t pictures = 0, pixels = 0, channels = 0;
  bool given = false;
  QuantizedRange range;
  float epsilon = 0, separation = 0;

  int64_t values() const { return pictures * channels; }
};

Result<Norm> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(x);
  if (shape.rank() != 4) return ctx.Error(x, "needs rank 4, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, x_ends));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, x.name));
  Norm norm{shape[0], shape[1] * shape[2], shape[3], ctx.attr(output_range_given), {ctx.attr(given_y_min), ctx.attr(given_y_max)},
            ctx.attr(variance_epsilon), ctx.attr(min_separation)};
  if (norm.given && !(norm.range.min < norm.range.max)) {
    return ctx.Error(given_y_min, "needs less than given_y_max, which is ", norm.range.max, ", found ", norm.range.min);
  }
  ctx.set(y, shape);
  // Sums, then mean and scale of every channel of every picture, then the ends of each picture.
  ctx.set_scratch(norm.values() * static_cast<int64_t>(2 * sizeof(double)) + norm.pictures * static_cast<int64_t>(sizeof(QuantizedRange)));
  return norm;
}

constexpr int64_t kTile = 2 * kQuantizedGrain;  // values between two looks

/// Calls body(first value, first channel, last channel) for the values of a picture in their order, until the run is to end.
void ForValues(const Norm& norm, const Workers& workers, const auto& body) {
  kernels::StopCheck stop(workers);
  for (int64_t p = 0; p < norm.pixels; ++p) {
    for (int64_t first = 0; first < norm.channels; first += kTile) {
      const int64_t last = std::min(norm.channels, first + kTile);
      if (stop(last - first)) return;
      body(p * norm.channels + first, first, last);
    }
  }
}
/// Calls body(channel) for each channel, until the run is to end.
void ForChannels(const Norm& norm, const Workers& workers, const auto& body) {
  kernels::ForTiles(workers, norm.channels, kTile, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) body(c);
  });
}

/// Sums whole numbers first and distances from the mean then: the one is exact, the other does not cancel.
void MeasurePicture(const Norm& norm, const uint8_t* from, float x_scale, double* sums, float* mean, float* scale,
                    const Workers& workers) {
  const double pixels = static_cast<double>(norm.pixels);
  ForChannels(norm, workers, [=](int64_t c) { sums[c] = 0; });
  ForValues(norm, workers, [=](int64_t at, int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) sums[c] += from[at + c - first];
  });
  ForChannels(norm, workers, [=](int64_t c) { mean[c] = static_cast<float>(sums[c] / pixels), sums[c] = 0; });
  ForValues(norm, workers, [=](int64_t at, int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      const float distance = x_scale * (static_cast<float>(from[at + c - first]) - mean[c]);
      sums[c] += static_cast<double>(distance * distance);
    }
  });
  ForChannels(norm, workers, [=, &norm](int64_t c) { scale[c] = 1.0f / std::sqrt(static_cast<float>(sums[c] / pixels) + norm.epsilon); });
}

float Normed(uint8_t level, float x_scale, float mean, float scale) { return x_scale * (static_cast<float>(level) - mean) * scale; }

/// A channel's least and largest results come of its least and largest levels.
QuantizedRange EndsOfPicture(const Norm& norm, const uint8_t* from, float x_scale, const float* mean, const float* scale,
                             const Workers& workers) {
  QuantizedRange ends{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  ForValues(norm, workers, [=, &ends](int64_t at, int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      const float v = Normed(from[at + c - first], x_scale, mean[c], scale[c]);
      ends.min = std::min(ends.min, v);
      ends.max = std::max(ends.max, v);
    }
  });
  return ends;
}

void QuantizePicture(const Norm& norm, const uint8_t* from, float x_scale, const float* mean, const float* scale,
                     const kernels::Quantizer& quantizer, uint8_t* to, const Workers& workers) {
  float row[256];
  ForValues(norm, workers, [&](int64_t at, int64_t first, int64_t last) {
    for (; first < last; first += 256, at += 256) {
      const int64_t n = std::min<int64_t>(256, last - first);
      for (int64_t c = 0; c < n; ++c) row[c] = Normed(from[at + c], x_scale, mean[first + c], scale[first + c]);
      kernels::Quantize(quantizer, row, to + at, n);
    }
  });
}

constexpr auto Run = [](const Norm& norm, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const QuantizedRange x_range, WideRangeOf(ctx, x_ends));
  const float x_scale = (x_range.max - x_range.min) / 255.0f;
  const uint8_t* from = ctx.in<uint8_t>(x).data();
  uint8_t* to = ctx.out<uint8_t>(y).data();
  double* sums = ctx.scratch<double>().data();
  float *mean = reinterpret_cast<float*>(sums + norm.values()), *scale = mean + norm.values();
  auto* ends = reinterpret_cast<QuantizedRange*>(scale + norm.values());
  const int64_t size = norm.pixels * norm.channels;
  const int64_t grain = std::max<int64_t>(1, kQuantizedGrain / 2 / std::max<int64_t>(size, 1));
  QuantizedRange range = norm.range;
  kernels::ForEach(ctx.workers(), size == 0 ? 0 : norm.pictures, grain, [&](int64_t n) {
    const int64_t at = n * norm.channels;
    MeasurePicture(norm, from + n * size, x_scale, sums + at, mean + at, scale + at, ctx.workers());
    if (!norm.given) ends[n] = EndsOfPicture(norm, from + n * size, x_scale, mean + at, scale + at, ctx.workers());
  });
  if (!norm.given) {
    range = size == 0 || norm.pictures == 0 ? QuantizedRange{0, 0} : ends[0];
    for (int64_t n = 1; size > 0 && n < norm.pictures; ++n) range = {std::min(range.min, ends[n].min), std::max(range.max, ends[n].max)};
  }
  if (range.max - range.min < norm.separation) range.max = range.min + norm.separation;
  const kernels::Quantizer quantizer = kernels::MakeQuantizer(range, LimitsOf<uint8_t>());
  kernels::ForEach(ctx.workers(), size == 0 ? 0 : norm.pictures, grain, [&](int64_t n) {
    QuantizePicture(norm, from + n * size, x_scale, mean + n * norm.channels, scale + n * norm.channels, quantizer, to + n * size,
                    ctx.workers());
  });
  SetRange(ctx, y_ends, range);
  return {};
};

}  // namespace

BlockDef QuantizedInstanceNorm() {
  return Block("QuantizedInstanceNorm", "Gives each channel of each quantized picture mean 0 and variance 1.")
      .Details("Without pictures, or without values in them, a range that is not given is [0, min_separation].")
      .Ports(x, x_ends.min, x_ends.max, y, y_ends.min, y_ends.max).Types("T", TypeList<quint8>{})
      .Attrs(output_range_given, given_y_min, given_y_max, variance_epsilon, min_separation)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
