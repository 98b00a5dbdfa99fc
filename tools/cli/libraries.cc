#include "tools/cli/libraries.h"

namespace weft::cli {

Option AddLibraryOption(Command& command, std::vector<std::string>& libraries) {
  return command.Add("--library", libraries, "Also take the blocks of this shared library (weft/capi/library.h; may be given again)")
      .Type("LIBRARY")
      .Repeated()
      .TakesOne();
}

}  // namespace weft::cli
