// MirrorPad and its gradient: a tensor with a frame that mirrors it.
#include <algorithm>

#include "blocks/array/pad.h"
#include "blocks/gradient_block.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr In<0> framed{"input", "T", "a tensor with a mirrored frame"};
constexpr In<1> paddings{"paddings", "Tpaddings",
                         "[rank, 2]: how many elements go in front of and behind each axis, no more than there are to mirror"};
constexpr Out<0> output{"output", "T", "the input with a frame round it"};
constexpr Out<0> inside{"output", "T", "the tensor without its frame, to each element added what its images had"};
constexpr Attr<std::string> mode{"mode", kRequired, "REFLECT: the outermost elements are not repeated; SYMMETRIC: they are",
                                 "REFLECT|SYMMETRIC"};

/// The tensor as [axes..., last axis, chunk]: axes behind the last one that has a frame move as one.
struct Mirror {
  std::vector<FramedAxis> axes;  // at most 63; the last is the one walked within a row
  int64_t chunk = 1;
  int64_t edge = 0;  // 1 where the outermost elements are repeated
  int64_t framed_count = 0;
  const ElementMoves* moves = nullptr;

  const FramedAxis& row() const { return axes.back(); }
  int64_t row_width() const { return row().total() * chunk; }
  /// The place in the tensor of place `at` in the frame.
  int64_t Source(const FramedAxis& axis, int64_t at) const {
    const int64_t i = at - axis.before;
    if (i < 0) return -i - edge;
    return i < axis.size ? i : 2 * axis.size - 2 + edge - i;
  }
};

// `axes` are those of the tensor without its frame.
Result<Mirror> MakeMirror(PlanContext& ctx, std::span<const FramedAxis> axes) {
  Mirror mirror;
  mirror.edge = ctx.attr(mode) == "SYMMETRIC";
  mirror.moves = &MovesOf(ctx.dtype(input));
  mirror.framed_count = 1;
  for (const FramedAxis& axis : axes) {
    const int64_t most = axis.size - 1 + mirror.edge;
    if (axis.before > most || axis.after > most) {
      return ctx.Error(paddings, "needs numbers of at most ", most, " for an axis of size ", axis.size, ", found ", axis.before, " and ",
                       axis.after);
    }
    mirror.framed_count *= axis.total();
  }
  if (mirror.framed_count == 0) return mirror;
  for (const FramedAxis& axis : axes) {
    if (axis.total() > 1) mirror.axes.push_back(axis);
  }
  while (!mirror.axes.empty() && mirror.row().before == 0 && mirror.row().after == 0) {
    mirror.chunk *= mirror.row().size;
    mirror.axes.pop_back();
  }
  if (mirror.axes.empty()) mirror.axes.push_back({0, 1, 0});
  return mirror;
}

// ---- MirrorPad -------------------------------------------------------------------------------------------------------------

Result<Mirror> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<FramedAxis> axes, ReadPaddings(ctx, paddings, ctx.shape(input)));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, FramedSizes(axes), paddings));
  return MakeMirror(ctx, axes);
}

// The tensor's row that row `row` of the framed tensor shows.
int64_t SourceRow(const Mirror& mirror, int64_t row) {
  int64_t source = 0, step = 1;
  for (size_t a = mirror.axes.size() - 1; a-- > 0;) {
    const FramedAxis& axis = mirror.axes[a];
    source += mirror.Source(axis, row % axis.total()) * step;
    step *= axis.size;
    row /= axis.total();
  }
  return source;
}

// Places [begin, end) of a row, as runs that go forward or backward through the tensor.
void MirrorRow(const Mirror& mirror, const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
  const FramedAxis& row = mirror.row();
  const int64_t chunk = mirror.chunk, bytes = chunk * mirror.moves->size;
  for (int64_t at = begin; at < end;) {
    const bool own = at >= row.before && at < row.before + row.size;
    const int64_t stop = std::min(end, at < row.before ? row.before : own ? row.before + row.size : row.total());
    const std::byte* source = from + mirror.Source(row, at) * bytes;
    if (own) mirror.moves->copy(source, to, (stop - at) * chunk);
    else mirror.moves->rows(source, -chunk, to, chunk, stop - at, chunk);
    to += (stop - at) * bytes;
    at = stop;
  }
}

constexpr auto Run = [](const Mirror& mirror, RunContext& ctx) {
  if (mirror.framed_count == 0) return;
  const std::byte* from = ctx.in<std::byte>(input).data();
  std::byte* to = ctx.out<std::byte>(output).data();
  const int64_t places = mirror.row().total(), bytes = mirror.chunk * mirror.moves->size;
  if (mirror.chunk > ElementMoves::kLong) {
    for (int64_t at = 0; at < mirror.framed_count / mirror.chunk && !ctx.cancelled(); ++at) {
      const int64_t place = SourceRow(mirror, at / places) * mirror.row().size + mirror.Source(mirror.row(), at % places);
      mirror.moves->CopyLong(from + place * bytes, to + at * bytes, mirror.chunk, ctx.workers());
    }
    return;
  }
  ctx.workers().For(mirror.framed_count / mirror.chunk, 1 + 32768 / mirror.chunk, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t row = at / places, first = at % places, stop = std::min(places, first + end - at);
      MirrorRow(mirror, from + SourceRow(mirror, row) * mirror.row().size * bytes, to + at * bytes, first, stop);
      at += stop - first;
    }
  });
};

// ---- MirrorPadGrad ---------------------------------------------------------------------------------------------------------

Result<Mirror> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<FramedAxis> axes, ReadPaddingsInside(ctx, paddings, ctx.shape(framed)));
  ctx.set(inside, InnerShape(axes));
  return MakeMirror(ctx, axes);
}

/// The places in the frame that show place `i` of an axis: itself, and its images in front and behind.
struct Images {
  int64_t at[3];
  int count = 0;

  Images(const Mirror& mirror, const FramedAxis& axis, int64_t i) {
    at[count++] = axis.before + i;
    const int64_t front = axis.before - i - mirror.edge, behind = axis.before + 2 * axis.size - 2 + mirror.edge - i;
    if (front >= 0 && front < axis.before) at[count++] = front;
    if (behind >= axis.before + axis.size && behind < axis.total()) at[count++] = behind;
  }
};

template <class T, class A>
void AddElements(const T* from, A* sums, int64_t n) {
  for (int64_t j = 0; j < n; ++j) sums[j] = WrapAdd(sums[j], static_cast<A>(from[j]));
}

// Adds the images of the places [first, last] of a row that lie among its elements [begin, end); place i is seen at `mirror_end` - i.
template <class T, class A>
void AddImages(const Mirror& mirror, const T* from, A* sums, int64_t begin, int64_t end, int64_t first, int64_t last, int64_t mirror_end) {
  const int64_t chunk = mirror.chunk;
  for (int64_t i = std::max(first, begin / chunk); i <= std::min(last, (end - 1) / chunk); ++i) {
    const int64_t at = std::max(begin, i * chunk), stop = std::min(end, (i + 1) * chunk);
    AddElements(from + (mirror_end - i) * chunk + at - i * chunk, sums + at - begin, stop - at);
  }
}

// Adds what one row of the framed tensor holds of the elements [begin, end) of a row of the inner one.
void AddRow(const Mirror& mirror, const auto* from, auto* sums, int64_t begin, int64_t end) {
  const auto [before, size, after] = mirror.row();
  const int64_t edge = mirror.edge;
  AddElements(from + before * mirror.chunk + begin, sums, end - begin);
  AddImages(mirror, from, sums, begin, end, 1 - edge, before - edge, before - edge);
  AddImages(mirror, from, sums, begin, end, size - 1 + edge - after, size - 2 + edge, before + 2 * size - 2 + edge);
}

// Adds elements [begin, end) of one row of the inner tensor over all rows of the framed one that show it.
void AddRows(const Mirror& mirror, const auto* from, auto* sums, int64_t row, int64_t begin, int64_t end, kernels::StopCheck& stop) {
  const size_t outer = mirror.axes.size() - 1;
  int64_t place[64], step[64];
  int chosen[64] = {};
  int64_t width = mirror.row_width();
  for (size_t a = outer; a-- > 0;) {
    place[a] = row % mirror.axes[a].size;
    row /= mirror.axes[a].size;
    step[a] = width;
    width *= mirror.axes[a].total();
  }
  while (!stop(4 * static_cast<int64_t>(outer + 1) + end - begin)) {
    int64_t offset = 0;
    for (size_t a = 0; a < outer; ++a) offset += Images(mirror, mirror.axes[a], place[a]).at[chosen[a]] * step[a];
    AddRow(mirror, from + offset, sums, begin, end);
    size_t a = outer;
    for (; a > 0; --a) {
      if (++chosen[a - 1] < Images(mirror, mirror.axes[a - 1], place[a - 1]).count) break;
      chosen[a - 1] = 0;
    }
    if (a == 0) return;
  }
}

constexpr auto RunGrad = []<class T>(const Mirror& mirror, RunContext& ctx) {
  using A = Accumulator<T>;
  constexpr int64_t kBlock = 512;
  const auto out = ctx.out<T>(inside);
  const T* from = ctx.in<T>(framed).data();
  if (out.empty()) return;
  const int64_t width = mirror.row().size * mirror.chunk;
  ctx.workers().For(static_cast<int64_t>(out.size()), 16384, [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(ctx.workers());
    for (int64_t at = begin; at < end;) {
      const int64_t first = at % width, count = std::min({width - first, end - at, kBlock});
      A sums[kBlock];
      std::fill_n(sums, count, A{});
      AddRows(mirror, from, sums, at / width, first, first + count, stop);
      if constexpr (ShortFloat<T>) kernels::Narrow(sums, out.data() + at, count);
      else std::copy_n(sums, count, out.data() + at);
      at += count;
    }
  });
};

}  // namespace

BlockDef MirrorPad() {
  return Block("MirrorPad", "Puts a frame round a tensor that mirrors it.")
      .Ports(input, paddings, output).Types("T", kAllTypes).Types("Tpaddings", kIndices).Attrs(mode).ShapedBy(paddings)
      .Gradient(GradientBlock(input, "MirrorPadGrad", {{"input", Grad(output)}, {"paddings", paddings}}, {mode.name}))
      .Kernel(Plan, Run);
}

BlockDef MirrorPadGrad() {
  return Block("MirrorPadGrad", "Folds the frame of a MirrorPad back and adds it up: its gradient.")
      .Ports(framed, paddings, inside).Attrs(mode).Types("T", kNumbers).Types("Tpaddings", kIndices).ShapedBy(paddings)
      .Internal().Gradient(GradientBlock(framed, "MirrorPad", {{"input", Grad(inside)}, {"paddings", paddings}}, {mode.name}))
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
