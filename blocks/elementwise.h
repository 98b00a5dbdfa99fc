// Element-wise blocks in a line or two: what maps one input (RunMap) and what joins two that are stretched over one another (RunBroadcast).
//
//   BlockDef Log() {
//     return Block("Log", "...").Ports(x, y).Types("T", kFloats).Elementwise().Gradient(LogGradient).Kernel(PlanMap, RunMap<LogOp>);
//   }
//
// An operation is a struct with a const operator() for one element (see kernels/elementwise/elementwise.h and kernels/index/broadcast.h); half and bfloat16
// reach it as float. `static constexpr int kCost` says how much dearer than an addition it is, where it is. One that has a static
// `V Of(V)`, or `V Of(V, V)`, for a register of floats or doubles, is a link of chains (kernels/elementwise/chain.h), with the same bits; of
// floats alone it needs no operator().
#pragma once

#include <atomic>
#include <type_traits>

#include "blocks/broadcast.h"
#include "blocks/kernels/elementwise/chain.h"
#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/index/broadcast.h"
#include "blocks/kernels/simd/non_temporal.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// Elements that one task computes.
template <class Op>
constexpr int64_t GrainOf() {
  constexpr int64_t kCheap = 32768;
  if constexpr (requires { Op::kCost; }) return kCheap / Op::kCost;
  else return kCheap;
}

/// What an operation gives for elements of type T, from operands of its Accumulator.
template <class Op, class T, class... A>
struct ResultOfOp {
  using type = T;  // of one for registers alone
};
template <class Op, class T, class... A>
  requires std::is_invocable_v<Op, A...>
struct ResultOfOp<Op, T, A...> {
  using Given = std::invoke_result_t<Op, A...>;
  using type = std::conditional_t<std::is_same_v<Given, Accumulator<T>>, T, Given>;
};
template <class Op, class T>
using MapResult = typename ResultOfOp<Op, T, Accumulator<T>>::type;
template <class Op, class T>
using BinaryResult = typename ResultOfOp<Op, T, Accumulator<T>, Accumulator<T>>::type;

/// Output 0 has the shape of input 0.
inline Status PlanMap(PlanContext& ctx) {
  ctx.set(Out<0>{}, ctx.shape(In<0>{}));
  return {};
}

/// Output 0 = Op of input 0.
template <class Op>
struct MapRun {
  template <class T>
  void operator()(const NoParameters&, RunContext& ctx) const {
    using R = MapResult<Op, T>;
    const T* from = ctx.in<T>(In<0>{}).data();
    const auto out = ctx.out<R>(Out<0>{});
    R* to = out.data();
    const int64_t count = static_cast<int64_t>(out.size());
    if (count == 1) return kernels::MapElements<Op>(from, to, 1);
    constexpr int64_t kSize = sizeof(R), kReadSize = sizeof(T);
    const bool stream = kernels::IsStreamed(count * kSize, count * kReadSize) && static_cast<const void*>(to) != from;
    ctx.workers().For(count, GrainOf<Op>(), [&](int64_t begin, int64_t end) {
      if constexpr (kernels::MapsVec<Op, T>) {
        if (stream) return kernels::MapVecs<Op, true>(from + begin, to + begin, end - begin);
      }
      kernels::StreamElements(to + begin, end - begin, kSize, stream, [&](int64_t first, int64_t n, void* piece) {
        kernels::MapElements<Op>(from + begin + first, static_cast<R*>(piece), n);
      });
    });
  }
  template <class T>
    requires kernels::MapsVec<Op, T>
  static const ChainLink* Link() { return kernels::LinkOfMap<Op, T>(); }
};
template <class Op>
inline constexpr MapRun<Op> RunMap{};

/// The base of what joins the elements of two inputs by Op: the link of chains, for the types that Op takes in registers.
template <class Op>
struct LinkedPairs {
  template <class T>
    requires kernels::CombinesVecs<Op, T>
  static const ChainLink* Link() { return kernels::LinkOfTwo<Op, T>(); }
};

/// Output 0 has the common shape of inputs 0 and 1.
Result<kernels::BroadcastLoops> PlanBroadcastPorts(PlanContext& ctx, const In<0>& x, const In<1>& y);
inline Result<kernels::BroadcastLoops> PlanBroadcast(PlanContext& ctx) {
  return PlanBroadcastPorts(ctx, In<0>{ctx.def().inputs[0].name.c_str(), "", ""}, In<1>{ctx.def().inputs[1].name.c_str(), "", ""});
}

/// Output 0 = Op of inputs 0 and 1.
template <class Op, class T>
void Broadcast(const kernels::BroadcastLoops& loops, RunContext& ctx) {
  using R = BinaryResult<Op, T>;
  const T* x = ctx.in<T>(In<0>{}).data();
  const T* y = ctx.in<T>(In<1>{}).data();
  R* z = ctx.out<R>(Out<0>{}).data();
  if constexpr (std::is_invocable_v<Op, Accumulator<T>, Accumulator<T>>) {
    if (loops.count == 1) {
      z[0] = static_cast<R>(Op{}(static_cast<Accumulator<T>>(x[0]), static_cast<Accumulator<T>>(y[0])));
      return;
    }
  }
  ctx.workers().For(loops.count, GrainOf<Op>(), [&](int64_t begin, int64_t end) {
    kernels::RunBroadcast(loops, kernels::kRows<Op, T, R>, {sizeof(T), sizeof(T), sizeof(R)}, x, y, z, begin, end);
  });
}
/// As Broadcast, where no element of input 1 may be one that refused(element) is true of: false if there is one, and output 0 is then not
/// to be used. Elements are looked at just before they are operands, or where they are operands several times, once before.
template <class Op, class T, class Refused>
bool BroadcastUnless(const kernels::BroadcastLoops& loops, RunContext& ctx, const Refused& refused) {
  const T* y = ctx.in<T>(In<1>{}).data();
  const int64_t count = static_cast<int64_t>(ctx.in<T>(In<1>{}).size());
  if (loops.count == 0) return true;
  std::atomic<bool> found = false;
  const auto look = [&](int64_t begin, int64_t end) {
    bool any = false;
    for (int64_t i = begin; i < end; ++i) any |= refused(y[i]);
    if (any) found.store(true, std::memory_order_relaxed);
    return !any;
  };
  if (loops.y_whole) {
    const T* x = ctx.in<T>(In<0>{}).data();
    T* z = ctx.out<T>(Out<0>{}).data();
    ctx.workers().For(count, GrainOf<Op>(), [&](int64_t begin, int64_t end) {
      if (look(begin, end)) {
        kernels::RunBroadcast(loops, kernels::kRows<Op, T, T>, {sizeof(T), sizeof(T), sizeof(T)}, x, y, z, begin, end);
      }
    });
    return !found;
  }
  ctx.workers().For(count, GrainOf<Op>(), look);
  if (found || ctx.cancelled()) return !found;
  Broadcast<Op, T>(loops, ctx);
  return true;
}
template <class Op>
struct BroadcastRun : LinkedPairs<Op> {
  template <class T>
  void operator()(const kernels::BroadcastLoops& loops, RunContext& ctx) const { Broadcast<Op, T>(loops, ctx); }
};
template <class Op>
inline constexpr BroadcastRun<Op> RunBroadcast{};

/// Output 0 has the shape of inputs 0 and 1, which must be the same.
Status PlanPairs(PlanContext& ctx);

/// Output 0 = Op of inputs 0 and 1, which have one shape.
template <class Op>
struct PairsRun : LinkedPairs<Op> {
  template <class T>
  void operator()(const NoParameters&, RunContext& ctx) const {
    const T* left = ctx.in<T>(In<0>{}).data();
    const T* right = ctx.in<T>(In<1>{}).data();
    const auto out = ctx.out<T>(Out<0>{});
    T* to = out.data();
    const int64_t count = static_cast<int64_t>(out.size());
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    const bool stream = kernels::IsStreamed(bytes, 2 * bytes) && to != left && to != right;
    ctx.workers().For(count, GrainOf<Op>(), [&](int64_t begin, int64_t end) {
      kernels::StreamElements(to + begin, end - begin, sizeof(T), stream, [&](int64_t first, int64_t n, void* piece) {
        kernels::RowElements<Op, T, T, 1, 1>(left + begin + first, right + begin + first, static_cast<T*>(piece), n);
      });
    });
  }
};
template <class Op>
inline constexpr PairsRun<Op> RunPairs{};

}  // namespace weft::blocks
