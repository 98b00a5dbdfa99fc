// Windows that are larger than the picture they slide over.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// Whether the number of windows, (padded - span + stride) / stride cut towards zero, is 0 and not negative, where the window's span is
/// larger than the picture with its padding: where it is larger by less than two strides. Some blocks then give an empty result, as
/// TensorFlow's do; others refuse.
inline bool HasNoWindow(int64_t padded, int64_t span, int64_t stride) { return span - padded - stride < stride; }

}  // namespace weft::kernels
