// Blocks and values of a page before and after an edit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Which block an edited page calls what: blocks have serial numbers that stay, whatever their ids and places.
inline uint64_t SerialOf(const Page& page, size_t block) {
  const uint64_t serial = page.blocks[block].serial;
  return serial != 0 ? serial : block + 1;
}

/// The block of that serial number; -1 where the page has none. It is looked for at `place` and beside it first, then by `id`: most edits leave
/// a block where it is, or move it by one.
int BlockOfSerial(const Graph& graph, uint64_t serial, int place, const std::string& id);

/// From the blocks of one revision of a page to those of another.
class IdMap {
 public:
  /// `known`: blocks, in ascending order, of which the caller knows which they are in `to`; -1 for none.
  IdMap(const Graph& from, const Graph& to, std::vector<std::pair<int, int>> known = {}) : from_(from), to_(to), known_(std::move(known)) {}

  /// The same block, or else one of the same id; -1 where there is none.
  int Block(int block) const;
  /// The output of the same name of that block; invalid where there is none.
  ValueRef Value(ValueRef value) const;
  /// "ID.port" as the other revision calls it; the text itself where it names no block.
  std::string Name(const std::string& wire) const;

 private:
  const Graph& from_;
  const Graph& to_;
  const std::vector<std::pair<int, int>> known_;
};

}  // namespace weft
