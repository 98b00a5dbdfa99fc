// The common shape of two operands, where shapes that do not fit and shapes with too many elements are told apart.
#pragma once

#include "weft/base/shape.h"

namespace weft::blocks {

/// Whether the two fit together: sizes equal or 1, from the last axis on.
bool Broadcasts(const Shape& x, const Shape& y);

/// The common shape of two that fit together. invalid_argument where it has more elements than can be counted.
Result<Shape> CommonShape(const Shape& x, const Shape& y);

}  // namespace weft::blocks
