// Axes of a sweep: what one parameter takes, value by value. Any value can be had by its index alone, so that a grid of millions of points
// takes no memory and every process finds the same point under its number.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "weft/base/status.h"

namespace weft::cli {

/// The most points of a sweep, and values of an axis.
inline constexpr int64_t kMostPoints = 100'000'000;

/// One value of a parameter.
struct ParameterValue {
  std::string text;  // as --set and --feed take it
  std::string json;  // as journals show it
};

/// A value of 12 significant digits as text: powers and logarithms of different machines differ after those.
std::string RoundedNumber(double value);
inline ParameterValue NumberValue(double value) { return {RoundedNumber(value), RoundedNumber(value)}; }

/// Written out one by one.
struct ListedValues {
  std::vector<ParameterValue> values;
  ParameterValue At(int64_t index) const { return values[static_cast<size_t>(index)]; }
};

/// from, from + step, ... of integers.
struct IntegerRange {
  int64_t from = 0, step = 1;
  ParameterValue At(int64_t index) const;
};

struct LinearRange {
  double from = 0, step = 1;
  ParameterValue At(int64_t index) const { return NumberValue(from + step * static_cast<double>(index)); }
};

/// From `from` to `to` in `count` values, each the same multiple of the one before.
struct LogRange {
  double from = 1, to = 1;
  int64_t count = 1;
  ParameterValue At(int64_t index) const;
};

/// Draws: each from a random generator that starts with seed, stream and index, so that draws need no order.
struct RandomDraws {
  enum class Kind : uint8_t { kUniform, kLogUniform, kNormal, kInteger, kChoice };
  Kind kind = Kind::kUniform;
  double low = 0, high = 1;  // mean and standard deviation of kNormal
  int64_t least = 0, most = 0;  // kInteger, both included
  std::vector<ParameterValue> choices;
  uint64_t seed = 0, stream = 0;
  ParameterValue At(int64_t index) const;
};

/// A stream of draws for each name: parameters with the same seed are not drawn alike.
uint64_t StreamOf(std::string_view name);

/// What a value replaces: a literal or attribute (--set) or an output (--feed).
struct Target {
  bool feed = false;
  std::string name;  // "ID.pin" or "ID.port"
};

/// A parameter: a name, all that takes its value, the values.
struct Axis {
  std::string name;
  std::vector<Target> targets;
  std::variant<ListedValues, IntegerRange, LinearRange, LogRange, RandomDraws> values;
  int64_t count = 0;

  ParameterValue At(int64_t index) const {
    return std::visit([&](const auto& kind) { return kind.At(index); }, values);
  }
  bool logarithmic() const;
};

}  // namespace weft::cli
