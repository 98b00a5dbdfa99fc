// Element-wise operations as steps of chains (weft/block/chain.h): eight registers of elements go from function to function as arguments.
#pragma once

#include <cstdint>

#include "blocks/kernels/lanes.h"
#include "weft/block/chain.h"

namespace weft::kernels {

/// `at`: where the registers' elements begin, counted from the start of each step's memory.
template <class T>
using ChainCode = void (*)(Lanes<T>, Lanes<T>, Lanes<T>, Lanes<T>, Lanes<T>, Lanes<T>, Lanes<T>, Lanes<T>, const ChainStep*, int64_t at);
template <class T>
inline constexpr int64_t kChainElements = 8 * kLanes<T>;

template <class T>
T* ChainMemory(const ChainStep* step, int64_t at, int lane) {
  return static_cast<T*>(step->memory) + at + lane * kLanes<T>;
}
template <class T>
Lanes<T> ChainOne(const ChainStep* step) {
  return Broadcast(*static_cast<const T*>(step->memory));
}

/// One step: Act::Do(v, step, at, i) for register i, then the step after it.
template <class T, class Act>
void RunChainStep(Lanes<T> a, Lanes<T> b, Lanes<T> c, Lanes<T> d, Lanes<T> e, Lanes<T> f, Lanes<T> g, Lanes<T> h, const ChainStep* step,
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
ChainFunction ChainFunctionOf() {
  return reinterpret_cast<ChainFunction>(&RunChainStep<T, Act>);
}

template <class T, class Op>
struct RunningAct {
  static Lanes<T> Do(Lanes<T> v, const ChainStep*, int64_t, int) { return Op::Of(v); }
};
template <class T, class Op>
struct RunningMemoryAct {
  static Lanes<T> Do(Lanes<T> v, const ChainStep* step, int64_t at, int i) { return Op::Of(v, LoadLanes(ChainMemory<T>(step, at, i))); }
};
template <class T, class Op>
struct MemoryRunningAct {
  static Lanes<T> Do(Lanes<T> v, const ChainStep* step, int64_t at, int i) { return Op::Of(LoadLanes(ChainMemory<T>(step, at, i)), v); }
};
template <class T, class Op>
struct RunningOneAct {
  static Lanes<T> Do(Lanes<T> v, const ChainStep* step, int64_t, int) { return Op::Of(v, ChainOne<T>(step)); }
};
template <class T, class Op>
struct OneRunningAct {
  static Lanes<T> Do(Lanes<T> v, const ChainStep* step, int64_t, int) { return Op::Of(ChainOne<T>(step), v); }
};
template <class T, class Op>
struct RunningRunningAct {
  static Lanes<T> Do(Lanes<T> v, const ChainStep*, int64_t, int) { return Op::Of(v, v); }
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
    made.running = ChainFunctionOf<T, RunningAct<T, Op>>();
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
    made.running_memory = ChainFunctionOf<T, RunningMemoryAct<T, Op>>();
    made.memory_running = ChainFunctionOf<T, MemoryRunningAct<T, Op>>();
    made.running_one = ChainFunctionOf<T, RunningOneAct<T, Op>>();
    made.one_running = ChainFunctionOf<T, OneRunningAct<T, Op>>();
    made.running_running = ChainFunctionOf<T, RunningRunningAct<T, Op>>();
    return made;
  }();
  return &link;
}

}  // namespace weft::kernels
