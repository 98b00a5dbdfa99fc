// Hashes with a key: who does not know it cannot choose elements that all fall on one place of a table, which would make a look-up as
// long as the table.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::blocks {

struct HashKey {
  uint64_t a = 0, b = 0;
};

/// The key of this process, drawn when it is first asked for. Results must not depend on it. Thread-safe.
const HashKey& HashSecret();

/// Of a number: both halves of a product with the key.
inline uint64_t KeyedHash(uint64_t word, const HashKey& key) {
  const auto product = static_cast<unsigned __int128>(word ^ key.a) * (key.b | 1);
  const auto folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  return folded ^ folded >> 32;
}

/// Of bytes: SipHash-2-4.
uint64_t KeyedHash(std::string_view bytes, const HashKey& key);

}  // namespace weft::blocks
