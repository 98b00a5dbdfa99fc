// The pages that were published with ENUSPACE, where they are here.
#pragma once

#include <filesystem>

#include <catch2/catch.hpp>

namespace weft {

/// The folder of the published pages; empty, with a notice, where it is absent.
inline std::filesystem::path Published() {
  std::filesystem::path folder = std::filesystem::path(WEFT_SOURCE_DIR) / "../shared/enuspace";
  if (std::filesystem::is_directory(folder / "pages")) return std::filesystem::canonical(folder);
  WARN("the published pages are not here (" << folder.string() << "): skipped");
  return {};
}

}  // namespace weft
