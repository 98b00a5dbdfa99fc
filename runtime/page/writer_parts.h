// Parts of a page in the canonical spelling.
#pragma once

#include <string>

#include "weft/page/page.h"

namespace weft::page {

/// The block as a JSON object, on one line.
void AppendBlock(std::string& out, const PageBlock& block);

/// The value of an input without its name: a wire, a literal, or a list of them.
void AppendInputValue(std::string& out, const PageInput& input);

/// The page's layout as JSON; empty where it has none.
std::string LayoutText(const Page& page);

}  // namespace weft::page
