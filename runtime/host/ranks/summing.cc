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

/// Calls body<T>(), where a value of this type has elements of T: of complex numbers, their parts.
template <class Body>
void WithElements(DType dtype, Body&& body) {
  if (dtype == DType::kComplex64) return body.template operator()<float>();
  if (dtype == DType::kComplex128) return body.template operator()<double>();
  Dispatch(dtype, kReals, body);
}

int64_t SumCount(const Tensor& tensor) { return tensor.count() * SumFormOf(tensor.dtype())->parts; }

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
  WithElements(from.dtype(), [&]<class T>() {
    using S = SumOf<T>;
    const T* const elements = static_cast<const T*>(from.data());
    S* const to = static_cast<S*>(sum);
    for (int64_t i = 0, count = SumCount(from); i < count; ++i) to[i] = static_cast<S>(elements[i]);
  });
}

void SumElements(const Tensor& a, const Tensor& b, int64_t first, int64_t count, void* sum) {
  WithElements(a.dtype(), [&]<class T>() {
    using S = SumOf<T>;
    const T* const left = static_cast<const T*>(a.data()) + first;
    const T* const right = static_cast<const T*>(b.data()) + first;
    S* const to = static_cast<S*>(sum);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<S>(left[i]) + static_cast<S>(right[i]);
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
  WithElements(to.dtype(), [&]<class T>() {
    T* const elements = static_cast<T*>(to.data());
    const SumOf<T>* const sums = static_cast<const SumOf<T>*>(sum);
    for (int64_t i = 0, count = SumCount(to); i < count; ++i) elements[i] = static_cast<T>(sums[i]);
  });
}

}  // namespace weft
