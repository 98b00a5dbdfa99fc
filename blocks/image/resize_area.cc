// ResizeArea: pictures in another size, each pixel the mean of the area that it covers.
#include <algorithm>
#include <cmath>

#include "blocks/image/resized.h"

namespace weft::blocks {
namespace {

constexpr Out<0> resized_images{"resized_images", "DT_FLOAT", kResizedDoc};

/// The input pixels [begin, end) that an output pixel covers, the first and the last in part; places outside are those at the edge.
struct Cover {
  int64_t begin, end;
  float low, high, scale;

  Cover(const kernels::ResizeAxis& axis, int64_t i)
      : low(static_cast<float>(i) * axis.scale), high(static_cast<float>(i + 1) * axis.scale), scale(axis.scale) {
    begin = static_cast<int64_t>(std::floor(low));
    end = static_cast<int64_t>(std::ceil(high));
  }
  float ShareOf(int64_t at) const {
    const auto left = static_cast<float>(at), right = static_cast<float>(at + 1);
    if (left < low) return right > high ? scale : right - low;
    return right > high ? high - left : 1.0f;
  }
};
int64_t Inside(int64_t at, int64_t count) { return std::clamp<int64_t>(at, 0, count - 1); }

constexpr auto Plan = [](PlanContext& ctx) { return PlanResized(ctx, resized_images, false); };

/// Some neighbouring channels of one output pixel, whose sums need not wait for one another. `from` is the first of the picture's.
template <int kCount, class T>
void Average(const kernels::ResizePlan& plan, const Cover& down, const Cover& across, float scale, const T* from, float* to, kernels::StopCheck& stop) {
  const T* const first = from + Inside(across.begin, plan.x.in) * plan.channels;
  const T* const last = from + Inside(across.end - 1, plan.x.in) * plan.channels;
  const float first_share = across.ShareOf(across.begin), last_share = across.ShareOf(across.end - 1);
  float sums[kCount] = {};
  for (int64_t y = down.begin; y < down.end; ++y) {
    if (stop(across.end - across.begin)) return;
    const int64_t line = Inside(y, plan.y.in) * plan.in_line();
    const float share = down.ShareOf(y);
    float row[kCount];
    for (int c = 0; c < kCount; ++c) row[c] = static_cast<float>(first[line + c]) * first_share;
    const T* at = first + line;
    for (int64_t x = across.begin + 1; x < across.end - 1; ++x) {
      if (x < plan.x.in) at += plan.channels;
      for (int c = 0; c < kCount; ++c) row[c] += static_cast<float>(at[c]);
    }
    if (across.end > across.begin + 1) {
      for (int c = 0; c < kCount; ++c) row[c] += static_cast<float>(last[line + c]) * last_share;
    }
    for (int c = 0; c < kCount; ++c) sums[c] += row[c] * share;
  }
  for (int c = 0; c < kCount; ++c) to[c] = sums[c] * scale;
}

/// One output pixel.
void AverageAll(const kernels::ResizePlan& plan, const Cover& down, const Cover& across, float scale, const auto* from, float* to,
                kernels::StopCheck& stop) {
  for (int64_t c = 0; c < plan.channels;) {
    const int64_t left = plan.channels - c;
    const auto average = [&]<int kCount>() {
      Average<kCount>(plan, down, across, scale, from + c, to + c, stop);
      c += kCount;
    };
    if (left >= 4) average.template operator()<4>();
    else if (left == 3) average.template operator()<3>();
    else average.template operator()<1>();
  }
}

constexpr auto Run = []<class T>(const kernels::ResizePlan& plan, RunContext& ctx) {
  const auto to = ctx.out<float>(resized_images);
  if (to.empty()) return;
  const T* const from = ctx.in<T>(kPictures).data();
  const auto scale = static_cast<float>(1.0 / static_cast<double>(plan.y.scale * plan.x.scale));
  const int64_t pixels = plan.x.out, covered = static_cast<int64_t>(plan.y.scale + 2) * static_cast<int64_t>(plan.x.scale + 2);
  ctx.workers().For(
      plan.batch * plan.y.out * pixels, std::max<int64_t>(1, 16384 / (covered * plan.channels)), [&](int64_t begin, int64_t end) {
        kernels::StopCheck stop(ctx.workers());
        for (int64_t i = begin; i < end && !stop(); ++i) {
          const int64_t row = i / pixels;
          const Cover down(plan.y, row % plan.y.out), across(plan.x, i % pixels);
          AverageAll(plan, down, across, scale, from + row / plan.y.out * plan.y.in * plan.in_line(), to.data() + i * plan.channels, stop);
        }
      });
};

}  // namespace

BlockDef ResizeArea() {
  return Block("ResizeArea", "Pictures in another size, each pixel the mean of the area that it covers.")
      .Ports(kPictures, kNewSize, resized_images)
      .Types("T", kReals)
      .Attrs(kAlignCorners)
      .ShapedBy(kNewSize)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
