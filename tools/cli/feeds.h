// Values that the command line puts in the place of outputs: --feed.
#pragma once

#include <string>

#include "weft/plan/graph.h"

namespace weft::cli {

/// Adds ID.port=@FILE.npy, or ID.port=VALUE in the spelling of literals, to the feeds of the session. invalid_argument, with what to write
/// instead, for a value of another type or in another spelling; what ReadNpy says of a file.
Status AddFeed(const Graph& graph, const std::string& text, SessionSpec& spec);

}  // namespace weft::cli
