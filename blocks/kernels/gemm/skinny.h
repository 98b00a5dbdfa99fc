// Products of which one side has few rows or columns, seen from that side:
//   out(f, j) = sum over p of few(f, p) * many(j, p), for f < count and j < length.
#pragma once

#include <algorithm>
#include <cstdint>

#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// A vector register's value, which the compiler is kept from reading from memory again for each use.
template <class V>
inline V InRegister(V v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#endif
  return v;
}

template <class T>
struct SkinnyProduct {
  int64_t count = 0, length = 0, inner = 0;
  const T* few = nullptr;
  int64_t few_stride = 0, few_depth_stride = 0;
  const T* many = nullptr;
  int64_t many_stride = 0, many_depth_stride = 0;
  T* out = nullptr;
  int64_t out_few_stride = 0, out_stride = 0;
  bool add = false;
};

template <class T>
SkinnyProduct<T> AsSkinny(const Product<T>& p) {
  const MatrixView<T>&a = p.left, &b = p.right;
  if (p.rows <= p.columns) {
    return {p.rows,       p.columns, p.inner,      a.data, a.row_stride, a.column_stride, b.data, b.column_stride,
            b.row_stride, p.out,     p.out_stride, 1,      p.add};
  }
  return {p.columns,    p.rows,          p.inner, b.data, b.column_stride, b.row_stride, a.data,
          a.row_stride, a.column_stride, p.out,   1,      p.out_stride,    p.add};
}

/// Five to twelve: too few to fill the registers of tiles, too many for a few plain rows.
inline constexpr int64_t kLeastSkinny = 5, kMostSkinny = 12;
/// Room for so many, with all of the register that the last of them are stored with.
inline constexpr int64_t kSkinnyRoom = 16;

/// Whether a side has so few, and a quarter of the lanes would be idle if it were laid along registers.
template <class T>
bool IsSkinny(const SkinnyProduct<T>& p) {
  constexpr int64_t kN = kLanes<T>;
  return p.count >= kLeastSkinny && p.count <= kMostSkinny && 4 * p.count <= 3 * ((p.count + kN - 1) / kN * kN);
}

/// Puts sums, those of one of the many after another, where they belong. Results that lie side by side are stored by whole registers, which
/// reach over those of the next of the many.
template <class T>
class SkinnyOutput {
 public:
  /// `end` is the first of the many that is not put after those before it.
  SkinnyOutput(const SkinnyProduct<T>& p, int64_t end) : p_(p) {
    const int64_t stored = (p.count + kN - 1) / kN * kN;
    if (!p.add && p.out_few_stride == 1 && p.out_stride == p.count) whole_end_ = end - (stored - 1) / p.count;
  }

  /// The sums of j, which have kSkinnyRoom.
  void Put(const T* sums, int64_t j) const {
    if (j >= whole_end_) return PutEach(sums, j);
    T* const out = p_.out + j * p_.count;
    StoreVec(out, LoadVec(sums));
    if constexpr (kN < kMostSkinny) {
      for (int64_t f = kN; f < p_.count; f += kN) StoreVec(out + f, LoadVec(sums + f));
    }
  }

 private:
  static constexpr int64_t kN = kLanes<T>;

  [[gnu::noinline]] void PutEach(const T* sums, int64_t j) const {
    T* const out = p_.out + j * p_.out_stride;
    for (int64_t f = 0; f < p_.count; ++f) {
      T& to = out[f * p_.out_few_stride];
      to = p_.add ? to + sums[f] : sums[f];
    }
  }

  const SkinnyProduct<T>& p_;
  int64_t whole_end_ = 0;  // those before it are stored by whole registers
};

}  // namespace weft::kernels
