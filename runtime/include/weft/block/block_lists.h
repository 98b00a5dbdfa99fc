// BlockLists: which of Weft's blocks the pages of a host may use.
#pragma once

#include <string>
#include <vector>

#include "weft/base/status.h"
#include "weft/block/registry.h"

namespace weft {

/// Names of blocks, their aliases, or categories of the palette ("io_ops"), which stand for all blocks in them.
struct BlockLists {
  std::vector<std::string> allowed;  // where there are any, no others run
  std::vector<std::string> refused;  // these do not run, though they are on the other list
};

/// The registry whose blocks outside the lists cannot be planned, whoever brings them to a page, gradients included: permission_denied, which
/// names the block and the list. They are known and connected as before; a page that has one is faulty, whether a session would run it or not.
/// Structural blocks, which compute nothing (ClientSession, Const,
/// Variable), are always allowed. not_found, with a suggestion, for a name that is none; invalid_argument where a structural block is refused
/// by name. Blocks that are added afterwards are not subject to the lists.
Result<Registry> ApplyLists(Registry all, const BlockLists& lists);

/// Why pages may not have such a block, as ApplyLists has decided: permission_denied. Ok for all others.
Status RefusalOf(const BlockDef& def);

}  // namespace weft
