// How the elements of a tensor lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "weft/base/shape.h"

namespace weft::capi {

/// Bytes from one element to the next of each axis, row-major, into `strides`. Those of tensors without elements are as if sizes of 0 were 1,
/// and the largest number where that is too large for one: no element is there to be found by them.
inline void RowMajorStrides(const Shape& shape, size_t element_size, int64_t* strides) {
  auto stride = static_cast<int64_t>(element_size);
  for (int i = shape.rank(); i-- > 0;) {
    strides[i] = stride;
    stride = CheckedMultiply(stride, std::max<int64_t>(shape[i], 1)).value_or(std::numeric_limits<int64_t>::max());
  }
}

}  // namespace weft::capi
