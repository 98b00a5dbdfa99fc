// Element types: the run-time tag DType, the C++ type of each, and lists of types for declarations and dispatch.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "weft/base/string.h"

// Declared only, since most users of this header never touch an element: code that does arithmetic in these types includes
// weft/base/float16.h.
namespace Eigen {
struct half;
struct bfloat16;
}  // namespace Eigen

namespace weft {

/// The type of a tensor's elements. The values are internal: files use the names, weft.h TensorFlow's numbers.
enum class DType : uint8_t {
  kInvalid,
  kFloat,
  kDouble,
  kHalf,
  kBFloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,
  kString,
  kComplex64,
  kComplex128,
  kQInt8,
  kQUInt8,
  kQInt16,
  kQUInt16,
  kQInt32,
  kResource,
};
inline constexpr int kDTypeCount = 23;

using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

/// State that blocks share by handle (a queue, a reader, a variable); see weft/block/services.h.
class Resource;
/// The element of a DT_RESOURCE tensor. Null until the block that owns the resource has run.
using ResourceHandle = std::shared_ptr<Resource>;

// Tags of the quantized types. Their elements are stored as the plain integer of the same width.
struct qint8 {};
struct quint8 {};
struct qint16 {};
struct quint16 {};
struct qint32 {};

/// DTypeTraits<float>::value is the tag, DTypeTraits<qint8>::Storage the C++ type that holds an element (int8_t).
template <class T>
struct DTypeTraits;
#define WEFT_DTYPE(cpp, tag, stored)                \
  template <>                                       \
  struct DTypeTraits<cpp> {                         \
    static constexpr DType value = DType::tag;      \
    using Storage = stored;                         \
  }
WEFT_DTYPE(float, kFloat, float);
WEFT_DTYPE(double, kDouble, double);
WEFT_DTYPE(half, kHalf, half);
WEFT_DTYPE(bfloat16, kBFloat16, bfloat16);
WEFT_DTYPE(int8_t, kInt8, int8_t);
WEFT_DTYPE(int16_t, kInt16, int16_t);
WEFT_DTYPE(int32_t, kInt32, int32_t);
WEFT_DTYPE(int64_t, kInt64, int64_t);
WEFT_DTYPE(uint8_t, kUInt8, uint8_t);
WEFT_DTYPE(uint16_t, kUInt16, uint16_t);
WEFT_DTYPE(uint32_t, kUInt32, uint32_t);
WEFT_DTYPE(uint64_t, kUInt64, uint64_t);
WEFT_DTYPE(bool, kBool, bool);
WEFT_DTYPE(String, kString, String);
WEFT_DTYPE(complex64, kComplex64, complex64);
WEFT_DTYPE(complex128, kComplex128, complex128);
WEFT_DTYPE(qint8, kQInt8, int8_t);
WEFT_DTYPE(quint8, kQUInt8, uint8_t);
WEFT_DTYPE(qint16, kQInt16, int16_t);
WEFT_DTYPE(quint16, kQUInt16, uint16_t);
WEFT_DTYPE(qint32, kQInt32, int32_t);
WEFT_DTYPE(ResourceHandle, kResource, ResourceHandle);
#undef WEFT_DTYPE

template <class T>
inline constexpr DType kDTypeOf = DTypeTraits<T>::value;
template <class T>
using Storage = typename DTypeTraits<T>::Storage;

/// Bytes of one element in memory: sizeof of its C++ type (also for strings and handles, which own more memory). 0 for kInvalid.
size_t ElementSize(DType dtype);
/// "DT_FLOAT". "DT_INVALID" for kInvalid.
std::string_view DTypeName(DType dtype);
inline std::string ToString(DType dtype) { return std::string(DTypeName(dtype)); }
/// The inverse; also takes TensorFlow's numpy-like names ("float32", "string"), and a trailing "_REF".
std::optional<DType> DTypeFromName(std::string_view name);

inline bool IsFloating(DType t) { return t == DType::kFloat || t == DType::kDouble || t == DType::kHalf || t == DType::kBFloat16; }
inline bool IsComplex(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }
inline bool IsQuantized(DType t) { return t >= DType::kQInt8 && t <= DType::kQInt32; }
/// Plain integers, not quantized ones.
inline bool IsInteger(DType t) { return t >= DType::kInt8 && t <= DType::kUInt64; }
/// Whether elements have constructors and destructors (strings, handles), so that they need memory of their own type.
inline bool IsManaged(DType t) { return t == DType::kString || t == DType::kResource; }

/// A list of element types, as a value for declarations and as a pack for dispatch.
template <class... Ts>
struct TypeList {
  static std::vector<DType> dtypes() { return {kDTypeOf<Ts>...}; }
};

template <class... As, class... Bs>
constexpr TypeList<As..., Bs...> operator+(TypeList<As...>, TypeList<Bs...>) {
  return {};
}

inline constexpr TypeList<half, bfloat16, float, double> kFloats;
inline constexpr TypeList<complex64, complex128> kComplexes;
inline constexpr TypeList<int8_t, int16_t, int32_t, int64_t> kSigned;
inline constexpr TypeList<uint8_t, uint16_t, uint32_t, uint64_t> kUnsigned;
inline constexpr TypeList<qint8, quint8, qint16, quint16, qint32> kQuantized;
inline constexpr TypeList<int32_t, int64_t> kIndices;
inline constexpr auto kIntegers = kSigned + kUnsigned;
inline constexpr auto kReals = kFloats + kIntegers;
/// Types with addition and multiplication.
inline constexpr auto kNumbers = kReals + kComplexes;
/// Every type a tensor can have.
inline constexpr auto kAllTypes = kNumbers + kQuantized + TypeList<bool, String, ResourceHandle>{};

/// Calls f.template operator()<T>() with T the storage type of `dtype`, which must be in the list; returns its result.
/// A type that is not in the list gives a value-initialised result (nothing is called): callers check types before they dispatch.
template <class... Ts, class F>
auto Dispatch(DType dtype, TypeList<Ts...>, F&& f) {
  using R = decltype(f.template operator()<Storage<std::tuple_element_t<0, std::tuple<Ts...>>>>());
  if constexpr (std::is_void_v<R>) {
    ((dtype == kDTypeOf<Ts> ? (f.template operator()<Storage<Ts>>(), true) : false) || ...);
  } else {
    R result{};
    ((dtype == kDTypeOf<Ts> ? (result = f.template operator()<Storage<Ts>>(), true) : false) || ...);
    return result;
  }
}

template <class T>
concept Float = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <class T>
concept ShortFloat = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <class T>
concept Complex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept Real = Float<T> || Integer<T>;
template <class T>
concept Number = Real<T> || Complex<T>;

/// The type that sums and products of T are computed in: float for half and bfloat16, T for the rest.
template <class T>
using Accumulator = std::conditional_t<ShortFloat<T>, float, T>;

// Integer arithmetic that wraps, as TensorFlow's does, without the undefined behaviour of signed overflow.
template <class T>
constexpr T WrapAdd(T a, T b) {
  if constexpr (Integer<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else return a + b;
}
template <class T>
constexpr T WrapSubtract(T a, T b) {
  if constexpr (Integer<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
  else return a - b;
}
template <class T>
constexpr T WrapMultiply(T a, T b) {
  // Through 64 bits: unsigned short would be promoted to a signed int, which may overflow.
  if constexpr (Integer<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return a * b;
}

}  // namespace weft
