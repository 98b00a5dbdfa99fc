#include "tools/cli/trend.h"

#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>

#include "tools/cli/common.h"

namespace weft::cli {
namespace {

/// The values that the picture has room for; of a logarithmic axis, their exponents of ten.
struct Range {
  double low = 0, high = 1;
  TrendAxis axis = TrendAxis::kLinear;

  double On(double value) const { return axis == TrendAxis::kLogarithmic ? std::log10(value) : value; }  // not finite where it has no place
  bool Has(double value) const { return std::isfinite(On(value)); }
  double Part(double value) const {
    if (high <= low) return 0.5;
    // The largest numbers are farther apart than any number is large; halves of the smallest would be 0.
    const double scale = std::isfinite(high - low) ? 1 : 0.5;
    return (On(value) * scale - low * scale) / (high * scale - low * scale);
  }
  double At(double part) const {
    const double place = std::lerp(low, high, part);
    return axis == TrendAxis::kLogarithmic ? std::pow(10, place) : place;
  }
};

Range ValueRange(const std::vector<Trend>& trends, TrendAxis axis) {
  Range range{INFINITY, -INFINITY, axis};
  for (const Trend& trend : trends) {
    for (double v : trend.values) {
      if (range.Has(v)) range.low = std::min(range.low, range.On(v)), range.high = std::max(range.high, range.On(v));
    }
  }
  if (range.low > range.high) return {0, 1, axis};
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5, axis};
  return range;
}

size_t LongestTrend(const std::vector<Trend>& trends) {
  size_t longest = 0;
  for (const Trend& trend : trends) longest = std::max(longest, trend.values.size());
  return longest;
}

double PlaceOf(const Trend& trend, size_t i) { return trend.places.empty() ? static_cast<double>(i + 1) : trend.places[i]; }

/// The places that the picture has room for.
Range PlaceRange(const std::vector<Trend>& trends, TrendAxis axis) {
  Range range{INFINITY, -INFINITY, axis};
  for (const Trend& trend : trends) {
    for (size_t i = 0; i < trend.values.size(); ++i) {
      const double place = PlaceOf(trend, i);
      if (range.Has(place)) range.low = std::min(range.low, range.On(place)), range.high = std::max(range.high, range.On(place));
    }
  }
  return range.low > range.high ? Range{1, 1, TrendAxis::kLinear} : range;
}

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

constexpr int kColors[] = {36, 33, 32, 35, 31, 34};  // of a terminal

/// Braille dots: each character holds two columns of four.
class DotGrid {
 public:
  DotGrid(int width, int height) : width_(width), height_(height), dots_(static_cast<size_t>(width * height), 0), owner_(dots_.size(), -1) {}
  int columns() const { return width_ * 2; }
  int rows() const { return height_ * 4; }
  void Set(int column, int row, int trend) {
    static constexpr unsigned char kDots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    size_t cell = static_cast<size_t>(row / 4 * width_ + column / 2);
    dots_[cell] |= kDots[row % 4][column % 2];
    owner_[cell] = trend;
  }
  void Append(std::string& out, int line, bool color) const {
    for (int x = 0; x < width_; ++x) {
      size_t cell = static_cast<size_t>(line * width_ + x);
      if (dots_[cell] == 0) {
        out += ' ';
        continue;
      }
      if (color) out += Cat("\033[", kColors[static_cast<size_t>(owner_[cell]) % std::size(kColors)], "m");
      // U+2800 + dots, in UTF-8.
      out += '\xE2';
      out += static_cast<char>(0xA0 | (dots_[cell] >> 6));
      out += static_cast<char>(0x80 | (dots_[cell] & 0x3F));
      if (color) out += "\033[0m";
    }
  }

 private:
  int width_, height_;
  std::vector<unsigned char> dots_;
  std::vector<int> owner_;
};

void DrawLine(DotGrid& grid, const std::vector<double>& values, size_t longest, const Range& range, int index) {
  int last_row = -1;
  for (int column = 0; column < grid.columns(); ++column) {
    auto run = static_cast<size_t>(std::lround(static_cast<double>(column) / std::max(1, grid.columns() - 1) * static_cast<double>(longest - 1)));
    if (run >= values.size() || !range.Has(values[run])) {
      last_row = -1;
      continue;
    }
    int row = static_cast<int>(std::lround((1 - range.Part(values[run])) * (grid.rows() - 1)));
    // Columns between distant values are joined by a vertical line.
    int from = last_row < 0 ? row : last_row + (row > last_row ? 1 : row < last_row ? -1 : 0);
    for (int r = std::min(from, row); r <= std::max(from, row); ++r) grid.Set(column, r, index);
    last_row = row;
  }
}

/// As DrawLine, of values at places of their own: neighbours are joined by straight lines.
void DrawPlaced(DotGrid& grid, const Trend& trend, const Range& places, const Range& range, int index) {
  double last_column = -1, last_row = 0;
  for (size_t i = 0; i < trend.values.size(); ++i) {
    if (!range.Has(trend.values[i]) || !places.Has(trend.places[i])) {
      last_column = -1;
      continue;
    }
    const double column = std::round(places.Part(trend.places[i]) * (grid.columns() - 1)), row = (1 - range.Part(trend.values[i])) * (grid.rows() - 1);
    if (last_column < 0) last_column = column, last_row = row;
    double from = last_row;
    for (double c = last_column; c <= column; ++c) {
      const double to = column > last_column ? last_row + (row - last_row) * (c - last_column) / (column - last_column) : row;
      const auto low = static_cast<int>(std::lround(std::min(from, to))), high = static_cast<int>(std::lround(std::max(from, to)));
      for (int r = low; r <= high; ++r) grid.Set(static_cast<int>(c), r, index);
      from = to;
    }
    last_column = column, last_row = row;
  }
}

// ---- pictures ------------------------------------------------------------------------------------------------------------

constexpr double kWidth = 760, kHeight = 420, kLeft = 78, kRight = 20, kTop = 44, kBottom = 46;
constexpr double kInk[6][3] = {{0.12, 0.44, 0.72}, {0.84, 0.45, 0.05}, {0.18, 0.55, 0.25}, {0.58, 0.3, 0.65}, {0.78, 0.18, 0.2}, {0.35, 0.35, 0.35}};

void Label(cairo_t* cr, double x, double y, const std::string& text, double align) {
  cairo_text_extents_t extents;
  cairo_text_extents(cr, text.c_str(), &extents);
  cairo_move_to(cr, x - extents.width * align, y);
  cairo_show_text(cr, text.c_str());
}

void DrawAxes(cairo_t* cr, const Range& range, const Range& places, const std::string& name) {
  double plot_width = kWidth - kLeft - kRight, plot_height = kHeight - kTop - kBottom;
  cairo_set_line_width(cr, 1);
  for (int i = 0; i <= 4; ++i) {
    double y = kTop + plot_height * i / 4;
    cairo_set_source_rgb(cr, 0.88, 0.88, 0.88);
    cairo_move_to(cr, kLeft, y);
    cairo_line_to(cr, kWidth - kRight, y);
    cairo_stroke(cr);
    cairo_set_source_rgb(cr, 0.25, 0.25, 0.25);
    Label(cr, kLeft - 8, y + 4, Short(range.At(1 - i / 4.0)), 1);
  }
  for (int i = 0; i <= 4; ++i) {
    const double place = places.At(i / 4.0);
    Label(cr, kLeft + plot_width * i / 4, kHeight - kBottom + 20, name.empty() ? std::to_string(std::lround(place)) : Short(place), 0.5);
  }
  Label(cr, kLeft + plot_width / 2, kHeight - 8, name.empty() ? "run" : name, 0.5);
}

void DrawPicture(cairo_t* cr, const std::vector<Trend>& trends, TrendAxis axis, const TrendPlaces& along) {
  const Range range = ValueRange(trends, axis), places = PlaceRange(trends, along.axis);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_paint(cr);
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, 13);
  DrawAxes(cr, range, places, along.name);
  double legend = kLeft;
  for (size_t t = 0; t < trends.size(); ++t) {
    const double* ink = kInk[t % std::size(kInk)];
    cairo_set_source_rgb(cr, ink[0], ink[1], ink[2]);
    cairo_set_line_width(cr, 1.8);
    bool pen_down = false;
    for (size_t i = 0; i < trends[t].values.size(); ++i) {
      const double place = PlaceOf(trends[t], i);
      if (!range.Has(trends[t].values[i]) || !places.Has(place)) {
        pen_down = false;
        continue;
      }
      double x = kLeft + (kWidth - kLeft - kRight) * places.Part(place);
      double y = kTop + (kHeight - kTop - kBottom) * (1 - range.Part(trends[t].values[i]));
      if (pen_down) cairo_line_to(cr, x, y);
      else cairo_move_to(cr, x, y);
      pen_down = true;
    }
    cairo_stroke(cr);
    for (size_t i = 0; i < trends[t].places.size(); ++i) {
      if (!range.Has(trends[t].values[i]) || !places.Has(trends[t].places[i])) continue;
      cairo_arc(cr, kLeft + (kWidth - kLeft - kRight) * places.Part(trends[t].places[i]),
                kTop + (kHeight - kTop - kBottom) * (1 - range.Part(trends[t].values[i])), 2.5, 0, 2 * std::numbers::pi);
      cairo_fill(cr);
    }
    cairo_text_extents_t extents;
    cairo_text_extents(cr, trends[t].name.c_str(), &extents);
    Label(cr, legend, 24, trends[t].name, 0);
    legend += extents.x_advance + 24;
  }
}

/// Does not throw, for cairo is written in C.
cairo_status_t WriteBytes(void* bytes, const unsigned char* data, unsigned length) noexcept {
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::exception&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

}  // namespace

std::string DrawTrends(const std::vector<Trend>& trends, int width, int height, bool color, TrendAxis axis, const TrendPlaces& along) {
  size_t longest = LongestTrend(trends);
  if (longest == 0) return Cat("nothing to draw: no ", along.name.empty() ? "run" : "point", " gave a value\n");
  const Range range = ValueRange(trends, axis), places = PlaceRange(trends, along.axis);
  constexpr int kLabel = 11;
  int plot_width = std::max(width - kLabel - 1, 10);
  DotGrid grid(plot_width, std::max(height, 2));
  for (size_t t = 0; t < trends.size(); ++t) {
    if (!trends[t].places.empty()) DrawPlaced(grid, trends[t], places, range, static_cast<int>(t));
    else if (!trends[t].values.empty()) DrawLine(grid, trends[t].values, longest, range, static_cast<int>(t));
  }
  std::string out;
  for (int line = 0; line < height; ++line) {
    bool labelled = line == 0 || line == height / 2 || line == height - 1;
    std::string label = labelled ? Short(range.At(1 - static_cast<double>(line) / (height - 1))) : "";
    out += Cat(std::string(static_cast<size_t>(std::max<int>(0, kLabel - 1 - static_cast<int>(label.size()))), ' '), label, labelled ? " ┤" : " │");
    grid.Append(out, line, color);
    out += '\n';
  }
  out += Cat(std::string(kLabel, ' '), "└");
  for (int i = 0; i < plot_width; ++i) out += "─";
  const bool runs = along.name.empty();
  const std::string first = runs ? "1" : Short(places.At(0)), last = runs ? std::to_string(longest) : Short(places.At(1));
  const int gap = plot_width - static_cast<int>(first.size()) - static_cast<int>(last.size());
  out += Cat("\n", std::string(kLabel + 1, ' '), first, std::string(static_cast<size_t>(std::max(1, gap)), ' '), last, "\n");
  for (size_t t = 0; t < trends.size(); ++t) {
    std::string name = Visible(trends[t].name);
    if (color) name = Cat("\033[", kColors[t % std::size(kColors)], "m", name, "\033[0m");
    out += Cat(std::string(kLabel + 1, ' '), name);
    if (!trends[t].values.empty()) out += Cat("  first ", Short(trends[t].values.front()), ", last ", Short(trends[t].values.back()));
    out += '\n';
  }
  return out;
}

namespace {

Result<std::string> TrendPicture(const std::vector<Trend>& trends, TrendAxis axis, bool svg, const TrendPlaces& along) {
  std::string bytes;
  cairo_surface_t* surface = svg ? cairo_svg_surface_create_for_stream(WriteBytes, &bytes, kWidth, kHeight)
                                 : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kWidth), static_cast<int>(kHeight));
  cairo_t* cr = cairo_create(surface);
  DrawPicture(cr, trends, axis, along);
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (!svg && status == CAIRO_STATUS_SUCCESS) status = cairo_surface_write_to_png_stream(surface, WriteBytes, &bytes);
  // (An SVG is written at the end, where its failures are the surface's alone.)
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  // cairo tells a callback's failure to write as one of its own.
  if (status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_WRITE_ERROR) {
    return ResourceExhausted("the picture could not be drawn: no memory left");
  }
  if (status != CAIRO_STATUS_SUCCESS) return Internal("the picture could not be drawn: ", cairo_status_to_string(status));
  return bytes;
}

}  // namespace

Status SaveTrends(const std::string& path, const std::vector<Trend>& trends, TrendAxis axis, const TrendPlaces& places) {
  bool svg = path.ends_with(".svg");
  if (!svg && !path.ends_with(".png")) return InvalidArgument("a plot is written as .svg or .png, found '", path, "'");
  WEFT_ASSIGN_OR_RETURN(std::string bytes, TrendPicture(trends, axis, svg, places));
  return WriteFile(path, bytes);
}

}  // namespace weft::cli
