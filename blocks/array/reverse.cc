// Reverse, ReverseSequence: axes walked backward, whole or as far as each row's length.
#include "blocks/element_moves.h"
#include "blocks/gradient_block.h"
#include "blocks/kernels/first_where.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> tensor{"tensor", "T", "of any shape"};
constexpr In<1> axis{"axis", "Tidx", "[k]: the axes to reverse, each once; negative ones count from the end"};
constexpr Out<0> output{"output", "T", "the shape of the tensor"};

constexpr In<0> input{"input", "T", "of rank 2 or more"};
constexpr In<1> seq_lengths{"seq_lengths", "Tlen",
                            "[size of batch_dim]: how many elements along seq_dim are reversed, each from 0 to its size"};
constexpr Out<0> rows_output{"output", "T", "the shape of the input"};
constexpr Attr<int64_t> seq_dim{"seq_dim", kRequired, "the axis that is reversed in part"};
constexpr Attr<int64_t> batch_dim{"batch_dim", "0", "the axis along which the lengths are given"};

constexpr auto kReversed = kNumbers + TypeList<bool, String>{};

Result<BoxMove> PlanReverse(PlanContext& ctx) {
  const Shape& shape = ctx.shape(tensor);
  if (ctx.shape(axis).rank() != 1) return ctx.Error(axis, "needs a vector of axes, found ", ctx.shape(axis));
  std::vector<bool> backward(shape.rank());
  for (int64_t given : ctx.ints(axis)) {
    WEFT_ASSIGN_OR_RETURN(const int at, AxisOf(ctx, axis, given, shape));
    if (backward[at]) return ctx.Error(axis, "needs each axis once, found ", at, " twice");
    backward[at] = true;
  }
  const std::vector<int64_t> steps = kernels::DenseSteps(shape.dims());
  std::vector<kernels::Axis> box;
  int64_t start = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    box.push_back({shape[i], backward[i] ? -steps[i] : steps[i], steps[i]});
    if (backward[i] && shape[i] > 0) start += (shape[i] - 1) * steps[i];
  }
  ctx.set(output, shape);
  return MoveOf(std::move(box), ctx.dtype(tensor), start);
}

// ---- ReverseSequence -------------------------------------------------------------------------------------------------------

/// The input as lines along seq_dim, [outer, size, inner] with chunks of `chunk` elements moved as one. Where the batch is the axis before,
/// a line is an index of outer (and a chunk all of inner), else an index of outer and of the chunks of inner.
struct Lines {
  int64_t outer, size, inner, chunk;
  int64_t batch, repeats;  // line l belongs to batch l / repeats % batch
  bool wide_lengths;
  const ElementMoves* moves;

  int64_t chunks() const { return inner / chunk; }
};

Result<Lines> PlanSequence(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  const int rank = shape.rank();
  const int64_t seq = ctx.attr(seq_dim), batch = ctx.attr(batch_dim);
  if (seq < 0 || seq >= rank) return ctx.Error(seq_dim, "needs an axis of the ", rank, " of ", shape, ", found ", seq);
  if (batch < 0 || batch >= rank) return ctx.Error(batch_dim, "needs an axis of the ", rank, " of ", shape, ", found ", batch);
  if (seq == batch) return ctx.Error(seq_dim, "needs another axis than batch_dim, found ", seq, " for both");
  const int s = static_cast<int>(seq), b = static_cast<int>(batch);
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, seq_lengths, shape[b], "entry of the batch"));
  ctx.set(rows_output, shape);
  Lines lines{shape.count(0, s), shape[s], shape.count(s + 1, rank), 1, shape[b], 1, ctx.dtype(seq_lengths) == DType::kInt64,
              &MovesOf(ctx.dtype(input))};
  lines.chunk = b < s ? lines.inner : shape.count(b + 1, rank);
  if (b < s) lines.repeats = shape.count(b + 1, s);
  return lines;
}

int64_t LengthOf(const Lines& lines, const RunContext& ctx, int64_t i) {
  return lines.wide_lengths ? ctx.in<int64_t>(seq_lengths)[i] : ctx.in<int32_t>(seq_lengths)[i];
}

constexpr auto RunSequence = [](const Lines& lines, RunContext& ctx) -> Status {
  const auto is_bad = [&](int64_t i) {
    const int64_t length = LengthOf(lines, ctx, i);
    return length < 0 || length > lines.size;
  };
  WEFT_ASSIGN_OR_RETURN(const int64_t bad, kernels::FirstWhere(ctx.workers(), lines.batch, is_bad));
  if (bad >= 0) return ctx.Error(seq_lengths, "needs lengths from 0 to ", lines.size, ", found ", LengthOf(lines, ctx, bad), " at ", bad);
  const auto out = ctx.out<std::byte>(rows_output);
  if (out.empty()) return {};
  const std::byte* from = ctx.in<std::byte>(input).data();
  const ElementMoves& moves = *lines.moves;
  const int64_t step = lines.inner, chunk = lines.chunk;
  kernels::ForEach(ctx.workers(), lines.outer * lines.chunks(), 1 + 32768 / (lines.size * chunk), [&](int64_t line) {
    const int64_t start = line / lines.chunks() * lines.size * step + line % lines.chunks() * chunk;
    const int64_t length = LengthOf(lines, ctx, line / lines.repeats % lines.batch);
    const std::byte* source = from + start * moves.size;
    std::byte* target = out.data() + start * moves.size;
    if (length > 0) moves.RowsLong(source + (length - 1) * step * moves.size, -step, target, step, length, chunk, ctx.workers());
    const int64_t rest = length * step * moves.size;
    if (length < lines.size) moves.RowsLong(source + rest, step, target + rest, step, lines.size - length, chunk, ctx.workers());
  });
  return {};
};

}  // namespace

BlockDef Reverse() {
  return Block("Reverse", "Turns axes of a tensor round.")
      .Alias("ReverseV2").Ports(tensor, axis, output).Types("Tidx", kIndices).Types("T", kReversed).ShapedBy(axis)
      .Gradient(GradientBlock(tensor, "Reverse", {{"tensor", Grad(output)}, {"axis", axis}})).Kernel(PlanReverse, RunBoxMove);
}

BlockDef ReverseSequence() {
  return Block("ReverseSequence", "Turns the first elements along an axis round, as many as each entry of a batch says.")
      .Ports(input, seq_lengths, rows_output).Attrs(seq_dim, batch_dim).Types("T", kAllTypes).Types("Tlen", kIndices)
      .Gradient(GradientBlock(input, "ReverseSequence", {{"input", Grad(rows_output)}, {"seq_lengths", seq_lengths}},
                              {seq_dim.name, batch_dim.name}))
      .Kernel(PlanSequence, RunSequence);
}

}  // namespace weft::blocks
