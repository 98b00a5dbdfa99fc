// Elements of one tensor where a condition holds, of another elsewhere; all three are stretched over one another after numpy's rules.
#pragma once

#include <cstddef>
#include <type_traits>

#include "blocks/kernels/index/walk.h"

namespace weft::kernels {

/// The operands are the condition, what is taken where it holds, and what is taken elsewhere.
using SelectLoops = StretchedLoops<3>;

/// n elements of a row; z may be t or e where their steps are 1.
using SelectFunction = void (*)(const SelectLoops::Axis& inner, const bool* condition, const void* t, const void* e, void* z, int64_t n);

/// Computes the elements [begin, end) of the result; the pointers are at the whole operands and result, of `size` bytes an element.
inline void RunSelect(const SelectLoops& loops, SelectFunction row, int64_t size, const bool* condition, const void* t, const void* e, void* z,
                      int64_t begin, int64_t end) {
  const std::byte *from_t = static_cast<const std::byte*>(t), *from_e = static_cast<const std::byte*>(e);
  std::byte* to = static_cast<std::byte*>(z);
  const SelectLoops::Axis& inner = loops.inner;
  int64_t skip = begin % inner.size;
  Walk<SelectLoops::Axis, 3> walk(loops.outer, begin / inner.size);
  while (begin < end) {
    const int64_t n = std::min(inner.size - skip, end - begin);
    const auto at = [&](int k) { return walk.offset(k) + skip * inner.steps[k]; };
    row(inner, condition + at(0), from_t + at(1) * size, from_e + at(2) * size, to + begin * size, n);
    begin += n;
    skip = 0;
    walk.Next();
  }
}

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
