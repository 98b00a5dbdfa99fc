// Version 2 checkpoints, TensorFlow's tensor bundles: a table PREFIX.index, and the elements in files PREFIX.data-00000-of-00001.
//
//   the empty key       BundleHeaderProto  1 num_shards, 2 endianness (0 little), 3 version (VersionDef)
//   a tensor's name     BundleEntryProto   1 dtype, 2 shape (TensorShapeProto), 3 shard_id, 4 offset, 5 size, 6 crc32c (fixed32, masked),
//                                          7 slices (TensorSliceProto, repeated)
//   a SliceKey          the same of one part of a tensor, whose own entry has the slices and no place
//
// Elements lie as in memory, little endian. Strings: their lengths as varints, the masked CRC-32C of the lengths, their bytes. (That checksum
// and the entry's are of the lengths as 4 bytes each, 8 where that is too few.)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blocks/io/checkpoint/slice.h"
#include "weft/base/dtype.h"
#include "weft/base/status.h"

namespace weft::blocks::checkpoint_v2 {

using namespace checkpoint;

inline constexpr int64_t kFormatVersion = 1;  // readers of formats up to this one can read what Weft and TensorFlow write

struct BundleHeader {
  int64_t shards = 0;
  bool big_endian = false;
  int64_t needed_version = 0;  // of a reader's format
};

struct BundleEntry {
  DType dtype = DType::kInvalid;  // kInvalid: a type that Weft has not
  Shape shape;
  int64_t shard = 0;
  uint64_t offset = 0, size = 0;
  uint32_t checksum = 0;
  std::vector<TensorSlice> slices;  // of a tensor in parts; each has an entry of its own
};

// False where a message is damaged, or what it tells cannot be.
bool TakeHeader(std::string_view message, BundleHeader& header);
bool TakeEntry(std::string_view message, BundleEntry& entry);

std::string HeaderMessage(int64_t shards);
std::string EntryMessage(const BundleEntry& entry);

/// Goes on with the checksum of the lengths of strings.
uint32_t ExtendByLength(uint32_t checksum, uint64_t length);

std::string IndexName(std::string_view prefix);
std::string DataName(std::string_view prefix, int64_t shard, int64_t shards);

}  // namespace weft::blocks::checkpoint_v2
