// Journals of sweeps: files of JSON lines. The first line tells which grid and page the others are of; each other line is a point, whole.
// A line counts once it ends in a line feed. Lines are appended by one write each (or several lines by one), so that a process that is
// killed leaves whole lines and at most one that is torn, which the next one to open the journal cuts off. They are brought to the disk
// each second and at the end: a machine that loses its power loses the points of the last second, which are then run again.
// A journal is locked, and whether its name is still that of the locked file is looked at before each write and at the end: what is written
// to a file that was moved away, or that another one has replaced, would be lost without a word.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/results_io.h"
#include "tools/cli/sweep/grid.h"
#include "tools/cli/sweep/points.h"
#include "weft/base/file.h"
#include "weft/host/locked_file.h"

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

/// What a line says; that of no point where it cannot be read, or has another point than those there are.
PointLine ReadPointLine(std::string_view line, int64_t points);

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
  /// Makes the file, or repairs it: cuts off a torn line, leaves out damaged ones. `progress` gets its points. LockedFile's errors, where
  /// another process has it open, say; else as ReadJournal, and what the file system says. `note` gets what was repaired.
  static Result<Journal> Open(const std::string& path, const SweepId& id, Progress& progress, std::string& note);
  /// What goes to a pipe: it is neither read nor synced.
  static Journal Pipe(Descriptor pipe);
  Journal(Journal&&) = default;

  /// Whole lines. On failure (a full disk) none of their bytes stay. failed_precondition, and nothing is written, where the path no longer
  /// names this file.
  Status Append(std::string_view lines);
  /// To the disk; failed_precondition where the path no longer names this file.
  Status Sync();

 private:
  Journal() = default;
  Status Lock();
  Status CheckPlace() const;
  int number() const { return file_ ? file_->number() : pipe_.number(); }
  Status Prepare(const SweepId& id, Progress& progress, std::string& note);
  Status Rewrite(const SweepId& id);

  std::string path_;
  std::optional<LockedFile> file_;  // or else
  Descriptor pipe_;
  int64_t bytes_ = 0;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

}  // namespace weft::cli
