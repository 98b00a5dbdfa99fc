// Reductions over any set of dimensions: sums, means, products, extremes, all and any.
//
// A ReduceLayout, made when a block is planned, says where the elements of each output lie. Work is cut by size alone and joined in a
// fixed order, so that results are the same bits on any number of threads. Floats are summed in double (also half and bfloat16, which
// loses nothing), doubles in blocks; integers wrap. Nothing is allocated: partial results go to scratch memory that the caller brings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "blocks/kernels/index/walk.h"
#include "blocks/kernels/reduce/operations.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// One loop over memory: `size` steps, `stride` elements apart.
struct Loop {
  int64_t size, stride;
  int64_t step(int) const { return stride; }
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

  std::string implementation() const;
  /// Scratch memory that Reduce needs, whatever is computed.
  int64_t ScratchBytes() const { return pieces > 1 ? pieces * outputs * kLargestAccumulator : 0; }
  static constexpr int64_t kLargestAccumulator = 16;
};

using Walker = Walk<Loop, 1>;

namespace internal {

inline constexpr int64_t kTaskElements = 32768;  // elements of a task
inline constexpr int64_t kColumns = 1024;        // columns reduced side by side
inline constexpr int64_t kBlock = 128;           // elements added one after another before they are joined with the rest

/// total = total joined with x[0, n).
template <class Op>
[[gnu::noinline]] void ReduceWide(Op op, const typename Op::In* x, int64_t n, typename Op::Acc& total) {
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

/// The same in registers, two side by side: per element its bytes are read, nothing is written.
template <class Op, class T>
void ReduceInRegisters(Op op, const T* x, int64_t n, typename Op::Acc& total) {
  using Registers = typename Op::Registers;
  constexpr int64_t kStep = Registers::kStep;
  while (n >= kStep) {
    Registers even(op), odd(op);
    const int64_t steps = std::min(n / (2 * kStep), kBlock);
    for (int64_t s = 0; s < steps; ++s, x += 2 * kStep) even.Add(x), odd.Add(x + kStep);
    n -= steps * 2 * kStep;
    if (steps < kBlock) {
      if (n >= kStep) {
        even.Add(x);
        x += kStep, n -= kStep;
      }
      const int64_t taken = odd.AddRest(x, n);
      x += taken, n -= taken;
    }
    even.Join(odd);
    total = Op::Join(total, even.Total());
  }
  for (int64_t i = 0; i < n; ++i) total = op.Add(total, WidenOne<typename Op::In>(x[i]));
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
    store(first, totals, std::min<int64_t>(kSide, count - first));
  }
}

/// total = total joined with x[0, n).
template <class Op, class T>
void ReduceRun(Op op, const T* x, int64_t n, typename Op::Acc& total) {
  if constexpr (kIsPlain<Op>) {
    // Words of two registers, which are added in two steps, in two chains.
    constexpr int64_t kChains = sizeof(total) > 8 ? 2 : 1;
    typename Op::Acc sum = total, other = Op::Identity();
    int64_t i = 0;
    for (; i + kChains <= n; i += kChains) {
      sum = op.Add(sum, x[i]);
      if constexpr (kChains == 2) other = op.Add(other, x[i + 1]);
    }
    if (i < n) sum = op.Add(sum, x[i]);
    total = Op::Join(sum, other);
  } else if constexpr (kHasRegisters<Op>) {
    ReduceInRegisters(op, x, n, total);
  } else {
    ReduceWide(op, x, n, total);
  }
}

inline constexpr int64_t kRunTile = int64_t{1} << 20;  // elements: whole blocks, so that where a tile ends makes no difference

/// The same tile by tile, until the run of the block is to end. Out of line: short runs are to be left as they are.
template <class Op, class T>
[[gnu::noinline]] typename Op::Acc ReduceTiles(Op op, const T* x, int64_t n, typename Op::Acc total, StopCheck& stop) {
  for (int64_t begin = 0; begin < n && !stop(kRunTile); begin += kRunTile) ReduceRun(op, x + begin, std::min(kRunTile, n - begin), total);
  return total;
}
template <class Op, class T>
void ReduceAnyRun(Op op, const T* x, int64_t n, typename Op::Acc& total, StopCheck& stop) {
  if (n <= kRunTile) ReduceRun(op, x, n, total);
  else total = ReduceTiles(op, x, n, total, stop);
}

/// acc joined with x[0], x[stride], ... A value that changed within a vectorised loop would go through memory.
template <int kRows, class Op, class T>
auto AddColumn(Op op, typename Op::Acc acc, const T* x, int64_t stride) {
  const typename Op::Acc sum = op.Add(acc, WidenOne<typename Op::In>(*x));
  if constexpr (kRows == 1) return sum;
  else return AddColumn<kRows - 1>(op, sum, x + stride, stride);
}

/// sums[j] = sums[j] joined with x[r * stride + j] for r < kRows, j < width: each sum is read and written once for kRows elements.
template <int kRows, class Op, class T>
void AddRowsTogether(Op op, const T* x, int64_t stride, int64_t width, typename Op::Acc* sums) {
#pragma omp simd
  for (int64_t j = 0; j < width; ++j) sums[j] = AddColumn<kRows>(op, sums[j], x + j, stride);
}

/// The same in registers. Where one holds a line of the cache, none is fetched twice, though rows of 4 KB share the cache's sets.
template <int kRows, class Op, class T>
void AddRowsInRegisters(Op op, const T* x, int64_t stride, int64_t width, typename Op::Acc* sums) {
  using Registers = typename Op::Registers;
  int64_t j = 0;
  for (; j + Registers::kElements <= width; j += Registers::kElements) {
    Registers some(op, sums + j);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; r += 2) some.Add(x + r * stride + j, x + (r + 1) * stride + j);
    some.Store(sums + j);
  }
  AddRowsTogether<kRows>(op, x + j, stride, width - j, sums + j);
}

/// sums[j] = sums[j] joined with x[r * stride + j] for r < rows, j < width (at most kColumns).
template <class Op, class T>
void AddRows(Op op, const T* x, int64_t rows, int64_t stride, int64_t width, typename Op::Acc* sums) {
  constexpr int kTogether = kIsPlain<Op> ? 2 : 8;
  constexpr bool kInRegisters = [] {
    if constexpr (kHasRegisters<Op>) return Op::Registers::kForRows;
    else return false;
  }();
  const auto add = [&]<int kRows>(int64_t row) {
    if constexpr (kInRegisters) AddRowsInRegisters<kRows>(op, x + row * stride, stride, width, sums);
    else AddRowsTogether<kRows>(op, x + row * stride, stride, width, sums);
  };
  int64_t r = 0;
  for (; r + kTogether <= rows; r += kTogether) add.template operator()<kTogether>(r);
  for (; r + 2 <= rows; r += 2) add.template operator()<2>(r);
  if (r < rows) AddRowsTogether<1>(op, x + r * stride, stride, width, sums);
}

/// The same for any number of rows, in blocks, or some of them where the run is to end; narrow rows in a row are taken as one wide row of
/// whole registers.
template <class Op, class T>
void ReduceRows(Op op, const T* x, int64_t rows, int64_t stride, int64_t width, typename Op::Acc* total, StopCheck& stop) {
  using Acc = typename Op::Acc;
  constexpr int64_t kNarrow = 32, kWide = 128, kWhole = 16;
  int64_t group = 1;
  if (stride == width && width <= kNarrow) {
    const int64_t whole = kWhole / std::gcd(width, kWhole);
    group = whole * std::max<int64_t>(kWide / (whole * width), 1);
  }
  if (rows < 4 * group || (group == 1 && rows <= kBlock)) return AddRows(op, x, rows, stride, width, total);
  Acc sums[kColumns];
  const int64_t wide = group * width;
  for (int64_t left = rows / group; left > 0;) {
    const int64_t steps = std::min(left, kBlock);
    if (stop(steps * wide)) return;
    std::fill(sums, sums + wide, Op::Identity());
    AddRows(op, x, steps, group * stride, wide, sums);
    for (int64_t first = 0; first < wide; first += width) {
      for (int64_t j = 0; j < width; ++j) total[j] = Op::Join(total[j], sums[first + j]);
    }
    x += steps * group * stride;
    left -= steps;
  }
  AddRows(op, x, rows % group, stride, width, total);
}

/// Calls f(offset, count) for each run in the steps [begin, end) of the reduced dimensions, until the run of the block is to end.
void ForRuns(const ReduceLayout& layout, int64_t begin, int64_t end, StopCheck& stop, auto&& f) {
  constexpr int64_t kRunItems = 8;  // that a run takes beside its elements
  if (layout.reduced.empty()) return f(begin * layout.width, end - begin);
  if (begin >= end) return;
  Walker walker(layout.reduced, begin / layout.run);
  int64_t position = begin % layout.run;
  while (begin < end) {
    const int64_t count = std::min(layout.run - position, end - begin);
    if (stop(kRunItems + count)) return;
    f(walker.offset() + position * layout.width, count);
    begin += count;
    position = 0;
    walker.Next();
  }
}

/// Reduces the steps [begin, end) of `cells` [first, last) and gives each result to store(output, accs, count). A cell is one output or,
/// where the innermost dimension is kept, up to kColumns neighbours.
template <class Op, class T, class Store>
[[gnu::noinline, gnu::noclone]] void ReduceCells(const Op op, const ReduceLayout& layout, const T* in, int64_t first, int64_t last,
                                                 int64_t begin, int64_t end, StopCheck& stop, Store&& store) {
  using Acc = typename Op::Acc;
  constexpr int64_t kShortRun = kIsPlain<Op> ? 0 : 32;
  if (layout.width == 1 && layout.reduced.empty() && layout.kept.size() == 1 && end - begin == layout.run) {
    // Runs that follow one another.
    in += first * layout.run;
    if (layout.run < kShortRun) {
      ReduceShortRuns(op, in, layout.run, last - first,
                      [&](int64_t output, const Acc* accs, int64_t count) { store(first + output, accs, count); });
      return;
    }
    for (int64_t cell = first; cell < last; ++cell, in += layout.run) {
      Acc total = Op::Identity();
      ReduceAnyRun(op, in, layout.run, total, stop);
      store(cell, &total, 1);
    }
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
      ForRuns(layout, begin, end, stop, [&](int64_t offset, int64_t n) { ReduceAnyRun(op, base + offset, n, total, stop); });
      store(output, &total, 1);
    } else {
      Acc total[kColumns];
      const int64_t width = std::min(kColumns, layout.width - chunk * kColumns);
      std::fill(total, total + width, Op::Identity());
      ForRuns(layout, begin, end, stop, [&](int64_t offset, int64_t n) {
        ReduceRows(op, base + offset, n, layout.width, width, total, stop);
      });
      store(output, total, width);
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
    StopCheck stop(workers);
    internal::ReduceCells(op, layout, in, first, last, from, to, stop, [=](int64_t output, const Acc* accs, int64_t n) {
      if (results != nullptr) std::copy_n(accs, n, results + output);
      else std::transform(accs, accs + n, out + output, [=](const Acc& acc) { return op.Finish(acc, count); });
    });
  };
  if (partial == nullptr) {
    const int64_t cell_elements = count * std::min(layout.width, internal::kColumns);
    workers.For(cells, internal::kTaskElements / std::max<int64_t>(cell_elements, 1),
                [&](int64_t first, int64_t last) { reduce(first, last, 0, count, nullptr); });
    return;
  }
  const int64_t step = DivideUp(count, layout.pieces);
  ForEach(workers, layout.pieces * cells, 1, [&](int64_t task) {
    const int64_t piece = task / cells, cell = task % cells, from = std::min(count, piece * step);
    reduce(cell, cell + 1, from, std::min(count, from + step), partial + piece * layout.outputs);
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
