// The choice of an implementation for a product (gemm.h), by its sizes and strides; for the files of its instances alone.
#pragma once

#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/gemm/implementation.h"
#include "blocks/kernels/gemm/skinny_dot.h"
#include "blocks/kernels/gemm/skinny_gemv.h"
#include "blocks/kernels/gemm/skinny_outer.h"
#include "blocks/kernels/gemm/tile.h"

namespace weft::kernels {
namespace gemm {

/// A product by tiles of rows and columns, which may share a packed right operand.
template <class T>
class BlockedGemm {
 public:
  explicit BlockedGemm(const Product<T>& product) : tiled_(product) {}
  int64_t tiles() const { return tiled_.tiles(); }
  int64_t WorkspaceBytes() const { return tiled_.WorkspaceBytes(); }
  void Compute(int64_t tile, void* workspace) const { Tile<T>(tiled_, tile, workspace).Compute(); }
  int64_t SharedBytes() const { return tiled_.SharesPacked() ? tiled_.PackedBytes() : 0; }
  int64_t SharedParts() const { return PackedRight<T>(tiled_).parts(); }
  void FillShared(int64_t part) const {
    if constexpr (!Complex<T>) PackedRight<T>(tiled_).Fill(part);
  }

 private:
  const Blocking<T> tiled_;
};

/// Calls use(implementation) with the first that takes a product: few rows or columns go to one of the skinny ones, all else is blocked.
template <class T, class Use>
auto WithImplementation(const Product<T>& p, Use&& use) {
  if constexpr (!Complex<T>) {
    if (SkinnyGemv<T>::Takes(p)) return use(SkinnyGemv<T>(p));
  }
  if constexpr (kMayBeSkinny<T>) {
    if (SkinnyDot<T>::Takes(p)) return use(SkinnyDot<T>(p));
    if (SkinnyOuter<T>::Takes(p)) return use(SkinnyOuter<T>(p));
  }
  return use(BlockedGemm<T>(p));
}

}  // namespace gemm

using namespace gemm;

template <class T>
int64_t TileCount(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0) return 0;
  if (p.inner == 0) return 1;
  return WithImplementation(p, [](const GemmImplementation auto& kind) { return kind.tiles(); });
}

template <class T>
void ComputeTile(const Product<T>& p, int64_t tile, void* workspace) {
  if (p.inner == 0) return MultiplyNothing(p, 0, p.rows);
  WithImplementation(p, [=](const GemmImplementation auto& kind) { kind.Compute(tile, workspace); });
}
template <class T>
int64_t WorkspaceBytes(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0 || p.inner == 0 || IsTiny(p)) return 0;
  return WithImplementation(p, [](const GemmImplementation auto& kind) { return kind.WorkspaceBytes(); });
}

/// Of tiny products and those without elements nothing is shared.
template <class T>
int64_t PackedBytes(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0 || p.inner == 0 || IsTiny(p)) return 0;
  return WithImplementation(p, [](const GemmImplementation auto& kind) { return kind.SharedBytes(); });
}
template <class T>
int64_t PackCount(const Product<T>& p) {
  if (PackedBytes(p) == 0) return 0;
  return WithImplementation(p, [](const GemmImplementation auto& kind) { return kind.SharedParts(); });
}
template <class T>
void PackPart(const Product<T>& p, int64_t part) {
  WithImplementation(p, [part](const GemmImplementation auto& kind) { kind.FillShared(part); });
}

#define WEFT_INSTANTIATE_PRODUCTS(T)                            \
  template int64_t TileCount(const Product<T>&);                \
  template void ComputeTile(const Product<T>&, int64_t, void*); \
  template int64_t WorkspaceBytes(const Product<T>&);           \
  template int64_t PackedBytes(const Product<T>&);              \
  template int64_t PackCount(const Product<T>&);                \
  template void PackPart(const Product<T>&, int64_t);

}  // namespace weft::kernels
