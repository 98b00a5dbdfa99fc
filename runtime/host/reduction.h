// What subscriptions make of values.
#pragma once

#include "weft/host/subscriptions.h"

namespace weft {

/// Whether the values of a type can be averaged, compared and counted: real numbers and bool.
bool IsReal(DType dtype);

/// Values of one shape over some runs.
class Window {
 public:
  explicit Window(Reduction reduction) : reduction_(reduction) {}
  /// Adds a value; one of another type or shape begins the window anew. resource_exhausted where there is no memory for it.
  Status Add(const Tensor& value, const std::shared_ptr<MemoryBudget>& budget);
  uint64_t runs() const { return runs_; }
  /// The mean or the extremes, and an empty window.
  void Take(Sample& sample);

 private:
  const Reduction reduction_;
  uint64_t runs_ = 0;
  Tensor low_, high_;  // or the sum in low_, as DT_DOUBLE
};

/// Fills in value, lowest, highest and not_finite.
Status MakeHistogram(const Tensor& value, int64_t bins, const std::shared_ptr<MemoryBudget>& budget, Sample& sample);

/// Every stride-th element, so many that they fit. The tensor itself where it does.
Result<Tensor> Thinned(const Tensor& tensor, int64_t stride, const std::shared_ptr<MemoryBudget>& budget);
/// The stride for that; 1 where the tensor fits.
int64_t StrideFor(const Tensor& tensor, int64_t max_bytes);

}  // namespace weft
