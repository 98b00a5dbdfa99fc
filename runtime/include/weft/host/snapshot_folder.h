// SnapshotFolder: snapshots of one run, one after another, in a folder of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "weft/base/status.h"

namespace weft {

/// Files step-000000000050.weft; LATEST has the name of the newest whole one. For one process at a time.
class SnapshotFolder {
 public:
  explicit SnapshotFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Makes the folder where it is missing, and takes away what a process that was killed has left half written.
  Status Open() const;
  /// The file of a snapshot after so many steps.
  std::string PathOf(uint64_t steps) const;
  /// It is whole: LATEST names it, and older ones but the last before it go.
  Status Publish(uint64_t steps) const;
  /// What there is, the one that LATEST names first, then from the newest on.
  std::vector<std::string> Candidates() const;
  /// failed_precondition where there is any: it is of an earlier run, and a new one would take its place.
  Status CheckEmpty() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace weft
