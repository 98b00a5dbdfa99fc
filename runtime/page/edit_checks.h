// What an edit may put on a page: names that can be written, and JSON that is JSON. Hosts make edits as structs, whose texts nobody has read.
#pragma once

#include "weft/page/edit.h"

namespace weft::page {

/// Checks what an input is to have. `imported`: the page is, and may have ports that Weft's own pages do not take.
Status CheckInput(const PageInput& input, bool imported);

/// Checks type and inputs of a block that is added, and puts its JSON texts into the canonical spelling.
Status CheckBlock(PageBlock& block, bool imported);

/// Puts an attribute object into the canonical spelling, and gives the text that goes with it.
Status CheckAttrs(SetAttrs& attrs);

/// A place among `size` things, or -1 for the end.
Status CheckPlace(int64_t place, size_t size, std::string_view what);

}  // namespace weft::page
