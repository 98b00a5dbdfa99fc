// SnapshotFolder: snapshots of one run, one after another, in a folder of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/base/status.h"
#include "weft/host/locked_file.h"

namespace weft {

/// Files step-000000000050.weft; LATEST has the name of the newest whole one; LOCK says which process writes them. Copies of one that is open
/// share its lock.
class SnapshotFolder {
 public:
  explicit SnapshotFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const { return folder_; }

  /// Makes the folder where it is missing, takes it for this process until the last copy or the process ends, and takes away what one that was
  /// killed has left half written. failed_precondition where another process has it, with the process and its machine. (On a file system
  /// without locks nobody is refused, and nothing is taken away.) Of one that is open: CheckPlace.
  Status Open();
  /// failed_precondition where the folder is no longer that which was opened.
  Status CheckPlace() const { return lock_ ? lock_->CheckPlace() : Status(); }
  /// The file of a snapshot after so many steps.
  std::string PathOf(uint64_t steps) const;
  /// It is whole: LATEST names it, and older ones but the last before it go. failed_precondition as CheckPlace.
  Status Publish(uint64_t steps) const;
  /// What there is, the one that LATEST names first, then from the newest on. Also of a folder that is not open.
  std::vector<std::string> Candidates() const;
  /// failed_precondition where there is any: it is of an earlier run, and a new one would take its place.
  Status CheckEmpty() const;

 private:
  Status Lock();

  std::filesystem::path folder_;
  std::shared_ptr<LockedFile> lock_;
};

}  // namespace weft
