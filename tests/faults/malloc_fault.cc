#include "tests/faults/malloc_fault.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

// What glibc's own are called besides. (Its free stays.)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
}

namespace weft::faults {
namespace {

std::atomic<uint64_t> asked{0}, first_that_fails{0};
std::atomic<bool> armed{false}, lasting{false};

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
  if (!armed.load(std::memory_order_relaxed) || !Counts(caller)) return false;
  const uint64_t number = asked.fetch_add(1) + 1, first = first_that_fails.load();
  if (first == 0 || (number != first && (number < first || !lasting.load()))) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

MallocFault::MallocFault(uint64_t number, bool lasts) : number_(number) {
  asked.store(0);
  first_that_fails.store(number);
  lasting.store(lasts);
  armed.store(true);
}
MallocFault::~MallocFault() { armed.store(false); }
uint64_t MallocFault::seen() const { return asked.load(); }

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
