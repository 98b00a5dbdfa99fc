// A hash of untrusted text, for hash tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

/// SipHash with a random key for each process, so that a document cannot choose names that collide and make a table linear in their number.
/// Differs between processes: not for anything that is saved or must be reproducible. Thread-safe.
uint64_t KeyedHash(std::string_view text);

}  // namespace weft
