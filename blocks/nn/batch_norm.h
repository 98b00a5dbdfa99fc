// What the batch normalisation blocks share: sizes and layouts, scratch arrays by channel, and sweeps over all tasks.
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "blocks/kernels/channel/moments.h"
#include "blocks/kernels/simd/math_parts.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// The types of x in each version; statistics, scale and offset are always float.
inline constexpr TypeList<float> kFloatOnly;
template <int kVersion>
inline constexpr std::conditional_t<kVersion == 1, TypeList<float>, TypeList<half, bfloat16, float>> kNormTypesOf;

inline constexpr int64_t kNormTaskElements = 32 * 1024;

inline bool ChannelsFirst(Layout layout) { return layout == Layout::NCHW || layout == Layout::NCDHW; }

/// That the port has the rank of the layout.
Status CheckNormRank(const PlanContext& ctx, const InputPort auto& port, Layout layout) {
  const int rank = layout == Layout::NDHWC || layout == Layout::NCDHW ? 5 : 4;
  if (ctx.shape(port).rank() == rank) return {};
  return ctx.Error(port, "needs rank ", rank, " for ", EnumTexts<Layout>::values[static_cast<int>(layout)], ", found ", ctx.shape(port));
}

/// `shape` is that of `port`, of rank 4 or 5.
inline Result<kernels::ChannelBox> NormBox(const Shape& shape, Layout layout, const char* port) {
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, port));
  const int axis = ChannelsFirst(layout) ? 1 : shape.rank() - 1;
  if (shape.count() == 0) return kernels::ChannelBox{0, shape[axis], 1};
  return kernels::ChannelBox{shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

/// Of a second-level cache: a group of channels, all inputs counted, that is about this large stays there beside the next one.
inline constexpr int64_t kNormGroupBytes = 1 << 18;
/// What such a cache keeps from one pass to the next.
inline constexpr int64_t kNormCacheBytes = 7 << 18;
/// A group of short planes has about so much of each input: more than the nearest cache holds, so that many lines are fetched in a row.
inline constexpr int64_t kNormShortBytes = 1 << 16;

/// How a normalisation is cut. In training, channels are done group by group, each from the first pass to the last, where there are enough
/// of them and each is small enough: the last pass finds its inputs in the cache.
struct NormCut {
  kernels::ChannelPartition cut;
  bool in_groups = false;  // a tile of channels is a group; otherwise each pass goes over all
  bool stream = false;     // the output goes past the cache
  bool pipelined = false;  // the last pass over a group and the first over the next are one loop, which reads while stores wait

  NormCut() = default;
  /// `inputs`: how many each pass reads; `sums`: whether any pass makes sums.
  NormCut(const kernels::ChannelBox& box, DType type, int64_t inputs, bool training, bool sums)
      : NormCut(box, static_cast<int64_t>(ElementSize(type)), inputs, training, sums) {
    pipelined = pipelined && type != DType::kBFloat16;  // whose sums alone go by other registers, see kernels::kInterleaved
  }

  std::string implementation() const {
    if (!in_groups) return cut.form();
    return cut.form() + (pipelined ? ", group by group, each with the sums of the next" : ", group by group");
  }

 private:
  /// `element`: bytes of one.
  NormCut(const kernels::ChannelBox& box, int64_t element, int64_t inputs, bool training, bool sums)
      : cut(kernels::PartitionChannels(box, kernels::kLanes<float>, TaskElements(box, element * inputs, training), sums)),
        stream(kernels::IsStreamed(box.count() * element, box.count() * element * inputs)) {
    if (training && box.channels >= 8 && box.per_channel() > 0) CutGroups(element, inputs);
  }

  /// With channels last, a task has partial sums of all channels, which other cores read before the last pass begins. Longer tasks are
  /// faster where there are enough for all threads, but not those that read more than 256 KB.
  static int64_t TaskElements(const kernels::ChannelBox& box, int64_t bytes, bool training) {
    if (!training || box.inner != 1) return kNormTaskElements;
    return std::clamp(box.count() / 48, kNormTaskElements, std::clamp((256 << 10) / bytes, kNormTaskElements, 2 * kNormTaskElements));
  }

  void CutGroups(int64_t element, int64_t inputs) {
    const kernels::ChannelBox& box = cut.box;
    const int64_t channel = box.per_channel() * element * inputs;
    const auto whole_lines = [&](int64_t channels) { return channels * box.inner * element % 64 == 0; };
    const bool planes = !cut.runs && cut.group == 1 && box.inner >= 8 * kernels::kLanes<float>;
    if (cut.runs) {
      if (channel > kNormCacheBytes) return;
      const int64_t most = std::max(kNormGroupBytes / (element * inputs), kNormTaskElements);
      cut = kernels::PartitionRuns(box, kNormTaskElements, std::clamp(box.count() / 16, kNormTaskElements, most) / box.per_channel() + 1);
    } else {
      if (box.inner == 1 || cut.tiles == 1) return;
      const int64_t most = planes ? 2 * kNormGroupBytes : inputs * kNormShortBytes;
      while (cut.tile * channel > most && cut.tile % 2 == 0 && whole_lines(cut.tile / 2)) cut.tile /= 2;
      cut.tiles = DivideUp(box.channels, cut.tile);
      if (cut.tile * channel > kNormCacheBytes) return;
    }
    in_groups = true;
    // Only whole lines go past the cache in a loop with sums. Short runs after which the cache is needed again gain nothing by it.
    const bool lines = !cut.runs || whole_lines(1);
    stream = stream && lines;
    pipelined = stream && cut.runs && 2 * cut.tile * channel <= kNormCacheBytes;
  }
};

/// That each port has one element for each channel.
Status CheckPerChannel(const PlanContext& ctx, int64_t channels, const InputPort auto&... ports) {
  Status status;
  ((status = status.ok() ? CheckVector(ctx, ports, channels, "channel") : std::move(status)), ...);
  return status;
}

/// Float arrays in a block's scratch memory, sized when it is planned: first the partial sums of blocks, then a value for each channel.
class NormScratch {
 public:
  NormScratch() = default;
  NormScratch(const kernels::ChannelPartition& cut, int sums, int parameters)
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
void ForTasks(RunContext& ctx, const kernels::ChannelPartition& cut, bool backwards, auto&& body) {
  const int64_t tasks = cut.tasks(), ranges = std::min<int64_t>(ctx.workers().threads(), tasks);
  kernels::ForEach(ctx.workers(), tasks, 1, [&](int64_t task) {
    const int64_t range = ((task + 1) * ranges - 1) / tasks;
    body(backwards ? tasks * range / ranges + tasks * (range + 1) / ranges - 1 - task : task);
  });
}

/// Calls body(first, end) for the channels [first, end), at most kMergeChannels at a time.
void InMerges(int64_t first, int64_t end, auto&& body) {
  for (; first < end; first += kernels::kMergeChannels) body(first, std::min<int64_t>(end, first + kernels::kMergeChannels));
}

/// The same for all channels of which `blocks` partial results are merged; on all threads where that is worth it.
void ForChannels(RunContext& ctx, int64_t channels, int64_t blocks, auto&& body) {
  constexpr int64_t kTask = 4 * 1024, kRoot = 4, kBlock = 2;  // about the cycles of a task, of a channel's roots and quotients, of a block
  const int64_t merges = DivideUp(channels, kernels::kMergeChannels);
  const int64_t tasks = std::clamp<int64_t>(channels * (blocks * kBlock + kRoot) / kTask, 1, std::max<int64_t>(1, merges));
  const int64_t grain = DivideUp(merges, tasks) * kernels::kMergeChannels;
  ctx.workers().For(channels, grain, [&](int64_t begin, int64_t end) { InMerges(begin, end, body); });
}

/// first_pass(task) for all tasks, finish(first, end) for all channels, last_pass(task) for all; waits for stores past the cache.
/// both(task, next), for those that may be pipelined, is last_pass(task) and first_pass(next), to the same bits.
template <class Both = std::nullptr_t>
void TwoPasses(RunContext& ctx, const NormCut& norm, auto&& first_pass, auto&& finish, auto&& last_pass, Both&& both = nullptr) {
  const kernels::ChannelPartition& cut = norm.cut;
  if (!norm.in_groups) {
    ForTasks(ctx, cut, false, first_pass);
    ForChannels(ctx, cut.box.channels, cut.blocks, finish);
    return ForTasks(ctx, cut, true, [&](int64_t task) {
      last_pass(task);
      if (norm.stream) kernels::StreamFence();
    });
  }
  constexpr bool kBoth = !std::is_null_pointer_v<std::remove_cvref_t<Both>>;
  constexpr int64_t kTakes = 4;  // of neighbouring groups, by each thread
  const int64_t grain = kBoth && norm.pipelined ? std::max<int64_t>(cut.tiles / (kTakes * ctx.workers().threads()), 1) : 1;
  ctx.workers().For(cut.tiles, grain, [&](int64_t group, int64_t end) {
    for (bool begun = false; group < end && !ctx.workers().Stopped(); ++group) {
      for (int64_t block = 0; block < cut.blocks && !begun; ++block) first_pass(block * cut.tiles + group);
      InMerges(group * cut.tile, std::min(cut.box.channels, (group + 1) * cut.tile), finish);
      // The last group may be smaller.
      begun = kBoth && norm.pipelined && group + 1 < end && (group + 2) * cut.tile <= cut.box.channels;
      // Backwards: what was read last is still in the nearest cache.
      for (int64_t block = cut.blocks; block-- > 0;) {
        const int64_t task = block * cut.tiles + group;
        if constexpr (kBoth) {
          if (begun) both(task, task + 1);
        }
        if (!begun) last_pass(task);
      }
    }
    if (norm.stream) kernels::StreamFence();
  });
}

/// to[i] = 1 / sqrt(variance[i] + epsilon), several at a time.
template <class S>
void ReciprocalDeviations(const S* variance, int64_t count, float epsilon, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(variance[i]) + static_cast<double>(epsilon);
  kernels::ReciprocalRoots(to, count);
}

}  // namespace weft::blocks
