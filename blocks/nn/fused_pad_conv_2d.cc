// FusedPadConv2D and FusedResizeAndPadConv2D: a convolution of pictures that are resized and mirrored at their edges first.
#include "blocks/kernels/image/resize.h"
#include "blocks/limits.h"
#include "blocks/nn/convolution.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "[batch, height, width, in_channels]"};
constexpr Out<0> output{"output", "T", "[batch, out_height, out_width, out_channels]"};
constexpr char kPaddingsDoc[] = "[4, 2]: how much to mirror in front of and behind each axis; 0 for batch and channels";
constexpr char kFilterDoc[] = "[taps down, taps across, in_channels, out_channels]";
constexpr Attr<bool> resize_align_corners{"resize_align_corners", "false",
    "whether the corner pixels of both sizes are the same, rather than their outer edges"};
constexpr Attr<std::string> mode{"mode", kRequired, "SYMMETRIC mirrors the edge with its own pixels, REFLECT without them",
    "REFLECT|SYMMETRIC"};
constexpr Attr<Ints> strides{"strides", kRequired, "steps of the window, one number an axis; 1 for batch and channels"};
constexpr Attr<Padding> padding{"padding", kRequired,
    "of the convolution: SAME pads so that a stride of 1 keeps the size, VALID not at all", "SAME|VALID"};

/// One axis of the pictures that the convolution sees.
struct MirroredAxis {
  int64_t in = 1, resized = 1;  // sizes of the input, and before mirroring
  int64_t before = 0, after = 0;
  int64_t edge = 1;             // 0: the edge itself is mirrored too
  float scale = 1;              // inputs to a resized pixel

  int64_t size() const { return before + resized + after; }
  /// The position in the resized picture, and the inputs around it; `share` is that of `high`.
  struct Sample {
    int64_t low, high;
    float share;
  };
  Sample At(int64_t i) const {
    int64_t at = i - before;
    if (at < 0) at = edge - 1 - at;
    if (at >= resized) at = 2 * resized - 1 - edge - at;
    if (in == resized) return {at, at, 0.0f};
    const kernels::ResizeTaps<2> taps = kernels::LinearTapsAt(static_cast<float>(at) * scale, in);
    return {taps.at[0], taps.at[1], taps.weight[1]};
  }
};

struct Parameters {
  MirroredAxis height, width;
  int64_t batch = 0, channels = 0;
  int64_t padded = 0;  // elements of the pictures that the convolution sees
  kernels::ChosenConv conv;
  std::string implementation() const { return conv.implementation(); }
};

Status ReadMirroring(const PlanContext& ctx, const auto& paddings, MirroredAxis& height, MirroredAxis& width) {
  const Shape& shape = ctx.value(paddings).shape();
  if (shape != Shape{4, 2}) return ctx.Error(paddings, "needs shape [4,2], found ", shape);
  const Ints numbers = ctx.ints(paddings);
  for (int i : {0, 1, 6, 7}) {
    if (numbers[i] != 0) return ctx.Error(paddings, "needs 0 for batch and channels, found ", numbers[i]);
  }
  const bool reflect = ctx.attr(mode) == "REFLECT";
  for (auto [axis, first] : {std::pair(&height, 2), std::pair(&width, 4)}) {
    axis->edge = reflect ? 1 : 0;
    axis->before = numbers[first];
    axis->after = numbers[first + 1];
    if (axis->resized > kernels::kMaxExtent) return ctx.Error(input, "needs sizes that can be counted, found ", axis->resized);
    const int64_t most = std::max<int64_t>(axis->resized - axis->edge, 0);
    if (std::min(axis->before, axis->after) < 0 || std::max(axis->before, axis->after) > most) {
      return ctx.Error(paddings, "needs numbers from 0 to ", most, " for an axis of ", axis->resized, " pixels, found ", axis->before,
                       " and ", axis->after);
    }
  }
  return {};
}

/// Everything but the sizes of the resized pictures, which `p` has.
Result<Parameters> PlanPadded(PlanContext& ctx, Parameters p, const auto& paddings, const auto& filter) {
  const Shape& pictures = ctx.shape(input);
  WEFT_RETURN_IF_ERROR(ReadMirroring(ctx, paddings, p.height, p.width));
  p.batch = pictures[0];
  p.channels = pictures[3];
  const Ints sizes = {p.batch, p.height.size(), p.width.size(), p.channels};
  WEFT_ASSIGN_OR_RETURN(const Shape padded, AtPort(paddings, Shape::Make(sizes)));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(padded, paddings.name));
  const Shape& taps = ctx.shape(filter);
  ConvolutionSettings settings{{2, false}, ctx.attr(strides), {1, 1, 1, 1}, {}, ctx.attr(padding), Code::kInvalidArgument};
  settings.dtype = ctx.dtype(input);
  Shape shape;
  WEFT_ASSIGN_OR_RETURN(p.conv, PlanForward(settings, padded, taps, input.name, filter.name, shape));
  if (p.conv.desc().groups != 1) return ctx.Error(filter, "needs the channels of input, ", p.channels, ", found shape ", taps);
  p.padded = (padded.count() + 31) / 32 * 32;
  ctx.set_scratch(p.padded * static_cast<int64_t>(ElementSize(ctx.dtype(input))) + ConvScratchBytes(p.conv.desc(), ctx.dtype(input)));
  ctx.set(output, std::move(shape));
  return p;
}

template <class T>
void FillPadded(const Parameters& p, const T* in, T* out, Workers& workers) {
  using A = Accumulator<T>;
  const int64_t line = p.width.size() * p.channels;
  workers.For(p.batch * p.height.size(), std::max<int64_t>(1, 16384 / std::max<int64_t>(line, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const MirroredAxis::Sample y = p.height.At(row % p.height.size());
      const T* picture = in + row / p.height.size() * p.height.in * p.width.in * p.channels;
      T* to = out + row * line;
      for (int64_t column = 0; column < p.width.size(); ++column, to += p.channels) {
        const MirroredAxis::Sample x = p.width.At(column);
        auto pixel = [&](int64_t h, int64_t w) { return picture + (h * p.width.in + w) * p.channels; };
        const T *top = pixel(y.low, x.low), *top_right = pixel(y.low, x.high);
        const T *low = pixel(y.high, x.low), *low_right = pixel(y.high, x.high);
        if (y.share == 0 && x.share == 0) {
          std::copy_n(top, p.channels, to);
          continue;
        }
        const A across = static_cast<A>(x.share), down = static_cast<A>(y.share);
        for (int64_t c = 0; c < p.channels; ++c) {
          const A above = static_cast<A>(top[c]) + (static_cast<A>(top_right[c]) - static_cast<A>(top[c])) * across;
          const A below = static_cast<A>(low[c]) + (static_cast<A>(low_right[c]) - static_cast<A>(low[c])) * across;
          to[c] = static_cast<T>(above + (below - above) * down);
        }
      }
    }
  });
}

/// The filter is input number kFilter.
template <int kFilter>
constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const auto to = ctx.out<T>(output);
  if (to.empty()) return;
  T* const padded = ctx.scratch<T>().data();
  FillPadded(p, ctx.in<T>(input).data(), padded, ctx.workers());
  kernels::RunConv(p.conv, padded, ctx.in<T>(In<kFilter>{}).data(), to.data(), reinterpret_cast<Accumulator<T>*>(padded + p.padded),
                   ctx.workers());
};

namespace pad {
constexpr In<1> paddings{"paddings", "DT_INT32", kPaddingsDoc};
constexpr In<2> filter{"filter", "T", kFilterDoc};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& pictures = ctx.shape(input);
  if (pictures.rank() != 4) return ctx.Error(input, "needs rank 4, found shape ", pictures);
  Parameters p;
  p.height.in = p.height.resized = pictures[1];
  p.width.in = p.width.resized = pictures[2];
  return PlanPadded(ctx, p, paddings, filter);
}
}  // namespace pad

namespace resize {
constexpr In<1> size{"size", "DT_INT32", "[2]: height and width that the pictures are resized to"};
constexpr In<2> paddings{"paddings", "DT_INT32", kPaddingsDoc};
constexpr In<3> filter{"filter", "T", kFilterDoc};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape &pictures = ctx.shape(input), &sizes = ctx.value(size).shape();
  if (pictures.rank() != 4) return ctx.Error(input, "needs rank 4, found shape ", pictures);
  if (sizes != Shape{2}) return ctx.Error(size, "needs 2 numbers, found shape ", sizes);
  if (pictures[1] == 0 || pictures[2] == 0) return ctx.Error(input, "needs pictures of at least one pixel, found shape ", pictures);
  const Ints numbers = ctx.ints(size);
  Parameters p;
  for (auto [axis, i] : {std::pair(&p.height, 0), std::pair(&p.width, 1)}) {
    axis->in = pictures[i + 1];
    axis->resized = numbers[i];
    if (axis->resized < 1) return ctx.Error(size, "needs sizes of 1 or more, found ", axis->resized);
    axis->scale = kernels::ResizeScale(axis->in, axis->resized, ctx.attr(resize_align_corners));
  }
  return PlanPadded(ctx, p, paddings, filter);
}
}  // namespace resize

constexpr char kDetails[] = "half and bfloat16 are summed in float.";

}  // namespace

BlockDef FusedPadConv2D() {
  using namespace pad;
  return Block("FusedPadConv2D", "Mirrors pictures at their edges and convolves them with a filter.")
      .Details(kDetails)
      .Ports(input, paddings, filter, output).Types("T", kFloats).Attrs(mode, strides, padding).ShapedBy(paddings)
      .Kernel(Plan, Run<filter.index>);
}

BlockDef FusedResizeAndPadConv2D() {
  using namespace resize;
  return Block("FusedResizeAndPadConv2D", "Resizes pictures bilinearly, mirrors them at their edges and convolves them with a filter.")
      .Details(kDetails)
      .Ports(input, size, paddings, filter, output).Types("T", TypeList<half, float, double>{})
      .Attrs(resize_align_corners, mode, strides, padding).ShapedBy(size, paddings)
      .Kernel(Plan, Run<filter.index>);
}

}  // namespace weft::blocks
