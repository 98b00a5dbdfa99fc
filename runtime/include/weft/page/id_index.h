// The blocks of a page by their ids.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "weft/page/page.h"

namespace weft {

/// A table of hashes, so that a look-up touches little memory. Ids that end in neighbouring numbers (m1, m2) are neighbours in it.
class IdIndex {
 public:
  void Reserve(size_t blocks);
  /// False where an earlier block has the id.
  bool Add(const std::vector<PageBlock>& blocks, size_t block);
  /// -1 where there is none.
  int Find(const std::vector<PageBlock>& blocks, std::string_view id) const;

 private:
  struct Entry {
    uint32_t hash = 0;
    int block = -1;
  };
  static uint32_t HashOf(std::string_view id);
  size_t PlaceOf(const std::vector<PageBlock>& blocks, std::string_view id, uint32_t hash) const;
  std::vector<Entry> table_ = std::vector<Entry>(2);  // its size is a power of two, twice the blocks or more
  size_t used_ = 0;
};

}  // namespace weft
