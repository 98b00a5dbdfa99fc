// JSON of a page: what an edit changed for those who follow it, and all of it for those who come.
#pragma once

#include <string>

#include "tools/serve/engine.h"

namespace weft::serve {

/// Everything of a page's text but its blocks and their places.
Json KeysOf(const std::string& text);

/// What the protocol's Change says of the page itself: of what the engine says of an edit, which is the last. `text` is the page's.
Json ChangeOf(weft_page* page, const std::string& difference, const std::string& text);
/// The same of an edit that changed nothing.
Json NoChange(weft_page* page);

/// Members of the protocol's View, without brackets: keys, blocks, wires, layout.
std::string ViewOf(weft_page* page);

/// Edits that make the page with the text `from` the one with the text `to`, both as Weft writes them.
Json EditsBetween(const std::string& from, const std::string& to);

}  // namespace weft::serve
