// Numbers as C's printf writes them, in any locale: the conversions d, f, e and g with a flag, a width and a precision.
#pragma once

#include <cstdint>
#include <string_view>

#include "blocks/string/elements.h"

namespace weft::blocks {

enum class Notation : uint8_t { kFixed, kScientific, kShortest };  // %f %e %g

struct NumberFormat {
  Notation notation = Notation::kFixed;
  char flag = 0;          // one of " +-0#", or 0
  int64_t width = 0;      // at least so many bytes
  int64_t precision = 6;  // digits after the point; for %g digits in all
};

/// One number before it is written: sign, digits, zeros for a precision beyond any double's, exponent. Views of its own memory.
class NumberText {
 public:
  NumberText(double value, const NumberFormat& format);
  /// Signs are written for `is_signed` alone.
  NumberText(uint64_t magnitude, bool negative, bool is_signed, const NumberFormat& format);

  size_t size() const;
  void WriteTo(StringWriter& writer) const;

 private:
  void SetFloating(double magnitude);
  void SetShortest(double magnitude);
  /// Splits digits_ at an exponent, and adds the point of the flag '#'.
  void Finish(int64_t zeros);
  void SetSign(bool negative, bool is_signed);

  // 309 digits before the point, 1,074 after it.
  static constexpr int kDigits = 1500;

  const NumberFormat& format_;
  char sign_ = 0;
  bool number_ = true;  // neither infinite nor a NaN: zeros may fill it
  char digits_[kDigits];
  int count_ = 0;        // of digits_
  int exponent_at_ = 0;  // where in digits_ the exponent begins; count_: there is none
  int64_t zeros_ = 0;    // before the exponent
};

/// Text in spaces to a width; at the left side of them for the flag '-'.
Result<String> PaddedText(std::string_view text, const NumberFormat& format, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop);

}  // namespace weft::blocks
