// QuantizedResizeBilinear: pictures of quantized integers in another size, mixed by integer arithmetic.
#include <algorithm>
#include <cmath>

#include "blocks/image/resized.h"
#include "blocks/quantized.h"

namespace weft::blocks {
namespace {

constexpr RangeIn<2> range{"min", "max"};
constexpr Out<0> resized_images{"resized_images", "T", kResizedDoc};
constexpr RangeOut out_range{"out_min", "out_max"};
constexpr Attr<bool> half_pixel_centers{"half_pixel_centers", "false",
                                        "whether the place of a pixel is its centre, rather than its lower edge"};

Result<kernels::ResizePlan> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, range));
  return PlanResized(ctx, resized_images, ctx.attr(half_pixel_centers));
}

/// How two values are mixed: in fixed point of `kBits` bits, or, of floats, as they are.
template <class T>
struct Mixing {
  using Wide = int64_t;
  static constexpr int kBits = std::is_same_v<T, uint8_t> ? 7 : 30;
};
template <>
struct Mixing<float> {
  using Wide = float;
  static constexpr int kBits = 0;
};

/// The two pixels round a place, and the share of the second.
template <class T>
struct Pair {
  int64_t lower, upper;
  typename Mixing<T>::Wide share;

  Pair(const kernels::ResizeAxis& axis, int64_t i) {
    const auto index = static_cast<float>(i);
    const float place = axis.half_pixel_centers ? (index + 0.5f) * axis.scale - 0.5f : index * axis.scale, floor = std::floor(place);
    upper = std::min(static_cast<int64_t>(std::ceil(place)), axis.in - 1);
    lower = std::min(std::max(static_cast<int64_t>(floor), int64_t{0}), upper);
    share = static_cast<typename Mixing<T>::Wide>((place - floor) * static_cast<float>(1 << Mixing<T>::kBits));
  }
};

/// Divisions cut towards 0, as TensorFlow's.
template <class T>
T Mixed(T top_left, T top_right, T bottom_left, T bottom_right, const Pair<T>& y, const Pair<T>& x) {
  using Wide = typename Mixing<T>::Wide;
  constexpr Wide kOne = Wide{1 << Mixing<T>::kBits};
  auto wide = [](T value) { return static_cast<Wide>(value); };
  const Wide top = wide(top_left) * kOne + (wide(top_right) - wide(top_left)) * x.share;
  const Wide bottom = wide(bottom_left) * kOne + (wide(bottom_right) - wide(bottom_left)) * x.share;
  const Wide mixed = top + (bottom - top) / kOne * y.share;
  if constexpr (std::is_same_v<T, float>) return mixed;
  else return T(static_cast<int32_t>((mixed + kOne / 2) / kOne));
}

template <class T>
void ResizeRow(const kernels::ResizePlan& plan, const T* picture, int64_t row, T* to, kernels::StopCheck& stop) {
  const Pair<T> y(plan.y, row);
  const T *above = picture + y.lower * plan.in_line(), *below = picture + y.upper * plan.in_line();
  for (int64_t column = 0; column < plan.x.out && !stop(plan.channels); ++column) {
    const Pair<T> x(plan.x, column);
    const int64_t left = x.lower * plan.channels, right = x.upper * plan.channels;
    for (int64_t c = 0; c < plan.channels; ++c) *to++ = Mixed(above[left + c], above[right + c], below[left + c], below[right + c], y, x);
  }
}

constexpr auto Run = []<class T>(const kernels::ResizePlan& plan, RunContext& ctx) {
  SetRange(ctx, out_range, RangeOf(ctx, range));
  const auto to = ctx.out<T>(resized_images);
  if (to.empty()) return;
  const T* const from = ctx.in<T>(kPictures).data();
  if (plan.y.in == plan.y.out && plan.x.in == plan.x.out) {
    return kernels::CopyLong(ctx.workers(), from, to.data(), static_cast<int64_t>(to.size()));
  }
  ctx.workers().For(plan.batch * plan.y.out, std::max<int64_t>(1, 8192 / plan.out_line()), [&](int64_t begin, int64_t end) {
    kernels::StopCheck stop(ctx.workers());
    for (int64_t row = begin; row < end && !stop(); ++row) {
      ResizeRow(plan, from + row / plan.y.out * plan.y.in * plan.in_line(), row % plan.y.out, to.data() + row * plan.out_line(), stop);
    }
  });
};

}  // namespace

BlockDef QuantizedResizeBilinear() {
  return Block("QuantizedResizeBilinear", "Pictures of quantized integers in another size, each pixel mixed of the four round its place.")
      .Details("The range stays.")
      .Ports(kPictures, kNewSize, range.min, range.max, resized_images, out_range.min, out_range.max)
      .Types("T", TypeList<quint8, qint32, float>{})
      .Attrs(kAlignCorners, half_pixel_centers)
      .ShapedBy(kNewSize)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
