#include "runtime/host/reduction.h"

#include <cmath>
#include <limits>

#include "runtime/host/real_values.h"
#include "weft/base/divide.h"

namespace weft {
namespace {

template <class T>
bool IsNan(T value) {
  if constexpr (Float<T>) return std::isnan(AsDouble(value));
  else return false;
}

}  // namespace

bool IsReal(DType dtype) { return IsIn(dtype, kRealTypes); }

Status Window::Add(const Tensor& value, const std::shared_ptr<MemoryBudget>& budget) {
  const DType dtype = reduction_ == Reduction::kMean ? DType::kDouble : value.dtype();
  if (runs_ > 0 && (low_.dtype() != dtype || !(low_.shape() == value.shape()))) runs_ = 0;
  if (runs_ == 0) {
    WEFT_ASSIGN_OR_RETURN(low_, Tensor::Allocate(dtype, value.shape(), budget));
    if (reduction_ == Reduction::kMinMax) {
      WEFT_ASSIGN_OR_RETURN(high_, Tensor::Allocate(dtype, value.shape(), budget));
    }
  }
  const bool first = runs_++ == 0;
  Dispatch(value.dtype(), kRealTypes, [&]<class T>() {
    const auto from = value.values<T>();
    if (reduction_ == Reduction::kMean) {
      const auto sum = low_.values<double>();
      for (size_t i = 0; i < from.size(); ++i) sum[i] = (first ? 0 : sum[i]) + AsDouble(from[i]);
      return;
    }
    const auto low = low_.values<T>(), high = high_.values<T>();
    for (size_t i = 0; i < from.size(); ++i) {
      if (first || IsNan(low[i])) {
        low[i] = high[i] = from[i];
        continue;
      }
      if (from[i] < low[i]) low[i] = from[i];
      if (from[i] > high[i]) high[i] = from[i];
    }
  });
  return {};
}

void Window::Take(Sample& sample) {
  if (reduction_ == Reduction::kMean) {
    for (double& sum : low_.values<double>()) sum /= static_cast<double>(runs_);
  }
  sample.value = std::move(low_);
  sample.high = std::move(high_);
  low_ = high_ = Tensor();
  runs_ = 0;
}

Status MakeHistogram(const Tensor& value, int64_t bins, const std::shared_ptr<MemoryBudget>& budget, Sample& sample) {
  WEFT_ASSIGN_OR_RETURN(sample.value, Tensor::Allocate(DType::kInt64, Shape{bins}, budget));
  const auto counts = sample.value.values<int64_t>();
  std::fill(counts.begin(), counts.end(), 0);
  Dispatch(value.dtype(), kRealTypes, [&]<class T>() {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (T element : value.values<T>()) {
      const double number = AsDouble(element);
      if (!std::isfinite(number)) {
        ++sample.not_finite;
        continue;
      }
      low = std::min(low, number);
      high = std::max(high, number);
    }
    if (low > high) return;  // nothing finite
    sample.lowest = low;
    sample.highest = high;
    // Halves, so that the width of the widest range is a number.
    const double half = high / 2 - low / 2;
    const auto last = static_cast<double>(bins - 1);
    for (T element : value.values<T>()) {
      const double number = AsDouble(element);
      if (!std::isfinite(number)) continue;
      const double part = half > 0 ? (number / 2 - low / 2) / half : 0;
      ++counts[static_cast<size_t>(std::min(part * static_cast<double>(bins), last))];
    }
  });
  return {};
}

int64_t StrideFor(const Tensor& tensor, int64_t max_bytes) {
  if (max_bytes <= 0 || tensor.bytes() <= max_bytes) return 1;
  const int64_t fits = std::max<int64_t>(max_bytes / static_cast<int64_t>(ElementSize(tensor.dtype())), 1);
  return DivideUp(tensor.count(), fits);
}

Result<Tensor> Thinned(const Tensor& tensor, int64_t stride, const std::shared_ptr<MemoryBudget>& budget) {
  if (stride <= 1) return tensor;
  const int64_t count = DivideUp(tensor.count(), stride);
  WEFT_ASSIGN_OR_RETURN(Tensor thin, Tensor::Allocate(tensor.dtype(), Shape{count}, budget));
  const size_t size = ElementSize(tensor.dtype());
  const auto* from = static_cast<const std::byte*>(tensor.data());
  auto* to = static_cast<std::byte*>(thin.data());
  for (int64_t i = 0; i < count; ++i) {
    CopyElements(tensor.dtype(), from + static_cast<size_t>(i * stride) * size, to + static_cast<size_t>(i) * size, 1);
  }
  return thin;
}

}  // namespace weft
