// Literals: values written as text (enuSpace's spellings) or as JSON.
#pragma once

#include <optional>
#include <string_view>

#include "weft/base/tensor.h"

namespace weft {

/// Reads `{{1.5,3.5},{0.5f,1}}`, `1;2;3;4`, `1,2,3,4`, `true`, `"a";"b"`, `1+2j`.
/// `dtype`: the type it must have; where absent the text decides (a `"` means DT_STRING, else `j` DT_COMPLEX128, else `f` DT_FLOAT,
/// else `.`, `e` or `E` DT_DOUBLE, else DT_INT32; bare true and false DT_BOOL; inf and nan alone do not count as an `f`).
/// `shape`: where absent the nesting decides; a flat list of one without braces is a scalar.
/// invalid_argument: what is wrong with the text, and where in it.
Result<Tensor> ParseTextLiteral(std::string_view text, std::optional<DType> dtype, const std::optional<Shape>& shape);

}  // namespace weft
