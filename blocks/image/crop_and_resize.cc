// CropAndResize and its gradients with respect to the pictures and the boxes.
#include <cmath>

#include "blocks/image/resized.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr char kBoxesDoc[] = "[boxes, 4]: top, left, bottom, right; 0 is the first row or column of the picture, 1 the last";
constexpr char kIndexDoc[] = "[boxes]: the picture that each box is cut from";
constexpr char kGradsDoc[] = "[boxes, crop height, crop width, channels]: the gradient of the crops";

constexpr In<0> image{"image", "T", "[batch, height, width, channels]"};
constexpr In<1> boxes{"boxes", "DT_FLOAT", kBoxesDoc};
constexpr In<2> box_ind{"box_ind", "DT_INT32", kIndexDoc};
constexpr In<3> crop_size{"crop_size", "DT_INT32", "[2]: height and width of the crops"};
constexpr Out<0> crops{"crops", "DT_FLOAT", "[boxes, crop height, crop width, channels]"};
constexpr Attr<std::string> method{"method", "bilinear", "bilinear mixes four pixels, nearest takes one", "bilinear|nearest"};
constexpr Attr<float> extrapolation_value{"extrapolation_value", "0", "the value of what lies outside of the picture"};

constexpr In<0> grads{"grads", "DT_FLOAT", kGradsDoc};
constexpr In<3> image_size{"image_size", "DT_INT32", "[4]: batch, height, width and channels of the pictures"};
constexpr Out<0> image_grad{"output", "T", "[batch, height, width, channels]"};
constexpr Attr<DType> image_type{"T", kRequired, "the type of the pictures"};

constexpr In<1> cut_image{"image", "T", "[batch, height, width, channels]: what was cut"};
constexpr In<2> cut_boxes{"boxes", "DT_FLOAT", kBoxesDoc};
constexpr In<3> cut_box_ind{"box_ind", "DT_INT32", kIndexDoc};
constexpr Out<0> boxes_grad{"output", "DT_FLOAT", "[boxes, 4]"};
constexpr Attr<std::string> only_bilinear{"method", "bilinear", "bilinear is the only one that has this gradient", "bilinear"};

/// One axis of a crop: sizes in pixels, of the picture and of the crop.
struct CropAxis {
  int64_t image = 1, crop = 1;
  bool ratio_first = false;  // the gradient of boxes rounds the ratio of the sizes first, as TensorFlow: whether a place is whole depends on it

  /// Where pixel i of the crop lies, between the ends of its box.
  float Place(float begin, float end, int64_t i) const {
    const auto last = static_cast<float>(image - 1);
    if (crop == 1) return static_cast<float>(0.5 * static_cast<double>(begin + end) * static_cast<double>(last));
    const auto gaps = static_cast<float>(crop - 1);
    const float step = ratio_first ? (end - begin) * (last / gaps) : (end - begin) * last / gaps;
    return begin * last + static_cast<float>(i) * step;
  }
  bool Inside(float place) const { return place >= 0 && place <= static_cast<float>(image - 1); }  // not for NaN
};

/// The pixels round a place inside of the picture; `share` is that of `high`.
struct Between {
  int64_t low, high;
  float share;

  Between(const CropAxis& axis, float place)
      : low(std::min(static_cast<int64_t>(std::floor(place)), axis.image - 1)),
        high(std::min(static_cast<int64_t>(std::ceil(place)), axis.image - 1)),
        share(place - static_cast<float>(low)) {}
};
int64_t NearestTo(const CropAxis& axis, float place) { return std::min(static_cast<int64_t>(std::round(place)), axis.image - 1); }

struct Crops {
  CropAxis y, x;
  int64_t batch = 0, boxes = 0, channels = 0;
  bool nearest = false;
  float outside = 0;

  int64_t line() const { return x.image * channels; }
  int64_t picture() const { return y.image * line(); }
  int64_t crop() const { return y.crop * x.crop * channels; }
};

// ---- plans -------------------------------------------------------------------------------------------------------------------

/// Boxes in pictures [batch, height, width, channels] of `shape`, which `pictures` gives, of at least one pixel.
Result<Crops> PlanBoxes(PlanContext& ctx, const auto& pictures, const Shape& shape, const auto& corners, const auto& numbers) {
  if (shape.rank() != 4) return ctx.Error(pictures, "needs rank 4, found shape ", shape);
  if (shape[1] < 1 || shape[2] < 1) return ctx.Error(pictures, "needs pictures of at least one pixel, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, pictures.name));
  const Shape &ends = ctx.shape(corners), &indices = ctx.shape(numbers);
  if (ends.rank() != 2 || ends[1] != 4) return ctx.Error(corners, "needs shape [boxes, 4], found ", ends);
  if (indices != Shape{ends[0]}) return ctx.Error(numbers, "needs a number for each of the ", ends[0], " boxes, found shape ", indices);
  return Crops{{shape[1]}, {shape[2]}, shape[0], ends[0], shape[3]};
}

/// The sizes of the crops, from those of their gradient.
Status SetCrops(PlanContext& ctx, Crops& c) {
  const Shape& shape = ctx.shape(grads);
  if (shape.rank() != 4) return ctx.Error(grads, "needs rank 4, found shape ", shape);
  if (shape[0] != c.boxes || shape[3] != c.channels) {
    return ctx.Error(grads, "needs a crop for each of the ", c.boxes, " boxes and ", c.channels, " channels, found shape ", shape);
  }
  if (shape[1] < 1 || shape[2] < 1) return ctx.Error(grads, "needs crops of at least one pixel, found shape ", shape);
  c.y.crop = shape[1];
  c.x.crop = shape[2];
  return {};
}

Result<Crops> PlanCrops(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Crops c, PlanBoxes(ctx, image, ctx.shape(image), boxes, box_ind));
  WEFT_ASSIGN_OR_RETURN(const Ints sizes, HeightAndWidth(ctx, crop_size));
  c.y.crop = sizes[0];
  c.x.crop = sizes[1];
  c.nearest = ctx.attr(method) == "nearest";
  c.outside = ctx.attr(extrapolation_value);
  WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(crop_size, Shape::Make(Ints{c.boxes, sizes[0], sizes[1], c.channels})));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, crop_size.name));
  ctx.set(crops, std::move(shape));
  return c;
}

Result<Crops> PlanImageGradient(PlanContext& ctx) {
  if (ctx.shape(image_size) != Shape{4}) return ctx.Error(image_size, "needs 4 numbers, found shape ", ctx.shape(image_size));
  WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(image_size, Shape::Make(ctx.ints(image_size))));
  WEFT_ASSIGN_OR_RETURN(Crops c, PlanBoxes(ctx, image_size, shape, boxes, box_ind));
  WEFT_RETURN_IF_ERROR(SetCrops(ctx, c));
  c.nearest = ctx.attr(method) == "nearest";
  if (ctx.dtype(image_grad) == DType::kHalf) ctx.set_scratch(shape.count() * static_cast<int64_t>(sizeof(float)));
  ctx.set(image_grad, std::move(shape));
  return c;
}

Result<Crops> PlanBoxesGradient(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Crops c, PlanBoxes(ctx, cut_image, ctx.shape(cut_image), cut_boxes, cut_box_ind));
  WEFT_RETURN_IF_ERROR(SetCrops(ctx, c));
  c.y.ratio_first = c.x.ratio_first = true;
  ctx.set(boxes_grad, Shape{c.boxes, 4});
  return c;
}

// ---- runs --------------------------------------------------------------------------------------------------------------------

struct Boxes {
  const float* corners;
  const int32_t* pictures;

  const float* of(int64_t box) const { return corners + box * 4; }
};
/// Refuses what only data can show.
Result<Boxes> BoxesOf(const Crops& c, RunContext& ctx, const InputPort auto& corners, const InputPort auto& numbers) {
  kernels::StopCheck stop(ctx.workers());
  for (int32_t index : ctx.in<int32_t>(numbers)) {
    if (stop()) return kernels::RunStopped();
    if (index < 0 || index >= c.batch) return ctx.ErrorOf(Code::kOutOfRange, numbers, "needs numbers in [0, ", c.batch, "), found ", index);
  }
  const auto ends = ctx.in<float>(corners);
  for (size_t i = 0; i < ends.size(); ++i) {
    if (stop()) return kernels::RunStopped();
    if (!std::isfinite(ends[i])) return ctx.Error(corners, "needs finite numbers, found ", ends[i], " in box ", i / 4);
  }
  return Boxes{ends.data(), ctx.in<int32_t>(numbers).data()};
}

/// Calls body(i, place) for each pixel of an axis of a crop that lies inside of the picture, until the run is to end.
void ForInside(const CropAxis& axis, float begin, float end, int64_t cost, kernels::StopCheck& stop, auto&& body) {
  for (int64_t i = 0; i < axis.crop; ++i) {
    if (stop(cost)) return;
    const float place = axis.Place(begin, end, i);
    if (axis.Inside(place)) body(i, place);
  }
}
/// The same for both axes: body(row, column, y, x).
void ForInside(const Crops& c, const float* box, kernels::StopCheck& stop, auto&& body) {
  ForInside(c.y, box[0], box[2], 1, stop, [&](int64_t row, float y) {
    ForInside(c.x, box[1], box[3], c.channels, stop, [&](int64_t column, float x) { body(row, column, y, x); });
  });
}

/// One row of a crop.
template <class T>
void CropLine(const Crops& c, const T* picture, const float* box, int64_t row, float* to, kernels::StopCheck& stop) {
  kernels::FillUntilStopped(stop, to, c.x.crop * c.channels, c.outside);
  const float y = c.y.Place(box[0], box[2], row);
  if (!c.y.Inside(y)) return;
  const Between rows(c.y, y);
  const T *top = picture + rows.low * c.line(), *bottom = picture + rows.high * c.line();
  const T* nearest = picture + NearestTo(c.y, y) * c.line();
  ForInside(c.x, box[1], box[3], c.channels, stop, [&](int64_t column, float x) {
    float* const pixel = to + column * c.channels;
    if (c.nearest) {
      const T* from = nearest + NearestTo(c.x, x) * c.channels;
      for (int64_t d = 0; d < c.channels; ++d) pixel[d] = static_cast<float>(from[d]);
      return;
    }
    const Between columns(c.x, x);
    const int64_t left = columns.low * c.channels, right = columns.high * c.channels;
    for (int64_t d = 0; d < c.channels; ++d) {
      const float above = static_cast<float>(top[left + d]), below = static_cast<float>(bottom[left + d]);
      const float upper = above + (static_cast<float>(top[right + d]) - above) * columns.share;
      const float lower = below + (static_cast<float>(bottom[right + d]) - below) * columns.share;
      pixel[d] = upper + (lower - upper) * rows.share;
    }
  });
}

constexpr auto RunCrops = []<class T>(const Crops& c, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const Boxes b, BoxesOf(c, ctx, boxes, box_ind));
  const auto to = ctx.out<float>(crops);
  if (to.empty()) return {};
  const T* pictures = ctx.in<T>(image).data();
  const int64_t line = c.x.crop * c.channels;
  kernels::ForEach(ctx.workers(), c.boxes * c.y.crop, std::max<int64_t>(1, 8192 / line), [&](int64_t row, kernels::StopCheck& stop) {
    const int64_t box = row / c.y.crop;
    CropLine(c, pictures + b.pictures[box] * c.picture(), b.of(box), row % c.y.crop, to.data() + row * line, stop);
  });
  return {};
};

/// Adds the gradient of one crop to that of its picture.
template <class A>
void AddCrop(const Crops& c, const float* from, const float* box, A* picture, kernels::StopCheck& stop) {
  ForInside(c, box, stop, [&](int64_t row, int64_t column, float y, float x) {
    const float* grad = from + (row * c.x.crop + column) * c.channels;
    auto add = [&](int64_t h, int64_t w, A share) {
      A* pixel = picture + h * c.line() + w * c.channels;
      for (int64_t d = 0; d < c.channels; ++d) pixel[d] += share * static_cast<A>(grad[d]);
    };
    if (c.nearest) return add(NearestTo(c.y, y), NearestTo(c.x, x), A(1));
    const Between rows(c.y, y), columns(c.x, x);
    const A down = static_cast<A>(rows.share), across = static_cast<A>(columns.share);
    add(rows.low, columns.low, (A(1) - down) * (A(1) - across));
    add(rows.low, columns.high, (A(1) - down) * across);
    add(rows.high, columns.low, down * (A(1) - across));
    add(rows.high, columns.high, down * across);
  });
}

/// A task is a picture with all its boxes, in their order.
constexpr auto RunImageGradient = []<class T>(const Crops& c, RunContext& ctx) -> Status {
  using A = Accumulator<T>;
  WEFT_ASSIGN_OR_RETURN(const Boxes b, BoxesOf(c, ctx, boxes, box_ind));
  const auto to = ctx.out<T>(image_grad);
  if (to.empty()) return {};
  A* sums;
  if constexpr (std::is_same_v<A, T>) sums = to.data();
  else sums = ctx.scratch<A>().data();
  const float* from = ctx.in<float>(grads).data();
  const int64_t size = c.picture();
  ctx.workers().For(c.batch, std::max<int64_t>(1, 32768 / size), [&](int64_t begin, int64_t end) {
    kernels::FillLong(ctx.workers(), sums + begin * size, (end - begin) * size, A(0));
    kernels::StopCheck stop(ctx.workers());
    for (int64_t box = 0; box < c.boxes && !stop(); ++box) {
      const int64_t picture = b.pictures[box];
      if (picture >= begin && picture < end) AddCrop(c, from + box * c.crop(), b.of(box), sums + picture * size, stop);
    }
    if (stop(0)) return;
    if constexpr (!std::is_same_v<A, T>) {
      for (int64_t i = begin * size; i < end * size; ++i) to[static_cast<size_t>(i)] = static_cast<T>(sums[i]);
    }
  });
  return {};
};

/// What a shift of place in the picture, times `grad`, does to the two ends of a box.
void AddToEnds(const CropAxis& axis, int64_t i, double grad, double& begin, double& end) {
  const double last = static_cast<double>(axis.image - 1), share = axis.crop > 1 ? static_cast<double>(i) / static_cast<double>(axis.crop - 1) : 0.5;
  begin += grad * last * (1 - share);
  end += grad * last * share;
}

template <class T>
void BoxGradient(const Crops& c, const float* grad, const T* picture, const float* box, float* to, kernels::StopCheck& stop) {
  double ends[4] = {};
  ForInside(c, box, stop, [&](int64_t row, int64_t column, float y, float x) {
    const Between rows(c.y, y), columns(c.x, x);
    const T *top = picture + rows.low * c.line(), *bottom = picture + rows.high * c.line();
    const int64_t left = columns.low * c.channels, right = columns.high * c.channels;
    const float* from = grad + (row * c.x.crop + column) * c.channels;
    double down = 0, across = 0;
    for (int64_t d = 0; d < c.channels; ++d) {
      const auto a = static_cast<double>(top[left + d]), b = static_cast<double>(top[right + d]);
      const auto e = static_cast<double>(bottom[left + d]), f = static_cast<double>(bottom[right + d]);
      down += ((e - a) * (1.0 - static_cast<double>(columns.share)) + (f - b) * static_cast<double>(columns.share)) * static_cast<double>(from[d]);
      across += ((b - a) * (1.0 - static_cast<double>(rows.share)) + (f - e) * static_cast<double>(rows.share)) * static_cast<double>(from[d]);
    }
    AddToEnds(c.y, row, down, ends[0], ends[2]);
    AddToEnds(c.x, column, across, ends[1], ends[3]);
  });
  for (int i = 0; i < 4; ++i) to[i] = static_cast<float>(ends[i]);
}

constexpr auto RunBoxesGradient = []<class T>(const Crops& c, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const Boxes b, BoxesOf(c, ctx, cut_boxes, cut_box_ind));
  const T* pictures = ctx.in<T>(cut_image).data();
  const float* from = ctx.in<float>(grads).data();
  float* to = ctx.out<float>(boxes_grad).data();
  if (c.crop() == 0) {  // however many pixels without channels there are
    std::fill_n(to, c.boxes * 4, 0.0f);
    return {};
  }
  kernels::ForEach(ctx.workers(), c.boxes, std::max<int64_t>(1, 4096 / std::max<int64_t>(c.crop(), 1)), [&](int64_t box, auto& stop) {
    BoxGradient(c, from + box * c.crop(), pictures + b.pictures[box] * c.picture(), b.of(box), to + box * 4, stop);
  });
  return {};
};

/// The gradient of the boxes is that of mixed pixels, whatever the method was.
Status CropGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(crops), pictures = g.in(image);
  if (g.wanted(image) && IsFloating(g.dtype(pictures)) && g.dtype(pictures) != DType::kBFloat16) {
    const GradientValue sizes = g.Add("Shape", {{"input", {pictures}}});
    g.Set(image, g.Add("CropAndResizeGradImage", {{"grads", {grad}}, {"boxes", {g.in(boxes)}}, {"box_ind", {g.in(box_ind)}}, {"image_size", {sizes}}},
                       {{"T", AttrValue(g.dtype(pictures))}, {"method", g.AttrOf("method")}}));
  }
  if (g.wanted(boxes)) {
    g.Set(boxes, g.Add("CropAndResizeGradBoxes",
                       {{"grads", {grad}}, {"image", {pictures}}, {"boxes", {g.in(boxes)}}, {"box_ind", {g.in(box_ind)}}}));
  }
  return {};
}

}  // namespace

BlockDef CropAndResize() {
  return Block("CropAndResize", "Boxes cut out of pictures and brought to one size.")
      .Details("A box whose top is below its bottom is cut upside down; a crop of one pixel is the centre of its box.")
      .Ports(image, boxes, box_ind, crop_size, crops)
      .Types("T", kReals)
      .Attrs(method, extrapolation_value)
      .ShapedBy(crop_size)
      .Gradient(CropGradient)
      .Kernel(PlanCrops, RunCrops);
}

BlockDef CropAndResizeGradImage() {
  return Block("CropAndResizeGradImage", "The gradient of CropAndResize with respect to the pictures.")
      .Ports(grads, boxes, box_ind, image_size, image_grad)
      .Attrs(image_type, method)
      .Types("T", TypeList<half, float, double>{})
      .ShapedBy(image_size)
      .Kernel(PlanImageGradient, RunImageGradient);
}

BlockDef CropAndResizeGradBoxes() {
  return Block("CropAndResizeGradBoxes", "The gradient of CropAndResize with respect to the boxes.")
      .Ports(grads, cut_image, cut_boxes, cut_box_ind, boxes_grad)
      .Types("T", kReals)
      .Attrs(only_bilinear)
      .Kernel(PlanBoxesGradient, RunBoxesGradient);
}

}  // namespace weft::blocks
