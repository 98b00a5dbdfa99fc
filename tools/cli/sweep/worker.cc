#include "tools/cli/sweep/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>

namespace weft::cli {
namespace {

bool ReadNumber(std::string_view text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

Descriptor TakeStandardOutput() {
  std::cout.flush();
  Descriptor output(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return output;
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

Status Work(PointRunner& runner, const SweepId& id) {
  // Who asks for points is gone: what it has not got, nobody waits for.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  Journal output = Journal::Pipe(TakeStandardOutput());
  WEFT_RETURN_IF_ERROR(output.Append(id.Line()));
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(const std::vector<PointRange> ranges, ReadPoints(line, id.points));
    for (const PointRange& range : ranges) {
      for (int64_t point = range.first; point <= range.last; ++point) WEFT_RETURN_IF_ERROR(output.Append(runner.Run(point)));
    }
  }
  return {};
}

}  // namespace weft::cli
