// Snapshots: all state of a scope in a file, and back.
#pragma once

#include <chrono>
#include <filesystem>

#include "weft/state/scope.h"

namespace weft {

struct SnapshotOptions {
  /// How long to wait for the runs in progress. Other runs do not begin meanwhile.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
};

struct RestoreOptions {
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  /// Takes what fits the page and leaves out the rest, instead of refusing the file.
  bool partial = false;
};

/// What a snapshot holds.
struct SnapshotSummary {
  size_t variables = 0, resources = 0;  // queues, readers, random streams and the like
  int64_t bytes = 0;                    // of the file
};

/// Saves variables, queues, readers and random counters as they are between two runs; runs that are paused, or wait for one another, are
/// taken as not having begun. The file is there as a whole or as it was before, whenever the process or the machine ends. Not from within
/// a run. failed_precondition where a run is in progress for longer than the patience; what the file system says, where it fails.
Result<SnapshotSummary> SaveSnapshot(Scope& scope, const std::filesystem::path& path, const SnapshotOptions& options = {});

/// Makes the scope's state that of the snapshot; all of it or, on failure, nothing. data_loss for a file that is cut short or damaged;
/// unsupported for one of a newer Weft; not_found or invalid_argument, placed, where it does not fit the page: all such faults are added to
/// `problems`. failed_precondition where a run is in progress for longer than the patience, a paused one too.
Result<SnapshotSummary> RestoreSnapshot(Scope& scope, const std::filesystem::path& path, const RestoreOptions& options,
                                        Diagnostics& problems);

}  // namespace weft
