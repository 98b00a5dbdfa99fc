// The compressed data of a PNG file, unpacked by libdeflate in about a third of zlib's time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weft/block/context.h"

namespace weft::blocks {

struct UnpackedPng {
  std::string file;
  MemoryCharge held;  // for the file
};

/// The same file with data that is stored, not compressed, for libpng to read; its checksums are verified and need not be once more. Absent
/// where that is not certain: libpng reads, or refuses, the file as it is. Absent for large pictures, too, since it cannot be stopped.
std::optional<UnpackedPng> UnpackPng(std::string_view file, const ProduceContext& ctx);

}  // namespace weft::blocks
