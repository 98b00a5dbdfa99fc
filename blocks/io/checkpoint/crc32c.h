// CRC-32C (Castagnoli), the checksum of LevelDB's tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::blocks::checkpoint {

/// The checksum of bytes whose beginning has the checksum `crc`.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

/// As tables store it: the checksum of data that itself holds checksums is weak, so it is rotated and shifted.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace weft::blocks::checkpoint
