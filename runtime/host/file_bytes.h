// The bytes of an open file, and why a file could not be opened.
#pragma once

#include <cstdint>
#include <string>

#include "weft/base/file.h"
#include "weft/base/status.h"

namespace weft {

/// Bytes that are read of one file at most.
inline constexpr int64_t kMostFileBytes = int64_t{4} << 30;

/// What open(2) and its like say of a file that the user calls `name`.
Status OpenError(const std::string& name, int error);

/// Up to `size` bytes from `offset` on; -1: all that is left. `name` is for errors. invalid_argument for a folder, a device, and a pipe
/// unless `pipes`; resource_exhausted for more than kMostFileBytes. Nothing is allocated for bytes that the file does not have.
Result<std::string> ReadBytes(const Descriptor& file, const std::string& name, int64_t offset, int64_t size, bool pipes);

}  // namespace weft
