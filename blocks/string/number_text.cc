#include "blocks/string/number_text.h"

#include <charconv>
#include <cmath>

namespace weft::blocks {
namespace {

/// Beyond so many digits after the point, and so many in all, a double has zeros alone.
constexpr int64_t kMostDigits = 1100;

}  // namespace

NumberText::NumberText(double value, const NumberFormat& format) : format_(format) {
  SetSign(std::signbit(value), true);
  if (std::isfinite(value)) {
    SetFloating(std::fabs(value));
    return;
  }
  number_ = false;
  count_ = exponent_at_ = 3;
  std::memcpy(digits_, std::isnan(value) ? "nan" : "inf", 3);
}

NumberText::NumberText(uint64_t magnitude, bool negative, bool is_signed, const NumberFormat& format) : format_(format) {
  SetSign(negative, is_signed);
  count_ = exponent_at_ = static_cast<int>(std::to_chars(digits_, digits_ + kDigits, magnitude).ptr - digits_);
}

void NumberText::SetSign(bool negative, bool is_signed) {
  if (negative) sign_ = '-';
  else if (is_signed && (format_.flag == '+' || format_.flag == ' ')) sign_ = format_.flag;
}

void NumberText::SetFloating(double magnitude) {
  if (format_.notation == Notation::kShortest) return SetShortest(magnitude);
  const auto form = format_.notation == Notation::kFixed ? std::chars_format::fixed : std::chars_format::scientific;
  const int64_t precision = std::min(format_.precision, kMostDigits);
  count_ = static_cast<int>(std::to_chars(digits_, digits_ + kDigits, magnitude, form, static_cast<int>(precision)).ptr - digits_);
  Finish(format_.precision - precision);
}

void NumberText::SetShortest(double magnitude) {
  const int64_t most = std::min(std::max<int64_t>(format_.precision, 1), kMostDigits);
  if (format_.flag != '#') {
    const auto end = std::to_chars(digits_, digits_ + kDigits, magnitude, std::chars_format::general, static_cast<int>(most));
    count_ = static_cast<int>(end.ptr - digits_);
    return Finish(0);
  }
  // With its zeros at the end: scientific, or fixed where the exponent that the rounded number has allows it.
  auto end = std::to_chars(digits_, digits_ + kDigits, magnitude, std::chars_format::scientific, static_cast<int>(most - 1));
  const std::string_view text(digits_, static_cast<size_t>(end.ptr - digits_));
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(digits_ + e + (text[e + 1] == '+' ? 2 : 1), end.ptr, exponent);
  if (exponent >= -4 && exponent < std::max<int64_t>(format_.precision, 1)) {
    const int64_t after = std::max<int64_t>(most - 1 - exponent, 0);
    end = std::to_chars(digits_, digits_ + kDigits, magnitude, std::chars_format::fixed, static_cast<int>(after));
  }
  count_ = static_cast<int>(end.ptr - digits_);
  Finish(std::max<int64_t>(format_.precision, 1) - most);
}

void NumberText::Finish(int64_t zeros) {
  const std::string_view text(digits_, static_cast<size_t>(count_));
  exponent_at_ = static_cast<int>(std::min(text.find('e'), text.size()));
  zeros_ = zeros;
  if (format_.flag != '#' || text.find('.') != std::string_view::npos) return;
  std::memmove(digits_ + exponent_at_ + 1, digits_ + exponent_at_, static_cast<size_t>(count_ - exponent_at_));
  digits_[exponent_at_++] = '.';
  ++count_;
}

size_t NumberText::size() const {
  const int64_t own = (sign_ != 0 ? 1 : 0) + count_ + zeros_;
  return static_cast<size_t>(std::max(own, format_.width));
}

void NumberText::WriteTo(StringWriter& writer) const {
  const int64_t own = (sign_ != 0 ? 1 : 0) + count_ + zeros_;
  const auto padding = static_cast<size_t>(std::max<int64_t>(format_.width - own, 0));
  const bool left = format_.flag == '-', zero_filled = format_.flag == '0' && number_;
  if (!left && !zero_filled) writer.Fill(' ', padding);
  if (sign_ != 0) writer.Fill(sign_, 1);
  if (zero_filled) writer.Fill('0', padding);
  writer.Put({digits_, static_cast<size_t>(exponent_at_)});
  writer.Fill('0', static_cast<size_t>(zeros_));
  writer.Put({digits_ + exponent_at_, static_cast<size_t>(count_ - exponent_at_)});
  if (left) writer.Fill(' ', padding);
}

Result<String> PaddedText(std::string_view text, const NumberFormat& format, const std::shared_ptr<MemoryBudget>& budget,
                          kernels::StopCheck& stop) {
  const size_t size = std::max(text.size(), static_cast<size_t>(format.width)), padding = size - text.size();
  WEFT_ASSIGN_OR_RETURN(StringWriter writer, StringWriter::Make(size, budget, stop));
  if (format.flag != '-') writer.Fill(' ', padding);
  writer.Put(text);
  if (format.flag == '-') writer.Fill(' ', padding);
  return writer.Take();
}

}  // namespace weft::blocks
