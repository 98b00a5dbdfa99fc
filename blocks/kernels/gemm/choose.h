// How products are computed (gemm.h), by the kind that fits their sizes; for the files of its instances alone.
#pragma once

#include "blocks/kernels/gemm/gemm.h"
#include "blocks/kernels/gemm/implementation.h"
#include "blocks/kernels/gemm/skinny_dot.h"
#include "blocks/kernels/gemm/skinny_gemv.h"
#include "blocks/kernels/gemm/skinny_outer.h"
#include "blocks/kernels/gemm/tile.h"

namespace weft::kernels {
namespace products {

using namespace panels;

/// A product by tiles of rows and columns, which may share a packed right operand.
template <class T>
class TiledKind {
 public:
  explicit TiledKind(const Product<T>& product) : tiled_(product) {}
  int64_t tiles() const { return tiled_.tiles(); }
  int64_t WorkspaceBytes() const { return tiled_.WorkspaceBytes(); }
  void Compute(int64_t tile, void* workspace) const { Tile<T>(tiled_, tile, workspace).Compute(); }
  int64_t SharedBytes() const { return tiled_.SharesPacked() ? tiled_.PackedBytes() : 0; }
  int64_t SharedParts() const { return PackedRight<T>(tiled_).parts(); }
  void FillShared(int64_t part) const {
    if constexpr (!Complex<T>) PackedRight<T>(tiled_).Fill(part);
  }

 private:
  const TiledProduct<T> tiled_;
};

/// Calls use(kind) with the kind that computes a product.
template <class T, class Use>
auto WithKind(const Product<T>& p, Use&& use) {
  if constexpr (!Complex<T>) {
    if (ThinSums<T>::Takes(p)) return use(ThinSums<T>(p));
  }
  if constexpr (kMayBeNarrow<T>) {
    if (NarrowProduct<T>::Takes(p)) return use(NarrowProduct<T>(p));
    if (NarrowColumns<T>::Takes(p)) return use(NarrowColumns<T>(p));
  }
  return use(TiledKind<T>(p));
}

}  // namespace products

using namespace products;

template <class T>
int64_t TileCount(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0) return 0;
  if (p.inner == 0) return 1;
  return WithKind(p, [](const ProductKind auto& kind) { return kind.tiles(); });
}

template <class T>
void ComputeTile(const Product<T>& p, int64_t tile, void* workspace) {
  if (p.inner == 0) return MultiplyNothing(p, 0, p.rows);
  WithKind(p, [=](const ProductKind auto& kind) { kind.Compute(tile, workspace); });
}
template <class T>
int64_t WorkspaceBytes(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0 || p.inner == 0 || IsTiny(p)) return 0;
  return WithKind(p, [](const ProductKind auto& kind) { return kind.WorkspaceBytes(); });
}

/// Of tiny products and those without elements nothing is shared.
template <class T>
int64_t PackedBytes(const Product<T>& p) {
  if (p.rows == 0 || p.columns == 0 || p.inner == 0 || IsTiny(p)) return 0;
  return WithKind(p, [](const ProductKind auto& kind) { return kind.SharedBytes(); });
}
template <class T>
int64_t PackCount(const Product<T>& p) {
  if (PackedBytes(p) == 0) return 0;
  return WithKind(p, [](const ProductKind auto& kind) { return kind.SharedParts(); });
}
template <class T>
void PackPart(const Product<T>& p, int64_t part) {
  WithKind(p, [part](const ProductKind auto& kind) { kind.FillShared(part); });
}

#define WEFT_INSTANTIATE_PRODUCTS(T)                            \
  template int64_t TileCount(const Product<T>&);                \
  template void ComputeTile(const Product<T>&, int64_t, void*); \
  template int64_t WorkspaceBytes(const Product<T>&);           \
  template int64_t PackedBytes(const Product<T>&);              \
  template int64_t PackCount(const Product<T>&);                \
  template void PackPart(const Product<T>&, int64_t);

}  // namespace weft::kernels
