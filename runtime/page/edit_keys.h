// Changing keys of a block or page that stand beside what the engine reads.
#pragma once

#include "weft/page/edit.h"

namespace weft::page {

/// Each gives the edit that takes it back. invalid_argument for JSON that is none, and for keys that other edits change; not_found for one
/// that is to be taken away and is not there.
Result<SetKey> SetBlockKey(PageBlock& block, const SetKey& edit);
/// Also the page's name (the key "page") and its layout. `undoing`: the page had that name before, which may be a fault of it.
Result<SetKey> SetPageKey(Page& page, const SetKey& edit, bool undoing);

}  // namespace weft::page
