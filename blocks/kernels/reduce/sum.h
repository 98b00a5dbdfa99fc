// Sums and means over any dimensions. The instances are in sum.cc, one for each size of integers.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// out = the sums of `in` divided by `divisor`, which is 1 for integers. `scratch` has layout.ScratchBytes() bytes.
template <class T>
  requires std::is_same_v<T, UnsignedOf<T>>
void ReduceSum(const ReduceLayout& layout, const T* in, T* out, std::byte* scratch, Workers& workers, double divisor = 1);

template <Integer T>
  requires std::is_signed_v<T>
void ReduceSum(const ReduceLayout& layout, const T* in, T* out, std::byte* scratch, Workers& workers, double = 1) {
  using U = UnsignedOf<T>;
  ReduceSum(layout, reinterpret_cast<const U*>(in), reinterpret_cast<U*>(out), scratch, workers);
}

}  // namespace weft::kernels
