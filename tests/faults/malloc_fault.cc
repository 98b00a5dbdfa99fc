#include "tests/faults/malloc_fault.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "tests/faults/fault_counter.h"

// What glibc's own are called besides. (Its free stays.)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
}

namespace weft::faults {
namespace {

constinit FaultCounter requests;

/// Whether the code at an address is that of the program or of a library whose allocations are meant. Without memory of the heap.
bool Counts(const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const std::string_view name = slash == nullptr ? info.dli_fname : slash + 1;
  for (const char* left_out : {"libc.", "ld-linux", "libstdc++", "libgcc_s", "libfontconfig", "libfreetype", "libexpat"}) {
    if (name.starts_with(left_out)) return false;
  }
  return true;
}

bool Fails(const void* caller) {
  if (!requests.counts() || !Counts(caller) || !requests.Fails()) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

MallocFault::MallocFault(uint64_t number, bool lasts) : number_(number) { requests.Start(number, lasts); }
MallocFault::~MallocFault() { requests.Stop(); }
uint64_t MallocFault::seen() const { return requests.seen(); }

}  // namespace weft::faults

extern "C" {

void* malloc(std::size_t size) noexcept { return weft::faults::Fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return weft::faults::Fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  return weft::faults::Fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}

}  // extern "C"
