// What the batch normalisation blocks share: sizes and layouts, scratch arrays by channel, and sweeps over all tasks.
#pragma once

#include <Eigen/Core>

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

/// How a normalisation of `bytes` an element, all inputs counted, is cut; `sums`: whether any pass makes sums. In training, channels of
/// which each has planes of its own are done group by group (`in_groups`) where there are enough of them and each is small enough:
/// cut.tiles groups, each from the first pass to the last.
struct NormCut {
  kernels::ChannelCut cut;
  bool in_groups = false;

  NormCut() = default;
  NormCut(const kernels::ChannelBox& box, int64_t bytes, bool training, bool sums)
      : cut(kernels::CutChannels(box, kernels::kLanes<float>, kNormTaskElements, sums)) {
    const int64_t channel = box.per_channel();
    if (!training || box.channels < 8 || channel == 0) return;
    if (!cut.runs) {
      in_groups = box.inner > 1 && cut.tiles > 1 && cut.tile * channel * bytes <= kNormChannelBytes;
    } else if (channel * bytes <= kNormChannelBytes) {
      in_groups = true;
      const int64_t most = std::max(kNormGroupBytes / bytes, kNormTaskElements);
      cut = kernels::CutRuns(box, kNormTaskElements, std::clamp(box.count() / 16, kNormTaskElements, most) / channel + 1);
    }
  }
};

/// That a port has one element for each channel.
template <InputPort P>
Status CheckPerChannel(const PlanContext& ctx, const P& port, int64_t channels) {
  const Shape& shape = ctx.shape(port);
  if (shape.rank() == 1 && shape[0] == channels) return {};
  return ctx.Error(port, "needs one element for each channel, [", channels, "], found ", shape);
}

/// Float arrays in a block's scratch memory, sized when it is planned: first the partial sums of blocks, then a value for each channel.
class NormScratch {
 public:
  NormScratch() = default;
  NormScratch(const kernels::ChannelCut& cut, int sums, int parameters)
      : partials_(cut.partials()), stride_((cut.box.channels + 15) / 16 * 16), sums_(sums), parameters_(parameters) {}
  int64_t bytes() const { return static_cast<int64_t>(sizeof(float)) * (ParameterStart() + parameters_ * stride_); }

  float* sum(RunContext& ctx, int i) const { return ctx.scratch<float>().data() + i * partials_; }
  float* parameter(RunContext& ctx, int i) const { return ctx.scratch<float>().data() + ParameterStart() + i * stride_; }

 private:
  int64_t ParameterStart() const { return (sums_ * partials_ + 15) / 16 * 16; }
  int64_t partials_ = 0, stride_ = 0;
  int sums_ = 0, parameters_ = 0;
};

/// Calls body(task) for each task. Backwards where an earlier pass went forwards: what a thread had last is still in its cache. Each thread
/// begins with a range of neighbouring tasks (Workers give them so), and goes through that one backwards.
template <class Body>
void ForTasks(RunContext& ctx, const kernels::ChannelCut& cut, bool backwards, Body&& body) {
  const int64_t tasks = cut.tasks(), ranges = std::min<int64_t>(ctx.workers().threads(), tasks);
  ctx.workers().For(tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t range = ((task + 1) * ranges - 1) / tasks;
      body(backwards ? tasks * range / ranges + tasks * (range + 1) / ranges - 1 - task : task);
    }
  });
}

/// Calls body(first, end) for the channels [first, end), at most kMergeChannels at a time.
template <class Body>
void InMerges(int64_t first, int64_t end, Body&& body) {
  for (; first < end; first += kernels::kMergeChannels) body(first, std::min<int64_t>(end, first + kernels::kMergeChannels));
}

/// The same for all channels of which `blocks` partial results are merged; on all threads where that is worth it.
template <class Body>
void ForChannels(RunContext& ctx, int64_t channels, int64_t blocks, Body&& body) {
  constexpr int64_t kTask = 4 * 1024, kRoot = 4, kBlock = 2;  // about the cycles of a task, of a channel's roots and quotients, of a block
  const int64_t merges = DivideUp(channels, kernels::kMergeChannels);
  const int64_t tasks = std::clamp<int64_t>(channels * (blocks * kBlock + kRoot) / kTask, 1, std::max<int64_t>(1, merges));
  const int64_t grain = DivideUp(merges, tasks) * kernels::kMergeChannels;
  ctx.workers().For(channels, grain, [&](int64_t begin, int64_t end) { InMerges(begin, end, body); });
}

/// Two passes over memory with something between them: first(task) and last(task) for all tasks, finish(first, end) for all channels. Where
/// groups of channels are done one after another, the last pass of each finds its inputs in the cache.
template <class First, class Finish, class Last>
void TwoPasses(RunContext& ctx, const NormCut& norm, First&& first_pass, Finish&& finish, Last&& last_pass) {
  const kernels::ChannelCut& cut = norm.cut;
  if (!norm.in_groups) {
    ForTasks(ctx, cut, false, first_pass);
    ForChannels(ctx, cut.box.channels, cut.blocks, finish);
    return ForTasks(ctx, cut, true, last_pass);
  }
  ctx.workers().For(cut.tiles, 1, [&](int64_t begin, int64_t end_group) {
    for (int64_t group = begin; group < end_group; ++group) {
      for (int64_t block = 0; block < cut.blocks; ++block) first_pass(block * cut.tiles + group);
      InMerges(group * cut.tile, std::min(cut.box.channels, (group + 1) * cut.tile), finish);
      for (int64_t block = cut.blocks; block-- > 0;) last_pass(block * cut.tiles + group);
    }
  });
}

/// Whether an output goes past the cache: where it is large. Short runs after which the cache is needed again gain nothing by it.
inline bool StreamsNorm(const NormCut& norm, int64_t element) {
  const kernels::ChannelBox& box = norm.cut.box;
  return box.count() * element >= kernels::kStreamBytes && !(norm.in_groups && norm.cut.runs && box.inner * element % 64 != 0);
}

/// How far the next group's elements are from a group's own: the last pass of one, which waits for its stores, fetches what the first pass
/// of the next will read. 0 where there are no groups.
inline int64_t NextGroup(const NormCut& norm) { return norm.in_groups ? norm.cut.tile * norm.cut.box.inner : 0; }

/// to[i] = 1 / sqrt(variance[i] + epsilon), several at a time.
template <class S>
void ReciprocalDeviations(const S* variance, int64_t count, float epsilon, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(variance[i]) + static_cast<double>(epsilon);
  Eigen::Map<Eigen::ArrayXd> all(to, count);
  all = all.sqrt().inverse();
}

}  // namespace weft::blocks
