// What the batch normalisation blocks share: sizes and layouts, scratch arrays by channel, and sweeps over all tasks.
#pragma once

#include "blocks/kernels/channel_statistics.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// The types of x; statistics, scale and offset are always float.
inline constexpr TypeList<half, bfloat16, float> kNormTypes;
inline constexpr TypeList<float> kFloatOnly;

inline constexpr int64_t kNormTaskElements = 32 * 1024;

inline bool ChannelsFirst(Layout layout) { return layout == Layout::NCHW || layout == Layout::NCDHW; }

/// `shape` is that of `port`, of rank 4 or 5.
inline Result<kernels::ChannelBox> NormBox(const Shape& shape, Layout layout, const char* port) {
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, port));
  const int axis = ChannelsFirst(layout) ? 1 : shape.rank() - 1;
  if (shape.count() == 0) return kernels::ChannelBox{0, shape[axis], 1};
  return kernels::ChannelBox{shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

/// A group of channels that takes no more than this, all inputs counted, stays in a core's second-level cache from one pass to the next.
inline constexpr int64_t kNormGroupBytes = 1 << 20, kNormChannelBytes = 7 << 18;

/// How a normalisation of `bytes` an element, all inputs counted, is cut. In training, channels that lie in runs are done group by group
/// (`in_groups`) where there are enough of them and each is small enough: cut.tiles groups, each from the first pass to the last.
struct NormCut {
  kernels::ChannelCut cut;
  bool in_groups = false;

  NormCut() = default;
  NormCut(const kernels::ChannelBox& box, int64_t bytes, bool training)
      : cut(kernels::CutChannels(box, kernels::kLanes<float>, kNormTaskElements)) {
    const int64_t channel = box.per_channel();
    in_groups = training && cut.runs && box.channels >= 8 && channel * bytes <= kNormChannelBytes;
    if (!in_groups) return;
    const int64_t most = std::max(kNormGroupBytes / bytes, kNormTaskElements);
    cut = kernels::CutRuns(box, kNormTaskElements, std::clamp(box.count() / 16, kNormTaskElements, most) / channel + 1);
  }
};

/// That a port has one element for each channel.
template <InputPort P>
Status CheckPerChannel(const PlanContext& ctx, const P& port, int64_t channels) {
  const Shape& shape = ctx.shape(port);
  if (shape.rank() == 1 && shape[0] == channels) return {};
  return ctx.Error(port, "needs one element for each channel, [", channels, "], found ", shape);
}

/// Float arrays in a block's scratch memory, sized when it is planned: first the partial sums of blocks, then a value for each position.
class NormScratch {
 public:
  NormScratch() = default;
  NormScratch(const kernels::ChannelCut& cut, int sums, int parameters)
      : partials_(cut.partials()), stride_((cut.width + 15) / 16 * 16), sums_(sums), parameters_(parameters) {}
  int64_t bytes() const { return static_cast<int64_t>(sizeof(float)) * (ParameterStart() + parameters_ * stride_); }

  float* sum(RunContext& ctx, int i) const { return ctx.scratch<float>().data() + i * partials_; }
  float* parameter(RunContext& ctx, int i) const { return ctx.scratch<float>().data() + ParameterStart() + i * stride_; }

 private:
  int64_t ParameterStart() const { return (sums_ * partials_ + 15) / 16 * 16; }
  int64_t partials_ = 0, stride_ = 0;
  int sums_ = 0, parameters_ = 0;
};

/// Writes a channel's value at each of its positions.
inline void SetChannel(const kernels::ChannelCut& cut, float* parameter, int64_t channel, double value) {
  const int64_t fold = cut.runs ? 1 : cut.fold;
  for (int64_t i = 0; i < fold; ++i) parameter[channel * fold + i] = static_cast<float>(value);
}

/// Calls body(task) for each task. Backwards where an earlier pass went forwards: the end of the data is still in the cache.
template <class Body>
void ForTasks(RunContext& ctx, const kernels::ChannelCut& cut, bool backwards, Body&& body) {
  const int64_t tasks = cut.tasks();
  ctx.workers().For(tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) body(backwards ? tasks - 1 - task : task);
  });
}

/// Calls body(first, end) for all channels, at most kMergeChannels at a time.
template <class Body>
void ForChannels(RunContext& ctx, const kernels::ChannelCut& cut, Body&& body) {
  const int64_t channels = cut.box.channels, each = std::max<int64_t>(1, cut.blocks * cut.fold);
  const int64_t grain = std::max<int64_t>(1, kNormTaskElements / (each * kernels::kMergeChannels)) * kernels::kMergeChannels;
  ctx.workers().For(channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; c += kernels::kMergeChannels) body(c, std::min<int64_t>(end, c + kernels::kMergeChannels));
  });
}

/// Two passes over memory with something between them: first(task) and last(task) for all tasks, finish(first, end) for all channels. Where
/// groups of channels are done one after another, the last pass of each finds its inputs in the cache.
template <class First, class Finish, class Last>
void TwoPasses(RunContext& ctx, const NormCut& norm, First&& first_pass, Finish&& finish, Last&& last_pass) {
  const kernels::ChannelCut& cut = norm.cut;
  if (!norm.in_groups) {
    ForTasks(ctx, cut, false, first_pass);
    ForChannels(ctx, cut, finish);
    return ForTasks(ctx, cut, true, last_pass);
  }
  ctx.workers().For(cut.tiles, 1, [&](int64_t begin, int64_t end_group) {
    for (int64_t group = begin; group < end_group; ++group) {
      for (int64_t block = 0; block < cut.blocks; ++block) first_pass(block * cut.tiles + group);
      const int64_t end = std::min(cut.width, (group + 1) * cut.tile);
      for (int64_t c = group * cut.tile; c < end; c += kernels::kMergeChannels) {
        finish(c, std::min<int64_t>(end, c + kernels::kMergeChannels));
      }
      for (int64_t block = cut.blocks; block-- > 0;) last_pass(block * cut.tiles + group);
    }
  });
}

/// Whether an output goes past the cache: where it is large. Short runs after which the cache is needed again gain nothing by it.
inline bool StreamsNorm(const NormCut& norm, int64_t element) {
  const kernels::ChannelBox& box = norm.cut.box;
  return box.count() * element >= kernels::kStreamBytes && !(norm.in_groups && box.inner * element % 64 != 0);
}

inline double ReciprocalDeviation(double variance, float epsilon) { return 1.0 / std::sqrt(variance + static_cast<double>(epsilon)); }

}  // namespace weft::blocks
