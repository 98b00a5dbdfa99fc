// The largest value under each window, and the ways back.
#pragma once

#include "blocks/kernels/pool/pooling.h"
#include "weft/base/float16.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// NaN is passed over; a window without a number gives the lowest finite number.
template <class T>
void MaxPool(const Pooling& pooling, const T* in, T* out, Workers& workers);
/// The same, but a window without a number gives -inf: of floats.
template <class T>
void MaxPoolOrInfinity(const Pooling& pooling, const T* in, T* out, Workers& workers);

/// Pictures of more pixels cannot be counted by MaxPoolGrad.
inline constexpr int64_t kMaxPooledPixels = INT32_MAX;

/// Adds each gradient to the first largest input of its window (a NaN that comes first counts as largest). Integers wrap.
template <class T>
void MaxPoolGrad(const Pooling& pooling, const T* in, const T* gradient, T* out, Workers& workers);

/// Gives each gradient to every input of its window that equals the output.
template <class T>
void MaxPoolGradToAll(const Pooling& pooling, const T* in, const T* pooled, const T* gradient, T* out, Workers& workers);

/// Takes, for each window, the gradient at the first input that equals the output; 0 where none does.
template <class T>
void MaxPoolGradGrad(const Pooling& pooling, const T* in, const T* pooled, const T* gradient, T* out, Workers& workers);

/// The first largest value of each window (a NaN that comes first counts as largest) and its index: within its picture, or within all
/// where `across_pictures`. `indices` are of type int64_t or, not `wide`, int32_t, cut to their width.
struct Indices {
  void* data;
  bool wide, across_pictures;
};
template <class T>
void MaxPoolWithIndex(const Pooling& pooling, const T* in, T* out, const Indices& indices, Workers& workers);

// The same for windows at given positions: of float, double, int32_t and int64_t.
template <class T>
void MaxPool(const SequencePooling& pooling, const T* in, T* out, Workers& workers);
template <class T>
void MaxPoolGrad(const SequencePooling& pooling, const T* in, const T* gradient, T* out, Workers& workers);

}  // namespace weft::kernels
