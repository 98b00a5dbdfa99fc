// Runtimes with libraries of blocks, for C++ programs that are linked with the engine: such libraries speak the C interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/block/block_lists.h"
#include "weft/state/runtime.h"

namespace weft {

/// A runtime with all blocks that Weft brings and those of the libraries, which are unloaded when it has ended. A library that is a file in
/// the working folder is taken by its bare name, too. The lists are about the blocks that Weft brings. Errors are those of ApplyLists and
/// weft_runtime_add_library.
Result<std::shared_ptr<Runtime>> OpenRuntime(const RuntimeOptions& options, const std::vector<std::string>& libraries = {},
                                             const BlockLists& lists = {});

}  // namespace weft
