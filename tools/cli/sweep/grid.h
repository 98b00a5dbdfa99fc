// Grids: files that say which settings a page is to run with (docs/scale.md, schemas/sweep.schema.json).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/sweep/axis.h"
#include "weft/base/diagnostic.h"

namespace weft::cli {

/// A part of a grid: one axis, or parts that go together (zip: all at the same index) or are crossed (the last one changes fastest).
struct GridPart {
  enum class Kind : uint8_t { kAxis, kZip, kCross };
  Kind kind = Kind::kCross;
  Axis axis;                    // kAxis
  std::vector<GridPart> parts;  // the others
  int64_t count = 1;
};

/// One point: the value of each parameter, in the order of the file.
struct GridPoint {
  std::vector<const Axis*> axes;
  std::vector<ParameterValue> values;

  /// {"rate": 0.1, ...} as JSON text.
  std::string Json() const;
  /// "rate=0.1 x.output={1,2}", for people.
  std::string Text() const;
};

/// A grid that was read without a fault. Relative names of files start at the folder of its file. Points keep pointers into it.
struct Grid {
  std::string path, folder;
  std::string page;                                        // path
  std::string session, load_state;                         // empty: as without the option
  std::vector<std::string> fetch;
  int64_t steps = -1;                                      // -1: as without the option
  double time_limit = 0;                                   // seconds a point may take; 0: no limit
  std::vector<std::pair<Target, ParameterValue>> settings;  // of every point
  GridPart points;
  std::string hash;  // of all that makes the points what they are

  Grid() = default;
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  Grid(Grid&&) = default;
  Grid& operator=(Grid&&) = default;

  int64_t count() const { return points.count; }
  GridPoint At(int64_t point) const;
  /// The axes, in the order of the file.
  std::vector<const Axis*> axes() const;
};

/// Every fault of the text, with its JSON pointer, goes to `found`; then the grid is of no use. `path` is what faults call it.
Grid ReadGrid(std::string_view text, const std::string& path, Diagnostics& found);

/// The path of a file that a grid names.
std::string BesideGrid(const Grid& grid, const std::string& file);

/// Hexadecimal digits that tell texts apart (of SHA-256). Throws bad_alloc.
std::string HashOf(std::string_view text);

}  // namespace weft::cli
