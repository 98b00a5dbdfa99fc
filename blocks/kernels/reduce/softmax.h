// Softmax along rows, and what is made of it. Computed in float for half and bfloat16; sums in double.
//
// A row is read from memory once and then from the nearest cache: for its greatest element, for the exponentials, which are kept and
// summed, and, scaled, for the result. Every element goes through a whole register, so that it is computed alike wherever its row lies.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/kernels/simd/exp.h"
#include "blocks/kernels/simd/log.h"
#include "blocks/kernels/simd/transpose.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"

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

namespace softmax {

/// The first `count` elements of x, and `filler` in the lanes after them.
template <class T, class A>
Vec<A> LoadSome(const T* x, int count, A filler) {
  A lanes[kLanes<A>];
#pragma omp simd
  for (int k = 0; k < kLanes<A>; ++k) lanes[k] = k < count ? WidenOne<A>(x[k]) : filler;  // a load with a mask, as in StoreSome
  return LoadVec(lanes);
}

/// Calls f(index, lanes, count) for each register of a row, `count` of its lanes being elements; the others hold `filler`.
template <class T, class A, class F>
void ForVecs(const T* x, int64_t size, A filler, F&& f) {
  constexpr int N = kLanes<A>;
  int64_t i = 0;
  for (; i + N <= size; i += N) f(i, LoadVec(x + i), N);
  if (i < size) f(i, LoadSome(x + i, static_cast<int>(size - i), filler), static_cast<int>(size - i));
}

/// ForVecs tile by tile, each of whole registers; where `workers` are given, it leaves a long row when their run is to end. Out of line, as
/// GreatestOfTiles: short rows are to be left as they are.
template <class T, class A, class F>
[[gnu::noinline]] void ForVecsOfTiles(const T* x, int64_t size, A filler, const Workers* workers, F f) {
  for (int64_t begin = 0; begin < size; begin += kItemsBetweenLooks) {
    if (begin > 0 && workers != nullptr && workers->Stopped()) return;
    const auto use = [&](int64_t i, Vec<A> v, int count) { f(begin + i, v, count); };
    ForVecs(x + begin, std::min(kItemsBetweenLooks, size - begin), filler, use);
  }
}

template <class V>
V Greater(V a, V b) {
  return a > b ? a : b;  // b where a is NaN
}

/// The greatest element; NaN is passed over.
template <class T, class A = Accumulator<T>>
A Greatest(const T* x, int64_t size) {
  constexpr int N = kLanes<A>;
  constexpr A kLeast = -std::numeric_limits<A>::infinity();
  Vec<A> most[4] = {Broadcast(kLeast), Broadcast(kLeast), Broadcast(kLeast), Broadcast(kLeast)};
  const int64_t whole = size / (4 * N) * (4 * N);
  for (int64_t i = 0; i < whole; i += 4 * N) {
    for (int k = 0; k < 4; ++k) most[k] = Greater(LoadVec(x + i + k * N), most[k]);
  }
  ForVecs(x + whole, size - whole, kLeast, [&](int64_t, Vec<A> v, int) { most[0] = Greater(v, most[0]); });
  most[0] = Greater(Greater(most[0], most[1]), Greater(most[2], most[3]));
  return JoinAllLanes<A>(most[0], [](auto a, auto b) { return Greater(a, b); });
}

/// The same tile by tile; where `workers` are given, it leaves a long row when their run is to end.
template <class T, class A = Accumulator<T>>
[[gnu::noinline]] A GreatestOfTiles(const T* x, int64_t size, const Workers* workers) {
  A greatest = -std::numeric_limits<A>::infinity();
  for (int64_t begin = 0; begin < size && (workers == nullptr || !workers->Stopped()); begin += kItemsBetweenLooks) {
    greatest = std::max(greatest, Greatest(x + begin, std::min(kItemsBetweenLooks, size - begin)));
  }
  return greatest;
}

inline std::array<Vec<double>, 1> InDouble(Vec<double> v) { return {v}; }
inline std::array<Vec<double>, 2> InDouble(Vec<float> v) { return DoublesOf(v); }

/// A sum in double of registers of floats or doubles.
struct Sum {
  Vec<double> part[2] = {};

  void Add(Vec<double> v) { part[0] += v; }
  void Add(Vec<float> v) {
    const auto halves = InDouble(v);
    for (int h = 0; h < 2; ++h) part[h] += halves[h];
  }
  double Total() const {
    double total;
    SumLanes<1, double>(part[0] + part[1], &total);
    return total;
  }
};

/// Calls keep(index, lanes, count) for the registers of exp(x - greatest), and gives the sum of all. Four registers are joined before they
/// are summed in double. Where `workers` are given, it leaves a long row when their run is to end.
template <class T, class A, class Keep>
double Exponentials(const T* x, int64_t size, A greatest, Keep&& keep, const Workers* workers = nullptr) {
  constexpr int N = kLanes<A>;
  const Vec<A> shift = Broadcast(greatest);
  const int64_t whole = size / (4 * N) * (4 * N);
  Sum sum;
  constexpr int64_t kTile = kItemsBetweenLooks;  // whole registers
  for (int64_t begin = 0; begin < whole; begin += kTile) {
    if (begin > 0 && workers != nullptr && workers->Stopped()) return 1;
    const int64_t end = std::min(whole, begin + kTile);
    for (int64_t i = begin; i < end; i += 4 * N) {
      Vec<A> e[4];
      for (int k = 0; k < 4; ++k) {
        e[k] = Exp::OfAtMost(LoadVec(x + i + k * N) - shift);
        keep(i + k * N, e[k], N);
      }
      sum.Add((e[0] + e[1]) + (e[2] + e[3]));
    }
  }
  ForVecs(x + whole, size - whole, greatest, [&](int64_t i, Vec<A> v, int count) {
    const Vec<A> e = Exp::OfAtMost(v - shift);
    keep(whole + i, e, count);
    sum.Add(MaskLanes<A>(e, 0, count));
  });
  return sum.Total();
}

}  // namespace softmax

/// One row's exponentials, shifted by its greatest element so that none overflows. A row longer than kChunk is gone through in chunks.
template <class T>
class SoftmaxRow {
 public:
  using A = Accumulator<T>;
  static constexpr int64_t kChunk = 2048;

  SoftmaxRow(RowView<T> row, int64_t size, const Workers& workers) : row_(row), size_(size), stop_(workers) {
    for (int64_t begin = 0; begin < size_ && !stop_(kChunk); begin += kChunk) {
      greatest_ = softmax::Greater(softmax::Greatest(shifted_, Load(begin)), greatest_);
    }
    for (int64_t begin = 0; begin < size_ && !stop_(kChunk); begin += kChunk) {
      if (size_ > kChunk) Load(begin);
      sum_ += Exponentials(begin);
    }
  }

  double sum() const { return sum_; }

  /// Calls f(begin, count, shifted, exponentials) for each chunk: x - max(x), and exp of that.
  void ForChunks(auto&& f) {
    for (int64_t begin = 0; begin < size_ && !stop_(kChunk); begin += kChunk) {
      if (size_ > kChunk) Load(begin), Exponentials(begin);
      f(begin, std::min(kChunk, size_ - begin), shifted_, exponentials_);
    }
  }

 private:
  int64_t Load(int64_t begin) {
    const int64_t count = std::min(kChunk, size_ - begin);
    LoadRow(row_, begin, count, shifted_);
    return count;
  }
  double Exponentials(int64_t begin) {
    const int64_t count = std::min(kChunk, size_ - begin);
    for (int64_t i = 0; i < count; ++i) shifted_[i] -= greatest_;
    return softmax::Exponentials(shifted_, count, A(0),
                                 [this](int64_t i, Vec<A> e, int lanes) { StoreSome<A, A>(exponentials_ + i, e, lanes); });
  }

  RowView<T> row_;
  int64_t size_;
  StopCheck stop_;
  A greatest_ = -std::numeric_limits<A>::infinity();
  double sum_ = 0;
  alignas(64) A shifted_[kChunk];
  alignas(64) A exponentials_[kChunk];
};

/// out = exp(x) / sum of exp(x). Exponentials wait in the output, of shorter numbers in a buffer, or are computed again if it is small.
template <class T>
void Softmax(const T* x, int64_t size, T* out, const Workers* workers) {
  using A = Accumulator<T>;
  constexpr bool kInPlace = std::is_same_v<T, A>;
  constexpr int64_t kBuffer = 4096;
  const bool is_long = size > kItemsBetweenLooks;
  alignas(64) A buffer[kInPlace ? 1 : kBuffer];
  const A greatest = is_long ? softmax::GreatestOfTiles(x, size, workers) : softmax::Greatest(x, size);
  A* kept = buffer;
  if constexpr (kInPlace) kept = out;
  const bool fits = kInPlace || size <= kBuffer;
  const double sum = softmax::Exponentials(x, size, greatest, [=](int64_t i, Vec<A> e, int count) {
    if (fits) StoreSome<A, A>(kept + i, e, count);
  }, workers);
  const Vec<A> scale = Broadcast(static_cast<A>(1 / sum));
  const auto finish = [=](int64_t i, Vec<A> e, int count) { StoreSome<T, A>(out + i, e * scale, count); };
  if (fits && !is_long) softmax::ForVecs(kept, size, A(0), finish);
  else if (fits) softmax::ForVecsOfTiles(kept, size, A(0), workers, finish);
  else softmax::Exponentials(x, size, greatest, finish, workers);
}

/// out = x - log(sum of exp(x)).
template <class T>
void LogSoftmax(const T* x, int64_t size, T* out, const Workers* workers) {
  using A = Accumulator<T>;
  const bool is_long = size > kItemsBetweenLooks;
  const A greatest = is_long ? softmax::GreatestOfTiles(x, size, workers) : softmax::Greatest(x, size);
  const double sum = softmax::Exponentials(x, size, greatest, [](int64_t, Vec<A>, int) {}, workers);
  const Vec<A> shift = Broadcast(greatest), log_sum = Broadcast(static_cast<A>(std::log(sum)));
  const auto finish = [=](int64_t i, Vec<A> v, int count) { StoreSome<T, A>(out + i, v - shift - log_sum, count); };
  if (is_long) softmax::ForVecsOfTiles(x, size, greatest, workers, finish);
  else softmax::ForVecs(x, size, greatest, finish);
}

/// loss = -sum of labels * log softmax(features); backprop = softmax(features) - labels.
template <class T>
void SoftmaxCrossEntropy(RowView<T> features, RowView<T> labels, int64_t size, T* loss, T* backprop, const Workers& workers) {
  using A = Accumulator<T>;
  SoftmaxRow<T> softmax(features, size, workers);
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

/// A matrix whose rows or columns may be stretched: stride 0 repeats one element.
template <class T>
struct StretchedMatrix {
  const T* data;
  int64_t row_stride, column_stride;

  RowView<T> Row(int64_t r) const { return {data + r * row_stride, column_stride}; }
};

/// The logarithm of sums of exponentials, of doubles right to the last place.
template <class A>
Vec<double> LogOfSums(Vec<double> sums) {
  if constexpr (!std::is_same_v<A, double>) return Log::Of(sums);
  for (int k = 0; k < kLanes<double>; ++k) sums[k] = std::log(sums[k]);
  return sums;
}

/// SoftmaxCrossEntropy of rows [begin, end) of a few classes: as many rows as a register has lanes are transposed in registers, of which each
/// then has one class of all these rows. No lane is idle, however few the classes are, and nothing is summed or searched within a register.
/// A row's result does not depend on those beside it.
template <class T>
class ShortCrossEntropies {
 public:
  using A = Accumulator<T>;
  static constexpr int64_t kMostClasses = 64;

  ShortCrossEntropies(StretchedMatrix<T> features, StretchedMatrix<T> labels, int64_t classes)
      : features_(features), labels_(labels), classes_(classes) {}

  void Run(int64_t begin, int64_t end, T* losses, T* backprops) {
    for (; begin < end; begin += N) {
      const int rows = static_cast<int>(std::min<int64_t>(N, end - begin));
      TransposeIn(features_, begin, rows, shifted_);
      TransposeIn(labels_, begin, rows, label_columns_);
      Compute(rows, losses + begin);
      TransposeOut(gradients_, rows, backprops + begin * classes_);
    }
  }

 private:
  static constexpr int N = kLanes<A>;
  using Doubles = decltype(softmax::InDouble(Vec<A>{}));  // a register's lanes

  /// The classes [i, i + N) of a row, `count` of them elements.
  static Vec<A> Load(RowView<T> row, int64_t i, int count) {
    if (row.stride != 1) return Broadcast(WidenOne<A>(*row.data));
    return count == N ? LoadVec(row.data + i) : softmax::LoadSome(row.data + i, count, A(0));
  }
  void ForRegisters(auto&& f) const {
    for (int64_t i = 0; i < classes_; i += N) f(i, static_cast<int>(std::min<int64_t>(N, classes_ - i)));
  }

  /// to[c] becomes class c of N rows; those after the last row are copies of it.
  void TransposeIn(const StretchedMatrix<T>& from, int64_t row, int rows, Vec<A>* to) const {
    ForRegisters([&](int64_t i, int count) {
      Vec<A> square[N];
#pragma GCC unroll 16
      for (int r = 0; r < N; ++r) square[r] = Load(from.Row(row + std::min(r, rows - 1)), i, count);
      TransposeVecs(square);
#pragma GCC unroll 16
      for (int c = 0; c < N; ++c) to[i + c] = square[c];
    });
  }
  void TransposeOut(const Vec<A>* from, int rows, T* to) const {
    ForRegisters([&](int64_t i, int count) {
      Vec<A> square[N];
#pragma GCC unroll 16
      for (int c = 0; c < N; ++c) square[c] = from[i + c];
      TransposeVecs(square);
      for (int r = 0; r < rows; ++r) StoreSome<T, A>(to + r * classes_ + i, square[r], count);
    });
  }

  void Compute(int rows, T* losses) {
    Vec<A> greatest = Broadcast(-std::numeric_limits<A>::infinity());
    for (int64_t c = 0; c < classes_; ++c) greatest = softmax::Greater(shifted_[c], greatest);
    Doubles sums{};
    for (int64_t c = 0; c < classes_; ++c) {
      shifted_[c] -= greatest;
      gradients_[c] = Exp::OfAtMost(shifted_[c]);
      const Doubles e = softmax::InDouble(gradients_[c]);
      for (size_t h = 0; h < e.size(); ++h) sums[h] += e[h];
    }
    const Doubles logarithms = Logarithms(sums);
    const Vec<A> sum = Joined(sums);
    Doubles totals{};
    for (int64_t c = 0; c < classes_; ++c) {
      gradients_[c] = gradients_[c] / sum - label_columns_[c];
      const Doubles label = softmax::InDouble(label_columns_[c]), shifted = softmax::InDouble(shifted_[c]);
      for (size_t h = 0; h < label.size(); ++h) totals[h] += label[h] * (logarithms[h] - shifted[h]);
    }
    double rounded[N];
    std::memcpy(rounded, &totals, sizeof rounded);
    for (int r = 0; r < rows; ++r) losses[r] = SumOf<T>::Round(rounded[r]);
  }

  static Doubles Logarithms(Doubles sums) {
    for (auto& part : sums) part = LogOfSums<A>(part);
    return sums;
  }
  static Vec<double> Joined(const std::array<Vec<double>, 1>& v) { return v[0]; }
  static Vec<float> Joined(const std::array<Vec<double>, 2>& v) { return FloatsOf(v); }

  StretchedMatrix<T> features_, labels_;
  int64_t classes_;
  Vec<A> shifted_[kMostClasses], label_columns_[kMostClasses], gradients_[kMostClasses];  // by class, a lane each row
};

}  // namespace weft::kernels
