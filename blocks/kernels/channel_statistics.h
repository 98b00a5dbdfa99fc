// Mean and variance of each channel in one pass over memory, as accurate as two: in a block of a few thousand values, sums of the distances
// to a pivot and of their squares; blocks are merged in double.
//
// The pivot is the mean of the first sixteenth of the block's values. However far these are from the others, its distance to the block's
// mean is at most four times the block's own deviation (k of n values that lie d from the rest make a variance of d^2 k (n - k) / n^2): the
// sum of squares is at most sixteen times what it would be about the mean, and loses four bits at worst.
#pragma once

#include <cmath>
#include <limits>

#include "blocks/kernels/channel_sweep.h"

namespace weft::kernels {

/// What is kept of each block and channel, [cut.blocks, channels] each, one after another: the pivot, the sums of the distances to it and of
/// their squares.
struct BlockStatistics {
  float *pivot, *distance, *square;
  BlockStatistics(const ChannelCut& cut, float* at) : pivot(at), distance(at + cut.partials()), square(at + 2 * cut.partials()) {}
};

/// The part of a task's block that the pivots are taken from.
inline ChannelCut::Part PivotPart(const ChannelCut& cut, ChannelCut::Part part) {
  constexpr int64_t kShare = 16;
  const int64_t rows = part.end_row - part.first_row;
  if (cut.runs && rows < kShare) {
    part.length = std::min(part.length, std::max<int64_t>(rows * part.length / kShare, kLanes<float>));
    part.end_row = part.first_row + 1;
  } else {
    part.end_row = part.first_row + std::min(rows, std::max<int64_t>(1, rows / kShare / cut.group) * cut.group);
  }
  return part;
}

/// Fills the statistics of one task's block and channels.
template <class T>
void MeasureTask(const ChannelCut& cut, int64_t task, const T* x, const BlockStatistics& to) {
  const ChannelCut::Part part = cut.part(task), sample = PivotPart(cut, part);
  auto add = [](const auto& v, const auto&, auto& sum) { sum[0] += v[0]; };
  Sweep<T, float, 1, 0, 1, decltype(add)>{{x}, {}, {to.pivot}}.Run(cut, sample);
  float* const pivot = to.pivot + part.block * cut.box.channels;
  const float share = 1.0f / static_cast<float>(sample.count());
#pragma omp simd
  for (int64_t c = part.first; c < part.end; ++c) {
    const float mean = pivot[c] * share;
    pivot[c] = std::abs(mean) <= std::numeric_limits<float>::max() ? mean : 0.0f;
  }
  auto spread = [](const auto& v, const auto& p, auto& sum) {
    const auto distance = v[0] - p[0];
    sum[0] += distance;
    sum[1] += distance * distance;
  };
  Sweep<T, float, 1, 1, 2, decltype(spread)>{{x}, {pivot}, {to.distance, to.square}}.Run(cut, part);
}

/// Channels that MergeBlocks takes at a time.
inline constexpr int kMergeChannels = 64;

struct Moments {
  double mean[kMergeChannels], variance[kMergeChannels];
};

/// Merges the blocks of the channels [first, end), at most kMergeChannels. Of no values both moments are NaN.
inline void MergeBlocks(const ChannelCut& cut, const BlockStatistics& from, int64_t first, int64_t end, Moments& to) {
  const int64_t channels = end - first;
  const double count = static_cast<double>(cut.box.per_channel());
  double sum[kMergeChannels] = {}, squares[kMergeChannels] = {};
  for (int64_t block = 0; block < cut.blocks; ++block) {
    const double n = static_cast<double>(cut.part(block * cut.tiles).count());
    const int64_t at = block * cut.box.channels + first;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) sum[c] += n * from.pivot[at + c] + from.distance[at + c];
  }
  for (int64_t c = 0; c < channels; ++c) to.mean[c] = sum[c] / count;
  for (int64_t block = 0; block < cut.blocks; ++block) {
    const double n = static_cast<double>(cut.part(block * cut.tiles).count());
    const int64_t at = block * cut.box.channels + first;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const double shift = from.pivot[at + c] - to.mean[c];
      squares[c] += from.square[at + c] + shift * (2.0 * from.distance[at + c] + n * shift);
    }
  }
  for (int64_t c = 0; c < channels; ++c) to.variance[c] = squares[c] < 0 ? 0.0 : squares[c] / count;
}

}  // namespace weft::kernels
