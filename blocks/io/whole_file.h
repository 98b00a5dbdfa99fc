// A file read as one string.
#pragma once

#include <string_view>

#include "weft/base/string.h"
#include "weft/block/services.h"

namespace weft::blocks {

/// The bytes of the file that a name on the page stands for, counted in the budget of the services. Errors as of InputFile::Open, and
/// cancelled where the run is to end.
Result<String> ReadWholeFile(const Services& services, std::string_view name);

}  // namespace weft::blocks
