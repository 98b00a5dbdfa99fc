// Blocks in shared libraries, for every command that has to do with blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/cli/command.h"
#include "weft/state/runtime.h"

namespace weft::cli {

/// --library LIBRARY, which may be given again.
Option AddLibraryOption(Command& command, std::vector<std::string>& libraries);

/// A runtime with the blocks that Weft brings and those of the libraries, which live as long. Errors are those of weft_runtime_add_library.
Result<std::shared_ptr<Runtime>> OpenRuntime(int threads, const std::vector<std::string>& libraries);

}  // namespace weft::cli
