// What the matrix products have in common.
#pragma once

#include "blocks/kernels/gemm/gemm.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// TensorFlow has no int8 product.
inline constexpr auto kMultiplied = kFloats + TypeList<int16_t, int32_t, int64_t>{} + kUnsigned + kComplexes;

/// Sizes of a product, and how each operand lies in memory.
struct ProductSizes {
  int64_t rows, columns, inner;
  int64_t a_row, a_column, b_row, b_column;  // strides of the operands as they are multiplied

  template <class T>
  kernels::Product<T> Of(const T* a, const T* b, T* out) const {
    return {rows, columns, inner, {a, a_row, a_column}, {b, b_row, b_column}, out, columns};
  }
};

/// The scratch of such products, of which `count` are made at a time; `dtype` is one of kMultiplied.
int64_t ScratchBytes(const ProductSizes& sizes, DType dtype, int64_t count = 1);

/// Sizes for matrices that are the last two axes of a and b, which have them; where ta or tb, transposed. Errors are placed at b_port.
Result<ProductSizes> SizesOfProduct(const Shape& a, bool ta, const Shape& b, bool tb, const char* b_port);

}  // namespace weft::blocks
