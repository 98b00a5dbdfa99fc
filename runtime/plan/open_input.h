// Inputs that wait for their wires.
#pragma once

#include <algorithm>
#include <string_view>

#include "weft/block/def.h"
#include "weft/page/page.h"

namespace weft {

/// Whether `port` is an input of the block, by any of its names, and has neither a wire nor a value. `def` may be null. Takes time by how many
/// inputs are written.
inline bool IsOpenInput(const PageBlock& block, const BlockDef* def, std::string_view port) {
  const int input = def == nullptr ? -1 : def->FindInput(port);
  if (input < 0) return false;
  const auto has_something = [&](const PageInput& written) {
    return (!written.items.empty() || written.faulty) && def->FindInput(written.port) == input;
  };
  return std::ranges::none_of(block.inputs, has_something);
}

}  // namespace weft
