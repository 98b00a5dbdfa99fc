// The canonical writer: Page -> Weft JSON. WritePage(ReadPage(x)) is x, byte for byte, for canonical files.
#pragma once

#include <string>

#include "weft/page/page.h"

namespace weft {

/// UTF-8, LF, two spaces, fixed key order, one block a line, shortest round-trip numbers.
std::string WritePage(const Page& page);

/// The value as a JSON object {"dtype", "shape", "values"}, on one line.
std::string WriteTensor(const Tensor& tensor);

}  // namespace weft
