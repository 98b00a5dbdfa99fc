// A walk over n dimensions, with an offset for each operand; and the loops over operands that are stretched over one another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::kernels {

/// Nested loops, outermost first. An axis has a `size` of two or more and step(k), what a step along it adds to operand k's offset.
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

/// An axis over which operands are stretched.
template <int kOperands>
struct StretchedAxis {
  int64_t size;
  std::array<int64_t, kOperands> steps;  // in elements; 0 where the operand is repeated
  int64_t step(int k) const { return steps[k]; }
};

/// Loops over operands that are stretched over one another after numpy's rules. They are found once, when the shapes are known: sizes of 1
/// vanish, and neighbouring axes along which the same operands vary become one, so that few patterns are left, whatever the rank.
template <int kOperands>
struct StretchedLoops {
  using Axis = StretchedAxis<kOperands>;
  int64_t count = 0;        // of the result
  Axis inner{0, {}};        // a row; its steps are 0 or 1
  std::vector<Axis> outer;  // outermost first; at most 62, since each has two elements or more

  /// For operands of these sizes, which must fit together.
  explicit StretchedLoops(const std::array<std::span<const int64_t>, kOperands>& operands) {
    size_t rank = 0;
    for (const auto& sizes : operands) {
      if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
      rank = std::max(rank, sizes.size());
    }
    count = 1;
    std::array<int64_t, kOperands> steps;  // of a whole axis
    steps.fill(1);
    for (size_t d = 1; d <= rank; ++d) {
      Axis axis{1, {}};
      for (int k = 0; k < kOperands; ++k) {
        const int64_t size = d <= operands[k].size() ? operands[k][operands[k].size() - d] : 1;
        if (size == 1) continue;
        axis.size = size;
        axis.steps[k] = steps[k];
        steps[k] *= size;
      }
      if (axis.size > 1) Add(axis);
    }
    if (outer.empty()) outer.push_back({1, steps});
    inner = outer.front();
    outer.erase(outer.begin());
    std::reverse(outer.begin(), outer.end());
  }
  StretchedLoops() = default;

  /// Whether operand k has every element of the result, in its order.
  bool whole(int k) const {
    return inner.steps[k] != 0 && std::all_of(outer.begin(), outer.end(), [k](const Axis& axis) { return axis.steps[k] != 0; });
  }

 private:
  /// The axis outside of all so far; `outer` is innermost first here.
  void Add(const Axis& axis) {
    const auto varies_alike = [&](const Axis& last) {
      for (int k = 0; k < kOperands; ++k) {
        if ((last.steps[k] == 0) != (axis.steps[k] == 0)) return false;
      }
      return true;
    };
    count *= axis.size;
    if (!outer.empty() && varies_alike(outer.back())) outer.back().size *= axis.size;
    else outer.push_back(axis);
  }
};

}  // namespace weft::kernels
