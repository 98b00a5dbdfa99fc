// Mean and variance of each channel in one pass over memory, as accurate as two: a block of a few thousand values is read from memory for
// its mean and again from the cache for the squares of the distances to it; blocks are merged in double.
#pragma once

#include <cmath>

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

/// Merges the blocks of channel c. Of no values the mean is NaN.
struct Moments {
  double mean, variance;
};
inline Moments MergeBlocks(const ChannelCut& cut, const BlockStatistics& from, int64_t channel) {
  const double count = static_cast<double>(cut.box.per_channel());
  const int64_t fold = cut.runs ? 1 : cut.fold;
  auto each = [&](auto&& f) {
    for (int64_t block = 0; block < cut.blocks; ++block) {
      const double n = static_cast<double>(cut.block_count(block));
      for (int64_t i = 0; i < fold; ++i) f(n, block * cut.width + channel * fold + i);
    }
  };
  double sum = 0;
  each([&](double n, int64_t i) {
    // Where infinity is among the values its distances to the mean say nothing.
    sum += n * from.mean[i] + (std::isfinite(from.mean[i]) ? from.distance[i] : 0.0f);
  });
  const double mean = sum / count;
  double squares = 0;
  each([&](double n, int64_t i) {
    const double shift = from.mean[i] - mean;
    squares += from.square[i] + shift * (2.0 * from.distance[i] + n * shift);
  });
  return {mean, std::max(squares / count, 0.0)};
}

}  // namespace weft::kernels
