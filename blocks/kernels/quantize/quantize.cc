// Compiled without fused multiplications and additions: each step rounds, as TensorFlow's do.
#include "blocks/kernels/quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks/kernels/elementwise/cast.h"

namespace weft::kernels {
namespace {

constexpr int64_t kFarLevel = int64_t{1} << 60;

/// NaN becomes `nan`; numbers far beyond any level stay far beyond.
int64_t ToLevel(double value, int64_t nan) {
  if (std::isnan(value)) return nan;
  return static_cast<int64_t>(std::clamp(value, -static_cast<double>(kFarLevel), static_cast<double>(kFarLevel)));
}

/// Levels and one more: 2 to the number of bits.
double PowerOf(QuantizedLimits limits) { return static_cast<double>(limits.steps()) + 1.0; }

float RoundAway(float v) {
  const float cut = std::trunc(v);
  return cut + (std::fabs(v - cut) >= 0.5f ? std::copysign(1.0f, v) : 0.0f);
}

template <Rounding kRounding>
float Rounded(float v) {
  if constexpr (kRounding == Rounding::kAway) return RoundAway(v);
  else if constexpr (kRounding == Rounding::kEven) return std::nearbyint(v);
  else if constexpr (kRounding == Rounding::kCut) return std::trunc(v);
  else return std::floor(v + 0.5f);
}

/// A whole number to the integers of T, cut to its limits; NaN to the lowest.
template <class T>
T Saturated(float v) {
  // The largest float below 2^31 stands for the highest int32, which no float holds.
  constexpr float kLowest = static_cast<float>(std::numeric_limits<T>::min());
  constexpr float kHighest = sizeof(T) == 4 ? 2147483520.0f : static_cast<float>(std::numeric_limits<T>::max());
  v = v > kLowest ? v : kLowest;
  v = v < kHighest ? v : kHighest;
  return static_cast<T>(static_cast<int32_t>(v));
}

template <class T, Rounding kRounding>
void QuantizeScaled(const ScaledQuantizer& q, const float* values, T* levels, int64_t n) {
  // Copies: bytes that are written might be the quantizer's, as far as the compiler knows.
  const float low = q.range.min, high = q.range.max, subtract = q.subtract, scale = q.scale, add = q.add;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    float v = values[i];
    v = v < high ? v : high;
    v = v > low ? v : low;
    v = Rounded<kRounding>((v - subtract) * scale + add);
    // 2^31 is what the end of a 32-bit range may come to.
    levels[i] = sizeof(T) == 4 && v >= 2147483648.0f ? std::numeric_limits<T>::max() : Saturated<T>(v);
  }
}

}  // namespace

QuantizedLimits LimitsOf(DType dtype) { return Dispatch(dtype, kQuantized, []<class T>() { return LimitsOf<T>(); }); }

int64_t LevelOf(float value, QuantizedRange range, QuantizedLimits limits) {
  if (range.min == range.max) return limits.lowest;
  const double power = PowerOf(limits), stretch = power / (power - 1.0);
  const double levels = power / ((range.max - range.min) * stretch);
  return ToLevel(std::round(value * levels) - std::round(range.min * levels), 0) + limits.lowest;
}

int64_t ClampedLevelOf(float value, QuantizedRange range, QuantizedLimits limits) {
  return std::clamp(LevelOf(value, range, limits), limits.lowest, limits.highest);
}

int32_t ZeroOf(QuantizedRange range, QuantizedLimits limits) { return static_cast<int32_t>(LevelOf(0.0f, range, limits)); }

float NumberOf(int64_t level, QuantizedRange range, QuantizedLimits limits) {
  if (range.min == range.max) return range.min;
  const double power = PowerOf(limits), stretch = power / (power - 1.0);
  const double scale = (range.max - range.min) * stretch / power;
  const float short_scale = static_cast<float>(scale);
  const float start = std::round(range.min / short_scale) * short_scale;
  // A level of 32 bits goes through a float there.
  const double above = static_cast<double>(static_cast<float>(level)) - static_cast<double>(limits.lowest);
  return static_cast<float>(static_cast<double>(start) + above * scale);
}

QuantizedRange ProductRange(QuantizedRange a, QuantizedLimits a_limits, QuantizedRange b, QuantizedLimits b_limits,
                            QuantizedLimits limits) {
  const float a_level = (a.max - a.min) / static_cast<float>(a_limits.steps());
  const float b_level = (b.max - b.min) / static_cast<float>(b_limits.steps());
  const float level = a_level * b_level;
  return {level * static_cast<float>(limits.lowest), level * static_cast<float>(limits.highest)};
}

QuantizedRange SumRange(QuantizedRange a, QuantizedRange b) {
  const float largest = std::max(std::max(-a.min, a.max), std::max(-b.min, b.max)) * static_cast<float>(1 << 17);
  return {-largest, largest};
}

Dequantizer MakeDequantizer(QuantizedRange range, QuantizedLimits limits) {
  const float scale = static_cast<float>((range.max - range.min) / (PowerOf(limits) - 1.0));
  const float start = range.max == range.min ? range.min : std::round(range.min / scale) * scale;
  return {0.0f, scale, start - static_cast<float>(limits.lowest) * scale};
}

Quantizer MakeQuantizer(QuantizedRange range, QuantizedLimits limits) {
  const double levels = range.max == range.min ? 0.0 : (PowerOf(limits) - 1.0) / (range.max - range.min);
  const float scale = static_cast<float>(levels);
  return {scale, std::round(range.min * scale) - static_cast<float>(limits.lowest)};
}

template <class T>
void Dequantize(const Dequantizer& d, const T* levels, float* values, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) values[i] = (static_cast<float>(levels[i]) + d.before) * d.scale + d.after;
}

template <class T>
void Quantize(const Quantizer& q, const float* values, T* levels, int64_t n) {
  const float scale = q.scale, shift = q.shift;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) levels[i] = Saturated<T>(RoundAway(values[i] * scale) - shift);
}

template <class T>
void Quantize(const ScaledQuantizer& q, const float* values, T* levels, int64_t n) {
  switch (q.rounding) {
    case Rounding::kAway: return QuantizeScaled<T, Rounding::kAway>(q, values, levels, n);
    case Rounding::kEven: return QuantizeScaled<T, Rounding::kEven>(q, values, levels, n);
    case Rounding::kCut: return QuantizeScaled<T, Rounding::kCut>(q, values, levels, n);
    case Rounding::kUp: return QuantizeScaled<T, Rounding::kUp>(q, values, levels, n);
  }
}

template <class From, class To>
void Requantize(const Dequantizer& d, const Quantizer& q, const From* from, To* to, int64_t n) {
  float block[kFloatBlock];
  for (int64_t i = 0; i < n; i += kFloatBlock) {
    const int64_t length = std::min(kFloatBlock, n - i);
    Dequantize(d, from + i, block, length);
    Quantize(q, block, to + i, length);
  }
}

FixedRequantizer MakeFixedRequantizer(QuantizedRange from, QuantizedRange to) {
  constexpr int64_t kOne = 1 << 16;
  const float from_size = from.max - from.min, to_size = to.max - to.min;
  if (to_size == 0.0f) return {0, kOne / 2};
  const float inverse = static_cast<float>(255.0 / to_size);
  const float middle = static_cast<float>((from.min + from.max) / 2.0);
  FixedRequantizer r;
  r.scale = ToLevel(255.0 * kOne * from_size / to_size, 0);
  const int64_t to_start = ToLevel(std::round(static_cast<double>(kOne) * (to.min * 255.0) / to_size), 0);
  r.offset = ToLevel(middle * inverse * static_cast<float>(kOne), 0) - to_start + kOne / 2;
  return r;
}

void Requantize(const FixedRequantizer& r, const int32_t* from, uint8_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    // Levels go through a float in TensorFlow. 128 bits: those far outside a narrow range must not wrap into it.
    const auto level = static_cast<__int128>(static_cast<int64_t>(static_cast<float>(from[i])));
    const int64_t fixed = static_cast<int64_t>((level * r.scale) >> 32) + r.offset;
    to[i] = static_cast<uint8_t>(std::clamp<int64_t>(fixed >> 16, 0, 255));
  }
}

FakeQuantizer MakeFakeQuantizer(QuantizedRange range, int64_t bits, bool narrow, bool multiply) {
  const float lowest = narrow ? 1.0f : 0.0f, highest = static_cast<float>((int64_t{1} << bits) - 1);
  FakeQuantizer q;
  q.multiply = multiply;
  q.nothing = range.min == 0.0f && range.max == 0.0f;
  q.scale = (range.max - range.min) / (highest - lowest);
  q.inverse = (highest - lowest) / (range.max - range.min);
  const float from_min = lowest - range.min / q.scale;
  // NaN and numbers beyond the levels go to the ends.
  const float level = from_min > highest ? highest : from_min >= lowest ? std::round(from_min) : lowest;
  q.range = {(lowest - level) * q.scale, (highest - level) * q.scale};
  q.zero = std::floor((multiply ? -q.range.min * q.inverse : -q.range.min / q.scale) + 0.5f);
  return q;
}

void FakeQuantize(const FakeQuantizer& q, const float* from, float* to, int64_t n) {
  if (q.nothing) {
    std::fill(to, to + n, 0.0f);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    float v = from[i];
    v = v > q.range.max ? q.range.max : v;  // NaN stays
    v = v < q.range.min ? q.range.min : v;
    v -= q.range.min;
    to[i] = std::floor((q.multiply ? v * q.inverse : v / q.scale) - q.zero + 0.5f) * q.scale;
  }
}

void FakeQuantize(const FakeQuantizers& q, const float* from, float* to, int64_t n) {
  const FakeQuantizers c = q;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    float v = from[i];
    v = v > c.max[i] ? c.max[i] : v;  // NaN stays
    v = v < c.min[i] ? c.min[i] : v;
    const float quantized = std::floor((v - c.min[i]) * c.inverse[i] - c.zero[i] + 0.5f) * c.scale[i];
    to[i] = (c.inverse[i] == 0.0f) & (c.scale[i] == 0.0f) ? 0.0f : quantized;
  }
}

template <class T>
RoundTrip<T> MakeRoundTrip(T min, T max, bool is_signed, int64_t bits, bool narrow) {
  const int64_t lowest = is_signed ? -(int64_t{1} << (bits - 1)) + (narrow ? 1 : 0) : 0;
  const int64_t highest = is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  const T low = static_cast<T>(lowest), high = static_cast<T>(highest), unbounded = std::numeric_limits<T>::max();
  const T low_scale = low * min > 0 ? low / min : unbounded, high_scale = high * max > 0 ? high / max : unbounded;
  RoundTrip<T> trip{min, max};
  if (low_scale < high_scale) {
    trip.scale = low_scale;
    trip.inverse = min / low;
    trip.max = high * trip.inverse;
  } else {
    trip.scale = high_scale;
    trip.inverse = max / high;  // infinite where one signed bit has no level above 0
    trip.min = low * trip.inverse;
  }
  return trip;
}

template <class T>
void RunRoundTrip(const RoundTrip<T>& trip, const T* from, T* to, int64_t n) {
  const T top = trip.clamp ? trip.max : std::numeric_limits<T>::infinity();
  const T bottom = trip.clamp ? trip.min : -std::numeric_limits<T>::infinity();
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    T v = from[i];
    v = v > top ? top : v;
    v = v < bottom ? bottom : v;
    v *= trip.scale;
    to[i] = (trip.even ? std::nearbyint(v) : std::floor(v + T(0.5))) * trip.inverse;
  }
}

#define WEFT_QUANTIZED(T)                                                                  \
  template void Dequantize(const Dequantizer&, const T*, float*, int64_t);                 \
  template void Quantize(const Quantizer&, const float*, T*, int64_t);                     \
  template void Quantize(const ScaledQuantizer&, const float*, T*, int64_t);
WEFT_QUANTIZED(int8_t)
WEFT_QUANTIZED(uint8_t)
WEFT_QUANTIZED(int16_t)
WEFT_QUANTIZED(uint16_t)
WEFT_QUANTIZED(int32_t)
#undef WEFT_QUANTIZED

#define WEFT_REQUANTIZED(From, To) template void Requantize(const Dequantizer&, const Quantizer&, const From*, To*, int64_t);
WEFT_REQUANTIZED(uint8_t, uint8_t)
WEFT_REQUANTIZED(int32_t, int32_t)
WEFT_REQUANTIZED(int32_t, int8_t)
WEFT_REQUANTIZED(int8_t, int32_t)
WEFT_REQUANTIZED(uint8_t, int32_t)
#undef WEFT_REQUANTIZED

#define WEFT_ROUND_TRIP(T)                                                     \
  template RoundTrip<T> MakeRoundTrip(T, T, bool, int64_t, bool);              \
  template void RunRoundTrip(const RoundTrip<T>&, const T*, T*, int64_t);
WEFT_ROUND_TRIP(float)
WEFT_ROUND_TRIP(double)

}  // namespace weft::kernels
