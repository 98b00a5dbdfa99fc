// The largest value under each window, and the ways back. All work on lines of windows over [batch, depth, height, width, channels];
// pictures with the channels first are batch * channels pictures of one channel.
#pragma once

#include "blocks/kernels/window.h"
#include "weft/base/dtype.h"
#include "weft/block/services.h"

namespace weft::kernels {

struct Pooling {
  int64_t batch = 0;
  int64_t channels = 0;
  WindowAxes axes;

  int64_t in_pixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t out_pixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  /// Inputs that a window sees at most.
  int64_t taps() const {
    int64_t product = 1;
    for (const WindowAxis& axis : axes) product *= std::min(axis.window, axis.in);
    return product;
  }
};

/// NaN is passed over; a window without a number gives the lowest finite number.
template <class T>
void MaxPool(const Pooling& pooling, const T* in, T* out, Workers& workers);

/// Pictures of more pixels cannot be counted by MaxPoolGrad.
inline constexpr int64_t kMaxPooledPixels = INT32_MAX;

/// Adds each gradient to the first largest input of its window (a NaN that comes first counts as largest). Integers wrap.
template <class T>
void MaxPoolGrad(const Pooling& pooling, const T* in, const T* gradient, T* out, Workers& workers);

/// Takes, for each window, the gradient at the first input that equals the output; 0 where none does.
template <class T>
void MaxPoolGradGrad(const Pooling& pooling, const T* in, const T* pooled, const T* gradient, T* out, Workers& workers);

}  // namespace weft::kernels
