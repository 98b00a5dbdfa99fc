#include "blocks/kernels/elementwise/chain.h"

#include <algorithm>
#include <cstring>

#include "blocks/kernels/simd/prefetch.h"

namespace weft::kernels {
namespace {

using Use = ChainOp::Use;

template <class T>
struct LoadAct {
  static Vec<T> Do(Vec<T>, const ChainOp* step, int64_t at, int i) { return LoadVec(ChainMemory<T>(step, at, i)); }
};
template <class T, bool kStream>
struct StoreAct {
  static Vec<T> Do(Vec<T> v, const ChainOp* step, int64_t at, int i) {
    StoreVec<kStream>(ChainMemory<T>(step, at, i), v);
    return v;
  }
};
template <class T>
struct PrefetchAct {
  static Vec<T> Do(Vec<T> v, const ChainOp* step, int64_t at, int i) {
    // Bytes: as far as memory of the last-level cache takes to arrive. 2 to 4 KB are alike, and 1.05 times as fast as none.
    constexpr int64_t kAhead = 3 << 10;
    if (i * kVecBytes % 64 != 0) return v;  // a line that has been fetched
    const int64_t from_start = at * static_cast<int64_t>(sizeof(T)) + i * kVecBytes + kAhead;
    PrefetchAfter(step->memory, from_start);
    return v;
  }
};
template <class T>
void LastStep(Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, Vec<T>, const ChainOp*, int64_t) {}

/// As many of the elements [first, end) as fill the registers; the first of those left.
template <class T>
int64_t RunWhole(const ChainOp* steps, int64_t first, int64_t end) {
  const auto code = reinterpret_cast<ChainCode<T>>(steps->run);
  const Vec<T> none{};
  int64_t at = first;
  for (; at + kChainElements<T> <= end; at += kChainElements<T>) code(none, none, none, none, none, none, none, none, steps, at);
  return at;
}

/// Fewer elements than the registers hold, from `first` on: they go through copies of the steps' memory that are long enough.
template <class T>
void RunRemainder(const ChainOp* steps, int64_t first, int64_t n) {
  const ChainKind& kind = *KindOfChain<T>();
  const size_t bytes = static_cast<size_t>(n) * sizeof(T);
  alignas(64) T copies[ChainKind::kMaxOps][kChainElements<T>];
  ChainOp with_copies[ChainKind::kMaxOps];
  int count = 0;
  for (bool last = false; !last; ++count) {
    ChainOp& step = with_copies[count] = steps[count];
    last = step.run == kind.last;
    if (step.run == kind.stream) step.run = kind.store;
    if (step.use != Use::kRead && step.use != Use::kWrite) continue;
    const T* from = static_cast<const T*>(steps[count].memory) + first;
    int same = 0;  // a step before may use this memory, too
    while (same < count && (steps[same].use < Use::kRead || steps[same].memory != steps[count].memory)) ++same;
    step.memory = same < count ? with_copies[same].memory : copies[count];
    if (same < count) continue;
    std::fill(copies[count], copies[count] + kChainElements<T>, T(1));
    if (step.use == Use::kRead) std::memcpy(copies[count], from, bytes);
  }
  RunWhole<T>(with_copies, 0, kChainElements<T>);
  for (int s = 0; s < count; ++s) {
    if (steps[s].use == Use::kWrite) std::memcpy(static_cast<T*>(steps[s].memory) + first, with_copies[s].memory, bytes);
  }
}

/// Elements up to where all steps that stream may; none where there are no such steps; -1 where they never may all at once.
template <class T>
int64_t ElementsToLine(const ChainOp* steps) {
  const ChainKind& kind = *KindOfChain<T>();
  int64_t count = -1;
  for (; steps->run != kind.last; ++steps) {
    if (steps->run != kind.stream) continue;
    const auto bytes = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(steps->memory) % kVecBytes);
    if (bytes % static_cast<int64_t>(sizeof(T)) != 0 || (count >= 0 && count != bytes / static_cast<int64_t>(sizeof(T)))) return -1;
    count = bytes / static_cast<int64_t>(sizeof(T));
  }
  return std::max<int64_t>(count, 0);
}

template <class T>
void RunChain(const ChainOp* steps, int64_t n) {
  const ChainKind& kind = *KindOfChain<T>();
  ChainOp stored[ChainKind::kMaxOps];
  int64_t first = ElementsToLine<T>(steps);
  if (first < 0) {
    for (int count = 0;; ++count) {
      stored[count] = steps[count];
      if (steps[count].run == kind.stream) stored[count].run = kind.store;
      if (steps[count].run == kind.last) break;
    }
    steps = stored;
    first = 0;
  }
  first = std::min(first, n);
  if (first > 0) RunRemainder<T>(steps, 0, first);
  first = RunWhole<T>(steps, first, n);
  if (first < n) RunRemainder<T>(steps, first, n - first);
}

}  // namespace

template <class T>
const ChainKind* KindOfChain() {
  static const ChainKind kind = [] {
    ChainKind made;
    made.element_bytes = sizeof(T);
    made.load = ChainFunctionOf<T, LoadAct<T>>();
    made.store = ChainFunctionOf<T, StoreAct<T, false>>();
    made.stream = ChainFunctionOf<T, StoreAct<T, true>>();
    made.prefetch = ChainFunctionOf<T, PrefetchAct<T>>();
    made.last = reinterpret_cast<ChainFunction>(&LastStep<T>);
    made.run = RunChain<T>;
    return made;
  }();
  return &kind;
}
template const ChainKind* KindOfChain<float>();
template const ChainKind* KindOfChain<double>();

}  // namespace weft::kernels
