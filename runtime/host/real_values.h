// Values of a host's interest as double, whatever real type they have: for conditions and reductions.
#pragma once

#include "weft/base/float16.h"

namespace weft {

/// Types whose values have an order; false is 0.
inline constexpr auto kRealTypes = kReals + TypeList<bool>{};

template <class... Ts>
bool IsIn(DType dtype, TypeList<Ts...>) {
  return ((dtype == kDTypeOf<Ts>) || ...);
}

template <class T>
double AsDouble(T value) {
  if constexpr (ShortFloat<T>) return static_cast<double>(static_cast<float>(value));
  else return static_cast<double>(value);
}

}  // namespace weft
