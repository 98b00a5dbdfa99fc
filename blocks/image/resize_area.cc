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

/// The sum of what `across` covers of one row, from `from` on, in one channel.
float SumRow(const kernels::ResizePlan& plan, const Cover& across, const auto* from) {
  auto at = [&](int64_t x) { return static_cast<float>(from[Inside(x, plan.x.in) * plan.channels]); };
  float sum = at(across.begin) * across.ShareOf(across.begin);
  if (across.begin + 1 == across.end) return sum;
  for (int64_t x = across.begin + 1; x < across.end - 1; ++x) sum += at(x);
  return sum + at(across.end - 1) * across.ShareOf(across.end - 1);
}

/// One output pixel, all channels.
void Average(const kernels::ResizePlan& plan, const Cover& down, const Cover& across, float scale, const auto* picture, float* to,
             kernels::StopCheck& stop) {
  for (int64_t c = 0; c < plan.channels; ++c) {
    float sum = 0;
    for (int64_t y = down.begin; y < down.end; ++y) {
      if (stop(across.end - across.begin)) return;
      sum += SumRow(plan, across, picture + Inside(y, plan.y.in) * plan.in_line() + c) * down.ShareOf(y);
    }
    to[c] = sum * scale;
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
          Average(plan, down, across, scale, from + row / plan.y.out * plan.y.in * plan.in_line(), to.data() + i * plan.channels, stop);
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
