// Mean and variance of each channel in one pass over memory, as accurate as two: a block of a few thousand values is read from memory for
// its mean and again from the cache for the squares of the distances to it; blocks are merged in double.
#pragma once

#include <cmath>
#include <limits>

#include "blocks/kernels/channel_sweep.h"

namespace weft::kernels {

/// What is kept of each block and position, [cut.blocks, cut.width] each: the mean as rounded, and the sums of the distances to it and of
/// their squares. All three lie one after another.
struct BlockStatistics {
  float *mean, *distance, *square;
  BlockStatistics(const ChannelCut& cut, float* at) : mean(at), distance(at + cut.partials()), square(at + 2 * cut.partials()) {}
};

/// Fills the statistics of one task's block and positions.
template <class T>
void MeasureTask(const ChannelCut& cut, int64_t task, const T* x, const BlockStatistics& to) {
  auto add = [](const auto& v, const auto&, auto& sum) { sum[0] += v[0]; };
  Sweep<T, float, 1, 0, 1, decltype(add)>{{x}, {}, {to.mean}}.Run(cut, task);
  const ChannelCut::Part part = cut.part(task);
  float* mean = to.mean + part.block * cut.width;
  const float count = static_cast<float>(cut.block_count(part.block));
  for (int64_t c = part.first; c < part.end; ++c) mean[c] /= count;
  auto spread = [](const auto& v, const auto& p, auto& sum) {
    const auto distance = v[0] - p[0];
    sum[0] += distance;
    sum[1] += distance * distance;
  };
  Sweep<T, float, 1, 1, 2, decltype(spread)>{{x}, {mean}, {to.distance, to.square}}.Run(cut, task);
}

/// Channels that MergeBlocks takes at a time.
inline constexpr int kMergeChannels = 64;

struct Moments {
  double mean[kMergeChannels], variance[kMergeChannels];
};

/// Calls f(n, i, c) for each block and position i of the channels [first, end), c counted from first; n values are behind each.
template <class F>
void ForBlocks(const ChannelCut& cut, int64_t first, int64_t end, F&& f) {
  const int64_t channels = end - first;
  for (int64_t block = 0; block < cut.blocks; ++block) {
    const double n = static_cast<double>(cut.block_count(block));
    const int64_t row = block * cut.width;
    if (cut.runs || cut.fold == 1) {
      for (int64_t c = 0; c < channels; ++c) f(n, row + first + c, c);
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t i = 0; i < cut.fold; ++i) f(n, row + (first + c) * cut.fold + i, c);
      }
    }
  }
}

/// Merges the blocks of the channels [first, end), at most kMergeChannels. Of no values both moments are NaN.
inline void MergeBlocks(const ChannelCut& cut, const BlockStatistics& from, int64_t first, int64_t end, Moments& to) {
  const double count = static_cast<double>(cut.box.per_channel());
  double sum[kMergeChannels] = {}, squares[kMergeChannels] = {};
  ForBlocks(cut, first, end, [&](double n, int64_t i, int64_t c) {
    // Where infinity is among the values its distances to the mean say nothing.
    const float distance = std::abs(from.mean[i]) <= std::numeric_limits<float>::max() ? from.distance[i] : 0.0f;
    sum[c] += n * from.mean[i] + distance;
  });
  for (int64_t c = 0; c < end - first; ++c) to.mean[c] = sum[c] / count;
  ForBlocks(cut, first, end, [&](double n, int64_t i, int64_t c) {
    const double shift = from.mean[i] - to.mean[c];
    squares[c] += from.square[i] + shift * (2.0 * from.distance[i] + n * shift);
  });
  for (int64_t c = 0; c < end - first; ++c) to.variance[c] = squares[c] < 0 ? 0.0 : squares[c] / count;
}

}  // namespace weft::kernels
