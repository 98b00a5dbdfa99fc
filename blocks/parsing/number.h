// Numbers read from text.
#pragma once

#include <string_view>

namespace weft::blocks {

/// The text without blanks and line ends around it.
std::string_view WithoutBlanks(std::string_view text);
/// Reads the whole text, blanks at its ends apart: decimal numbers; for floats also "inf", "infinity" and "nan" in any case, and hexadecimal
/// numbers ("0x1.8p3"). False where it is none, or no number of the type. A float that is too large is infinite, one too small 0. T is float,
/// double, or an integer of 32 or 64 bits.
template <class T>
bool ParseNumber(std::string_view text, T& number);

}  // namespace weft::blocks
