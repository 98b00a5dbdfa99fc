// Blocks in shared libraries, for every command that has to do with blocks.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command.h"

namespace weft::cli {

/// --library LIBRARY, which may be given again.
Option AddLibraryOption(Command& command, std::vector<std::string>& libraries);

}  // namespace weft::cli
