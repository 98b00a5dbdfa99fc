// ResultSet: the values of one run, by slot of its plan: what kernels read and write, and what readers see when the run has succeeded.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "weft/base/memory.h"
#include "weft/block/context.h"

namespace weft {

/// Memory of results. While a reader has a lease of it no run writes to it.
struct ResultMemory {
  std::shared_ptr<Buffer> buffer;
  std::atomic<int> leases{0};

  bool leased() const { return leases.load(std::memory_order_acquire) != 0; }
};

/// Plain data of one thread: the one that runs; then of readers (Results).
struct ResultSet {
  MemoryCharge held;  // of the vectors themselves
  std::vector<Value> values;
  std::vector<Tensor> owned;                           // of slots that have a tensor of their own
  std::vector<int> root;                               // of shared slots: the slot whose memory it is, or -1
  std::vector<std::shared_ptr<ResultMemory>> memories;  // as in ResultLayout
  std::vector<uint64_t> computed;                      // the run that computed it; only where values can be dead
  std::vector<Tensor> stale;                           // what a dead one had before; only where values can be dead
  std::vector<std::vector<Tensor>> reusable;           // tensors that values of the slot had; only where there are loops
  uint64_t run = 0;
  bool bound = false;        // has memory
  bool repoint = false;      // the values must be pointed at their memory again before the next run
  bool tiles_whole = false;  // the values of kTile slots have whole memory

  void Own(size_t slot, Tensor tensor) {
    Tensor& kept = owned[slot];
    kept = std::move(tensor);
    values[slot] = {kept.data(), kept.defined() ? kept.count() : 0, &kept.shape(), false};
  }
};

/// False for a variable that nothing was assigned to.
inline bool HasValue(const Value& value) { return value.data != nullptr || (value.shape != nullptr && value.shape->count() == 0); }

/// Whether this is the only reference, with all that others did through theirs before.
inline bool SoleOwner(const std::shared_ptr<const void>& owner) {
  if (owner.use_count() != 1) return false;
  // The copy's end acquires what other owners did before they let go; use_count alone would not.
  { std::shared_ptr<const void> copy = owner; }
  return owner.use_count() == 1;
}

}  // namespace weft
