// What a reader could not read of a page's inputs: it stays on the page as it was written, with what was wrong with it.
#pragma once

#include <string_view>

#include "weft/base/diagnostic.h"
#include "weft/page/page.h"

namespace weft::page {

/// Gives the items of the form kUnread that lack a text the one that they have in the document, which is in Weft's own format.
void FillUnread(std::string_view document, Page& page);

/// Notes at the faulty inputs what was found there: errors with a block and a port.
void NoteFaults(const Diagnostics& found, Page& page);

/// Adds the errors that were noted, with the places that the inputs have now.
void AddNotedFaults(const Page& page, std::string_view name, Diagnostics& to);

}  // namespace weft::page
