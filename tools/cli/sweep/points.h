// Which points of a sweep: ranges of them, and how far it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/status.h"

namespace weft::cli {

/// A set of points, [first, last] each.
struct PointRange {
  int64_t first = 0, last = 0;
};
/// "0-99,120,200-210".
std::string TextOf(const std::vector<PointRange>& ranges);

/// "K", "A-B" or several with commas between; they come in order, and none twice. A range may begin after the last point, and end there: it
/// holds none of those. invalid_argument.
Result<std::vector<PointRange>> ReadPoints(std::string_view text, int64_t points);

enum class PointState : uint8_t { kMissing, kDone, kFailed };

/// What a line of a journal says of a point; `point` is -1 where it is none.
struct PointLine {
  int64_t point = -1;
  bool failed = false;
};

/// How far a sweep is.
class Progress {
 public:
  explicit Progress(int64_t points) : states_(static_cast<size_t>(points), PointState::kMissing), points_(points) {}
  void Note(const PointLine& line);
  PointState state(int64_t point) const { return states_[static_cast<size_t>(point)]; }
  /// From now on, what is told is of these points alone: [first, last] each, none twice.
  void Restrict(const std::vector<PointRange>& part);
  int64_t points() const { return points_; }
  int64_t done() const { return done_; }
  int64_t failed() const { return failed_; }
  int64_t missing() const { return points() - done_ - failed_; }
  /// The points that are to be run; with `retry` those that failed as well.
  std::vector<PointRange> Missing(bool retry = false) const;

 private:
  std::vector<PointState> states_;
  std::vector<bool> left_out_;  // empty: none
  int64_t points_, done_ = 0, failed_ = 0;
};

}  // namespace weft::cli
