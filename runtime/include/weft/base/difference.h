// Two values that differ, for people.
#pragma once

#include <string>
#include <utility>

#include "weft/base/tensor.h"

namespace weft {

/// Two elements that differ, of tensors of one type, as text. Strings that are alike for longer than is shown begin a little before they
/// differ: (4960 bytes)..."quoted".
std::pair<std::string, std::string> DifferentElements(const Tensor& a, const Tensor& b, int64_t index);

}  // namespace weft
