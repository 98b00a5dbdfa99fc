// Writes a placed drawing as SVG.
#pragma once

#include <string>

#include "weft/host/layout.h"

namespace weft {

std::string WriteSvg(const Drawing& drawing);

}  // namespace weft
