// Elements of one tensor where a condition holds, of another elsewhere; all three are stretched over one another after numpy's rules.
// The loops are found once, when the shapes are known: sizes of 1 vanish, and neighbouring axes along which the same operands vary
// become one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "blocks/kernels/index/walk.h"

namespace weft::kernels {

/// In this order everywhere: the condition, then what is taken where it holds, then what is taken elsewhere.
inline constexpr int kSelectOperands = 3;

struct SelectLoops {
  using Axis = StretchedAxis<kSelectOperands>;
  int64_t count = 0;     // of the result
  Axis inner{0, {}};     // steps of 0 or 1
  std::vector<Axis> outer;  // outermost first
};

/// The loops for operands of these sizes, which must fit together.
SelectLoops MakeSelectLoops(std::span<const int64_t> condition, std::span<const int64_t> t, std::span<const int64_t> e);

/// n elements of a row; z may be t or e where their steps are 1.
using SelectFunction = void (*)(const SelectLoops::Axis& inner, const bool* condition, const void* t, const void* e, void* z, int64_t n);

/// Computes the elements [begin, end) of the result; the pointers are at the whole operands and result, of `size` bytes an element.
void RunSelect(const SelectLoops& loops, SelectFunction row, int64_t size, const bool* condition, const void* t, const void* e, void* z,
               int64_t begin, int64_t end);

/// Both sides are read, so that the choice becomes a blend of vectors; not of strings and handles.
template <class T, int TStep, int EStep>
void SelectElements(const bool* condition, const T* t, const T* e, T* z, int64_t n) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    const auto* flags = reinterpret_cast<const unsigned char*>(condition);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const T yes = t[i * TStep], no = e[i * EStep];
      z[i] = flags[i] ? yes : no;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) z[i] = condition[i] ? t[i * TStep] : e[i * EStep];
  }
}

template <class T>
void SelectRow(const SelectLoops::Axis& inner, const bool* condition, const void* t_row, const void* e_row, void* z_row, int64_t n) {
  const T *t = static_cast<const T*>(t_row), *e = static_cast<const T*>(e_row);
  T* z = static_cast<T*>(z_row);
  if (inner.steps[0] == 0) {
    const T* from = *condition ? t : e;
    if (inner.steps[*condition ? 1 : 2] == 0) std::fill_n(z, n, T(*from));
    else if (from != z) std::copy_n(from, n, z);
  } else if (inner.steps[1] != 0) {
    if (inner.steps[2] != 0) SelectElements<T, 1, 1>(condition, t, e, z, n);
    else SelectElements<T, 1, 0>(condition, t, e, z, n);
  } else {
    if (inner.steps[2] != 0) SelectElements<T, 0, 1>(condition, t, e, z, n);
    else SelectElements<T, 0, 0>(condition, t, e, z, n);
  }
}

}  // namespace weft::kernels
