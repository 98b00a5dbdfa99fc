#include "tests/faults/memory_fault.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace weft::faults {
namespace {

std::atomic<uint64_t> asked{0}, first_that_fails{0};
std::atomic<bool> armed{false}, lasting{false};
std::atomic<int64_t> live{0};

bool Fails() {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const uint64_t number = asked.fetch_add(1) + 1, first = first_that_fails.load();
  return first != 0 && (number == first || (number > first && lasting.load()));
}

void* Take(std::size_t size, std::size_t alignment) {
  if (Fails()) return nullptr;
  if (size == 0) size = 1;
  void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(size) : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* TakeOrThrow(std::size_t size, std::size_t alignment) {
  void* memory = Take(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Give(void* memory) {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

char watched[200] = "";

void Say(const char* what) {
  char text[300];
  const int size = std::snprintf(text, sizeof text, "%s: %s\n", what, watched);
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) _exit(4);
}
void OnAlarm(int) {
  Say("hangs");
  std::abort();
}
void OnTerminate() {
  armed.store(false);
  Say("terminates");
  std::abort();
}

}  // namespace

MemoryFault::MemoryFault(uint64_t number, bool lasts) : number_(number) {
  asked.store(0);
  first_that_fails.store(number);
  lasting.store(lasts);
  armed.store(true);
}
MemoryFault::~MemoryFault() { armed.store(false); }
uint64_t MemoryFault::seen() const { return asked.load(); }

int64_t LiveAllocations() { return live.load(); }

Watchdog::Watchdog(const char* what, uint64_t number, unsigned seconds) {
  std::snprintf(watched, sizeof watched, "%s, %lu", what, static_cast<unsigned long>(number));
  std::set_terminate(OnTerminate);
  signal(SIGALRM, OnAlarm);
  alarm(seconds);
}
Watchdog::~Watchdog() {
  alarm(0);
  std::set_terminate(std::abort);
}

}  // namespace weft::faults

void* operator new(std::size_t size) { return weft::faults::TakeOrThrow(size, 1); }
void* operator new[](std::size_t size) { return weft::faults::TakeOrThrow(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return weft::faults::TakeOrThrow(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return weft::faults::TakeOrThrow(size, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return weft::faults::Take(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return weft::faults::Take(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return weft::faults::Take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return weft::faults::Take(size, static_cast<std::size_t>(alignment));
}
// Not inlined: the compiler would take free for the wrong end of a new that it sees.
[[gnu::noinline]] void operator delete(void* memory) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { weft::faults::Give(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { weft::faults::Give(memory); }
