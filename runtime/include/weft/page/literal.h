// Text literals: values written as text in enuSpace's spellings.
#pragma once

#include <optional>
#include <string_view>

#include "weft/base/tensor.h"

namespace weft {

/// Reads `{{1.5,3.5},{0.5f,1}}`, `1;2;3;4`, `1,2,3,4`, `true`, `"a";"b"`, `1+2j`.
/// `dtype`: the type of the result; where absent it follows from the text (a `"` means DT_STRING, else `j` DT_COMPLEX128, else `f` DT_FLOAT,
/// else `.`, `e` or `E` DT_DOUBLE, else DT_INT32; bare true and false DT_BOOL; the letters of inf and nan do not make an `f`).
/// `shape`: where absent it follows from the nesting; a single element without braces is a scalar.
/// invalid_argument: what is wrong with the text, and where; out_of_range for a number that the type cannot represent. Thread-safe.
Result<Tensor> ParseTextLiteral(std::string_view text, std::optional<DType> dtype, const std::optional<Shape>& shape);

}  // namespace weft
