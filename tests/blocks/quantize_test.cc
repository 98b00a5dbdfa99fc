// Quantization of what no sensible page holds: NaN, infinities, empty, inverted and endless ranges. Every level stays within its type.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "blocks/kernels/quantize/quantize.h"

namespace weft::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNumbers[] = {0.0f, -0.0f, 1.0f, -1.5f, 1e-45f, 3e38f, -3e38f, kInfinity, -kInfinity, NAN};
constexpr int64_t kCount = std::size(kNumbers);

template <class Body>
void ForRanges(Body&& body) {
  for (float min : kNumbers) {
    for (float max : kNumbers) body(QuantizedRange{min, max});
  }
}

template <class T>
void QuantizeAnything() {
  constexpr QuantizedLimits kLimits = LimitsOf<T>();
  T levels[kCount];
  float values[kCount];
  ForRanges([&](QuantizedRange range) {
    for (float value : kNumbers) {
      const int64_t level = ClampedLevelOf(value, range, kLimits);
      CHECK((level >= kLimits.lowest && level <= kLimits.highest));
      (void)NumberOf(level, range, kLimits);
      (void)ZeroOf(range, kLimits);
    }
    Quantize(MakeQuantizer(range, kLimits), kNumbers, levels, kCount);
    for (Rounding rounding : {Rounding::kAway, Rounding::kEven, Rounding::kCut, Rounding::kUp}) {
      Quantize(ScaledQuantizer{range, range.min, range.max, 0.5f, rounding}, kNumbers, levels, kCount);
    }
    Dequantize(MakeDequantizer(range, kLimits), levels, values, kCount);
  });
}

}  // namespace

TEST_CASE("quantizing anything gives levels of the type", "[quantize]") {
  QuantizeAnything<int8_t>();
  QuantizeAnything<uint8_t>();
  QuantizeAnything<int16_t>();
  QuantizeAnything<uint16_t>();
  QuantizeAnything<int32_t>();
}

TEST_CASE("32-bit levels far outside a range go to its ends", "[quantize]") {
  const int32_t wide[] = {std::numeric_limits<int32_t>::min(), -1000, 0, 1000, std::numeric_limits<int32_t>::max()};
  uint8_t levels[5];
  // A product's range is a hundred thousand times that of what comes of it.
  Requantize(MakeFixedRequantizer({-247691.33f, 247691.33f}, {-0.5f, 0.5f}), wide, levels, 5);
  CHECK(levels[0] == 0);
  CHECK(levels[4] == 255);
  CHECK((levels[1] <= levels[2] && levels[2] <= levels[3]));
  ForRanges([&](QuantizedRange from) {
    ForRanges([&](QuantizedRange to) { Requantize(MakeFixedRequantizer(from, to), wide, levels, 5); });
  });
}

TEST_CASE("fake quantization of anything ends", "[quantize]") {
  float to[kCount];
  ForRanges([&](QuantizedRange range) {
    for (const bool multiply : {false, true}) FakeQuantize(MakeFakeQuantizer(range, 8, multiply, multiply), kNumbers, to, kCount);
    for (int64_t bits : {1, 8, 61}) {
      RoundTrip<float> trip = MakeRoundTrip(range.min, range.max, bits != 8, bits, false);
      for (const bool clamp : {false, true}) {
        trip.clamp = clamp;
        RunRoundTrip(trip, kNumbers, to, kCount);
      }
    }
  });
  // A range of nothing takes everything to 0; zero has a level of its own.
  FakeQuantize(MakeFakeQuantizer({0, 0}, 8, false, false), kNumbers, to, kCount);
  for (float value : to) CHECK(value == 0.0f);
  FakeQuantize(MakeFakeQuantizer({-0.37f, 1.9f}, 4, false, false), kNumbers, to, 1);
  CHECK(to[0] == 0.0f);
}

}  // namespace weft::kernels
