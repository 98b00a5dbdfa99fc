#include "blocks/kernels/channel/moments.h"

#include "blocks/kernels/channel/map_reduce.h"

namespace weft::kernels {
namespace {

/// The part of a task's block that the pivots are taken from.
ChannelPartition::Part PivotPart(const ChannelPartition& cut, ChannelPartition::Part part) {
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

/// Cuts a sample in three where there is enough of it; gives how many parts there are.
int CutSample(const ChannelPartition& cut, const ChannelPartition::Part& sample, ChannelPartition::Part (&parts)[3]) {
  const int64_t groups = (sample.end_row - sample.first_row) / cut.group;
  const bool by_rows = groups >= 3, by_length = !by_rows && cut.runs && sample.length >= 3 * kLanes<float>;
  for (int i = 0; i < 3; ++i) {
    parts[i] = sample;
    if (by_rows) {
      parts[i].first_row = sample.first_row + groups * i / 3 * cut.group;
      parts[i].end_row = sample.first_row + groups * (i + 1) / 3 * cut.group;
    } else if (by_length) {
      parts[i].begin = sample.begin + sample.length * i / 3;
      parts[i].length = sample.begin + sample.length * (i + 1) / 3 - parts[i].begin;
    }
  }
  return by_rows || by_length ? 3 : 1;
}

float Median(float a, float b, float c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

}  // namespace

template <class T>
void FindPivots(const ChannelPartition& cut, int64_t task, const T* x, const BlockStatistics& to) {
  const ChannelPartition::Part part = cut.part(task);
  auto add = [](const auto& v, const auto&, auto& sum) { sum[0] += v[0]; };
  float* const means[3] = {to.pivot, to.distance, to.square};
  ChannelPartition::Part parts[3];
  const int count = CutSample(cut, PivotPart(cut, part), parts);
  for (int i = 0; i < count; ++i) {
    ChannelMapReduce<T, float, 1, 0, 1, decltype(add)>{{x}, {}, {means[i]}}.Run(cut, parts[i]);
    const float share = 1.0f / static_cast<float>(parts[i].count());
    float* const at = means[i] + part.block * cut.box.channels;
#pragma omp simd
    for (int64_t c = part.first; c < part.end; ++c) at[c] *= share;
  }
  const int64_t row = part.block * cut.box.channels;
#pragma omp simd
  for (int64_t c = part.first; c < part.end; ++c) {
    const float mean = to.pivot[row + c];
    const float pivot = count == 1 ? mean : Median(mean, to.distance[row + c], to.square[row + c]);
    to.pivot[row + c] = std::abs(pivot) <= std::numeric_limits<float>::max() ? pivot : 0.0f;
  }
}

template <class T>
void MeasureTask(const ChannelPartition& cut, int64_t task, const T* x, const BlockStatistics& to) {
  const ChannelPartition::Part part = cut.part(task);
  FindPivots(cut, task, x, to);
  const float* const pivot = to.pivot + part.block * cut.box.channels;
  auto spread = [](const auto& v, const auto& p, auto& sum) { kAddDistance(v[0] - p[0], sum); };
  ChannelMapReduce<T, float, 1, 1, 2, decltype(spread)>{{x}, {pivot}, {to.distance, to.square}}.Run(cut, part);
}

template void FindPivots(const ChannelPartition&, int64_t, const half*, const BlockStatistics&);
template void FindPivots(const ChannelPartition&, int64_t, const float*, const BlockStatistics&);
template void MeasureTask(const ChannelPartition&, int64_t, const half*, const BlockStatistics&);
template void MeasureTask(const ChannelPartition&, int64_t, const bfloat16*, const BlockStatistics&);
template void MeasureTask(const ChannelPartition&, int64_t, const float*, const BlockStatistics&);

}  // namespace weft::kernels
