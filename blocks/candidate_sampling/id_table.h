// IdTable: where ids were seen, in memory that the caller gives.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "blocks/kernels/stop_check.h"
#include "blocks/number_hash.h"

namespace weft::blocks {

/// A hash table from any integers to positions of 0 or more. For one thread.
class IdTable {
 public:
  /// Numbers of memory for a table of at most `count` ids.
  static int64_t MemoryFor(int64_t count) { return 4 * static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count) + 1)); }

  /// Makes an empty table; the memory stays the caller's. Not to be used where the run is to end by then: not every slot may be empty.
  IdTable(std::span<int64_t> memory, Workers& workers) : slots_(reinterpret_cast<Slot*>(memory.data())), mask_(memory.size() / 2 - 1) {
    kernels::FillLong(workers, slots_, static_cast<int64_t>(mask_ + 1), Slot{0, -1});
  }

  /// The position of an id, to be changed; negative where it has none yet.
  int64_t& operator[](int64_t id) {
    Slot& slot = Find(id);
    slot.id = id;
    return slot.position;
  }
  /// Negative where there is none.
  int64_t Position(int64_t id) const { return Find(id).position; }

 private:
  struct Slot {
    int64_t id, position;
  };
  Slot& Find(int64_t id) const {
    for (uint64_t i = hash_(static_cast<uint64_t>(id)) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].position < 0 || slots_[i].id == id) return slots_[i];
    }
  }

  Slot* const slots_;
  const uint64_t mask_;
  const NumberHash hash_;
};

}  // namespace weft::blocks
