// IdIndex: finds the blocks of a page by id.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "weft/page/page.h"

namespace weft {

/// An open-addressing hash table of block indices. It stores no ids: the caller passes the blocks it was built from. Ids that end in
/// consecutive numbers (m1, m2) have adjacent entries. Reading from several threads is safe.
class IdIndex {
 public:
  /// Makes room for that many blocks.
  void Reserve(size_t blocks);
  /// Adds blocks[block]. False, with nothing added, where an added block has the same id.
  bool Add(const std::vector<PageBlock>& blocks, size_t block);
  /// The index of the block with that id, or -1.
  int Find(const std::vector<PageBlock>& blocks, std::string_view id) const;

 private:
  struct Entry {
    uint32_t hash = 0;
    int block = -1;
  };
  static uint32_t HashOf(std::string_view id);
  size_t PlaceOf(const std::vector<PageBlock>& blocks, std::string_view id, uint32_t hash) const;
  std::vector<Entry> table_ = std::vector<Entry>(2);  // size: a power of two, at least twice the number of blocks
  size_t used_ = 0;
};

}  // namespace weft
