// A hash of texts that come from outside.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

/// With a key that each process draws: whoever writes a document cannot choose names that all fall on one place of a table, where looking
/// one up would take time in proportion to their number. Not for what is saved, or must be the same in the next run.
uint64_t KeyedHash(std::string_view text);

}  // namespace weft
