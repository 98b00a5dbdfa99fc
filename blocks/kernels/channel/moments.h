// Mean and variance of each channel in one pass over memory, as accurate as two: in a block of a few thousand values, sums of the distances
// to a pivot and of their squares; blocks are merged in double.
//
// The pivot is the median of three means, each of a part of the block's first sixteenth: one value, however far from the others, spoils one
// of them at most. A mean of k of n values that lies d from that of all comes with a variance of d^2 k / (n - k) or more, so that the
// median is no further from the block's mean than seven of its deviations: the sum of squares is at most fifty times what it would be about
// the mean, and loses six bits at worst.
#pragma once

#include "blocks/kernels/channel/map_reduce.h"

namespace weft::kernels {

/// Of each block and channel, [cut.blocks, channels] each, in turn: the pivot, the sums of distances to it and of their squares.
struct BlockStatistics {
  float *pivot, *distance, *square;
  BlockStatistics(const ChannelPartition& cut, float* at) : pivot(at), distance(at + cut.partials()), square(at + 2 * cut.partials()) {}
};

/// Fills the pivots of one task's block and channels; what else is kept of them is overwritten. T: half, bfloat16, float.
template <class T>
void FindPivots(const ChannelPartition& cut, int64_t task, const T* x, const BlockStatistics& to);

/// What is summed of each distance to a pivot.
inline constexpr auto kAddDistance = [](const auto& distance, auto& sum) {
  sum[0] += distance;
  sum[1] += distance * distance;
};

/// Fills all statistics of one task's block and channels: FindPivots, then the sums.
template <class T>
void MeasureTask(const ChannelPartition& cut, int64_t task, const T* x, const BlockStatistics& to);

/// Channels that MergeBlocks takes at a time.
inline constexpr int kMergeChannels = 64;

struct Moments {
  double mean[kMergeChannels], variance[kMergeChannels];
};

/// Merges the blocks of the channels [first, end), at most kMergeChannels. Of no values both moments are NaN.
inline void MergeBlocks(const ChannelPartition& cut, const BlockStatistics& from, int64_t first, int64_t end, Moments& to) {
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
