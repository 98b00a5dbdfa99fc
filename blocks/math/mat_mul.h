// What the matrix products have in common.
#pragma once

#include "blocks/kernels/gemm/gemm.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// TensorFlow has no int8 product.
inline constexpr auto kMultiplied = kFloats + TypeList<int16_t, int32_t, int64_t>{} + kUnsigned + kComplexes;

/// What elements are multiplied as: integers wrap, signed or not, and have the same bits.
template <class T>
struct MultipliedAs {
  using Type = T;
};
template <Integer T>
  requires(std::is_unsigned_v<T> && sizeof(T) > 1)
struct MultipliedAs<T> {
  using Type = std::make_signed_t<T>;
};

/// Sizes of a product, and how each operand lies in memory.
struct ProductSizes {
  int64_t rows, columns, inner;
  int64_t a_row, a_column, b_row, b_column;  // strides of the operands as they are multiplied
  int64_t scratch = 0;                       // bytes, at the start of the block's scratch memory
  kernels::Gemm gemm = kernels::Gemm::kPlain;

  std::string implementation() const { return kernels::NameOf(gemm); }
  /// Sets the last two for products of which `count` are made at a time; `dtype` is one of kMultiplied.
  void Choose(DType dtype, int64_t count = 1);

  template <class T, class As = typename MultipliedAs<T>::Type>
  kernels::Product<As> Of(const T* a, const T* b, T* out, void* scratch_memory = nullptr) const {
    const auto *left = reinterpret_cast<const As*>(a), *right = reinterpret_cast<const As*>(b);
    kernels::Product<As> product{rows, columns, inner, {left, a_row, a_column}, {right, b_row, b_column}, reinterpret_cast<As*>(out), columns};
    if (scratch > 0) product.scratch = scratch_memory;
    return product;
  }
};

/// Sizes for matrices that are the last two axes of a and b, which have them; where ta or tb, transposed. Errors are placed at b_port.
Result<ProductSizes> SizesOfProduct(const Shape& a, bool ta, const Shape& b, bool tb, const char* b_port);

}  // namespace weft::blocks
