#include "runtime/host/break_condition.h"

#include <array>
#include <charconv>
#include <cmath>
#include <compare>
#include <utility>

#include "runtime/host/real_values.h"
#include "weft/base/float16.h"

namespace weft {
namespace {

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kSigns = {{
    {"<=", Comparison::kLessEqual},  // those of two characters first
    {">=", Comparison::kGreaterEqual},
    {"==", Comparison::kEqual},
    {"!=", Comparison::kNotEqual},
    {"<", Comparison::kLess},
    {">", Comparison::kGreater},
}};

constexpr std::string_view kSignBegins = "<>=!";

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

constexpr auto kCanFail = kFloats + kComplexes;

template <class T>
bool IsFinite(T value) {
  if constexpr (Complex<T>) return std::isfinite(value.real()) && std::isfinite(value.imag());
  else return std::isfinite(AsDouble(value));
}

template <class T, class Test>
std::optional<int64_t> FirstOf(const Tensor& tensor, Test&& test) {
  const auto values = tensor.values<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (test(values[i])) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

bool Fits(Comparison comparison, std::partial_ordering order) {
  switch (comparison) {
    case Comparison::kLess: return order < 0;
    case Comparison::kLessEqual: return order <= 0;
    case Comparison::kGreater: return order > 0;
    case Comparison::kGreaterEqual: return order >= 0;
    case Comparison::kEqual: return order == 0;
    case Comparison::kNotEqual: return order != 0;
  }
  return false;
}

/// Integers that a double may not hold.
template <class T>
inline constexpr bool kLongInteger = std::is_integral_v<T> && sizeof(T) == 8;

// Exact, whatever the two are.
template <class T, class Number>
std::partial_ordering Order(T value, Number number) {
  if constexpr (std::is_integral_v<Number>) {
    if (std::cmp_equal(value, number)) return std::partial_ordering::equivalent;
    return std::cmp_less(value, number) ? std::partial_ordering::less : std::partial_ordering::greater;
  } else {
    if (!(number >= -0x1p63 && number < 0x1p64)) return 0.0 <=> number;  // beyond all values, or NaN
    if (number >= 0x1p63) return Order(value, static_cast<uint64_t>(number));
    const auto whole = static_cast<int64_t>(number);
    const std::partial_ordering order = Order(value, whole);
    return order != 0 ? order : static_cast<double>(whole) <=> number;
  }
}

template <class Number>
bool ReadNumber(std::string_view text, BreakCondition& condition) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  condition.number = number;
  return true;
}

double NumberOf(const BreakCondition& condition) {
  return std::visit([](auto number) { return static_cast<double>(number); }, condition.number);
}

}  // namespace

bool BreakCondition::Holds(double value) const { return Fits(comparison, value <=> NumberOf(*this)); }

Result<BreakCondition> ParseCondition(std::string_view text) {
  const auto fail = [&] { return InvalidArgument("needs a condition such as run >= 100 or ID.port[0] < 0.5, found '", text, "'").WithPort("condition"); };
  const size_t at = text.find_first_of(kSignBegins);
  if (at == std::string_view::npos) return fail();
  BreakCondition condition;
  condition.name = Trimmed(text.substr(0, at));
  if (condition.name.empty()) return fail();
  std::string_view rest = text.substr(at);
  for (auto [sign, comparison] : kSigns) {
    if (!rest.starts_with(sign)) continue;
    condition.comparison = comparison;
    rest = Trimmed(rest.substr(sign.size()));
    if (rest.starts_with('+')) rest.remove_prefix(1);
    if (ReadNumber<int64_t>(rest, condition) || ReadNumber<uint64_t>(rest, condition) || ReadNumber<double>(rest, condition)) return condition;
    return fail();
  }
  return fail();
}

std::string WithName(std::string_view text, std::string_view name) {
  const std::string_view before = text.substr(0, text.find_first_of(kSignBegins));
  const std::string_view written = Trimmed(before);
  const auto start = static_cast<size_t>(written.data() - text.data());
  return Cat(text.substr(0, start), name, text.substr(start + written.size()));
}

bool CanCompare(DType dtype) { return IsIn(dtype, kRealTypes); }
bool CanBeNotFinite(DType dtype) { return IsIn(dtype, kCanFail); }

std::optional<int64_t> FindHolding(const BreakCondition& condition, const Tensor& tensor) {
  const auto first = [&]<class T>(auto number) {
    return FirstOf<T>(tensor, [&](T value) {
      if constexpr (kLongInteger<T>) return Fits(condition.comparison, Order(value, number));
      else return Fits(condition.comparison, AsDouble(value) <=> number);
    });
  };
  return Dispatch(tensor.dtype(), kRealTypes, [&]<class T>() {
    if constexpr (!kLongInteger<T>) return first.template operator()<T>(NumberOf(condition));
    else return std::visit([&](auto number) { return first.template operator()<T>(number); }, condition.number);
  });
}

std::optional<int64_t> FindNotFinite(const Tensor& tensor) {
  return Dispatch(tensor.dtype(), kCanFail, [&]<class T>() {
    return FirstOf<T>(tensor, [](T value) { return !IsFinite(value); });
  });
}

std::string IndexText(const Shape& shape, int64_t element) {
  std::string text;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t inner = shape.count(axis + 1, shape.rank());
    text += Cat("[", element / inner, "]");
    element %= inner;
  }
  return text;
}

}  // namespace weft
