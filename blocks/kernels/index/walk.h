// A walk over n dimensions, with an offset for each operand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

}  // namespace weft::kernels
