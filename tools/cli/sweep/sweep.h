// weft sweep: what its parts share.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/common.h"
#include "tools/cli/sweep/journal.h"

namespace weft::cli {

struct SweepCommand {
  PageOptions page;  // but for the page and its settings, which the grid names
  std::string grid, journal, points, table, plot, over, by, plot_file;
  std::vector<std::string> from;
  int64_t point = -1;
  int jobs = 0;
  bool count = false, list = false, status = false, missing = false, collect = false, retry = false, logarithmic = false, quiet = false;

  /// What the points are, and where their lines go, in the words of this command line.
  std::string chosen() const { return point >= 0 ? std::to_string(point) : points; }
};

/// "lr.sweep.jsonl" beside "lr.grid.json"; with points, which are a part of the sweep, "lr.sweep.0-99.jsonl".
std::string JournalPath(const Grid& grid, const std::vector<PointRange>* part);
/// The journals of parts beside the grid.
std::vector<std::string> PartJournals(const Grid& grid);

/// --collect: adds the points that parts have to the journal.
Status Collect(const SweepCommand& command, const Grid& grid, const SweepId& id, Journal& journal, Progress& progress);

/// Runs the points in processes of their own; prints progress. Ended by a signal (Interrupt::signal()), it has not failed.
Status RunPoints(const SweepCommand& command, const Grid& grid, const SweepId& id, const std::vector<PointRange>& points, int64_t memory,
                 Journal& journal, Progress& progress);

/// "1,234".
std::string Grouped(int64_t number);
/// "1,234 of 10,000 points done, 3 failed".
std::string ProgressText(const Progress& progress);

}  // namespace weft::cli
