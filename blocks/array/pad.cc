// Pad, PadV2, Slice and their gradients: a tensor in a frame, and out of it.
#include "blocks/array/pad.h"

#include "blocks/gradient_block.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<1> paddings{"paddings", "Tpaddings", "[rank, 2]: how many elements go in front of and behind each axis"};
constexpr In<2> constant_values{"constant_values", "T", "a scalar: what goes into the new elements"};
constexpr Out<0> output{"output", "T", "the input with a frame round it"};

constexpr In<0> grad{"grad", "T", "a padded tensor"};
constexpr Out<0> inside{"output", "T", "the tensor without its frame"};

Result<Frame> PlanFrame(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(std::vector<FramedAxis> axes, ReadPaddings(ctx, paddings, ctx.shape(input)));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, FramedSizes(axes), paddings));
  return MakeFrame(std::move(axes), ctx.dtype(input));
}

Result<Frame> PlanFrameOfValue(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, constant_values));
  return PlanFrame(ctx);
}

void RunFrameOf(const Frame& frame, RunContext& ctx, const void* value) {
  RunFrame(frame, ctx.in<std::byte>(input).data(), ctx.out<std::byte>(output).data(), value, ctx.workers());
}
constexpr auto RunZeros = [](const Frame& frame, RunContext& ctx) { RunFrameOf(frame, ctx, nullptr); };
constexpr auto RunValue = [](const Frame& frame, RunContext& ctx) { RunFrameOf(frame, ctx, ctx.in<std::byte>(constant_values).data()); };

Result<BoxMove> PlanInside(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<FramedAxis> axes, ReadPaddingsInside(ctx, paddings, ctx.shape(grad)));
  ctx.set(inside, InnerShape(axes));
  return MoveOutOfFrame(axes, ctx.dtype(grad));
}

GradientFunction Gradient() { return GradientBlock(input, "PadGrad", {{"grad", Grad(output)}, {"paddings", paddings}}); }

/// Where a walk over the rows of a framed tensor is.
struct RowWalk {
  const Frame& frame;
  int64_t at[64];

  RowWalk(const Frame& f, int64_t row) : frame(f) {
    for (size_t a = frame.outer.size(); a-- > 0;) {
      at[a] = row % frame.outer[a].total();
      row /= frame.outer[a].total();
    }
  }
  void Next() {
    for (size_t a = frame.outer.size(); a-- > 0;) {
      if (++at[a] < frame.outer[a].total()) return;
      at[a] = 0;
    }
  }
  /// The tensor's row here, or -1 in the frame.
  int64_t Row() const {
    int64_t row = 0;
    for (size_t a = 0; a < frame.outer.size(); ++a) {
      const int64_t place = at[a] - frame.outer[a].before;
      if (place < 0 || place >= frame.outer[a].size) return -1;
      row = row * frame.outer[a].size + place;
    }
    return row;
  }
};

// Columns [begin, end) of one row of the framed tensor; `row` is the tensor's, or -1.
void WriteRow(const Frame& frame, int64_t row, const std::byte* from, std::byte* to, int64_t begin, int64_t end, const void* value) {
  const ElementMoves& moves = *frame.moves;
  const FramedAxis& inner = frame.inner;
  const int64_t first = row < 0 ? end : std::clamp(inner.before, begin, end);
  const int64_t last = row < 0 ? end : std::clamp(inner.before + inner.size, first, end);
  if (first > begin) moves.fill(to, first - begin, value);
  if (last > first) {
    const int64_t source = row * inner.size + first - inner.before;
    moves.copy(from + source * moves.size, to + (first - begin) * moves.size, last - first);
  }
  if (end > last) moves.fill(to + (last - begin) * moves.size, end - last, value);
}

// ---- Slice -----------------------------------------------------------------------------------------------------------------

constexpr In<0> sliced{"input", "T", "of any shape"};
constexpr In<1> slice_begin{"begin", "Index", "[rank]: where the slice begins on each axis"};
constexpr In<2> slice_size{"size", "Index", "[rank]: how many elements it takes of each axis; -1: all that are left"};
constexpr Out<0> slice{"output", "T", "the slice"};

constexpr In<0> slice_grad{"grad", "T", "the gradient of a slice"};
constexpr In<3> like{"like", "T", "the tensor that was sliced: gives its shape"};
constexpr Out<0> whole{"output", "T", "the shape of like: the gradient in its place, zeros round it"};

// Where the slice of a tensor of `shape` lies, as a frame round it.
Result<std::vector<FramedAxis>> ReadSlice(const PlanContext& ctx, const Shape& shape) {
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, slice_begin, shape.rank(), "axis"));
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, slice_size, shape.rank(), "axis"));
  const std::vector<int64_t> from = ctx.ints(slice_begin), counts = ctx.ints(slice_size);
  std::vector<FramedAxis> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (from[i] < 0 || from[i] > shape[i]) return ctx.Error(slice_begin, "needs 0 to ", shape[i], " for axis ", i, ", found ", from[i]);
    const int64_t left = shape[i] - from[i];
    if (counts[i] < -1 || counts[i] > left) {
      return ctx.Error(slice_size, "needs -1, or 0 to ", left, ", for axis ", i, " of ", shape, " from ", from[i], " on, found ",
                       counts[i]);
    }
    const int64_t count = counts[i] < 0 ? left : counts[i];
    axes.push_back({from[i], count, left - count});
  }
  return axes;
}

Result<BoxMove> PlanSlice(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<FramedAxis> axes, ReadSlice(ctx, ctx.shape(sliced)));
  ctx.set(slice, InnerShape(axes));
  return MoveOutOfFrame(axes, ctx.dtype(sliced));
}

Result<Frame> PlanSliceGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(std::vector<FramedAxis> axes, ReadSlice(ctx, ctx.shape(like)));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, slice_grad, InnerShape(axes), "the slice"));
  ctx.set(whole, ctx.shape(like));
  return MakeFrame(std::move(axes), ctx.dtype(slice_grad));
}

constexpr auto RunSliceGrad = [](const Frame& frame, RunContext& ctx) {
  RunFrame(frame, ctx.in<std::byte>(slice_grad).data(), ctx.out<std::byte>(whole).data(), nullptr, ctx.workers());
};

}  // namespace

Shape InnerShape(std::span<const FramedAxis> axes) {
  std::vector<int64_t> sizes;
  for (const FramedAxis& axis : axes) sizes.push_back(axis.size);
  return Shape(std::span<const int64_t>(sizes));
}

std::vector<int64_t> FramedSizes(std::span<const FramedAxis> axes) {
  std::vector<int64_t> sizes;
  for (const FramedAxis& axis : axes) sizes.push_back(axis.total());
  return sizes;
}

Frame MakeFrame(std::vector<FramedAxis> axes, DType dtype) {
  Frame frame;
  frame.moves = &MovesOf(dtype);
  frame.count = 1;
  for (const FramedAxis& axis : axes) {
    frame.count *= axis.total();
    frame.empty |= axis.size == 0;
  }
  if (frame.empty || frame.count == 0) return frame;
  std::vector<FramedAxis> merged;
  for (const FramedAxis& axis : axes) {
    if (!merged.empty() && axis.before == 0 && axis.after == 0) {
      FramedAxis& outer = merged.back();
      outer = {outer.before * axis.size, outer.size * axis.size, outer.after * axis.size};
    } else {
      merged.push_back(axis);
    }
  }
  if (!merged.empty()) {
    frame.inner = merged.back();
    merged.pop_back();
  }
  std::erase_if(merged, [](const FramedAxis& axis) { return axis.total() == 1; });
  frame.outer = std::move(merged);
  return frame;
}

BoxMove MoveOutOfFrame(std::span<const FramedAxis> axes, DType dtype) {
  std::vector<kernels::Axis> box;
  int64_t in_step = 1, out_step = 1, start = 0;
  for (size_t i = axes.size(); i-- > 0;) {
    box.push_back({axes[i].size, in_step, out_step});
    start += axes[i].before * in_step;
    in_step *= std::max<int64_t>(axes[i].total(), 1);
    out_step *= std::max<int64_t>(axes[i].size, 1);
  }
  return MoveOf(std::move(box), dtype, start);
}

void RunFrame(const Frame& frame, const std::byte* from, std::byte* to, const void* value, Workers& workers) {
  const int64_t size = frame.moves->size, width = frame.inner.total();
  workers.For(frame.count, 65536, [&](int64_t begin, int64_t end) {
    if (frame.empty) return frame.moves->fill(to + begin * size, end - begin, value);
    RowWalk walk(frame, begin / width);
    int64_t column = begin % width;
    for (int64_t at = begin; at < end;) {
      const int64_t stop = std::min(width, column + end - at);
      WriteRow(frame, walk.Row(), from, to + at * size, column, stop, value);
      at += stop - column;
      column = 0;
      walk.Next();
    }
  });
}

BlockDef Pad() {
  return Block("Pad", "Puts a frame of zeros round a tensor.")
      .Ports(input, paddings, output).Types("T", kAllTypes).Types("Tpaddings", kIndices).ShapedBy(paddings)
      .Gradient(Gradient()).Kernel(PlanFrame, RunZeros);
}

BlockDef PadV2() {
  return Block("PadV2", "Puts a frame of one value round a tensor.")
      .Ports(input, paddings, constant_values, output).Types("T", kAllTypes).Types("Tpaddings", kIndices)
      .ShapedBy(paddings)
      .Gradient(Gradient()).Kernel(PlanFrameOfValue, RunValue);
}

BlockDef PadGrad() {
  return Block("PadGrad", "Takes the frame of a Pad off: its gradient.")
      .Ports(grad, paddings, inside).Types("T", kAllTypes).Types("Tpaddings", kIndices).ShapedBy(paddings)
      .Internal().Gradient(GradientBlock(grad, "Pad", {{"input", Grad(inside)}, {"paddings", paddings}}))
      .Kernel(PlanInside, RunBoxMove);
}

BlockDef Slice() {
  return Block("Slice", "Takes a box out of a tensor.")
      .Ports(sliced, slice_begin, slice_size, slice).Types("T", kAllTypes).Types("Index", kIndices)
      .ShapedBy(slice_begin, slice_size)
      .Gradient(GradientBlock(sliced, "SliceGrad", {{"grad", Grad(slice)}, {"begin", slice_begin}, {"size", slice_size}, {"like", sliced}}))
      .Kernel(PlanSlice, RunBoxMove);
}

BlockDef SliceGrad() {
  return Block("SliceGrad", "Puts the gradient of a slice in its place among zeros.")
      .Ports(slice_grad, slice_begin, slice_size, like, whole).Types("T", kAllTypes).Types("Index", kIndices)
      .ShapedBy(slice_begin, slice_size)
      .Internal()
      .Gradient(GradientBlock(slice_grad, "Slice", {{"input", Grad(whole)}, {"begin", slice_begin}, {"size", slice_size}}))
      .Kernel(PlanSliceGrad, RunSliceGrad);
}

}  // namespace weft::blocks
