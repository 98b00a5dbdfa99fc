// Values that the command line puts in the place of outputs: --feed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "weft/plan/graph.h"

namespace weft::cli {

/// Values of files that were fed before, by what was written and the type that was needed.
using FeedCache = std::map<std::pair<std::string, DType>, Tensor>;

/// Adds ID.port=@FILE.npy, or ID.port=VALUE in the spelling of literals, to the feeds of the session. invalid_argument, with what to write
/// instead, for a value of another type or in another spelling; what ReadNpy says of a file. `cache` (may be null) saves reading a file again.
/// A value of a file counts in the budget.
Status AddFeed(const Graph& graph, const std::string& text, const std::shared_ptr<MemoryBudget>& budget, SessionSpec& spec, FeedCache* cache = nullptr);

/// The file of a feed ID.port=@FILE; empty where the feed has none.
std::string FeedFile(const std::string& text);

}  // namespace weft::cli
