// Writes version 2 checkpoints, as TensorFlow's SaveV2 does.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "blocks/io/checkpoint/parts.h"
#include "blocks/io/checkpoint_v2/bundle_format.h"
#include "blocks/io/file_access.h"

namespace weft::blocks::checkpoint_v2 {

/// Writes the tensors to one file of elements and the index, which take their places one after the other when all is written. invalid_argument: as
/// CheckNames, or a name is empty; cancelled where the run of `workers` is to end; else as AtomicFile. Where a file cannot be written whole
/// both stay as they were. Of several writers of one checkpoint at the same time the last one's stays, whole: FolderLocks.
Status WriteBundle(const Files& files, std::string_view prefix, std::span<const NamedTensor> tensors, const Workers& workers);

/// Writes an index, which is yet to be committed.
Status WriteIndex(AtomicFile& file, int64_t shards, const std::map<std::string, BundleEntry, std::less<>>& entries, const Workers& workers);

}  // namespace weft::blocks::checkpoint_v2
