// Writes a placed drawing as SVG.
#pragma once

#include <string>

#include "weft/host/layout.h"

namespace weft::cli {

std::string WriteSvg(const Drawing& drawing);

}  // namespace weft::cli
