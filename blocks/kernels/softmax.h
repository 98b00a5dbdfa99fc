// Softmax along rows, and what is made of it. Computed in float for half and bfloat16; sums in double.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "blocks/kernels/reduce.h"

namespace weft::kernels {

/// A row of a matrix that may be stretched: stride 0 repeats one element.
template <class T>
struct RowView {
  const T* data;
  int64_t stride;
};

/// Copies elements [begin, begin + count) of a row in the type they are computed in.
template <class A, class T>
void LoadRow(RowView<T> row, int64_t begin, int64_t count, A* to) {
  if (row.stride == 1) Widen(row.data + begin, to, count);
  else std::fill(to, to + count, WidenOne<A>(*row.data));
}

/// One row's exponentials, shifted by its greatest element so that none overflows. A row longer than kChunk is gone through in chunks.
/// Chunks are aligned and padded, so that every element is computed alike wherever its row lies.
template <class T>
class SoftmaxRow {
 public:
  using A = Accumulator<T>;
  static constexpr int64_t kChunk = 1024;

  SoftmaxRow(RowView<T> row, int64_t size) : row_(row), size_(size) {
    for (int64_t begin = 0; begin < size_; begin += kChunk) {
      const int64_t count = Load(begin);
      for (int64_t i = 0; i < count; ++i) greatest_ = shifted_[i] > greatest_ ? shifted_[i] : greatest_;
    }
    for (int64_t begin = 0; begin < size_; begin += kChunk) {
      if (size_ > kChunk) Load(begin);
      const int64_t count = std::min(kChunk, size_ - begin);
      Exponentials(count);
      for (int64_t i = 0; i < count; ++i) sum_ += static_cast<double>(exponentials_[i]);
    }
  }

  double sum() const { return sum_; }

  /// Calls f(begin, count, shifted, exponentials) for each chunk: x - max(x), and exp of that.
  template <class F>
  void ForChunks(F&& f) {
    for (int64_t begin = 0; begin < size_; begin += kChunk) {
      const int64_t count = std::min(kChunk, size_ - begin);
      if (size_ > kChunk) Load(begin), Exponentials(count);
      f(begin, count, shifted_, exponentials_);
    }
  }

 private:
  int64_t Load(int64_t begin) {
    const int64_t count = std::min(kChunk, size_ - begin);
    LoadRow(row_, begin, count, shifted_);
    return count;
  }
  void Exponentials(int64_t count) {
    const int64_t padded = (count + 15) / 16 * 16;
    std::fill(shifted_ + count, shifted_ + padded, greatest_);
    using Chunk = Eigen::Map<Eigen::Array<A, Eigen::Dynamic, 1>, Eigen::Aligned64>;
    Chunk shifted(shifted_, padded);
    shifted -= greatest_;
    Chunk(exponentials_, padded) = shifted.exp();
  }

  RowView<T> row_;
  int64_t size_;
  A greatest_ = -std::numeric_limits<A>::infinity();
  double sum_ = 0;
  alignas(64) A shifted_[kChunk];
  alignas(64) A exponentials_[kChunk];
};

/// out = exp(x) / sum of exp(x).
template <class T>
void Softmax(RowView<T> row, int64_t size, T* out) {
  using A = Accumulator<T>;
  SoftmaxRow<T> softmax(row, size);
  const A sum = static_cast<A>(softmax.sum());
  softmax.ForChunks([&](int64_t begin, int64_t count, A*, A* exponentials) {
    for (int64_t i = 0; i < count; ++i) exponentials[i] /= sum;
    Narrow(exponentials, out + begin, count);
  });
}

/// out = x - log(sum of exp(x)).
template <class T>
void LogSoftmax(RowView<T> row, int64_t size, T* out) {
  using A = Accumulator<T>;
  SoftmaxRow<T> softmax(row, size);
  const A log_sum = static_cast<A>(std::log(softmax.sum()));
  softmax.ForChunks([&](int64_t begin, int64_t count, A* shifted, A*) {
    for (int64_t i = 0; i < count; ++i) shifted[i] -= log_sum;
    Narrow(shifted, out + begin, count);
  });
}

/// loss = -sum of labels * log softmax(features); backprop = softmax(features) - labels.
template <class T>
void SoftmaxCrossEntropy(RowView<T> features, RowView<T> labels, int64_t size, T* loss, T* backprop) {
  using A = Accumulator<T>;
  SoftmaxRow<T> softmax(features, size);
  const A sum = static_cast<A>(softmax.sum());
  const double log_sum = std::log(softmax.sum());
  double total = 0;
  softmax.ForChunks([&](int64_t begin, int64_t count, A* shifted, A* exponentials) {
    alignas(64) A label[SoftmaxRow<T>::kChunk];
    LoadRow(labels, begin, count, label);
    double part = 0;
#pragma omp simd reduction(+ : part)
    for (int64_t i = 0; i < count; ++i) {
      part += static_cast<double>(label[i]) * (log_sum - static_cast<double>(shifted[i]));
      exponentials[i] = exponentials[i] / sum - label[i];
    }
    total += part;
    Narrow(exponentials, backprop + begin, count);
  });
  *loss = SumOf<T>::Round(total);
}

}  // namespace weft::kernels
