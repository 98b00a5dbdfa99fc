// The largest value under each window, and the ways back.
#pragma once

#include "blocks/kernels/pool/pooling.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// NaN is passed over; a window without a number, or with none above `start`, gives `start`. P is Pooling, or SequencePooling for float,
/// double, int32_t and int64_t.
template <class P, class T>
void MaxPool(const P& pooling, const T* in, T* out, Workers& workers, Accumulator<T> start = LowestOf<T>());

/// Pictures of more pixels cannot be counted by MaxPoolGrad.
inline constexpr int64_t kMaxPooledPixels = INT32_MAX;

template <class T>
struct MaxPoolGradient {
  const T *in, *pooled, *gradient;
  T* out;
};
/// Adds each gradient to the first largest input of its window (a NaN that comes first counts as largest); `pooled` is not read. Integers
/// wrap. P is as in MaxPool.
template <class P, class T>
void MaxPoolGrad(const P& pooling, const MaxPoolGradient<T>& arrays, Workers& workers);

/// Gives each gradient to every input of its window that equals the output: of floats.
template <class T>
void MaxPoolGradToAll(const Pooling& pooling, const MaxPoolGradient<T>& arrays, Workers& workers);

/// Takes, for each window, the gradient (of the shape of `in`) at the first input that equals the output; 0 where none does.
template <class T>
void MaxPoolGradGrad(const Pooling& pooling, const MaxPoolGradient<T>& arrays, Workers& workers);

/// The first largest value of each window (a NaN that comes first counts as largest) and its index: within its picture, or within all
/// where `across_pictures`. `indices` are of type int64_t or, not `wide`, int32_t, cut to their width.
struct Indices {
  void* data;
  bool wide, across_pictures;
};
template <class T>
void MaxPoolWithIndex(const Pooling& pooling, const T* in, T* out, const Indices& indices, Workers& workers);

}  // namespace weft::kernels
