// AdjustContrast, AdjustHue and AdjustSaturation: pictures with stronger or other colours.
#include <algorithm>
#include <cmath>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/base/divide.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> any_images{"images", "T", "[..., height, width, channels]"};
constexpr In<0> images{"images", "T", "[..., height, width, 3]: red, green and blue, from 0 to 1"};
constexpr In<1> contrast_factor{"contrast_factor", "DT_FLOAT", "a scalar: what the distances from the mean are multiplied by"};
constexpr In<1> delta{"delta", "DT_FLOAT", "a scalar: what is added to the hues; 1 is once round the circle of colours"};
constexpr In<1> scale{"scale", "DT_FLOAT", "a scalar: what the saturations are multiplied by; they stay from 0 to 1"};
constexpr Out<0> output{"output", "T", "the shape of images"};

constexpr TypeList<half, float> kColourTypes;

// ---- contrast ----------------------------------------------------------------------------------------------------------------

/// Pictures, each cut into pieces by its size alone.
struct Pieces {
  int64_t pictures = 0, pixels = 0, channels = 0;

  int64_t length() const { return std::max<int64_t>(64, 16384 / std::max<int64_t>(channels, 1)); }  // of a piece, in pixels
  int64_t of_picture() const { return DivideUp(pixels, length()); }
  int64_t all() const { return pictures * of_picture(); }
};

Result<Pieces> PlanContrast(PlanContext& ctx) {
  const Shape& shape = ctx.shape(any_images);
  const int rank = shape.rank();
  if (rank < 3) return ctx.Error(any_images, "needs rank 3 or more, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, contrast_factor));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, any_images.name));
  ctx.set(output, shape);
  if (shape.count() == 0) return Pieces{};
  const Pieces pieces{shape.count(0, rank - 3), shape.count(rank - 3, rank - 1), shape[rank - 1]};
  // The sums of each piece, then the means of each picture.
  ctx.set_scratch((pieces.all() + pieces.pictures) * pieces.channels * static_cast<int64_t>(sizeof(double)));
  return pieces;
}

/// Calls body(piece, begin, end) for the pixels of every piece, counted over all pictures, in parallel.
void ForPieces(const Pieces& pieces, Workers& workers, const auto& body) {
  kernels::ForEach(workers, pieces.all(), 1, [&](int64_t piece) {
    const int64_t picture = piece / pieces.of_picture(), begin = piece % pieces.of_picture() * pieces.length();
    const int64_t end = std::min(pieces.pixels, begin + pieces.length());
    body(piece, picture * pieces.pixels + begin, picture * pieces.pixels + end);
  });
}

void SumPieces(const Pieces& pieces, const auto* from, double* sums, Workers& workers) {
  ForPieces(pieces, workers, [&](int64_t piece, int64_t begin, int64_t end) {
    kernels::StopCheck stop(workers);
    double* const sum = sums + piece * pieces.channels;
    std::fill_n(sum, pieces.channels, 0.0);
    for (int64_t pixel = begin; pixel < end && !stop(pieces.channels); ++pixel) {
      for (int64_t c = 0; c < pieces.channels; ++c) sum[c] += static_cast<double>(from[pixel * pieces.channels + c]);
    }
  });
}

void AverageSums(const Pieces& pieces, const double* sums, double* means, Workers& workers) {
  kernels::ForEach(workers, pieces.pictures * pieces.channels, 4096, [&](int64_t i, kernels::StopCheck& stop) {
    const double* sum = sums + i / pieces.channels * pieces.of_picture() * pieces.channels + i % pieces.channels;
    means[i] = 0;
    for (int64_t piece = 0; piece < pieces.of_picture() && !stop(); ++piece) means[i] += sum[piece * pieces.channels];
    means[i] /= static_cast<double>(pieces.pixels);
  });
}

constexpr auto RunContrast = []<class T>(const Pieces& pieces, RunContext& ctx) {
  if (pieces.pictures == 0) return;
  const T* const from = ctx.in<T>(any_images).data();
  T* const to = ctx.out<T>(output).data();
  const double factor = static_cast<double>(ctx.in<float>(contrast_factor)[0]);
  double *const sums = ctx.scratch<double>().data(), *const means = sums + pieces.all() * pieces.channels;
  SumPieces(pieces, from, sums, ctx.workers());
  AverageSums(pieces, sums, means, ctx.workers());
  ForPieces(pieces, ctx.workers(), [&](int64_t, int64_t begin, int64_t end) {
    kernels::StopCheck stop(ctx.workers());
    const double* mean = means + begin / pieces.pixels * pieces.channels;
    for (int64_t pixel = begin; pixel < end && !stop(pieces.channels); ++pixel) {
      for (int64_t c = 0; c < pieces.channels; ++c) {
        const int64_t i = pixel * pieces.channels + c;
        to[i] = static_cast<T>(static_cast<float>((static_cast<double>(from[i]) - mean[c]) * factor + mean[c]));
      }
    }
  });
};

// ---- hue and saturation ------------------------------------------------------------------------------------------------------

struct Colour {
  float r, g, b;
};

Status PlanColours(PlanContext& ctx, const InputPort auto& setting) {
  const Shape& shape = ctx.shape(images);
  if (shape.rank() < 3) return ctx.Error(images, "needs rank 3 or more, found shape ", shape);
  if (shape[shape.rank() - 1] != 3) return ctx.Error(images, "needs 3 channels along the last axis, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, setting));
  ctx.set(output, shape);
  return {};
}
constexpr auto PlanHue = [](PlanContext& ctx) { return PlanColours(ctx, delta); };
constexpr auto PlanSaturation = [](PlanContext& ctx) { return PlanColours(ctx, scale); };

/// Calls map(colour, setting) for each pixel.
template <class T, class Map>
void MapPixels(RunContext& ctx, float setting, Map map) {
  const T* from = ctx.in<T>(images).data();
  const auto to = ctx.out<T>(output);
  ctx.workers().For(static_cast<int64_t>(to.size()) / 3, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      const Colour colour =
          map(Colour{static_cast<float>(from[i]), static_cast<float>(from[i + 1]), static_cast<float>(from[i + 2])}, setting);
      T* const pixel = to.data() + i;
      pixel[0] = static_cast<T>(colour.r);
      pixel[1] = static_cast<T>(colour.g);
      pixel[2] = static_cast<T>(colour.b);
    }
  });
}

/// x brought into [0, round) as by adding or subtracting `round` again and again, but at once where x is far off.
float Wrapped(float x, float round) {
  if (!std::isfinite(x)) return 0;
  if (std::abs(x) > 64 * round) x = std::fmod(x, round);
  while (x < 0) x += round;
  while (x >= round) x -= round;
  return x;
}

/// A colour by its hue, from 0 to 6, and its least and greatest channel.
struct HueRange {
  float hue, low, high;
};

HueRange HueOf(Colour colour) {
  const auto [r, g, b] = colour;
  int sixth;
  float low, middle, high;
  if (r < g) {
    if (b < r) sixth = 1, high = g, middle = r, low = b;
    else if (b > g) sixth = 3, high = b, middle = g, low = r;
    else sixth = 2, high = g, middle = b, low = r;
  } else {
    if (b < g) sixth = 0, high = r, middle = g, low = b;
    else if (b > r) sixth = 4, high = b, middle = r, low = g;
    else sixth = 5, high = r, middle = b, low = g;
  }
  if (high == low) return {0, low, high};
  const float ratio = (middle - low) / (high - low);
  return {static_cast<float>(sixth) + (sixth % 2 == 0 ? ratio : 1 - ratio), low, high};
}

/// A colour in a sixth of the circle, by its channels in their order; beyond the circle all are the lowest.
Colour InSixth(int sixth, float high, float middle, float low) {
  switch (sixth) {
    case 0: return {high, middle, low};
    case 1: return {middle, high, low};
    case 2: return {low, high, middle};
    case 3: return {low, middle, high};
    case 4: return {middle, low, high};
    case 5: return {high, low, middle};
    default: return {low, low, low};
  }
}
Colour ColourOf(const HueRange& range) {
  const int sixth = static_cast<int>(range.hue);
  float ratio = range.hue - static_cast<float>(sixth);
  if (sixth % 2 != 0) ratio = 1 - ratio;
  return InSixth(sixth, range.high, range.low + ratio * (range.high - range.low), range.low);
}

constexpr auto RunHue = []<class T>(const NoParameters&, RunContext& ctx) {
  MapPixels<T>(ctx, ctx.in<float>(delta)[0], [](Colour colour, float shift) {
    HueRange range = HueOf(colour);
    range.hue = Wrapped(range.hue + shift * 6, 6);
    return ColourOf(range);
  });
};

/// From 0 to 1.
float HueFrom(Colour colour, float value, float range) {
  const auto [r, g, b] = colour;
  if (!(range > 0)) return 0;
  const float step = 1.0f / (6.0f * range);
  float hue;
  if (r == value) hue = step * (g - b);
  else if (g == value) hue = static_cast<float>(static_cast<double>(step * (b - r)) + 2.0 / 6.0);
  else hue = static_cast<float>(static_cast<double>(step * (r - g)) + 4.0 / 6.0);
  if (!std::isfinite(hue)) return 0;  // of a range too small to divide by
  return hue < 0 ? hue + 1 : hue;
}

constexpr auto RunSaturation = []<class T>(const NoParameters&, RunContext& ctx) {
  MapPixels<T>(ctx, ctx.in<float>(scale)[0], [](Colour colour, float factor) {
    const float value = std::max({colour.r, colour.g, colour.b}), range = value - std::min({colour.r, colour.g, colour.b});
    const float saturation = std::min(1.0f, std::max(0.0f, (value > 0 ? range / value : 0) * factor));
    const float chroma = saturation * value, low = value - chroma, place = HueFrom(colour, value, range) * 6;
    const float middle = chroma * (1 - std::abs(Wrapped(place, 2) - 1));
    const Colour added = InSixth(static_cast<int>(place), chroma, middle, 0);
    return Colour{added.r + low, added.g + low, added.b + low};
  });
};

}  // namespace

BlockDef AdjustContrast() {
  return Block("AdjustContrast", "Pictures with more or less contrast: distances from the mean of each channel are multiplied.")
      .Alias("AdjustContrastv2")
      .Ports(any_images, contrast_factor, output)
      .Types("T", kColourTypes)
      .Kernel(PlanContrast, RunContrast);
}

BlockDef AdjustHue() {
  return Block("AdjustHue", "Pictures whose hues are turned round the circle of colours.")
      .Ports(images, delta, output)
      .Types("T", kColourTypes)
      .Kernel(PlanHue, RunHue);
}

BlockDef AdjustSaturation() {
  return Block("AdjustSaturation", "Pictures with stronger or paler colours.")
      .Ports(images, scale, output)
      .Types("T", kColourTypes)
      .Kernel(PlanSaturation, RunSaturation);
}

}  // namespace weft::blocks
