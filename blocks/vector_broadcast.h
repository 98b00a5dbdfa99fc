// Functions of two floating-point operands that are stretched over one another, by whole vectors (RunVectors).
#pragma once

#include "blocks/elementwise.h"
#include "blocks/kernels/vector_math.h"

namespace weft::blocks {

/// Output 0 = F of inputs 0 and 1; see PlanBroadcast.
template <class F, class T>
void BroadcastVectors(const kernels::BroadcastLoops& loops, RunContext& ctx) {
  const T* x = ctx.in<T>(In<0>{}).data();
  const T* y = ctx.in<T>(In<1>{}).data();
  T* z = ctx.out<T>(Out<0>{}).data();
  ctx.workers().For(loops.count, 4096, [&](int64_t begin, int64_t end) {
    kernels::RunBroadcast(loops, kernels::kVectorRows<F, T>, {sizeof(T), sizeof(T), sizeof(T)}, x, y, z, begin, end);
  });
}
template <class F>
inline constexpr auto RunVectors = []<class T>(const kernels::BroadcastLoops& loops, RunContext& ctx) { BroadcastVectors<F, T>(loops, ctx); };

}  // namespace weft::blocks
