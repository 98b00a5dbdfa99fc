// Chains: element-wise blocks that run one after another on elements in registers, so that fused steps do not store and load what only the
// next block reads. The bits are those of the blocks' Runs.
//
// A chain is an array of operations. Some registers of elements go from operation to operation: each changes them and calls the next one.
// Other operands are in memory. Only kernels know how registers are passed; all others see functions without a type (ChainFunction).
#pragma once

#include <cstdint>

namespace weft {

using ChainFunction = void (*)();

/// One operation: a function of a ChainLink or ChainKind, and the memory it uses.
struct ChainOp {
  enum class Use : uint8_t {
    kNothing,   // no memory
    kScalar,    // reads one element, the same for all
    kPrefetch,  // reads nothing, but prefetches what a later operation reads
    kRead,      // reads as many elements as the chain runs over
    kWrite,     // writes as many
  };
  ChainFunction run = nullptr;
  void* memory = nullptr;
  Use use = Use::kNothing;
};

/// The operations that belong to an element type rather than to a block. Blocks whose inputs and output are of that type can be chained.
struct ChainKind {
  static constexpr int kMaxOps = 64;  // in one chain, `last` included
  int64_t element_bytes = 0;
  ChainFunction load = nullptr;   // memory to registers
  ChainFunction store = nullptr;  // registers to memory
  /// Registers to memory that no operation of the chain reads, with non-temporal stores where its alignment allows. The calling thread
  /// must execute a store fence before another thread reads that memory.
  ChainFunction stream = nullptr;
  /// Prefetches elements some kilobytes after those in registers; the address may lie beyond the end of the memory.
  ChainFunction prefetch = nullptr;
  ChainFunction last = nullptr;  // ends every chain
  /// Runs the operations over n elements; the last of `ops` is `last`. Memory of two operations is the same or does not overlap.
  void (*run)(const ChainOp* ops, int64_t n) = nullptr;
};

/// A planned block as an operation, by where its inputs are. The result is left in the registers. Static data of the kernels.
struct ChainLink {
  const ChainKind* kind = nullptr;
  /// Of blocks with one input, which is in registers.
  ChainFunction unary = nullptr;
  /// Of blocks with two inputs: where the first and where the second is.
  ChainFunction register_memory = nullptr, memory_register = nullptr, register_register = nullptr;
  ChainFunction register_scalar = nullptr, scalar_register = nullptr;
};

}  // namespace weft
