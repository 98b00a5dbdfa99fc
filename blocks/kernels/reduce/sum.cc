#include "blocks/kernels/reduce/sum.h"

namespace weft::kernels {

template <class T>
  requires std::is_same_v<T, UnsignedOf<T>>
void ReduceSum(const ReduceLayout& layout, const T* in, T* out, std::byte* scratch, Workers& workers, double divisor) {
  Reduce(layout, in, out, scratch, workers, SumOf<T>{divisor});
}

#define WEFT_INSTANTIATE(T) template void ReduceSum(const ReduceLayout&, const T*, T*, std::byte*, Workers&, double)
WEFT_INSTANTIATE(half);
WEFT_INSTANTIATE(bfloat16);
WEFT_INSTANTIATE(float);
WEFT_INSTANTIATE(double);
WEFT_INSTANTIATE(complex64);
WEFT_INSTANTIATE(complex128);
WEFT_INSTANTIATE(uint8_t);
WEFT_INSTANTIATE(uint16_t);
WEFT_INSTANTIATE(uint32_t);
WEFT_INSTANTIATE(uint64_t);
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
