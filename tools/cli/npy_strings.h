// Strings as the elements of a .npy file.
#pragma once

#include <string>

#include "weft/base/tensor.h"

namespace weft::cli {

/// NumPy gives all strings of an array the size of the longest one: "<U3" is UTF-32 (Python's str), "|S3" bytes, where one is no UTF-8. Zeros at
/// the end of a string are lost, as NumPy has it.
struct NpyStrings {
  std::string type;   // "<U3"
  std::string bytes;  // of all elements
};
/// resource_exhausted where that is more than 4 GiB: strings of very different sizes.
Result<NpyStrings> ToNpyStrings(const Tensor& strings);

}  // namespace weft::cli
