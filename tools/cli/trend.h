// Trends: how results change from run to run, or over a parameter, drawn in the terminal or as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/base/status.h"

namespace weft::cli {

enum class TrendAxis : uint8_t { kLinear, kLogarithmic };  // of the values; a logarithmic one leaves out those that are not above 0

struct Trend {
  std::string name;
  std::vector<double> values;    // one a run, from run 1; or one a place
  std::vector<double> places{};  // where each value stands, ascending; empty: at its run
};

/// The horizontal axis. Places that it cannot show are left out, as values are.
struct TrendPlaces {
  std::string name{};  // empty: runs
  TrendAxis axis = TrendAxis::kLinear;
};

/// A line chart of `width` by `height` characters (braille dots), with axes, the lowest and highest value, and a legend.
std::string DrawTrends(const std::vector<Trend>& trends, int width, int height, bool color, TrendAxis axis,
                       const TrendPlaces& places = {});

/// Writes the chart as a picture: .svg or .png. invalid_argument for another ending.
Status SaveTrends(const std::string& path, const std::vector<Trend>& trends, TrendAxis axis, const TrendPlaces& places = {});

}  // namespace weft::cli
