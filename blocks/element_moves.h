// What the blocks that only move elements do with them: functions over bytes, compiled once for each size of element and shared by all of
// these blocks, so that none of them is compiled for each type.
#pragma once

#include "blocks/kernels/index/broadcast.h"
#include "blocks/kernels/index/strided_copy.h"
#include "weft/block/context.h"

namespace weft::blocks {

/// Steps and counts are in elements.
struct ElementMoves {
  int64_t size;  // bytes of an element
  /// Tiles [begin, end) of a box; see kernels::CopyBox.
  void (*box)(const kernels::BoxCopy& box, const void* from, void* to, int64_t begin, int64_t end);
  /// to[i * to_step + j] = from[i * from_step + j] for `rows` rows of `columns` elements.
  void (*rows)(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows, int64_t columns);
  /// The element at `value`, or zero (an empty string) where that is null, into n elements.
  void (*fill)(void* to, int64_t n, const void* value);
  /// A tensor stretched over a larger shape: the first operand of kernels::RunBroadcast.
  kernels::RowFunctions repeat;

  void copy(const void* from, void* to, int64_t n) const { rows(from, 0, to, 0, 1, n); }
  /// The same, in tasks where they are many.
  void CopyLong(const void* from, void* to, int64_t n, Workers& workers) const {
    workers.For(n, kLong, [&](int64_t begin, int64_t end) {
      copy(static_cast<const std::byte*>(from) + begin * size, static_cast<std::byte*>(to) + begin * size, end - begin);
    });
  }
  void FillLong(void* to, int64_t n, const void* value, Workers& workers) const {
    workers.For(n, kLong, [&](int64_t begin, int64_t end) { fill(static_cast<std::byte*>(to) + begin * size, end - begin, value); });
  }
  /// `count` rows, in tasks where they have many elements.
  void RowsLong(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t count, int64_t columns, Workers& workers) const {
    if (count * columns <= kLong) return rows(from, from_step, to, to_step, count, columns);
    const int64_t width = std::min(columns, kLong), parts = DivideUp(columns, width);
    workers.For(count * parts, parts > 1 ? 1 : kLong / width, [&](int64_t begin, int64_t end) {
      const int64_t row = begin / parts, column = begin % parts * width;
      rows(static_cast<const std::byte*>(from) + (row * from_step + column) * size, from_step,
           static_cast<std::byte*>(to) + (row * to_step + column) * size, to_step, end - begin, std::min(width, columns - column));
    });
  }
  static constexpr int64_t kLong = int64_t{1} << 16;  // elements of a task
};

const ElementMoves& MovesOf(DType dtype);

/// A box and how its elements are moved: what the Plan of a block that copies one box makes.
struct BoxMove {
  kernels::BoxCopy box;
  const ElementMoves* moves = nullptr;

  std::string implementation() const { return box.implementation(); }
  void Run(const void* from, void* to, Workers& workers) const {
    workers.For(box.tiles, box.grain(), [&](int64_t begin, int64_t end) { moves->box(box, from, to, begin, end); });
  }
};

/// A box of elements of a type, from element `in_start` on to `out_start` on.
inline BoxMove MoveOf(std::vector<kernels::Axis> axes, DType dtype, int64_t in_start = 0, int64_t out_start = 0) {
  BoxMove move{kernels::MakeBoxCopy(std::move(axes), ElementSize(dtype)), &MovesOf(dtype)};
  move.box.in_start = in_start, move.box.out_start = out_start;
  return move;
}
/// Axis i of the output is axis perm[i] of the input.
inline BoxMove TranspositionOf(std::span<const int64_t> dims, std::span<const int64_t> perm, DType dtype) {
  return {kernels::MakeTransposition(dims, perm, ElementSize(dtype)), &MovesOf(dtype)};
}

/// Output 0 is a box of input 0.
inline constexpr auto RunBoxMove = [](const BoxMove& move, RunContext& ctx) {
  move.Run(ctx.in<std::byte>(In<0>{}).data(), ctx.out<std::byte>(Out<0>{}).data(), ctx.workers());
};

/// Input 0 stretched over the shape of output 0.
struct StretchMove {
  kernels::BroadcastLoops loops;
  const ElementMoves* moves = nullptr;
};
inline constexpr auto RunStretchMove = [](const StretchMove& move, RunContext& ctx) {
  const void* x = ctx.in<std::byte>(In<0>{}).data();
  void* z = ctx.out<std::byte>(Out<0>{}).data();
  const int size = static_cast<int>(move.moves->size);
  ctx.workers().For(move.loops.count, 65536, [&](int64_t begin, int64_t end) {
    kernels::RunBroadcast(move.loops, move.moves->repeat, {size, size, size}, x, z, z, begin, end);
  });
};

}  // namespace weft::blocks
