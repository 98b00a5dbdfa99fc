// The sorted string table of LevelDB, as TensorFlow writes it: blocks of entries, an index block whose keys are not below the last key of
// each block and below the first of the next, and a footer.
//
//   block    entries, restart offsets (uint32 each), their number (uint32)
//   entry    varints: bytes of the key shared with the last one, further bytes of the key, bytes of the value; then those bytes
//   trailer  after each block: a byte (0 plain, 1 Snappy), the masked CRC-32C of block and byte
//   footer   48 bytes: offset and size (varints) of the meta index block and of the index block, zeros, the magic number
#pragma once

#include <cstdint>
#include <cstddef>

namespace weft::blocks::checkpoint {

inline constexpr uint64_t kTableMagic = 0xdb4775248b80fb57u;
inline constexpr size_t kFooterBytes = 48;
inline constexpr size_t kTrailerBytes = 5;
inline constexpr char kPlainBlock = 0;
inline constexpr char kSnappyBlock = 1;

/// Where a block lies in the file; `size` is without its trailer.
struct BlockPlace {
  uint64_t offset = 0, size = 0;
};

}  // namespace weft::blocks::checkpoint
