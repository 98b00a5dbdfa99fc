// Chains: how element-wise blocks run one after another on elements that stay in registers, so that fused steps need not store and load
// what only the next one reads. The bits are those of their Runs.
//
// Some registers of elements, the running values, go through a list of steps: each changes them and calls the one after it. What a step
// reads or writes besides is in memory. Only kernels know how steps take their registers; all others see functions without a type.
#pragma once

#include <cstdint>

namespace weft {

using ChainFunction = void (*)();

/// One step at work: a function of ChainLink or ChainKind, and its memory.
struct ChainStep {
  enum class Use : uint8_t {
    kNothing,
    kOne,    // one element is read
    kFetch,  // nothing is read, but soon will be
    kRead,   // as many elements as the chain runs over are read
    kWrite,  // ... are written
  };
  ChainFunction run = nullptr;
  void* memory = nullptr;
  Use use = Use::kNothing;
};

/// What all blocks share whose inputs and output are of one type.
struct ChainKind {
  static constexpr int kMostSteps = 64;  // of a chain, the last included
  int64_t element_bytes = 0;
  ChainFunction load = nullptr;   // the running values are read from memory
  ChainFunction store = nullptr;  // ... are written to memory
  /// ... are written to memory that no step reads, past the cache where its alignment allows: a fence must follow, on the same thread,
  /// before another thread reads them.
  ChainFunction stream = nullptr;
  /// Has the caches fetch what is read next: the elements some way after those at hand, which may lie beyond the memory's end.
  ChainFunction fetch = nullptr;
  ChainFunction last = nullptr;  // ends a chain
  /// Runs steps, the last of which is `last`, over n elements. Memory of two steps is the same or does not overlap.
  void (*run)(const ChainStep* steps, int64_t n) = nullptr;
};

/// A planned block as a step: by where its inputs are. The output becomes the running value.
struct ChainLink {
  const ChainKind* kind = nullptr;
  /// Of one input: the running value.
  ChainFunction running = nullptr;
  /// Of two, in their order.
  ChainFunction running_memory = nullptr, memory_running = nullptr, running_one = nullptr, one_running = nullptr, running_running = nullptr;
};

}  // namespace weft
