// Division of sizes.
#pragma once

#include <cstdint>

namespace weft {

/// How many pieces of size `piece` (over 0) cover `size`, of which there is no limit (over -piece; 0 and less take none): the quotient,
/// rounded up.
constexpr int64_t DivideUp(int64_t size, int64_t piece) { return size / piece + (size % piece > 0); }

}  // namespace weft
