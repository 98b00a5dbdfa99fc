// Settings that a host makes over a page for one run: `weft run --set ID.pin=VALUE`.
#pragma once

#include <string_view>

#include "weft/block/registry.h"
#include "weft/page/page.h"

namespace weft {

/// Replaces a literal or an attribute of a block: "reader.filename=data.bin". The text is read as the value that it replaces. Of a wire, it
/// takes the place. invalid_argument for what is no setting; not_found with a suggestion.
Status ApplySetting(Page& page, const Registry& registry, std::string_view setting);

}  // namespace weft
