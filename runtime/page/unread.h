// What a reader could not read of blocks and their inputs: it stays on the page as it was written, with what was wrong with it.
#pragma once

#include <string>
#include <string_view>

#include "weft/base/diagnostic.h"
#include "weft/page/page.h"

namespace weft::page {

/// Gives the items of the form kUnread that lack a text the one that they have in the document, which is in Weft's own format.
void FillUnread(std::string_view document, Page& page);

/// Keeps the value of one of the keys of a block, which is of a kind that the key cannot have.
void KeepUnread(PageBlock& block, std::string key, std::string json);
/// That value as long as nothing is in its place; null where there is none.
const std::string* UnreadOf(const PageBlock& block, std::string_view key);

/// Notes at faulty blocks and inputs what was found there: errors of a block.
void NoteFaults(const Diagnostics& found, Page& page);

/// Adds the errors that were noted and still hold, with the places that blocks and inputs have now.
void AddNotedFaults(const Page& page, std::string_view name, Diagnostics& to);

}  // namespace weft::page
