// Element-wise operations as steps of chains (weft/base/chain.h): eight registers of elements go from function to function as arguments.
#pragma once

#include <cstdint>

#include "blocks/kernels/simd/vec.h"
#include "weft/base/chain.h"

namespace weft::kernels {

/// `at`: where the registers' elements begin, counted from the start of each step's memory.
template <class T>
using ChainCode = void (*)(Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, const ChainOp*, int64_t at);
template <class T>
inline constexpr int64_t kChainElements = 8 * kLanes<T>;

template <class T>
T* ChainMemory(const ChainOp* step, int64_t at, int lane) {
  return static_cast<T*>(step->memory) + at + lane * kLanes<T>;
}
template <class T>
Vec<T> ChainScalar(const ChainOp* step) { return Opaque(Broadcast(*static_cast<const T*>(step->memory))); }

/// One step: Act::Do(v, step, at, i) for register i, then the step after it.
template <class T, class Act>
void RunChainOp(Vec<T> a, Vec<T> b, Vec<T> c, Vec<T> d, Vec<T> e, Vec<T> f, Vec<T> g, Vec<T> h, const ChainOp* step,
                  int64_t at) {
  a = Act::Do(a, step, at, 0);
  b = Act::Do(b, step, at, 1);
  c = Act::Do(c, step, at, 2);
  d = Act::Do(d, step, at, 3);
  e = Act::Do(e, step, at, 4);
  f = Act::Do(f, step, at, 5);
  g = Act::Do(g, step, at, 6);
  h = Act::Do(h, step, at, 7);
  reinterpret_cast<ChainCode<T>>(step[1].run)(a, b, c, d, e, f, g, h, step + 1, at);
}
template <class T, class Act>
ChainFunction ChainFunctionOf() { return reinterpret_cast<ChainFunction>(&RunChainOp<T, Act>); }

template <class T, class Op>
struct UnaryAct {
  static Vec<T> Do(Vec<T> v, const ChainOp*, int64_t, int) { return Op::Of(v); }
};
template <class T, class Op>
struct RegisterMemoryAct {
  static Vec<T> Do(Vec<T> v, const ChainOp* step, int64_t at, int i) { return Op::Of(v, LoadVec(ChainMemory<T>(step, at, i))); }
};
template <class T, class Op>
struct MemoryRegisterAct {
  static Vec<T> Do(Vec<T> v, const ChainOp* step, int64_t at, int i) { return Op::Of(LoadVec(ChainMemory<T>(step, at, i)), v); }
};
template <class T, class Op>
struct RegisterScalarAct {
  static Vec<T> Do(Vec<T> v, const ChainOp* step, int64_t, int) { return Op::Of(v, ChainScalar<T>(step)); }
};
template <class T, class Op>
struct ScalarRegisterAct {
  static Vec<T> Do(Vec<T> v, const ChainOp* step, int64_t, int) { return Op::Of(ChainScalar<T>(step), v); }
};
template <class T, class Op>
struct RegisterRegisterAct {
  static Vec<T> Do(Vec<T> v, const ChainOp*, int64_t, int) { return Op::Of(v, v); }
};

/// For float and double.
template <class T>
const ChainKind* KindOfChain();

/// The link of a block that maps each element by Op.
template <class Op, ChainElement T>
const ChainLink* LinkOfMap() {
  static const ChainLink link = [] {
    ChainLink made;
    made.kind = KindOfChain<T>();
    made.unary = ChainFunctionOf<T, UnaryAct<T, Op>>();
    return made;
  }();
  return &link;
}

/// Of one that joins two elements.
template <class Op, ChainElement T>
const ChainLink* LinkOfTwo() {
  static const ChainLink link = [] {
    ChainLink made;
    made.kind = KindOfChain<T>();
    made.register_memory = ChainFunctionOf<T, RegisterMemoryAct<T, Op>>();
    made.memory_register = ChainFunctionOf<T, MemoryRegisterAct<T, Op>>();
    made.register_scalar = ChainFunctionOf<T, RegisterScalarAct<T, Op>>();
    made.scalar_register = ChainFunctionOf<T, ScalarRegisterAct<T, Op>>();
    made.register_register = ChainFunctionOf<T, RegisterRegisterAct<T, Op>>();
    return made;
  }();
  return &link;
}

}  // namespace weft::kernels
