// DrawBoundingBoxes: pictures with frames drawn into them.
#include <algorithm>
#include <cmath>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> images{"images", "T", "[batch, height, width, channels]: 1 channel (grey), 3 (RGB) or 4 (RGBA), from 0 to 1"};
constexpr In<1> boxes{"boxes", "DT_FLOAT",
                      "[batch, boxes, 4]: top, left, bottom, right; 0 is the first row or column of the picture, 1 the last"};
constexpr Out<0> output{"output", "T", "the shape of images"};

struct Canvas {
  int64_t batch = 0, height = 0, width = 0, channels = 0, boxes = 0;
  int64_t line() const { return width * channels; }
  int64_t picture() const { return height * line(); }
};

Result<Canvas> Plan(PlanContext& ctx) {
  const Shape &shape = ctx.shape(images), &corners = ctx.shape(boxes);
  if (shape.rank() != 4) return ctx.Error(images, "needs rank 4, found shape ", shape);
  if (shape[3] != 1 && shape[3] != 3 && shape[3] != 4) return ctx.Error(images, "needs 1, 3 or 4 channels, found shape ", shape);
  if (corners.rank() != 3 || corners[2] != 4) return ctx.Error(boxes, "needs shape [batch, boxes, 4], found ", corners);
  if (corners[0] != shape[0]) return ctx.Error(boxes, "needs boxes for each of the ", shape[0], " pictures, found shape ", corners);
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, images.name));
  ctx.set(output, shape);
  return Canvas{shape[0], shape[1], shape[2], shape[3], corners[1]};
}

/// The colours of boxes, in turn: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
constexpr float kColours[][4] = {{1, 1, 0, 1},    {0, 0, 1, 1},   {1, 0, 0, 1},     {0, 1, 0, 1},   {0.5, 0, 0.5, 1},
                                 {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

/// From the first to the last pixel of a box along one axis; only `inside` are drawn.
struct Side {
  int64_t first, last;
  int64_t inside_first, inside_last;

  Side(float begin, float end, int64_t size) : first(Pixel(begin, size)), last(Pixel(end, size)) {
    inside_first = std::max<int64_t>(first, 0);
    inside_last = std::min(last, size - 1);
  }
  bool drawn(int64_t size) const { return first <= last && first < size && last >= 0; }

 private:
  /// Cut towards 0. Places far outside are all the same.
  static int64_t Pixel(float place, int64_t size) {
    const float pixel = place * static_cast<float>(size - 1);
    if (std::isnan(pixel)) return -1;
    return static_cast<int64_t>(std::clamp(pixel, -0x1p60f, 0x1p60f));
  }
};

template <class T>
void DrawBox(const Canvas& canvas, const float* box, const float* colour, T* picture, kernels::StopCheck& stop) {
  const Side rows(box[0], box[2], canvas.height), columns(box[1], box[3], canvas.width);
  if (!rows.drawn(canvas.height) || !columns.drawn(canvas.width)) return;
  auto draw = [&](int64_t y, int64_t x) {
    for (int64_t c = 0; c < canvas.channels; ++c) {
      picture[y * canvas.line() + x * canvas.channels + c] = static_cast<T>(canvas.channels == 1 ? 1.0f : colour[c]);
    }
  };
  for (int64_t y : {rows.first, rows.last}) {
    if (y < 0 || y >= canvas.height) continue;
    for (int64_t x = columns.inside_first; x <= columns.inside_last && !stop(4); ++x) draw(y, x);
  }
  for (int64_t x : {columns.first, columns.last}) {
    if (x < 0 || x >= canvas.width) continue;
    for (int64_t y = rows.inside_first; y <= rows.inside_last && !stop(4); ++y) draw(y, x);
  }
}

/// A task is a picture with all its boxes, in their order.
constexpr auto Run = []<class T>(const Canvas& canvas, RunContext& ctx) {
  const T* const from = ctx.in<T>(images).data();
  T* const to = ctx.out<T>(output).data();
  if (canvas.batch * canvas.picture() == 0) return;
  const float* const all = ctx.in<float>(boxes).data();
  ctx.workers().For(canvas.batch, std::max<int64_t>(1, 32768 / canvas.picture()), [&](int64_t begin, int64_t end) {
    kernels::CopyLong(ctx.workers(), from + begin * canvas.picture(), to + begin * canvas.picture(), (end - begin) * canvas.picture());
    kernels::StopCheck stop(ctx.workers());
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t box = 0; box < canvas.boxes && !stop(); ++box) {
        DrawBox(canvas, all + (i * canvas.boxes + box) * 4, kColours[box % std::ssize(kColours)], to + i * canvas.picture(), stop);
      }
    }
  });
};

}  // namespace

BlockDef DrawBoundingBoxes() {
  return Block("DrawBoundingBoxes", "Pictures with boxes drawn into them, one pixel wide.")
      .Details("Ten colours in turn (white in grey pictures). Boxes wholly outside, or flipped, are not drawn.")
      .Ports(images, boxes, output)
      .Types("T", TypeList<half, float>{})
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
