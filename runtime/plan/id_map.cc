#include "runtime/plan/id_map.h"

#include <algorithm>

namespace weft {

int BlockOfSerial(const Graph& graph, uint64_t serial, int place, const std::string& id) {
  const Page& page = graph.page();
  const auto count = static_cast<int>(page.blocks.size());
  const auto is = [&](int block) { return block >= 0 && block < count && SerialOf(page, static_cast<size_t>(block)) == serial; };
  for (int guess : {place, place - 1, place + 1}) {
    if (is(guess)) return guess;
  }
  if (const int same_id = graph.IndexOf(id); is(same_id)) return same_id;
  for (int block = 0; block < count; ++block) {
    if (is(block)) return block;
  }
  return -1;
}

int IdMap::Block(int block) const {
  const Page& from = from_.page();
  if (block < 0 || block >= static_cast<int>(from.blocks.size())) return -1;
  const auto known = std::ranges::lower_bound(known_, block, {}, &std::pair<int, int>::first);
  if (known != known_.end() && known->first == block) return known->second;
  const std::string& id = from.blocks[static_cast<size_t>(block)].id;
  const int same = BlockOfSerial(to_, SerialOf(from, static_cast<size_t>(block)), block, id);
  return same >= 0 ? same : to_.IndexOf(id);
}

ValueRef IdMap::Value(ValueRef value) const {
  if (value.node < 0 || value.node >= static_cast<int>(from_.nodes().size()) || from_.node(value.node).added) return {};
  const int block = Block(value.node);
  if (block < 0 || to_.node(block).broken) return {};
  auto wire = ParseWire(from_.ValueName(value));
  if (!wire.ok()) return {};
  wire->block = to_.node(block).id;
  auto found = to_.FindValue(ToString(*wire));
  return found.ok() ? *found : ValueRef();
}

std::string IdMap::Name(const std::string& text) const {
  auto wire = ParseWire(text);
  if (!wire.ok()) return text;
  const int block = Block(from_.IndexOf(wire->block));
  if (block < 0) return text;
  wire->block = to_.node(block).id;
  return ToString(*wire);
}

}  // namespace weft
