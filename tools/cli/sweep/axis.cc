#include "tools/cli/sweep/axis.h"

#include <charconv>
#include <cmath>
#include <numbers>

namespace weft::cli {
namespace {

/// SplitMix64: a bijection that spreads neighbouring numbers over all 64 bits.
uint64_t Mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The random numbers of one draw.
class DrawBits {
 public:
  DrawBits(uint64_t seed, uint64_t stream, uint64_t index) : state_(Mixed(Mixed(Mixed(seed) ^ stream) ^ index)) {}
  uint64_t Next() { return state_ = Mixed(state_); }
  /// In [0, 1), of 53 bits.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  /// In [0, below); 0 where that is 0 stands for 2^64.
  uint64_t Below(uint64_t below) {
    if (below == 0) return Next();
    const uint64_t unfair = (0 - below) % below;  // so many of the 2^64 numbers would make the first ones likelier
    for (;;) {
      if (const uint64_t bits = Next(); bits >= unfair) return bits % below;
    }
  }

 private:
  uint64_t state_;
};

ParameterValue IntegerValue(int64_t value) { return {std::to_string(value), std::to_string(value)}; }

double NormalDraw(DrawBits& bits) {
  const double radius = std::sqrt(-2 * std::log(1 - bits.Unit()));
  return radius * std::cos(2 * std::numbers::pi * bits.Unit());
}

}  // namespace

std::string RoundedNumber(double value) {
  if (value == 0) return "0";
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 12).ptr};
}

ParameterValue IntegerRange::At(int64_t index) const { return IntegerValue(from + step * index); }

ParameterValue LogRange::At(int64_t index) const {
  if (index == 0) return NumberValue(from);  // the ends are what was written
  if (index == count - 1) return NumberValue(to);
  const double part = static_cast<double>(index) / static_cast<double>(count - 1);
  return NumberValue(std::exp(std::log(from) + part * (std::log(to) - std::log(from))));
}

ParameterValue RandomDraws::At(int64_t index) const {
  DrawBits bits(seed, stream, static_cast<uint64_t>(index));
  switch (kind) {
    case Kind::kUniform: return NumberValue(low + (high - low) * bits.Unit());
    case Kind::kLogUniform: return NumberValue(std::exp(std::log(low) + (std::log(high) - std::log(low)) * bits.Unit()));
    case Kind::kNormal: return NumberValue(low + high * NormalDraw(bits));
    case Kind::kInteger: {
      const uint64_t offset = bits.Below(static_cast<uint64_t>(most) - static_cast<uint64_t>(least) + 1);
      return IntegerValue(static_cast<int64_t>(static_cast<uint64_t>(least) + offset));
    }
    case Kind::kChoice: return choices[bits.Below(choices.size())];
  }
  return {};
}

uint64_t StreamOf(std::string_view name) {
  uint64_t hash = 0;
  for (const char c : name) hash = Mixed(hash ^ static_cast<unsigned char>(c));
  return hash;
}

bool Axis::logarithmic() const {
  if (const auto* draws = std::get_if<RandomDraws>(&values)) return draws->kind == RandomDraws::Kind::kLogUniform;
  return std::holds_alternative<LogRange>(values);
}

}  // namespace weft::cli
