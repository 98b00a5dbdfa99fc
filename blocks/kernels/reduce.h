// Reductions over any set of dimensions: sums, means, products, extremes, all and any.
//
// A ReduceLayout, made when a block is planned, says where the elements of each output lie. Work is cut by size alone and joined in a
// fixed order, so that results are the same bits on any number of threads. Floats are summed in double (also half and bfloat16, which
// loses nothing), doubles in blocks; integers wrap. Nothing is allocated: partial results go to scratch memory that the caller brings.
//
// A new reduction is a struct like SumOf below.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "blocks/kernels/widen.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// One loop over memory: `size` steps, `stride` elements apart.
struct Loop {
  int64_t size, stride;
};

/// Where the inputs of each output lie. Neighbouring dimensions that are kept or reduced together are one, sizes of 1 are gone.
struct ReduceLayout {
  std::vector<Loop> kept;     // outermost first, without the innermost dimension where that is kept
  std::vector<Loop> reduced;  // outermost first, without the innermost reduced dimension
  int64_t width = 1;          // size of the innermost dimension where that is kept, else 1
  int64_t run = 1;            // size of the innermost reduced dimension; its stride is `width`
  int64_t kept_count = 1;     // product of `kept`
  int64_t outputs = 1;        // kept_count * width
  int64_t count = 1;          // inputs of each output
  int64_t pieces = 1;         // into how many parts the inputs of an output are cut, where outputs alone are too few

  /// `is_reduced` has an entry for each dimension.
  static ReduceLayout Make(std::span<const int64_t> dims, const std::vector<bool>& is_reduced);

  /// Scratch memory that Reduce needs, whatever is computed.
  int64_t ScratchBytes() const { return pieces > 1 ? pieces * outputs * kLargestAccumulator : 0; }
  static constexpr int64_t kLargestAccumulator = 16;
};

/// Goes through nested loops in order, from step `start` on, keeping the offset.
class Walker {
 public:
  Walker(const std::vector<Loop>& loops, int64_t start) : loops_(loops) {
    for (size_t i = loops.size(); i-- > 0;) {
      index_[i] = start % loops[i].size;
      start /= loops[i].size;
      offset_ += index_[i] * loops[i].stride;
    }
  }
  int64_t offset() const { return offset_; }
  void Next() {
    for (size_t i = loops_.size(); i-- > 0;) {
      offset_ += loops_[i].stride;
      if (++index_[i] < loops_[i].size) return;
      offset_ -= index_[i] * loops_[i].stride;
      index_[i] = 0;
    }
  }

 private:
  const std::vector<Loop>& loops_;
  int64_t index_[128];  // dimensions of 254 alternate at most
  int64_t offset_ = 0;
};

// ---- what is computed ------------------------------------------------------------------------------------------------------------
//
// T is the element type; In what Add sees (float for half and bfloat16); Acc the running value. kOneIsItself: a reduction of one element is
// that element. Finish gets the number of elements that were reduced. kPlain: not worth the loops that are made for speed. An operation may
// have parameters; integers that wrap are reduced as unsigned ones (UnsignedOf), which saves every other instance.

template <class T>
struct UnsignedOfType {
  using Type = T;
};
template <Integer T>
struct UnsignedOfType<T> {
  using Type = std::make_unsigned_t<T>;
};
/// The unsigned integer of the same size; other types as they are.
template <class T>
using UnsignedOf = typename UnsignedOfType<T>::Type;

template <class Op>
inline constexpr bool kIsPlain = requires { Op::kPlain; };

template <class T>
using ReduceIn = Accumulator<T>;

template <class T>
struct SumAccumulator {
  using Type = T;
};
template <Float T>
struct SumAccumulator<T> {
  using Type = double;
};
template <Complex T>
struct SumAccumulator<T> {
  using Type = complex128;
};

/// A sum, divided by `divisor`: the mean of floats and complex numbers.
template <class T>
struct SumOf {
  using In = ReduceIn<T>;
  using Acc = typename SumAccumulator<T>::Type;
  static constexpr bool kOneIsItself = true;
  double divisor = 1;  // for integers always 1

  static constexpr Acc Identity() { return Acc(0); }
  static Acc Add(Acc a, In x) { return WrapAdd(a, static_cast<Acc>(x)); }
  static Acc Join(Acc a, Acc b) { return WrapAdd(a, b); }
  T Finish(Acc a, int64_t) const {
    if constexpr (Integer<T>) return a;
    else return Round(divisor == 1 ? a : Divide(a, divisor));
  }

  static Acc Divide(Acc a, double n) {
    if constexpr (Complex<T>) return Acc(a.real() / n, a.imag() / n);
    else return a / static_cast<Acc>(n);
  }
  /// To T, once.
  static T Round(Acc a) {
    if constexpr (ShortFloat<T>) return RoundToShort(a);
    else return static_cast<T>(a);
  }
  /// From double to half or bfloat16 without rounding twice: the float in between is rounded to odd.
  static T RoundToShort(double a) {
    float f = static_cast<float>(a);
    if (f != a && std::isfinite(f)) {
      uint32_t bits = __builtin_bit_cast(uint32_t, f);
      // Step back towards zero where rounding went past, then set the lowest bit: what is inexact can no longer be a tie.
      if (std::fabs(static_cast<double>(f)) > std::fabs(a)) --bits;
      f = __builtin_bit_cast(float, bits | 1u);
    }
    return static_cast<T>(f);
  }
};

/// Integers are averaged without wrapping and cut towards zero; the mean of none is 0.
template <Integer T>
struct IntegerMeanOf {
  using In = T;
  using Acc = std::conditional_t<(sizeof(T) < 8), int64_t, __int128>;
  static constexpr bool kOneIsItself = true, kPlain = true;
  static constexpr Acc Identity() { return 0; }
  static Acc Add(Acc a, In x) { return a + static_cast<Acc>(x); }
  static Acc Join(Acc a, Acc b) { return a + b; }
  static T Finish(Acc a, int64_t count) { return count == 0 ? T{0} : static_cast<T>(a / count); }
};

/// What a mean of `count` elements is divided by: the mean of no floats is NaN, of no complex numbers 0.
template <class T>
double MeanDivisor(int64_t count) {
  return static_cast<double>(Complex<T> ? std::max<int64_t>(count, 1) : count);
}

/// Half the sum of squares.
template <Float T>
struct HalfSquaresOf : SumOf<T> {
  static constexpr bool kOneIsItself = false;
  static double Add(double a, ReduceIn<T> x) { return a + static_cast<double>(x) * static_cast<double>(x); }
  static T Finish(double a, int64_t) { return SumOf<T>::Round(0.5 * a); }
};

/// Integers wrap; floats multiply in double.
template <class T>
struct ProductOf {
  using In = ReduceIn<T>;
  using Acc = typename SumAccumulator<T>::Type;
  static constexpr bool kOneIsItself = true;
  static constexpr Acc Identity() { return Acc(1); }
  static Acc Add(Acc a, In x) { return Join(a, static_cast<Acc>(x)); }
  static Acc Join(Acc a, Acc b) {
    if constexpr (Complex<T>) return Acc(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else return WrapMultiply(a, b);
  }
  static T Finish(Acc a, int64_t) { return SumOf<T>::Round(a); }
};

/// The greatest or the least element, of floats and unsigned integers: the greatest x * sign, or x ^ flip. NaN goes before all.
/// Of no elements, the worst value of the type.
template <class T>
struct ExtremeOf {
  using In = ReduceIn<T>;
  using Acc = In;
  static constexpr bool kOneIsItself = true;
  Acc key = 1;  // the sign, or the bits to flip

  static constexpr Acc Identity() {
    if constexpr (Integer<T>) return 0;
    else return -std::numeric_limits<Acc>::infinity();
  }
  Acc Key(In x) const {
    if constexpr (Integer<T>) return x ^ key;
    else return x * key;
  }
  Acc Add(Acc a, In x) const { return Join(a, Key(x)); }
  static Acc Join(Acc a, Acc b) {
    if constexpr (Integer<T>) return a < b ? b : a;
    else return a > b || a != a ? a : b;
  }
  T Finish(Acc a, int64_t) const { return static_cast<T>(Key(a)); }

  /// For elements of type T, which may be signed.
  template <class Signed>
  static ExtremeOf Make(bool greatest) {
    if constexpr (!Integer<T>) return {greatest ? Acc(1) : Acc(-1)};
    else {
      constexpr T kTop = std::is_signed_v<Signed> ? static_cast<T>(std::numeric_limits<Signed>::min()) : T{0};
      return {greatest ? kTop : static_cast<T>(~kTop)};
    }
  }
};

/// Of bool: whether all are true; with `flip`, whether any is.
struct AllOf {
  using In = bool;
  using Acc = uint8_t;
  static constexpr bool kOneIsItself = true;
  uint8_t flip = 0;
  static constexpr Acc Identity() { return 1; }
  Acc Add(Acc a, bool x) const { return a & (static_cast<Acc>(x) ^ flip); }
  static Acc Join(Acc a, Acc b) { return a & b; }
  bool Finish(Acc a, int64_t) const { return (a ^ flip) != 0; }
};

// ---- how -------------------------------------------------------------------------------------------------------------------------

namespace internal {

inline constexpr int64_t kTaskElements = 32768;  // elements of a task
inline constexpr int64_t kColumns = 512;         // columns reduced side by side
inline constexpr int64_t kBlock = 128;           // elements added one after another before they are joined with the rest

/// total = total joined with x[0, n).
template <class Op>
void ReduceWide(Op op, const typename Op::In* x, int64_t n, typename Op::Acc& total) {
  using Acc = typename Op::Acc;
  constexpr int kLanes = sizeof(Acc) <= 2 ? 64 : 32;
  while (n >= kLanes) {
    Acc lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = op.Add(Op::Identity(), x[l]);
    const int64_t steps = std::min(n / kLanes, kBlock);
    x += kLanes;
    for (int64_t s = 1; s < steps; ++s, x += kLanes) {
      for (int l = 0; l < kLanes; ++l) lane[l] = op.Add(lane[l], x[l]);
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] = Op::Join(lane[l], lane[l + half]);
    }
    total = Op::Join(total, lane[0]);
    n -= steps * kLanes;
  }
  for (int64_t i = 0; i < n; ++i) total = op.Add(total, x[i]);
}

/// The results of `count` short runs that follow one another, several side by side so that none waits for another.
template <class Op, class T, class Store>
void ReduceShortRuns(Op op, const T* x, int64_t run, int64_t count, Store&& store) {
  using In = typename Op::In;
  constexpr int kSide = 8;
  for (int64_t first = 0; first < count; first += kSide, x += kSide * run) {
    typename Op::Acc totals[kSide];
    for (auto& total : totals) total = Op::Identity();
    if (first + kSide <= count) {
      for (int64_t i = 0; i < run; ++i) {
        for (int s = 0; s < kSide; ++s) totals[s] = op.Add(totals[s], WidenOne<In>(x[s * run + i]));
      }
    } else {
      for (int64_t s = 0; s < count - first; ++s) {
        for (int64_t i = 0; i < run; ++i) totals[s] = op.Add(totals[s], WidenOne<In>(x[s * run + i]));
      }
    }
    for (int64_t s = 0; s < std::min<int64_t>(kSide, count - first); ++s) store(first + s, totals[s]);
  }
}

template <class Op, class T>
void ReduceRun(Op op, const T* x, int64_t n, typename Op::Acc& total) {
  using In = typename Op::In;
  if constexpr (kIsPlain<Op>) {
    for (int64_t i = 0; i < n; ++i) total = op.Add(total, x[i]);
  } else if constexpr (std::is_same_v<In, T>) {
    ReduceWide(op, x, n, total);
  } else {
    In wide[1024];
    for (int64_t i = 0; i < n; i += 1024) {
      const int64_t count = std::min<int64_t>(1024, n - i);
      Widen(x + i, wide, count);
      ReduceWide(op, wide, count, total);
    }
  }
}

/// sums[j] = sums[j] joined with x[r * stride + j] for r < rows, j < width (at most kColumns).
template <class Op, class T>
void AddRows(Op op, const T* x, int64_t rows, int64_t stride, int64_t width, typename Op::Acc* sums) {
  using In = typename Op::In;
  using Acc = typename Op::Acc;
  [[maybe_unused]] In wide[std::is_same_v<In, T> ? 1 : 2 * kColumns];
  const auto row = [&](const T* from, [[maybe_unused]] int64_t which) -> const In* {
    if constexpr (std::is_same_v<In, T>) {
      return from;
    } else {
      Widen(from, wide + which * kColumns, width);
      return wide + which * kColumns;
    }
  };
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    const In* first = row(x + r * stride, 0);
    const In* second = row(x + (r + 1) * stride, 1);
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const Acc sum = op.Add(sums[j], first[j]);
      sums[j] = op.Add(sum, second[j]);
    }
  }
  if (r < rows) {
    const In* last = row(x + r * stride, 0);
    for (int64_t j = 0; j < width; ++j) sums[j] = op.Add(sums[j], last[j]);
  }
}

/// The same for any number of rows, in blocks. Narrow rows that follow one another are taken several at a time, as one wide row.
template <class Op, class T>
void ReduceRows(Op op, const T* x, int64_t rows, int64_t stride, int64_t width, typename Op::Acc* total) {
  using Acc = typename Op::Acc;
  const int64_t group = stride == width && width <= 32 ? 128 / width : 1;
  if (rows < 2 * group || (group == 1 && rows <= kBlock)) return AddRows(op, x, rows, stride, width, total);
  Acc sums[kColumns];
  const int64_t wide = group * width;
  for (int64_t left = rows / group; left > 0;) {
    const int64_t steps = std::min(left, kBlock);
    std::fill(sums, sums + wide, Op::Identity());
    AddRows(op, x, steps, group * stride, wide, sums);
    for (int64_t j = 0; j < wide; ++j) total[j % width] = Op::Join(total[j % width], sums[j]);
    x += steps * group * stride;
    left -= steps;
  }
  AddRows(op, x, rows % group, stride, width, total);
}

/// Calls f(offset, count) for each run in the steps [begin, end) of the reduced dimensions.
template <class F>
void ForRuns(const ReduceLayout& layout, int64_t begin, int64_t end, F&& f) {
  if (layout.reduced.empty()) return f(begin * layout.width, end - begin);
  if (begin >= end) return;
  Walker walker(layout.reduced, begin / layout.run);
  int64_t position = begin % layout.run;
  while (begin < end) {
    const int64_t count = std::min(layout.run - position, end - begin);
    f(walker.offset() + position * layout.width, count);
    begin += count;
    position = 0;
    walker.Next();
  }
}

/// Reduces the steps [begin, end) of `cells` [first, last) and gives each result to store(output, acc). A cell is one output or, where the
/// innermost dimension is kept, up to kColumns neighbours.
template <class Op, class T, class Store>
[[gnu::noinline, gnu::noclone]] void ReduceCells(const Op op, const ReduceLayout& layout, const T* in, int64_t first, int64_t last,
                                                 int64_t begin, int64_t end, Store&& store) {
  using Acc = typename Op::Acc;
  constexpr int64_t kShortRun = kIsPlain<Op> ? 0 : 32;
  if (layout.width == 1 && layout.run < kShortRun && layout.reduced.empty() && layout.kept.size() == 1 && end - begin == layout.run) {
    const auto store_later = [&](int64_t output, const Acc& acc) { store(first + output, acc); };
    ReduceShortRuns(op, in + first * layout.run, layout.run, last - first, store_later);
    return;
  }
  const int64_t chunks = (layout.width + kColumns - 1) / kColumns;
  Walker kept(layout.kept, first / chunks);
  int64_t chunk = first % chunks;
  for (int64_t cell = first; cell < last; ++cell) {
    const T* base = in + kept.offset() + chunk * kColumns;
    const int64_t output = cell / chunks * layout.width + chunk * kColumns;
    if (layout.width == 1) {
      Acc total = Op::Identity();
      ForRuns(layout, begin, end, [&](int64_t offset, int64_t n) { ReduceRun(op, base + offset, n, total); });
      store(output, total);
    } else {
      Acc total[kColumns];
      const int64_t width = std::min(kColumns, layout.width - chunk * kColumns);
      std::fill(total, total + width, Op::Identity());
      ForRuns(layout, begin, end, [&](int64_t offset, int64_t n) { ReduceRows(op, base + offset, n, layout.width, width, total); });
      for (int64_t j = 0; j < width; ++j) store(output + j, total[j]);
    }
    if (++chunk == chunks) chunk = 0, kept.Next();
  }
}

}  // namespace internal

/// out[layout.outputs] from `in`; `scratch` has layout.ScratchBytes() bytes, aligned to 16.
template <class Op, class T, class Workers>
void Reduce(const ReduceLayout& layout, const T* in, T* out, std::byte* scratch, Workers& workers, const Op op = {}) {
  using Acc = typename Op::Acc;
  static_assert(sizeof(Acc) <= ReduceLayout::kLargestAccumulator);
  if (layout.outputs == 0) return;
  if constexpr (Op::kOneIsItself) {
    if (layout.count == 1) {
      workers.For(layout.outputs, 8 * internal::kTaskElements,
                  [&](int64_t begin, int64_t end) { std::copy(in + begin, in + end, out + begin); });
      return;
    }
  }
  const int64_t count = layout.count;
  const int64_t cells = layout.kept_count * ((layout.width + internal::kColumns - 1) / internal::kColumns);
  Acc* const partial = layout.pieces > 1 ? reinterpret_cast<Acc*>(scratch) : nullptr;
  const auto reduce = [&](int64_t first, int64_t last, int64_t from, int64_t to, Acc* results) {
    internal::ReduceCells(op, layout, in, first, last, from, to, [=](int64_t output, const Acc& acc) {
      if (results == nullptr) out[output] = op.Finish(acc, count);
      else results[output] = acc;
    });
  };
  if (partial == nullptr) {
    const int64_t cell_elements = count * std::min(layout.width, internal::kColumns);
    workers.For(cells, internal::kTaskElements / std::max<int64_t>(cell_elements, 1),
                [&](int64_t first, int64_t last) { reduce(first, last, 0, count, nullptr); });
    return;
  }
  const int64_t step = DivideUp(count, layout.pieces);
  workers.For(layout.pieces * cells, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t piece = task / cells, cell = task % cells, from = std::min(count, piece * step);
      reduce(cell, cell + 1, from, std::min(count, from + step), partial + piece * layout.outputs);
    }
  });
  // Piece after piece for a stretch of outputs, whose joined values stay in the nearest cache.
  workers.For(layout.outputs, internal::kColumns, [&](int64_t begin, int64_t end) {
    for (int64_t piece = 1; piece < layout.pieces; ++piece) {
      const Acc* const other = partial + piece * layout.outputs;
#pragma omp simd
      for (int64_t output = begin; output < end; ++output) partial[output] = Op::Join(partial[output], other[output]);
    }
    for (int64_t output = begin; output < end; ++output) out[output] = op.Finish(partial[output], count);
  });
}

}  // namespace weft::kernels
