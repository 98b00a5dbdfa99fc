// What pages are opened from, and the engine's pages that come of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/serve/engine.h"
#include "tools/serve/folder.h"

namespace weft::serve {

/// Where a page comes from.
struct PageSource {
  std::string name;                 // what diagnostics call it
  std::optional<std::string> path;  // in the folder
  std::string bytes;
  std::string stamp;                // of the file
  bool dirty = false;               // exists nowhere else
  std::string format = "";          // of the file, where `bytes` are Weft's writing of it; else it is that of the bytes
};

/// How pages are loaded.
struct PageRules {
  weft_runtime* runtime = nullptr;
  const Folder* folder = nullptr;
  bool read_only = false, no_files = false;
};

/// A page of the engine, with faults or without. Throws 422 where nothing can be read.
PageHandle LoadPage(const PageRules& rules, const PageSource& source);
/// The same; throws 422 also where the text was no page at all, of which a page with faults was made.
PageHandle LoadReadablePage(const PageRules& rules, const PageSource& source);

/// What the engine writes for a page.
std::string PageText(weft_page* page);
/// One more than the edits that were made.
uint64_t RevisionOf(weft_page* page);

}  // namespace weft::serve
