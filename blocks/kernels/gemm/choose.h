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
  GemmParts parts() const { return {.tiles = p_.rows > 0 && p_.columns > 0 ? 1 : 0}; }
  void FillShared(int64_t) const {}
  void Compute(int64_t, void*) const { MultiplyPlain(p_); }

 private:
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
