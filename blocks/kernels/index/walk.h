// A walk over n dimensions, with an offset for each operand, and the axes of operands that are stretched over one another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::kernels {

/// Nested loops in order, outermost first. An axis has a `size` of two or more and step(k), what one step along it adds to the offset of
/// operand k.
template <class Axis, int kOperands>
class Walk {
 public:
  /// Begins at step `index`. `axes` must outlive the walk.
  Walk(const std::vector<Axis>& axes, int64_t index) : axes_(axes) { To(index); }
  void To(int64_t index) {
    std::fill_n(offsets_, kOperands, 0);
    for (size_t a = axes_.size(); a-- > 0;) {
      at_[a] = index % axes_[a].size;
      index /= axes_[a].size;
      for (int k = 0; k < kOperands; ++k) offsets_[k] += at_[a] * axes_[a].step(k);
    }
  }
  void Next() {
    for (size_t a = axes_.size(); a-- > 0;) {
      const bool wraps = ++at_[a] == axes_[a].size;
      for (int k = 0; k < kOperands; ++k) offsets_[k] += axes_[a].step(k) * (wraps ? 1 - axes_[a].size : 1);
      if (!wraps) return;
      at_[a] = 0;
    }
  }
  int64_t offset(int operand = 0) const { return offsets_[operand]; }

 private:
  const std::vector<Axis>& axes_;
  int64_t at_[128];  // of 254 dimensions every other one may be left when they are merged
  int64_t offsets_[kOperands];
};

/// An axis of operands that are stretched over one another: a step, in elements, is 0 where an operand is repeated.
template <int kOperands>
struct StretchedAxis {
  int64_t size;
  int64_t steps[kOperands];
  int64_t step(int k) const { return steps[k]; }
};

/// The axes of operands of these sizes, outermost first, after numpy's rules; they must fit together. Sizes of 1 vanish, and neighbouring
/// axes along which the same operands are repeated become one. `count`: the elements of the result.
template <int kOperands>
std::vector<StretchedAxis<kOperands>> StretchedAxes(const std::span<const int64_t> (&operands)[kOperands], int64_t& count) {
  std::vector<StretchedAxis<kOperands>> axes;  // innermost first
  size_t rank = 0;
  count = 1;
  for (const auto& sizes : operands) {
    rank = std::max(rank, sizes.size());
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) count = 0;
  }
  int64_t steps[kOperands];
  std::fill_n(steps, kOperands, 1);
  for (size_t d = 1; d <= rank && count > 0; ++d) {
    StretchedAxis<kOperands> axis{1, {}};
    for (int k = 0; k < kOperands; ++k) {
      const int64_t size = d <= operands[k].size() ? operands[k][operands[k].size() - d] : 1;
      if (size == 1) continue;
      axis.size = size;
      axis.steps[k] = steps[k];
      steps[k] *= size;
    }
    if (axis.size == 1) continue;
    count *= axis.size;
    bool same = !axes.empty();
    for (int k = 0; k < kOperands; ++k) same = same && (axes.back().steps[k] == 0) == (axis.steps[k] == 0);
    if (same) axes.back().size *= axis.size;
    else axes.push_back(axis);
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

}  // namespace weft::kernels
