// Names of values that hosts gave, after edits of the page.
#pragma once

#include <string>

#include "weft/plan/graph.h"

namespace weft {

/// What another revision of the page calls the value that `from` calls so ("ID.port[1]", "ID.result_port[0][2]"): the name with the id that
/// its block has there. The text itself where `from` has no such block, or the other revision has it no more.
std::string FollowedName(const Graph& from, const Graph& to, const std::string& name);

}  // namespace weft
