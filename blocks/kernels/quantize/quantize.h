// Real numbers as integers of few bits: what the levels of a range stand for, and how numbers get to their level.
//
// The formulas are those of TensorFlow's CPU kernels, step by step and in the same precision, so that every integer agrees. There are two
// sets of them, which differ in the last bit: one in double for single numbers, one in float for whole tensors. A range [min, max] has a
// level for each integer of its type, lowest at min and highest at max; min is moved to a whole number of levels from zero, so that zero
// has a level of its own. Halves are rounded away from zero unless said otherwise.
//
// What TensorFlow leaves open is settled so: a number beyond a type's integers becomes its lowest or highest, NaN its lowest.
#pragma once

#include <cstdint>
#include <limits>

#include "weft/base/float16.h"

namespace weft::kernels {

struct QuantizedRange {
  float min = 0, max = 0;
};

/// The integers of a quantized type.
struct QuantizedLimits {
  int64_t lowest = 0, highest = 0;
  int64_t steps() const { return highest - lowest; }
};
QuantizedLimits LimitsOf(DType dtype);
template <class T>
constexpr QuantizedLimits LimitsOf() { return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}; }

// ---- single numbers, in double --------------------------------------------------------------------------------------------

/// The level of `value`: lowest + round(value * s) - round(min * s), s levels a unit. May lie beyond the limits, by up to 2^60.
int64_t LevelOf(float value, QuantizedRange range, QuantizedLimits limits);
/// The same, cut to the limits.
int64_t ClampedLevelOf(float value, QuantizedRange range, QuantizedLimits limits);
/// The level of zero as an int32 that wraps: what products subtract from their operands.
int32_t ZeroOf(QuantizedRange range, QuantizedLimits limits);
/// What a level stands for.
float NumberOf(int64_t level, QuantizedRange range, QuantizedLimits limits);
/// The range of products of two operands, in limits of its own: a level is a level of one times a level of the other.
QuantizedRange ProductRange(QuantizedRange a, QuantizedLimits a_limits, QuantizedRange b, QuantizedLimits b_limits, QuantizedLimits limits);
/// The range of sums of two operands in 32 bits: 2^17 times the largest number of either, so that many sums fit.
QuantizedRange SumRange(QuantizedRange a, QuantizedRange b);

// ---- tensors, in float ----------------------------------------------------------------------------------------------------

enum class Rounding : uint8_t { kAway, kEven, kCut, kUp };  // halves away from zero, to even; towards zero; halves up

/// (level + before) * scale + after.
struct Dequantizer {
  float before = 0, scale = 1, after = 0;
};
Dequantizer MakeDequantizer(QuantizedRange range, QuantizedLimits limits);

/// round(value * scale) - shift, cut to the limits.
struct Quantizer {
  float scale = 1, shift = 0;
};
Quantizer MakeQuantizer(QuantizedRange range, QuantizedLimits limits);

/// round((clamp(value, range) - subtract) * scale + add), cut to the limits.
struct ScaledQuantizer {
  QuantizedRange range;
  float subtract = 0, scale = 1, add = 0;
  Rounding rounding = Rounding::kAway;
};

template <class T>
void Dequantize(const Dequantizer& d, const T* levels, float* values, int64_t n);
template <class T>
void Quantize(const Quantizer& q, const float* values, T* levels, int64_t n);
template <class T>
void Quantize(const ScaledQuantizer& q, const float* values, T* levels, int64_t n);
/// From one range to another by way of floats. `to` may be `from`.
template <class From, class To>
void Requantize(const Dequantizer& d, const Quantizer& q, const From* from, To* to, int64_t n);

/// Levels as 32-bit integers that count from the level of zero; they wrap.
template <class T>
void LevelsAboveZero(const T* levels, int32_t zero, int32_t* to, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = WrapSubtract(static_cast<int32_t>(levels[i]), zero);
}

/// From 32 bits to unsigned 8 in fixed point with 16 fractional bits: ((level * scale >> 32) + offset) >> 16.
struct FixedRequantizer {
  int64_t scale = 0, offset = 0;
};
FixedRequantizer MakeFixedRequantizer(QuantizedRange from, QuantizedRange to);
void Requantize(const FixedRequantizer& r, const int32_t* from, uint8_t* to, int64_t n);

// ---- quantized and back at once -------------------------------------------------------------------------------------------

/// The range that has zero on a level, `bits` bits of levels in it; a narrow one does not use the lowest level.
struct FakeQuantizer {
  QuantizedRange range;
  float scale = 0, inverse = 0;
  float zero = 0;         // the level of zero
  bool multiply = false;  // by the inverse; else divide by the scale. TensorFlow divides where one range that is fed holds for all
  bool nothing = false;   // a range of [0, 0] takes everything to 0
};
FakeQuantizer MakeFakeQuantizer(QuantizedRange range, int64_t bits, bool narrow, bool multiply);
void FakeQuantize(const FakeQuantizer& q, const float* from, float* to, int64_t n);

/// Quantizers of neighbouring channels, side by side; they multiply. One whose scale and inverse are 0 takes everything to 0.
struct FakeQuantizers {
  static constexpr int64_t kFloats = 5;  // of memory for a channel
  float *min, *max, *scale, *inverse, *zero;
  /// Of n channels, in kFloats * n floats of memory.
  FakeQuantizers(float* at, int64_t n) : min(at), max(at + n), scale(at + 2 * n), inverse(at + 3 * n), zero(at + 4 * n) {}
  /// Those from `channel` on.
  FakeQuantizers From(int64_t channel) const {
    FakeQuantizers rest = *this;
    for (float** each : {&rest.min, &rest.max, &rest.scale, &rest.inverse, &rest.zero}) *each += channel;
    return rest;
  }
  void Set(int64_t channel, const FakeQuantizer& q) const {
    min[channel] = q.nothing ? 0.0f : q.range.min;
    max[channel] = q.nothing ? 0.0f : q.range.max;
    scale[channel] = q.nothing ? 0.0f : q.scale;
    inverse[channel] = q.nothing ? 0.0f : q.inverse;
    zero[channel] = q.nothing ? 0.0f : q.zero;
  }
};
/// Element i by quantizer i.
void FakeQuantize(const FakeQuantizers& q, const float* from, float* to, int64_t n);

/// round(clamp(value, range) * scale) * inverse; `clamp` only where the range was given.
template <class T>
struct RoundTrip {
  T min = 0, max = 0, scale = 0, inverse = 0;
  bool clamp = false, even = true;
};
/// The largest scale at which [min, max] stays within `bits` bits.
template <class T>
RoundTrip<T> MakeRoundTrip(T min, T max, bool is_signed, int64_t bits, bool narrow);
template <class T>
void RunRoundTrip(const RoundTrip<T>& trip, const T* from, T* to, int64_t n);

}  // namespace weft::kernels
