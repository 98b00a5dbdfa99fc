// Element-wise blocks whose functions take whole vectors of floats or doubles: of one input (RunMapVectors), of two of one shape
// (RunPairVectors), of two that are stretched over one another (RunVectors). F is a struct with a static `V Of(V)`, or `V Of(V, V)`.
#pragma once

#include "blocks/elementwise.h"
#include "blocks/kernels/simd/vector_math.h"

namespace weft::blocks {

template <class F>
struct FloatFunctionOp {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V a) { return F::Of(a); }
  template <class T>
  T operator()(T a) const;  // for its type only: floats go through Of
};
template <class F>
inline constexpr auto RunMapVectors = RunMap<FloatFunctionOp<F>>;

/// Output 0 = F of inputs 0 and 1; see PlanPairs.
template <class F>
struct PairVectorsRun : LinkedPairs<F> {
  template <class T>
  void operator()(const NoParameters&, RunContext& ctx) const {
    const T* left = ctx.in<T>(In<0>{}).data();
    const T* right = ctx.in<T>(In<1>{}).data();
    const auto out = ctx.out<T>(Out<0>{});
    T* to = out.data();
    ctx.workers().For(static_cast<int64_t>(out.size()), 8192, [&](int64_t begin, int64_t end) {
      kernels::VectorRow<F, T, 1, 1>(left + begin, right + begin, to + begin, end - begin);
    });
  }
};
template <class F>
inline constexpr PairVectorsRun<F> RunPairVectors{};

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
struct VectorsRun : LinkedPairs<F> {
  template <class T>
  void operator()(const kernels::BroadcastLoops& loops, RunContext& ctx) const { BroadcastVectors<F, T>(loops, ctx); }
};
template <class F>
inline constexpr VectorsRun<F> RunVectors{};

}  // namespace weft::blocks
