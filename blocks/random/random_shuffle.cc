// RandomShuffle: the rows of a tensor in random order, TensorFlow's own for the same seeds.
#include <algorithm>

#include "blocks/element_moves.h"
#include "blocks/kernels/random/distributions.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> value{"value", "T", "[N, ...]: the rows"};
constexpr Out<0> output{"output", "T", "the shape of value"};

struct Rows {
  Seeds seeds;
  DType dtype = DType::kInvalid;
  int64_t rows = 1, length = 1;
};

Result<Rows> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value);
  ctx.set(output, shape);
  Rows rows{SeedsOf(ctx), ctx.dtype(value)};
  if (shape.rank() == 0 || shape.count() <= 1) {
    rows.length = shape.count();
    return rows;
  }
  rows.rows = shape[0];
  rows.length = shape.count(1, shape.rank());
  if (rows.rows > UINT32_MAX) return ctx.Error(value, "needs fewer than 2^32 rows, found ", shape);
  ctx.set_scratch(rows.rows * static_cast<int64_t>(sizeof(uint32_t)));
  return rows;
}

/// Each place in turn changes with one of those from it on. False where it left because the run is to end.
bool Shuffle(std::span<uint32_t> order, RandomStream& stream, const Workers& workers) {
  kernels::StopCheck stop(workers);
  const auto count = static_cast<uint32_t>(order.size());
  kernels::WordStream words(stream.ReserveGroups((uint64_t{count} + 2) / 4));
  for (uint32_t i = 0; i < count; ++i) {
    if (stop()) return false;
    order[i] = i;
  }
  for (uint32_t i = 0; i + 1 < count; ++i) {
    if (stop(8)) return false;
    std::swap(order[i], order[i + words() % (count - i)]);
  }
  return true;
}

constexpr auto Run = [](const Rows& rows, RunContext& ctx) {
  const std::byte* from = ctx.in<std::byte>(value).data();
  std::byte* to = ctx.out<std::byte>(output).data();
  const ElementMoves& moves = MovesOf(rows.dtype);
  if (rows.rows <= 1) return moves.CopyLong(from, to, rows.length, ctx.workers());
  const auto order = ctx.scratch<uint32_t>().first(static_cast<size_t>(rows.rows));
  if (!Shuffle(order, ctx.state<RandomStream>(), ctx.workers())) return;
  const int64_t bytes = rows.length * moves.size;
  kernels::ForEach(ctx.workers(), rows.rows, std::max<int64_t>(32768 / rows.length, 1), [&](int64_t i) {
    moves.CopyLong(from + order[static_cast<size_t>(i)] * bytes, to + i * bytes, rows.length, ctx.workers());
  });
};

}  // namespace

BlockDef RandomShuffle() {
  return RandomBlock("RandomShuffle", "The rows of a tensor (its slices along axis 0) in random order.", value, output)
      .Types("T", kAllTypes).NotDifferentiable().Kernel(Plan, Run, kBindStream);
}

}  // namespace weft::blocks
