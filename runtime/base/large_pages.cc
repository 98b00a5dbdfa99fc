#include "weft/base/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace weft {

void AdviseLargePages(const void* data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr size_t kLeast = size_t{4} << 20;  // holds at least one whole large page, wherever it begins
  if (bytes < kLeast) return;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice: failing is no fault
#else
  (void)data, (void)bytes;
#endif
}

}  // namespace weft
