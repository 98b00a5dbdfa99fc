// Runtimes with libraries of blocks, for C++ programs that are linked with the engine: such libraries speak the C interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/state/runtime.h"

namespace weft {

/// A runtime with all blocks that Weft brings and those of the libraries, which are unloaded when it has ended. A library that is a file in
/// the working folder is taken by its bare name, too. Errors are those of weft_runtime_open and weft_runtime_add_library.
Result<std::shared_ptr<Runtime>> OpenRuntime(const RuntimeOptions& options, const std::vector<std::string>& libraries = {});

}  // namespace weft
