#include "blocks/parsing/number.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>

namespace weft::blocks {
namespace {

/// Takes the sign off the front; true for a minus.
bool TakeSign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  const bool minus = text[0] == '-';
  text.remove_prefix(1);
  return minus;
}

/// Whether a number that no float can hold is too large, and not too small: by the place of its first digit that is not 0, and its exponent.
bool IsLarge(std::string_view digits, bool hexadecimal) {
  const size_t mark = digits.find_first_of(hexadecimal ? "pP" : "eE");
  const std::string_view mantissa = digits.substr(0, mark);
  const size_t point = std::min(mantissa.find('.'), mantissa.size()), first = mantissa.find_first_not_of("0.");
  int64_t place = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  if (hexadecimal) place *= 4;
  if (mark == std::string_view::npos) return place > 0;
  std::string_view text = digits.substr(mark + 1);
  const bool minus = TakeSign(text);
  int64_t exponent = 0;
  constexpr int64_t kHuge = int64_t{1} << 60;
  if (std::from_chars(text.data(), text.data() + text.size(), exponent).ec == std::errc::result_out_of_range) exponent = kHuge;
  return place + (minus ? -std::min(exponent, kHuge) : std::min(exponent, kHuge)) > 0;
}

template <std::floating_point T>
bool Parse(std::string_view text, T& number) {
  const bool minus = TakeSign(text);
  const bool hexadecimal = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hexadecimal) text.remove_prefix(2);
  const bool digit = !text.empty() && std::string_view("0123456789abcdefABCDEF.").find(text[0]) != std::string_view::npos;
  if (text.empty() || text[0] == '-' || (hexadecimal && !digit)) return false;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (read.ptr != end || read.ec == std::errc::invalid_argument) return false;
  if (read.ec == std::errc::result_out_of_range) number = IsLarge(text, hexadecimal) ? std::numeric_limits<T>::infinity() : T(0);
  if (minus) number = -number;
  return true;
}

template <std::integral T>
bool Parse(std::string_view text, T& number) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ptr == end && read.ec == std::errc();
}

}  // namespace

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

template <class T>
bool ParseNumber(std::string_view text, T& number) {
  text = WithoutBlanks(text);
  return !text.empty() && Parse(text, number);
}

template bool ParseNumber(std::string_view, float&);
template bool ParseNumber(std::string_view, double&);
template bool ParseNumber(std::string_view, int32_t&);
template bool ParseNumber(std::string_view, int64_t&);
template bool ParseNumber(std::string_view, uint32_t&);
template bool ParseNumber(std::string_view, uint64_t&);

}  // namespace weft::blocks
