// Whole numbers near a float, each from the nearest one: that is a single vector instruction, where std::floor in a loop is none.
#pragma once

#include <cmath>

namespace weft::kernels {

template <class T>
T FloorOf(T a) {
  const T near = std::rint(a);
  return near > a ? near - T(1) : near;
}

template <class T>
T CeilOf(T a) {
  const T near = std::rint(a);
  return std::copysign(near < a ? near + T(1) : near, a);
}

template <class T>
T TruncateOf(T a) { return std::copysign(FloorOf(std::abs(a)), a); }

}  // namespace weft::kernels
