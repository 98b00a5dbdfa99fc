#include "blocks/kernels/index/broadcast.h"

#include "blocks/kernels/simd/non_temporal.h"

namespace weft::kernels {
namespace {

constexpr int64_t kShortRow = BroadcastLoops::kShortRow;
constexpr int64_t kBlockElements = 256;

using OuterWalk = Walk<BroadcastLoops::Axis, 2>;

const std::byte* At(const void* base, int64_t index, int size) { return static_cast<const std::byte*>(base) + index * size; }
std::byte* At(void* base, int64_t index, int size) { return static_cast<std::byte*>(base) + index * size; }

RowFunction Choose(const RowFunctions& rows, const BroadcastLoops::Axis& row) {
  return row.steps[0] == 0 ? rows.left_stands : row.steps[1] == 0 ? rows.right_stands : rows.both;
}

/// Lays n elements of `Words` words U each out at `to`, where there is room for kShortRow; an element that stands still is repeated.
template <class U, int Words>
void LayOut(const void* from, std::byte* to, int64_t n, bool stands) {
  using Bits [[gnu::may_alias]] = U;
  const Bits* source = static_cast<const Bits*>(from);
  Bits* target = reinterpret_cast<Bits*>(to);
  if (stands) {
    for (int64_t i = 0; i < kShortRow; ++i) {
      for (int w = 0; w < Words; ++w) target[i * Words + w] = source[w];
    }
  } else {
    for (int64_t i = 0; i < n * Words; ++i) target[i] = source[i];
  }
}

/// Whole rows [row, row_end): operands that are repeated are laid out in a block first, several rows long.
template <class U, int Words>
void RunGathered(const BroadcastLoops& loops, const RowFunctions& rows, int z_size, const void* x, const void* y, void* z, int64_t row,
                 int64_t row_end) {
  constexpr int kSize = sizeof(U) * Words;
  alignas(64) std::byte xs[(kBlockElements + kShortRow) * kSize], ys[(kBlockElements + kShortRow) * kSize];
  const int64_t inner = loops.inner.size, rows_a_block = kBlockElements / inner;
  const bool x_stands = loops.inner.steps[0] == 0, y_stands = loops.inner.steps[1] == 0;
  // A row that is the same for every step of the only outer axis is laid out once.
  const bool x_same = loops.outer.size() == 1 && loops.outer[0].steps[0] == 0;
  const bool y_same = loops.outer.size() == 1 && loops.outer[0].steps[1] == 0;
  bool lay_x = !loops.x_whole, lay_y = !loops.y_whole;
  OuterWalk walk(loops.outer, row);
  while (row < row_end) {
    const int64_t count = std::min(rows_a_block, row_end - row);
    for (int64_t r = 0; r < count && (lay_x || lay_y); ++r) {
      if (lay_x) LayOut<U, Words>(At(x, walk.offset(0), kSize), xs + r * inner * kSize, inner, x_stands);
      if (lay_y) LayOut<U, Words>(At(y, walk.offset(1), kSize), ys + r * inner * kSize, inner, y_stands);
      walk.Next();
    }
    lay_x = lay_x && !x_same;
    lay_y = lay_y && !y_same;
    const int64_t at = row * inner;
    rows.both(loops.x_whole ? At(x, at, kSize) : xs, loops.y_whole ? At(y, at, kSize) : ys, At(z, at, z_size), count * inner);
    row += count;
  }
}

/// By element size; null for elements with constructors, and for operands of different sizes.
using GatherFunction = void (*)(const BroadcastLoops&, const RowFunctions&, int, const void*, const void*, void*, int64_t, int64_t);
GatherFunction GatherOf(ElementSizes sizes) {
  switch (sizes.x == sizes.y ? sizes.x : 0) {
    case 1: return RunGathered<uint8_t, 1>;
    case 2: return RunGathered<uint16_t, 1>;
    case 4: return RunGathered<uint32_t, 1>;
    case 8: return RunGathered<uint64_t, 1>;
    case 16: return RunGathered<uint64_t, 2>;
    default: return nullptr;
  }
}

/// RunBroadcast, but for the fence where the result is written past the cache.
void RunUnfenced(bool stream, const BroadcastLoops& loops, const RowFunctions& rows, ElementSizes sizes, const void* x, const void* y, void* z,
                 int64_t begin, int64_t end) {
  const RowFunction row_function = Choose(rows, loops.inner);
  const int64_t length = loops.inner.size, x_step = loops.inner.steps[0], y_step = loops.inner.steps[1];
  // n elements of a row from x_at, y_at and z_at.
  const auto run = [=](int64_t x_at, int64_t y_at, int64_t z_at, int64_t n) {
    StreamUnfenced(At(z, z_at, sizes.z), n, sizes.z, stream, [=](int64_t first, int64_t count, void* to) {
      row_function(At(x, x_at + first * x_step, sizes.x), At(y, y_at + first * y_step, sizes.y), to, count);
    });
  };
  if (loops.outer.empty()) return run(begin * x_step, begin * y_step, begin, end - begin);
  int64_t row = begin / length;
  OuterWalk walk(loops.outer, row);
  const GatherFunction gather = length < kShortRow ? GatherOf(sizes) : nullptr;
  while (begin < end) {
    const int64_t skip = begin - row * length;
    if (gather != nullptr && skip == 0 && end - begin >= 2 * length) {
      const int64_t row_end = end / length;
      gather(loops, rows, sizes.z, x, y, z, row, row_end);
      begin = row_end * length;
      if (begin == end) return;
      row = row_end;
      walk.To(row);
      continue;
    }
    const int64_t n = std::min(length - skip, end - begin);
    run(walk.offset(0) + skip * x_step, walk.offset(1) + skip * y_step, begin, n);
    begin += n;
    ++row;
    walk.Next();
  }
}

}  // namespace

BroadcastLoops MakeBroadcastLoops(std::span<const int64_t> x, std::span<const int64_t> y) {
  BroadcastLoops loops{StretchedLoops<2>({x, y})};
  loops.x_whole = loops.whole(0), loops.y_whole = loops.whole(1);
  return loops;
}

void RunBroadcast(const BroadcastLoops& loops, const RowFunctions& rows, ElementSizes sizes, const void* x, const void* y, void* z,
                  int64_t begin, int64_t end) {
  const int64_t read = loops.count * ((loops.x_whole ? sizes.x : 0) + (loops.y_whole ? sizes.y : 0));
  const bool stream = IsStreamed(loops.count * sizes.z, read) && z != x && z != y;
  RunUnfenced(stream, loops, rows, sizes, x, y, z, begin, end);
  if (stream) StreamFence();
}

}  // namespace weft::kernels
