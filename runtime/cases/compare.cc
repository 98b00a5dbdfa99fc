#include "weft/cases/compare.h"

#include <cmath>

#include "weft/base/difference.h"
#include "weft/base/float16.h"

namespace weft::cases {
namespace {

std::string IndexText(const Shape& shape, int64_t index) {
  std::string out;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    out = Cat("[", index % shape[axis], "]", out);
    index /= shape[axis];
  }
  return out;
}

template <class T>
bool IsNaN(T value) {
  if constexpr (Complex<T>) return std::isnan(value.real()) || std::isnan(value.imag());
  else return std::isnan(static_cast<double>(value));
}

/// Differences are computed in double, so that they are not rounded to the precision of T.
template <class T>
auto Widen(T value) {
  if constexpr (Complex<T>) return complex128(value);
  else return static_cast<double>(value);
}

template <class T>
bool Close(const T& got, const T& expected, const Tolerance& tolerance) {
  if constexpr (Float<T> || Complex<T>) {
    if (got == expected) return true;
    if (IsNaN(got) || IsNaN(expected)) return IsNaN(got) && IsNaN(expected);
    if constexpr (Complex<T>) {  // the difference of equal infinities is no number
      if (std::isinf(expected.real()) || std::isinf(expected.imag())) {
        return Close(got.real(), expected.real(), tolerance) && Close(got.imag(), expected.imag(), tolerance);
      }
    }
    auto wide = Widen(expected);
    double size = std::abs(wide);
    return std::isfinite(size) && std::abs(Widen(got) - wide) <= tolerance.absolute + tolerance.relative * size;
  } else {
    return got == expected;
  }
}

}  // namespace

std::string Difference(const Tensor& got, const ExpectedValue& expected, const Tolerance& tolerance) {
  if (got.dtype() != expected.dtype) return Cat("needs ", expected.dtype, ", got ", got.dtype());
  if (got.shape() != expected.shape) return Cat("needs the shape ", expected.shape, ", got ", got.shape());
  if (!expected.tensor.defined()) return "";
  int64_t first = -1, count = 0;
  Dispatch(got.dtype(), kAllTypes, [&]<class T>() {
    auto a = got.values<T>(), b = expected.tensor.values<T>();
    for (int64_t i = 0; i < got.count(); ++i) {
      if (Close(a[i], b[i], tolerance)) continue;
      if (count++ == 0) first = i;
    }
  });
  if (count == 0) return "";
  const auto [needed, found] = DifferentElements(expected.tensor, got, first);
  return Cat("element ", IndexText(got.shape(), first), " needs ", needed, ", got ", found, " (", count, " of ",
             got.count(), " differ; tolerance ", tolerance.absolute, " + ", tolerance.relative, " * |expected|)");
}

std::string BeyondLimits(const Tensor& got, const RandomLimits& limits) {
  std::string beyond;
  double sum = 0;
  Dispatch(got.dtype(), kReals, [&]<class T>() {
    auto values = got.values<T>();
    for (int64_t i = 0; i < got.count() && beyond.empty(); ++i) {
      double value = static_cast<double>(values[i]);
      sum += value;
      bool low = limits.minimum && !(value >= *limits.minimum), high = limits.maximum && !(value <= *limits.maximum);
      if (low || high) beyond = Cat("element ", IndexText(got.shape(), i), " needs to be ", low ? "at least " : "at most ", low ? *limits.minimum : *limits.maximum, ", got ", value);
    }
  });
  if (!beyond.empty() || !limits.mean || !limits.deviation || got.count() == 0) return beyond;
  // Six standard errors: exceeded by chance once in 500 million runs.
  double mean = sum / static_cast<double>(got.count()), allowed = 6 * *limits.deviation / std::sqrt(static_cast<double>(got.count()));
  if (std::abs(mean - *limits.mean) <= allowed) return "";
  return Cat("the mean needs to be ", *limits.mean, " within ", allowed, ", got ", mean);
}

}  // namespace weft::cases
