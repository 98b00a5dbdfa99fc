#include "runtime/plan/id_map.h"

namespace weft {

int IdMap::Block(int block) const {
  const Page& from = from_.page();
  const Page& to = to_.page();
  if (block < 0 || block >= static_cast<int>(from.blocks.size())) return -1;
  const uint64_t serial = SerialOf(from, static_cast<size_t>(block));
  // Most edits leave a block where it is, or move it by one.
  for (int guess : {block, block - 1, block + 1}) {
    if (guess < 0 || guess >= static_cast<int>(to.blocks.size()) || SerialOf(to, static_cast<size_t>(guess)) != serial) continue;
    return guess;
  }
  const int same_id = to_.IndexOf(from.blocks[static_cast<size_t>(block)].id);
  if (same_id >= 0 && SerialOf(to, static_cast<size_t>(same_id)) == serial) return same_id;
  for (size_t i = 0; i < to.blocks.size(); ++i) {
    if (SerialOf(to, i) == serial) return static_cast<int>(i);
  }
  return same_id;
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
