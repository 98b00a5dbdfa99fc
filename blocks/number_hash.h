// A hash of numbers for tables whose elements others choose.
#pragma once

#include <cstdint>

#include "weft/base/keyed_hash.h"

namespace weft::blocks {

/// Depends on a key of the process: who does not know it cannot choose numbers that all fall on one place of a table, which would make a
/// look-up as long as the table. Results must not depend on it.
class NumberHash {
 public:
  uint64_t operator()(uint64_t number) const {
    const auto product = static_cast<unsigned __int128>(number ^ addend_) * factor_;
    const uint64_t folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);  // both halves
    return folded ^ folded >> 32;
  }

 private:
  uint64_t addend_ = KeyedHash("addend"), factor_ = KeyedHash("factor") | 1;
};

}  // namespace weft::blocks
