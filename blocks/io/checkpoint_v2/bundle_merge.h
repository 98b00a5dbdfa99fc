// Makes one version 2 checkpoint out of several.
#pragma once

#include <string>
#include <vector>

#include "blocks/io/file_access.h"

namespace weft::blocks::checkpoint_v2 {

struct MergeOptions {
  bool delete_folders = true;   // those of the checkpoints, where they are empty then
  bool allow_missing = false;   // checkpoints that are not there are passed over
};

/// The files of elements of the checkpoints `prefixes` become those of `to`; their indices are joined and go. invalid_argument where a
/// checkpoint is missing, all are, two hold one tensor that is not in parts, or `to` would take the place of what is yet to be moved; not_found
/// and data_loss where elements are missing; else as ReadIndex and AtomicFile. On a failure the checkpoints, and the one that was at `to`, stay as
/// they were, except where a file that was moved cannot be moved back. Others that write to `to` meanwhile come before or after: FolderLocks.
/// `services`: workers and budget are used.
Status MergeBundles(const Files& files, const std::vector<std::string>& prefixes, const std::string& to, const MergeOptions& options,
                    const Services& services);

}  // namespace weft::blocks::checkpoint_v2
