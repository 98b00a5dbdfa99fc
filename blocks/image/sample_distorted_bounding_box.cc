// SampleDistortedBoundingBox and V2: a random crop of a picture that covers enough of some box, TensorFlow's own for the same seeds. Needs
// -ffp-contract=off, since a fused multiplication and addition rounds once where TensorFlow rounds twice.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "blocks/kernels/random/distributions.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/random/random_stream.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> image_size{"image_size", "T", "[3]: height, width and channels of the picture"};
constexpr In<1> bounding_boxes{"bounding_boxes", "DT_FLOAT",
                               "[batch, boxes, 4]: top, left, bottom, right, from 0 to 1; the crop has to cover enough of one of them"};
constexpr In<2> covered_input{"min_object_covered", "DT_FLOAT", "a scalar: the least part of a box that the crop covers"};
constexpr Out<0> begin{"begin", "T", "[3]: where the crop begins, as Slice takes it"};
constexpr Out<1> size{"size", "T", "[3]: the size of the crop, -1 (all) for the channels"};
constexpr Out<2> bboxes{"bboxes", "DT_FLOAT", "[1, 1, 4]: the crop as a box"};
constexpr Attr<float> min_object_covered{"min_object_covered", "0.1", "the least part of a box that the crop covers"};
constexpr Attr<FloatList> aspect_ratio_range{"aspect_ratio_range", "{0.75,1.33}", "least and greatest width divided by height", nullptr, 2};
constexpr Attr<FloatList> area_range{"area_range", "{0.05,1}", "least and greatest part of the picture that the crop takes", nullptr, 2};
constexpr Attr<int64_t> max_attempts{"max_attempts", "100", "after that many crops in vain it is the whole picture"};
constexpr Attr<bool> use_image{"use_image_if_no_bounding_boxes", "false", "without boxes the picture is the box"};

/// What a sample of the picture must be like.
struct Wishes {
  Seeds seeds;
  float least_aspect, greatest_aspect, least_area, greatest_area;
  float covered;
  int64_t attempts;
};

struct Rectangle {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
  float Area() const { return static_cast<float>((right - left) * (bottom - top)); }
};

Rectangle Common(const Rectangle& a, const Rectangle& b) {
  const Rectangle c{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
  return c.left > c.right || c.top > c.bottom ? Rectangle() : c;
}

struct Picture {
  int64_t height, width;
  std::span<const float> boxes;  // four numbers each; none: the whole picture is the box

  Rectangle Whole() const { return {0, 0, width, height}; }
  /// Cut down to pixels.
  Rectangle Box(size_t i) const {
    auto pixels = [&](size_t corner, int64_t all) { return static_cast<int64_t>(boxes[4 * i + corner] * static_cast<float>(all)); };
    return {pixels(1, width), pixels(0, height), pixels(3, width), pixels(2, height)};
  }
};

/// The nearest integer; numbers too large for a picture become one that is.
int64_t Rounded(float value) { return value < 0x1p31f ? std::lrint(value) : int64_t{1} << 31; }

/// A crop of the wished aspect and area; false where none fits. One row more or less is tried, as rounding may miss the area.
bool DrawCrop(const Wishes& wishes, const Picture& picture, kernels::WordStream& words, Rectangle& crop) {
  const float aspect = kernels::UnitFloat(words()) * (wishes.greatest_aspect - wishes.least_aspect) + wishes.least_aspect;
  if (picture.width <= 0 || picture.height <= 0 || wishes.least_area > wishes.greatest_area) return false;
  const auto rows = static_cast<float>(picture.height), columns = static_cast<float>(picture.width);
  const float least = wishes.least_area * columns * rows, greatest = wishes.greatest_area * columns * rows;
  auto width_for = [&](int64_t height) { return Rounded(static_cast<float>(height) * aspect); };
  auto area_of = [](int64_t height, int64_t width) { return static_cast<float>(height * width); };

  int64_t highest = Rounded(std::sqrt(greatest / aspect));
  if (width_for(highest) > picture.width) {
    const double widest = static_cast<double>(picture.width) + 0.5 - static_cast<double>(1e-7f);
    highest = static_cast<int64_t>(std::min(widest / static_cast<double>(aspect), 0x1p31));
  }
  highest = std::min(highest, picture.height);
  int64_t height = std::min(Rounded(std::sqrt(least / aspect)), highest);
  if (height < highest) height += words() % static_cast<uint32_t>(highest - height + 1);
  int64_t width = width_for(height);
  if (area_of(height, width) < least) width = width_for(++height);
  if (area_of(height, width) > greatest) width = width_for(--height);
  const float area = area_of(height, width);
  if (!(area >= least && area <= greatest) || width > picture.width || height > picture.height || width <= 0 || height <= 0) return false;

  const int64_t free_rows = picture.height - height, free_columns = picture.width - width;
  crop.top = free_rows > 0 ? words() % static_cast<uint32_t>(free_rows) : 0;
  crop.left = free_columns > 0 ? words() % static_cast<uint32_t>(free_columns) : 0;
  crop.bottom = crop.top + height;
  crop.right = crop.left + width;
  return true;
}

bool CoversEnough(const Rectangle& crop, const Picture& picture, float covered, kernels::StopCheck& stop) {
  auto enough = [&](const Rectangle& box) { return box.Area() >= 1 && Common(crop, box).Area() / box.Area() >= covered; };
  if (crop.Area() < 1) return false;
  if (picture.boxes.empty()) return enough(picture.Whole());
  for (size_t i = 0; i < picture.boxes.size() / 4 && !stop(); ++i) {
    if (enough(picture.Box(i))) return true;
  }
  return false;
}

Rectangle Sample(const Wishes& wishes, const Picture& picture, RunContext& ctx) {
  kernels::WordStream words(ctx.state<RandomStream>().ReserveGroups(static_cast<uint64_t>(wishes.attempts)));
  Rectangle crop;
  constexpr int64_t kItems = 32;  // that drawing a crop takes as long as
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < wishes.attempts && !stop(kItems); ++i) {
    if (DrawCrop(wishes, picture, words, crop) && CoversEnough(crop, picture, wishes.covered, stop)) return crop;
  }
  return picture.Whole();
}

// ---- the blocks --------------------------------------------------------------------------------------------------------------

/// V2 has min_object_covered as an input.
template <bool kV2>
Result<Wishes> Plan(PlanContext& ctx) {
  if (kV2 && !ctx.shape(covered_input).scalar()) return ctx.Error(covered_input, "needs a scalar, found shape ", ctx.shape(covered_input));
  const Shape &sizes = ctx.shape(image_size), &boxes = ctx.shape(bounding_boxes);
  if (sizes != Shape{3}) return ctx.Error(image_size, "needs 3 numbers, height, width and channels, found shape ", sizes);
  if (boxes.rank() != 3 || boxes[2] != 4) return ctx.Error(bounding_boxes, "needs shape [batch, boxes, 4], found ", boxes);
  if (boxes.count() == 0 && !ctx.attr(use_image)) {
    return ctx.Error(bounding_boxes, "needs a box (or use_image_if_no_bounding_boxes_ = true), found shape ", boxes);
  }
  const FloatList aspects = ctx.attr(aspect_ratio_range), areas = ctx.attr(area_range);
  if (aspects.size() != 2 || !(aspects[0] > 0 && aspects[0] <= FLT_MAX) || !(aspects[1] > 0 && aspects[1] <= FLT_MAX)) {
    return ctx.Error(aspect_ratio_range, "needs two finite numbers above 0");
  }
  if (areas.size() != 2 || !(areas[0] > 0 && areas[0] <= 1) || !(areas[1] > 0 && areas[1] <= 1)) {
    return ctx.Error(area_range, "needs two numbers above 0 and not above 1");
  }
  const int64_t attempts = ctx.attr(max_attempts);
  if (attempts < 1 || attempts > INT32_MAX) return ctx.Error(max_attempts, "needs a number from 1 to ", INT32_MAX, ", found ", attempts);
  const float covered = kV2 ? 0 : ctx.attr(min_object_covered);
  if (!(covered >= 0)) return ctx.Error(min_object_covered, "needs a number of 0 or more, found ", covered);
  ctx.set(begin, Shape{3});
  ctx.set(size, Shape{3});
  ctx.set(bboxes, Shape{1, 1, 4});
  return Wishes{SeedsOf(ctx), aspects[0], aspects[1], areas[0], areas[1], covered, attempts};
}

Status ReadPicture(RunContext& ctx, int64_t height, int64_t width, Picture& picture) {
  for (int64_t side : {height, width}) {
    if (side < 0 || side >= INT32_MAX) return ctx.Error(image_size, "needs sizes from 0 to ", INT32_MAX - 1, ", found ", side);
  }
  picture = {height, width, ctx.in<float>(bounding_boxes)};
  kernels::StopCheck stop(ctx.workers());
  for (float corner : picture.boxes) {
    if (stop()) return kernels::RunStopped();
    if (!(corner >= 0 && corner <= 1)) return ctx.Error(bounding_boxes, "needs numbers from 0 to 1, found ", corner);
  }
  return {};
}

template <bool kV2>
constexpr auto Run = []<class T>(const Wishes& planned, RunContext& ctx) -> Status {
  Wishes wishes = planned;
  if constexpr (kV2) wishes.covered = ctx.in<float>(covered_input)[0];
  if (!(wishes.covered >= 0)) return ctx.Error(covered_input, "needs a number of 0 or more, found ", wishes.covered);
  const auto sizes = ctx.in<T>(image_size);
  Picture picture;
  // An unsigned size beyond 63 bits is negative here, and refused.
  WEFT_RETURN_IF_ERROR(ReadPicture(ctx, static_cast<int64_t>(sizes[0]), static_cast<int64_t>(sizes[1]), picture));
  const Rectangle crop = Sample(wishes, picture, ctx);
  const int64_t begins[] = {crop.top, crop.left, 0}, extents[] = {crop.bottom - crop.top, crop.right - crop.left, -1};
  for (size_t i = 0; i < 3; ++i) {
    ctx.out<T>(begin)[i] = static_cast<T>(begins[i]);
    ctx.out<T>(size)[i] = static_cast<T>(extents[i]);
  }
  const auto box = ctx.out<float>(bboxes);
  const auto rows = static_cast<float>(picture.height), columns = static_cast<float>(picture.width);
  box[0] = static_cast<float>(crop.top) / rows;
  box[1] = static_cast<float>(crop.left) / columns;
  box[2] = static_cast<float>(crop.bottom) / rows;
  box[3] = static_cast<float>(crop.right) / columns;
  return {};
};

}  // namespace

BlockDef SampleDistortedBoundingBox() {
  return Block("SampleDistortedBoundingBox", "A random crop of a picture that covers a part of one of its boxes.")
      .Details(kStreamDetails)
      .Ports(image_size, bounding_boxes, begin, size, bboxes)
      .Types("T", kIntegers)
      .Attrs(kSeed, kSeed2, min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image)
      .NotDifferentiable()
      .Kernel(Plan<false>, Run<false>, kBindStream);
}

BlockDef SampleDistortedBoundingBoxV2() {
  return Block("SampleDistortedBoundingBoxV2", "A random crop of a picture that covers a part of one of its boxes.")
      .Details(kStreamDetails)
      .Ports(image_size, bounding_boxes, covered_input, begin, size, bboxes)
      .Types("T", kIntegers)
      .Attrs(kSeed, kSeed2, aspect_ratio_range, area_range, max_attempts, use_image)
      .NotDifferentiable()
      .Kernel(Plan<true>, Run<true>, kBindStream);
}

}  // namespace weft::blocks
