// ExtractImagePatches and its gradient: the window round each place of a picture, laid out as channels.
#include <algorithm>

#include "blocks/element_moves.h"
#include "blocks/gradient_block.h"
#include "blocks/kernels/conv/window.h"
#include "blocks/kernels/simd/widen.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::WindowAxis;

constexpr In<0> images{"images", "T", "[batch, height, width, depth]"};
constexpr Out<0> patches{"patches", "T", "[batch, rows, columns, window height * window width * depth]"};
constexpr In<0> grad{"grad", "T", "the gradient of the patches"};
constexpr In<1> like{"like", "T", "the pictures the patches are of: give their shape"};
constexpr Out<0> output{"output", "T", "the shape of like: to each pixel added what its places in the patches had"};
constexpr Attr<Ints> ksizes{"ksizes", kRequired, "{1, height, width, 1} of a window", nullptr, 4};
constexpr Attr<Ints> strides{"strides", kRequired, "{1, down, across, 1}: how far the windows are apart", nullptr, 4};
constexpr Attr<Ints> rates{"rates", kRequired, "{1, down, across, 1}: how far the pixels of a window are apart", nullptr, 4};
constexpr Attr<Padding> padding{"padding", kRequired, "SAME: windows over the edge see zeros there; VALID: none go over the edge",
                                "SAME|VALID"};

constexpr auto kPixels = kNumbers + TypeList<bool>{};

struct Windows {
  int64_t batch = 0, depth = 0;
  WindowAxis rows, columns;
  const ElementMoves* moves = nullptr;

  int64_t patch() const { return rows.window * columns.window * depth; }
  int64_t pixels() const { return batch * rows.in * columns.in * depth; }
};

Result<WindowAxis> ReadAxis(const PlanContext& ctx, const Shape& shape, int axis) {
  WindowAxis a;
  a.in = shape[axis];
  a.window = ctx.attr(ksizes)[axis];
  a.stride = ctx.attr(strides)[axis];
  a.dilation = ctx.attr(rates)[axis];
  if (a.window < 1 || a.dilation < 1) return a;  // refused by CheckNumbers
  const auto span = kernels::WindowSpan(a.window, a.dilation);
  const bool fits = span && (ctx.attr(padding) == Padding::SAME ? kernels::PadSame(a, *span) : kernels::PadExplicit(a, *span, 0, 0));
  if (!fits) return ctx.Error(ksizes, "needs windows of a size that fits 60 bits, found ", a.window, " at rate ", a.dilation);
  if (a.out < 0 && kernels::HasNoWindow(a.in, *span, ctx.attr(strides)[axis])) a.out = 0;
  if (a.out < 0) {
    return ctx.Error(images, "needs pictures no smaller than a window: axis ", axis, " of ", shape, " is smaller than ", *span);
  }
  return a;
}

// What keeps the shape of the patches from being told.
Status CheckShapeNumbers(const PlanContext& ctx) {
  for (const Attr<Ints>* list : {&ksizes, &strides, &rates}) {
    if (ctx.attr(*list).size() != 4) return ctx.Error(*list, "needs four numbers, one an axis, found ", ctx.attr(*list).size());
  }
  const Ints steps = ctx.attr(strides), window = ctx.attr(ksizes);
  const int64_t step = std::min(steps[1], steps[2]);
  if (step < 1) return ctx.Error(strides, "needs strides of 1 or more, found ", step);
  const int64_t less = std::min(window[1], window[2]);
  if (less < 0 && std::max(window[1], window[2]) > 0) return ctx.Error(ksizes, "needs sizes of 1 or more, found ", less);
  return {};
}

// What the shape may be told with, but not the patches: refusals of their own kinds, as TensorFlow's.
Status CheckNumbers(const PlanContext& ctx) {
  for (const Attr<Ints>* list : {&ksizes, &strides, &rates}) {
    const Ints numbers = ctx.attr(*list);
    if (numbers[0] != 1 || numbers[3] != 1) {
      return ctx.ErrorOf(Code::kUnsupported, *list, "needs 1 for batch and depth, found ", numbers[0], " and ", numbers[3]);
    }
    const int64_t least = std::min(numbers[1], numbers[2]);
    if (least < 1) return ctx.ErrorOf(Code::kOutOfRange, *list, "needs 1 or more, found ", least);
  }
  return {};
}

// The geometry, and the shape of the patches.
Result<Windows> ReadWindows(const PlanContext& ctx, const Shape& shape, Shape& patch_shape) {
  if (shape.rank() != 4) return ctx.Error(images, "needs [batch, height, width, depth], found ", shape);
  WEFT_RETURN_IF_ERROR(CheckShapeNumbers(ctx));
  Windows windows{shape[0], shape[3], {}, {}, &MovesOf(ctx.dtype(images))};
  WEFT_ASSIGN_OR_RETURN(windows.rows, ReadAxis(ctx, shape, 1));
  WEFT_ASSIGN_OR_RETURN(windows.columns, ReadAxis(ctx, shape, 2));
  WEFT_RETURN_IF_ERROR(CheckNumbers(ctx));
  const auto window = CheckedMultiply(windows.rows.window, windows.columns.window);
  const auto patch = window ? CheckedMultiply(*window, shape[3]) : std::nullopt;
  if (!patch) return ctx.Error(ksizes, "needs windows of fewer elements than 2^63");
  const std::vector<int64_t> sizes = {shape[0], windows.rows.out, windows.columns.out, *patch};
  WEFT_ASSIGN_OR_RETURN(patch_shape, AtPort(ksizes, Shape::Make(sizes)));
  return windows;
}

Result<Windows> Plan(PlanContext& ctx) {
  Shape shape;
  WEFT_ASSIGN_OR_RETURN(Windows windows, ReadWindows(ctx, ctx.shape(images), shape));
  ctx.set(patches, std::move(shape));
  return windows;
}

/// a / b rounded up, for a of 0 or more; a dilation may be any int64.
int64_t Ceiling(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// The places [first, last) of a window whose pixels exist, where it starts at pixel `start`.
struct Inside {
  int64_t first, last;
  Inside(const WindowAxis& axis, int64_t start)
      : first(start >= 0 ? 0 : std::min(axis.window, Ceiling(-start, axis.dilation))),
        last(start >= axis.in ? first : std::clamp(Ceiling(axis.in - start, axis.dilation), first, axis.window)) {}
};

// The window at output (row, column) of the picture at `from`.
void WritePatch(const Windows& w, const std::byte* from, std::byte* to, int64_t row, int64_t column, Workers& workers, kernels::StopCheck& stop) {
  const ElementMoves& moves = *w.moves;
  const int64_t top = w.rows.start(row), left = w.columns.start(column), line = w.columns.window * w.depth;
  const Inside down(w.rows, top), across(w.columns, left);
  for (int64_t i = 0; i < w.rows.window; ++i, to += line * moves.size) {
    if (stop(line + 4)) return;
    if (i < down.first || i >= down.last || across.first == across.last) {
      moves.FillLong(to, line, nullptr, workers);
      continue;
    }
    const int64_t pixel = (top + i * w.rows.dilation) * w.columns.in + left + across.first * w.columns.dilation;
    if (across.first > 0) moves.FillLong(to, across.first * w.depth, nullptr, workers);
    // A single pixel may have a dilation beyond any picture.
    const int64_t count = across.last - across.first, step = count > 1 ? w.columns.dilation * w.depth : 0;
    moves.RowsLong(from + pixel * w.depth * moves.size, step, to + across.first * w.depth * moves.size, w.depth, count, w.depth, workers);
    const int64_t rest = w.columns.window - across.last;
    if (rest > 0) moves.FillLong(to + across.last * w.depth * moves.size, rest * w.depth, nullptr, workers);
  }
}

constexpr auto Run = [](const Windows& w, RunContext& ctx) {
  const auto out = ctx.out<std::byte>(patches);
  if (out.empty()) return;
  const std::byte* from = ctx.in<std::byte>(images).data();
  const int64_t places = w.rows.out * w.columns.out, picture = w.rows.in * w.columns.in * w.depth;
  kernels::ForEach(ctx.workers(), w.batch * places, 1 + 32768 / w.patch(), [&](int64_t at, kernels::StopCheck& stop) {
    const int64_t place = at % places;
    WritePatch(w, from + at / places * picture * w.moves->size, out.data() + at * w.patch() * w.moves->size, place / w.columns.out,
               place % w.columns.out, ctx.workers(), stop);
  });
};

// ---- the gradient ----------------------------------------------------------------------------------------------------------

Result<Windows> PlanGrad(PlanContext& ctx) {
  Shape shape;
  WEFT_ASSIGN_OR_RETURN(Windows windows, ReadWindows(ctx, ctx.shape(like), shape));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, grad, shape, "the patches"));
  ctx.set(output, ctx.shape(like));
  const DType dtype = ctx.dtype(grad);
  if (dtype == DType::kHalf || dtype == DType::kBFloat16) {
    const auto bytes = CheckedMultiply(ctx.shape(like).count(), sizeof(float));
    if (!bytes) return ctx.Error(like, "needs fewer elements than 2^61, found ", ctx.shape(like));
    ctx.set_scratch(*bytes);
  }
  return windows;
}

// Row `row` of one picture: what every window that sees it had, in the order of the windows.
template <class T, class A>
void AddUpRow(const Windows& w, const T* from, A* sums, int64_t row, kernels::StopCheck& stop) {
  std::fill_n(sums, w.columns.in * w.depth, A{});
  for (int64_t y = 0; y < w.rows.out; ++y) {
    if (stop()) return;
    const int64_t distance = row - w.rows.start(y);
    if (distance < 0 || distance % w.rows.dilation != 0 || distance / w.rows.dilation >= w.rows.window) continue;
    const int64_t line = distance / w.rows.dilation * w.columns.window * w.depth;
    for (int64_t x = 0; x < w.columns.out; ++x) {
      const int64_t left = w.columns.start(x);
      const Inside across(w.columns, left);
      if (stop((across.last - across.first) * w.depth + 8)) return;
      const T* source = from + (y * w.columns.out + x) * w.patch() + line;
      for (int64_t j = across.first; j < across.last; ++j) {
        A* to = sums + (left + j * w.columns.dilation) * w.depth;
        for (int64_t c = 0; c < w.depth; ++c) to[c] = WrapAdd(to[c], static_cast<A>(source[j * w.depth + c]));
      }
    }
  }
}

constexpr auto RunGrad = []<class T>(const Windows& w, RunContext& ctx) {
  const auto out = ctx.out<T>(output);
  if (out.empty()) return;
  const T* from = ctx.in<T>(grad).data();
  const int64_t width = w.columns.in * w.depth, windows = w.rows.out * w.columns.out * w.patch();
  const int64_t cost = width + w.rows.window * w.columns.out * w.columns.window * w.depth;
  kernels::ForEach(ctx.workers(), w.batch * w.rows.in, 1 + 32768 / cost, [&](int64_t line, kernels::StopCheck& stop) {
    const T* source = from + line / w.rows.in * windows;
    if constexpr (ShortFloat<T>) {
      float* sums = ctx.scratch<float>().data() + line * width;
      AddUpRow(w, source, sums, line % w.rows.in, stop);
      kernels::Narrow(sums, out.data() + line * width, width);
    } else {
      AddUpRow(w, source, out.data() + line * width, line % w.rows.in, stop);
    }
  });
};

std::vector<std::string_view> Settings() { return {ksizes.name, strides.name, rates.name, padding.name}; }

}  // namespace

BlockDef ExtractImagePatches() {
  return Block("ExtractImagePatches", "Lays the window round each place of a picture out as channels.")
      .Ports(images, patches).Attrs(ksizes, strides, rates).Types("T", kPixels).Attrs(padding)
      .Gradient(GradientBlock(images, "ExtractImagePatchesGrad", {{"grad", Grad(patches)}, {"like", images}}, Settings()))
      .Kernel(Plan, Run);
}

BlockDef ExtractImagePatchesGrad() {
  return Block("ExtractImagePatchesGrad", "Adds patches up to the pictures they are of: the gradient of ExtractImagePatches.")
      .Ports(grad, like, output).Attrs(ksizes, strides, rates, padding).Types("T", kNumbers)
      .Internal().Gradient(GradientBlock(grad, "ExtractImagePatches", {{"images", Grad(output)}}, Settings()))
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
