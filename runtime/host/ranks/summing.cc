#include "runtime/host/ranks/summing.h"

#include "weft/base/float16.h"

namespace weft {
namespace {

template <class Body>
void With(SumType type, Body&& body) {
  switch (type) {
    case SumType::kFloat: return body(float());
    case SumType::kDouble: return body(double());
    case SumType::kInteger: return body(uint64_t());  // whose sums wrap
  }
}

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                 std::conditional_t<std::is_integral_v<T>, uint64_t, T>>;

/// Calls body(elements, sums, count) with the types of both.
template <class Body>
void ForElements(DType dtype, const void* elements, const void* sums, int64_t count, Body&& body) {
  const auto call = [&]<class T>(int64_t parts) { body(static_cast<const T*>(elements), static_cast<const SumOf<T>*>(sums), count * parts); };
  if (dtype == DType::kComplex64) return call.template operator()<float>(2);
  if (dtype == DType::kComplex128) return call.template operator()<double>(2);
  Dispatch(dtype, kReals, [&]<class T>() { call.template operator()<T>(1); });
}

}  // namespace

size_t SizeOf(SumType type) { return type == SumType::kFloat ? 4 : 8; }

std::optional<SumForm> SumFormOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat: return SumForm{SumType::kFloat};
    case DType::kDouble: return SumForm{SumType::kDouble};
    case DType::kComplex64: return SumForm{SumType::kFloat, 2};
    case DType::kComplex128: return SumForm{SumType::kDouble, 2};
    case DType::kHalf:
    case DType::kBFloat16: return SumForm{SumType::kFloat, 1, false};
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64: return SumForm{SumType::kInteger, 1, false};
    default: return std::nullopt;
  }
}

void StoreElements(const Tensor& from, void* sum) {
  ForElements(from.dtype(), from.data(), sum, from.count(), []<class T, class S>(const T* elements, const S* sums, int64_t count) {
    S* const to = const_cast<S*>(sums);
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<S>(elements[i]);
  });
}

void AddElements(const Tensor& from, void* sum) {
  ForElements(from.dtype(), from.data(), sum, from.count(), []<class T, class S>(const T* elements, const S* sums, int64_t count) {
    S* const to = const_cast<S*>(sums);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] += static_cast<S>(elements[i]);
  });
}

void AddSums(SumType type, const void* from, void* to, int64_t count) {
  With(type, [&]<class S>(S) {
    const S* const read = static_cast<const S*>(from);
    S* const write = static_cast<S*>(to);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) write[i] += read[i];
  });
}

void DivideSums(SumType type, void* sum, int64_t count, int by) {
  With(type, [&]<class S>(S) {
    S* const write = static_cast<S*>(sum);
    const S divisor = static_cast<S>(by);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) write[i] /= divisor;
  });
}

void RoundElements(const void* sum, Tensor& to) {
  ForElements(to.dtype(), to.data(), sum, to.count(), []<class T, class S>(const T* elements, const S* sums, int64_t count) {
    T* const write = const_cast<T*>(elements);
    for (int64_t i = 0; i < count; ++i) write[i] = static_cast<T>(sums[i]);
  });
}

}  // namespace weft
