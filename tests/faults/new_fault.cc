// Part of the library that the program `weft` loads first: what its operator new calls. WEFT_NEW_FAULT is the number of the call that fails,
// from 1 on, also before main; WEFT_FAULT_HAPPENED as in call_fault.cc.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

bool Fails() {
  static std::atomic<uint64_t> seen{0};
  const char* number = std::getenv("WEFT_NEW_FAULT");
  if (number == nullptr || ++seen != std::strtoull(number, nullptr, 10)) return false;
  if (const char* path = std::getenv("WEFT_FAULT_HAPPENED")) ::syscall(SYS_close, ::syscall(SYS_open, path, O_CREAT | O_WRONLY, 0666));
  return true;
}

}  // namespace

extern "C" {

void* mi_malloc(size_t size) {
  static const auto next = reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_NEXT, "mi_malloc"));
  return Fails() ? nullptr : next(size);
}

void* mi_malloc_aligned(size_t size, size_t alignment) {
  static const auto next = reinterpret_cast<void* (*)(size_t, size_t)>(dlsym(RTLD_NEXT, "mi_malloc_aligned"));
  return Fails() ? nullptr : next(size, alignment);
}

}  // extern "C"
