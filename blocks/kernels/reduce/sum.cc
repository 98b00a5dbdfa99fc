#include "blocks/kernels/reduce/sum.h"

#include "blocks/kernels/instantiate.h"

namespace weft::kernels {

template <class T>
  requires std::is_same_v<T, UnsignedOf<T>>
void ReduceSum(const ReduceLayout& layout, const T* in, T* out, std::byte* scratch, Workers& workers, double divisor) {
  Reduce(layout, in, out, scratch, workers, SumOf<T>{divisor});
}

#define WEFT_INSTANTIATE(T) template void ReduceSum(const ReduceLayout&, const T*, T*, std::byte*, Workers&, double);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_FOR_UNSIGNED(WEFT_INSTANTIATE)
WEFT_FOR_COMPLEXES(WEFT_INSTANTIATE)

}  // namespace weft::kernels
