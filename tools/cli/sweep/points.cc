#include "tools/cli/sweep/points.h"

#include <algorithm>
#include <charconv>

namespace weft::cli {
namespace {

bool ReadNumber(std::string_view text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

std::string TextOf(const std::vector<PointRange>& ranges) {
  std::string text;
  for (const PointRange& range : ranges) {
    text += Cat(text.empty() ? "" : ",", range.first);
    if (range.last > range.first) text += Cat("-", range.last);
  }
  return text;
}

Result<std::vector<PointRange>> ReadPoints(std::string_view text, int64_t points) {
  std::vector<PointRange> ranges;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const size_t dash = one.find('-');
    PointRange range;
    const bool read = ReadNumber(one.substr(0, dash), range.first) && (dash == one.npos || ReadNumber(one.substr(dash + 1), range.last));
    if (dash == one.npos) range.last = range.first;
    if (!read || range.last < range.first) {
      return InvalidArgument("points are K or A-B, with commas between, found '", text.substr(0, 200), "'");
    }
    if (dash == one.npos && range.first >= points) {
      return OutOfRange("there is no point ", range.first, ": the grid has ", points).WithHint(Cat("points are 0 to ", points - 1));
    }
    range.last = std::min(range.last, points - 1);
    if (range.first <= range.last) ranges.push_back(range);
    begin = end + 1;
  }
  std::ranges::sort(ranges, {}, &PointRange::first);
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first <= ranges[i - 1].last) {
      return InvalidArgument("the points ", TextOf({ranges[i - 1]}), " and ", TextOf({ranges[i]}), " overlap");
    }
  }
  return ranges;
}

void Progress::Restrict(const std::vector<PointRange>& part) {
  left_out_.assign(states_.size(), true);
  points_ = done_ = failed_ = 0;
  for (const PointRange& range : part) {
    for (int64_t point = range.first; point <= range.last; ++point) {
      left_out_[static_cast<size_t>(point)] = false;
      ++points_;
      done_ += state(point) == PointState::kDone;
      failed_ += state(point) == PointState::kFailed;
    }
  }
}

void Progress::Note(const PointLine& line) {
  PointState& state = states_[static_cast<size_t>(line.point)];
  if (!left_out_.empty() && left_out_[static_cast<size_t>(line.point)]) {
    state = line.failed ? PointState::kFailed : PointState::kDone;
    return;
  }
  if (state == PointState::kDone) --done_;
  if (state == PointState::kFailed) --failed_;
  state = line.failed ? PointState::kFailed : PointState::kDone;
  ++(line.failed ? failed_ : done_);
}

std::vector<PointRange> Progress::Missing(bool retry) const {
  std::vector<PointRange> ranges;
  for (int64_t point = 0; point < static_cast<int64_t>(states_.size()); ++point) {
    if (!left_out_.empty() && left_out_[static_cast<size_t>(point)]) continue;
    if (state(point) == PointState::kDone || (state(point) == PointState::kFailed && !retry)) continue;
    if (!ranges.empty() && ranges.back().last == point - 1) ranges.back().last = point;
    else ranges.push_back({point, point});
  }
  return ranges;
}

}  // namespace weft::cli
