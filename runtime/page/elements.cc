#include "runtime/page/elements.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/call_limit.h"
#include "weft/base/discard.h"
#include "weft/base/float16.h"

namespace weft::page {
namespace {

// Rounds to odd: towards zero, with the last bit set where the result is inexact. Rounding that to a shorter type gives the correctly
// rounded `value` (Boldo and Melquiond, 2008).
float RoundToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) nearest = std::nextafter(nearest, 0.0f);
  uint32_t bits;
  std::memcpy(&bits, &nearest, sizeof bits);
  bits |= 1;
  std::memcpy(&nearest, &bits, sizeof bits);
  return nearest;
}

double AsDouble(const Number& number) {
  switch (number.kind) {
    case Number::Kind::kNegative: return static_cast<double>(number.negative);
    case Number::Kind::kUnsigned: return static_cast<double>(number.natural);
    default: return number.real;
  }
}

std::string Written(const Number& number) {
  switch (number.kind) {
    case Number::Kind::kNegative: return std::to_string(number.negative);
    case Number::Kind::kUnsigned: return std::to_string(number.natural);
    default: return number.text.empty() ? Cat(number.real) : std::string(number.text);
  }
}

float AsFloat(const Number& number) {
  switch (number.kind) {
    case Number::Kind::kNegative: return static_cast<float>(number.negative);
    case Number::Kind::kUnsigned: return static_cast<float>(number.natural);
    case Number::Kind::kReal: break;
  }
  float value = 0;
  const char* end = number.text.data() + number.text.size();
  const auto [stop, error] = std::from_chars(number.text.data(), end, value);
  return error == std::errc() && stop == end && !number.text.empty() ? value : static_cast<float>(number.real);
}

template <Float T>
Status Convert(const Number& number, DType dtype, T& out) {
  if constexpr (std::is_same_v<T, double>) out = AsDouble(number);
  else if constexpr (std::is_same_v<T, float>) out = AsFloat(number);
  else if constexpr (std::is_same_v<T, half>) out = ToHalf(AsDouble(number));
  else out = ToBFloat16(AsDouble(number));
  if (std::isinf(static_cast<double>(out)) && !std::isinf(AsDouble(number))) {
    return OutOfRange("needs a number that ", dtype, " can hold, found ", Written(number));
  }
  return {};
}

template <Integer T>
Status Convert(const Number& number, DType dtype, T& out) {
  const auto refuse = [&] {
    return OutOfRange("needs a number from ", std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max(), " (", dtype,
                      "), found ", Written(number));
  };
  if (number.kind == Number::Kind::kNegative) {
    if (std::cmp_less(number.negative, std::numeric_limits<T>::min())) return refuse();
    out = static_cast<T>(number.negative);
    return {};
  }
  if (number.kind == Number::Kind::kUnsigned) {
    if (std::cmp_greater(number.natural, std::numeric_limits<T>::max())) return refuse();
    out = static_cast<T>(number.natural);
    return {};
  }
  if (!std::isfinite(number.real)) return InvalidArgument("needs a whole number (", dtype, "), found ", Written(number));
  // Both limits are exact in double: the upper one is a power of two.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (number.real >= above || number.real < static_cast<double>(std::numeric_limits<T>::min())) return refuse();
  if (number.real != std::trunc(number.real)) return InvalidArgument("needs a whole number (", dtype, "), found ", Written(number));
  out = static_cast<T>(number.real);
  return {};
}

}  // namespace

half ToHalf(double value) { return static_cast<half>(RoundToOdd(value)); }
bfloat16 ToBFloat16(double value) { return static_cast<bfloat16>(RoundToOdd(value)); }

template <class T>
void ElementStore::Push(T value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  ++count_;
}

Status ElementStore::AddNumber(const Number& number) {
  if (IsComplex(dtype_)) return AddComplex(number, Number{.kind = Number::Kind::kUnsigned});
  if (dtype_ == DType::kBool) return InvalidArgument("needs true or false (DT_BOOL), found the number ", Written(number));
  if (dtype_ == DType::kString) return InvalidArgument("needs a string (DT_STRING), found the number ", Written(number));
  return Dispatch(dtype_, kReals + kQuantized, [&]<class T>() -> Status {
    T value{};
    WEFT_RETURN_IF_ERROR(Convert(number, dtype_, value));
    Push(value);
    return {};
  });
}

Status ElementStore::AddComplex(const Number& real, const Number& imaginary) {
  if (!IsComplex(dtype_)) return InvalidArgument("needs a single number (", dtype_, "), found a complex one");
  return Dispatch(dtype_, kComplexes, [&]<class T>() -> Status {
    typename T::value_type re{}, im{};
    WEFT_RETURN_IF_ERROR(Convert(real, dtype_, re));
    WEFT_RETURN_IF_ERROR(Convert(imaginary, dtype_, im));
    Push(T(re, im));
    return {};
  });
}

Status ElementStore::AddBool(bool value) {
  if (dtype_ != DType::kBool)
    return InvalidArgument("needs ", dtype_ == DType::kString ? "a string" : "a number", " (", dtype_, "), found ", value);
  Push(value);
  return {};
}

Status ElementStore::AddString(std::string value) {
  if (dtype_ != DType::kString) {
    Status status = InvalidArgument("needs an element of ", dtype_, ", found a string");
    return IsFloating(dtype_) || IsComplex(dtype_) ? std::move(status).WithHint("what is not finite is \"nan\", \"inf\" or \"-inf\"") : status;
  }
  strings_.push_back(std::move(value));
  ++count_;
  return {};
}

Result<Tensor> ElementStore::Take(const Shape& shape) {
  const size_t found = count_;
  count_ = 0;
  if (!std::cmp_equal(shape.count(), found)) {
    const std::string_view plural = shape.count() == 1 ? " value" : " values";
    return InvalidArgument("needs ", shape.count(), plural, " for the shape ", shape, ", found ", found);
  }
  const std::shared_ptr<MemoryBudget> budget = CallLimit::budget();
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype_, shape, budget));
  if (dtype_ == DType::kString) {
    for (size_t i = 0; i < strings_.size(); ++i) {
      CallLimit::Check();
      String& text = tensor.values<String>()[i] = String(strings_[i]);
      WEFT_RETURN_IF_ERROR(text.Hold(budget));
    }
  }
  if (dtype_ != DType::kString && found > 0) std::memcpy(tensor.data(), bytes_.data(), bytes_.size());
  bytes_.clear();
  DiscardAll(strings_);
  return tensor;
}

}  // namespace weft::page
