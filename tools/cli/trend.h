// Trends: how results change from run to run, drawn in the terminal or as a picture.
#pragma once

#include <string>
#include <vector>

#include "weft/base/status.h"

namespace weft::cli {

struct Trend {
  std::string name;
  std::vector<double> values;  // one a run, from run 1
};

/// A line chart of `width` by `height` characters (braille dots), with axes, the lowest and highest value, and a legend.
std::string DrawTrends(const std::vector<Trend>& trends, int width, int height, bool color);

/// Writes the chart as a picture: .svg or .png. invalid_argument for another ending.
Status SaveTrends(const std::string& path, const std::vector<Trend>& trends);

}  // namespace weft::cli
