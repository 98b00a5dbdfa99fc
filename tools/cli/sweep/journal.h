// Journals of sweeps: files of JSON lines. The first line tells which grid and page the others are of; each other line is a point, whole.
// A line counts once it ends in a line feed. Lines are appended by one write each (or several lines by one), so that a process that is
// killed leaves whole lines and at most one that is torn, which the next one to open the journal cuts off. They are brought to the disk
// each second and at the end: a machine that loses its power loses the points of the last second, which are then run again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/results_io.h"
#include "tools/cli/sweep/grid.h"
#include "weft/base/file.h"

namespace weft::cli {

/// Which sweep a journal is of.
struct SweepId {
  std::string grid, page;            // names, for people
  std::string grid_hash, page_hash;  // HashOf
  int64_t points = 0;

  /// The first line, its end included.
  std::string Line() const;
};

SweepId IdOf(const Grid& grid, const std::string& page_hash);

/// failed_precondition where the line is of another sweep, with what differs and what to do; invalid_argument where it is none of a
/// sweep's.
Status CheckFirstLine(std::string_view line, const SweepId& id, const std::string& path);

// Lines of points, their ends included.
std::string DoneLine(int64_t point, const GridPoint& at, double seconds, std::string_view results);
std::string FailedLine(int64_t point, const GridPoint& at, double seconds, const Status& status);
/// {"loss.output": 0.5, "w": {"dtype": ..., "shape": ..., "values": ...}}: single numbers and truth values as such, others as tensors.
std::string ResultsText(const NamedTensors& results);

enum class PointState : uint8_t { kMissing, kDone, kFailed };

/// What a line of a point says; `point` is -1 where it is none.
struct PointLine {
  int64_t point = -1;
  bool failed = false;
};
PointLine ReadPointLine(std::string_view line, int64_t points);

/// A set of points, [first, last] each.
struct PointRange {
  int64_t first = 0, last = 0;
};
/// "0-99,120,200-210".
std::string TextOf(const std::vector<PointRange>& ranges);

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

/// Reads a journal without changing it. `line` gets each whole line of a point. not_found where there is none; CheckFirstLine's errors.
/// `damaged` counts lines that are none of a point (of a disk that lost some of its bytes).
struct JournalContents {
  int64_t whole_bytes = 0;  // up to the end of the last whole line
  bool torn = false;        // something follows them
  int64_t damaged = 0;
};
Result<JournalContents> ReadJournal(const std::string& path, const SweepId& id,
                                    const std::function<void(std::string_view line, const PointLine&)>& line);

/// A journal that is open to be appended to, by this process alone.
class Journal {
 public:
  /// Makes the file, or repairs it: cuts off a torn line, leaves out damaged ones. `progress` gets its points. failed_precondition where
  /// another process has it open; else as ReadJournal, and what the file system says. `note` gets what was repaired.
  static Result<Journal> Open(const std::string& path, const SweepId& id, Progress& progress, std::string& note);
  /// What goes to a pipe: it is neither read nor synced.
  static Journal Pipe(Descriptor pipe);
  Journal(Journal&&) = default;

  /// Whole lines. On failure (a full disk) none of their bytes stay.
  Status Append(std::string_view lines);
  /// To the disk.
  Status Sync();

 private:
  Journal() = default;
  Status Lock();
  Status Prepare(const SweepId& id, Progress& progress, std::string& note);
  Status Rewrite(const SweepId& id);

  std::string path_;
  Descriptor file_;
  bool pipe_ = false;
  int64_t bytes_ = 0;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

}  // namespace weft::cli
