#include "weft/page/id_index.h"

#include <bit>

#include "weft/base/keyed_hash.h"

namespace weft {

// The number at the end of an id is kept in the low bits, so that eight consecutive ids share a cache line: most pages number their blocks.
uint32_t IdIndex::HashOf(std::string_view id) {
  constexpr size_t kMostDigits = 9;
  size_t digits = 0;
  uint32_t number = 0;
  for (uint32_t scale = 1; digits < id.size() && digits < kMostDigits; scale *= 10) {
    const char c = id[id.size() - 1 - digits];
    if (c < '0' || c > '9') break;
    number += scale * static_cast<uint32_t>(c - '0');
    ++digits;
  }
  uint64_t hash = KeyedHash(id.substr(0, id.size() - digits)) + digits;
  hash = (hash ^ number >> 3) * 0x9E3779B97F4A7C15u;
  return static_cast<uint32_t>(hash >> 32) << 3 | (number & 7);
}

void IdIndex::Reserve(size_t blocks) {
  const size_t size = std::bit_ceil(2 * blocks + 2);
  if (size <= table_.size()) return;
  std::vector<Entry> former = std::move(table_);
  table_.clear();
  table_.assign(size, {});
  for (const Entry& entry : former) {
    if (entry.block < 0) continue;
    size_t at = entry.hash & (size - 1);
    while (table_[at].block >= 0) at = (at + 1) & (size - 1);
    table_[at] = entry;
  }
}

size_t IdIndex::PlaceOf(const std::vector<PageBlock>& blocks, std::string_view id, uint32_t hash) const {
  size_t at = hash & (table_.size() - 1);
  while (table_[at].block >= 0 && (table_[at].hash != hash || blocks[static_cast<size_t>(table_[at].block)].id != id)) {
    at = (at + 1) & (table_.size() - 1);
  }
  return at;
}

bool IdIndex::Add(const std::vector<PageBlock>& blocks, size_t block) {
  if (2 * used_ + 2 > table_.size()) Reserve(2 * used_ + 2);
  const uint32_t hash = HashOf(blocks[block].id);
  Entry& entry = table_[PlaceOf(blocks, blocks[block].id, hash)];
  if (entry.block >= 0) return false;
  entry = {hash, static_cast<int>(block)};
  ++used_;
  return true;
}

int IdIndex::Find(const std::vector<PageBlock>& blocks, std::string_view id) const {
  return table_[PlaceOf(blocks, id, HashOf(id))].block;
}

}  // namespace weft
