// The choice of an implementation for a product (gemm.h), by its sizes and strides; for the files of its instances alone.
#pragma once

#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/gemm/skinny_dot.h"
#include "blocks/kernels/gemm/skinny_gemv.h"
#include "blocks/kernels/gemm/tile.h"

namespace weft::kernels {
namespace gemm {

/// Tiny products, and those without elements.
template <class T>
class PlainGemm {
 public:
  static constexpr Gemm kName = Gemm::kPlain;
  static bool Takes(const Product<T>& p) { return p.rows == 0 || p.columns == 0 || p.inner == 0 || IsTiny(p); }

  explicit PlainGemm(const Product<T>& product) : p_(product) {}
  GemmParts parts() const { return {.tiles = p_.inner > 0 ? int64_t{p_.rows > 0 && p_.columns > 0} : TilesAcross() * TilesDown()}; }
  void FillShared(int64_t) const {}
  void Compute(int64_t tile, void*) const {
    if (p_.inner > 0) return MultiplyPlain(p_);
    const int64_t row = tile / TilesAcross() * kRows, column = tile % TilesAcross() * kColumns;
    Product<T> part = p_;
    part.rows = std::min(kRows, p_.rows - row);
    part.columns = std::min(kColumns, p_.columns - column);
    part.out += row * p_.out_stride + column;
    MultiplyPlain(part);
  }

 private:
  /// Of zeros: a tile is a small part of what a thread fills before it looks whether the run is to end.
  static constexpr int64_t kRows = 64, kColumns = 1024;
  int64_t TilesAcross() const { return DivideUp(p_.columns, kColumns); }
  int64_t TilesDown() const { return DivideUp(p_.rows, kRows); }

  const Product<T>& p_;
};

/// Calls use(implementation) with the first that takes a product. An implementation is sizes and pointers alone, made for each call of gemm.h.
template <class T, class Use>
auto WithImplementation(const Product<T>& p, Use&& use) {
  if (PlainGemm<T>::Takes(p)) return use(PlainGemm<T>(p));
  if constexpr (!Complex<T>) {
    if (SkinnyGemv<T>::Takes(p)) return use(SkinnyGemv<T>(p));
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (SkinnyDot<T>::Takes(p)) return use(SkinnyDot<T>(p));
  }
  return use(BlockedGemm<T>(p));
}

}  // namespace gemm

template <class T>
Gemm ChooseGemm(const Product<T>& p) {
  return gemm::WithImplementation(p, []<class Kind>(const Kind&) { return Kind::kName; });
}
template <class T>
GemmParts PartsOf(const Product<T>& p) {
  return gemm::WithImplementation(p, [](const auto& kind) { return kind.parts(); });
}
template <class T>
void PackPart(const Product<T>& p, int64_t part) {
  gemm::WithImplementation(p, [part](const auto& kind) { kind.FillShared(part); });
}
template <class T>
void ComputeTile(const Product<T>& p, int64_t tile, void* workspace) {
  gemm::WithImplementation(p, [=](const auto& kind) { kind.Compute(tile, workspace); });
}

#define WEFT_INSTANTIATE_PRODUCTS(T)                \
  template Gemm ChooseGemm(const Product<T>&);      \
  template GemmParts PartsOf(const Product<T>&);    \
  template void PackPart(const Product<T>&, int64_t); \
  template void ComputeTile(const Product<T>&, int64_t, void*);

}  // namespace weft::kernels
