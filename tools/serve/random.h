// Names that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

namespace weft::serve {

/// So many random bytes as hexadecimal digits. Throws ApiError where the system has none.
std::string RandomDigits(size_t bytes);

}  // namespace weft::serve
