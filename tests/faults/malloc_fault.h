// Allocations of C libraries that fail when a test wants them to: malloc, calloc and realloc of this program, on every thread.
#pragma once

#include <cstdint>

namespace weft::faults {

/// While it lives, allocation `number` (from 1 on) of those that come fails; all that follow it, too, where it `lasts`. 0: none fails, they
/// are counted. Those of operator new (MemoryFault), of the C and the C++ library and of the libraries for fonts do not count: the C library
/// ends the process where it has no memory for a thread's own objects, and without a font's files another font is drawn. One at a time.
class MallocFault {
 public:
  explicit MallocFault(uint64_t number, bool lasts = false);
  ~MallocFault();
  MallocFault(const MallocFault&) = delete;
  MallocFault& operator=(const MallocFault&) = delete;
  /// How many have been asked for while it lives.
  uint64_t seen() const;
  bool happened() const { return number_ != 0 && seen() >= number_; }

 private:
  const uint64_t number_;
};

}  // namespace weft::faults
