// Walks over the elements of a tensor that may have gaps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/serve/tensor.h"

namespace weft::serve {

/// Calls `call` with the offset of each of the first `count` elements, in row-major order: in bytes, of strings in elements.
template <class F>
void ForEachOffset(const Tensor& tensor, int64_t count, F&& call) {
  if (count <= 0) return;
  const size_t rank = tensor.shape.size();
  std::vector<int64_t> index(rank, 0);
  int64_t offset = 0;
  for (int64_t done = 0; done < count; ++done) {
    call(offset);
    for (size_t k = rank; k-- > 0;) {
      offset += tensor.strides[k];
      if (++index[k] < tensor.shape[k]) break;
      offset -= tensor.strides[k] * tensor.shape[k];
      index[k] = 0;
    }
  }
}

}  // namespace weft::serve
