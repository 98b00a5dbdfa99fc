#include "tests/faults/memory_fault.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>

#include "tests/faults/fault_counter.h"

extern "C" void* __libc_malloc(std::size_t size);  // glibc's own: that of this program (malloc_fault.cc) counts what libraries ask for

namespace weft::faults {
namespace {

constinit FaultCounter allocations;

/// The allocations of the last fault's time that were not given back: their addresses, in memory of its own.
class Outstanding {
 public:
  void Clear() {
    const Lock lock(*this);
    std::fill(std::begin(table_), std::end(table_), kNone);
    count_.store(0);
  }
  void Add(void* memory) {
    const Lock lock(*this);
    if (static_cast<size_t>(count_.load()) >= kSlots / 2) return;
    size_t at = SlotOf(memory);
    while (table_[at] != kNone && table_[at] != kGone) at = (at + 1) % kSlots;
    table_[at] = reinterpret_cast<uintptr_t>(memory);
    count_.fetch_add(1);
  }
  void Remove(void* memory) {
    if (memory == nullptr || count_.load() == 0) return;
    const Lock lock(*this);
    size_t at = SlotOf(memory);
    for (size_t looks = 0; looks < kSlots && table_[at] != kNone; ++looks, at = (at + 1) % kSlots) {
      if (table_[at] != reinterpret_cast<uintptr_t>(memory)) continue;
      table_[at] = kGone;
      count_.fetch_sub(1);
      return;
    }
  }
  int64_t count() const { return count_.load(); }

 private:
  static constexpr size_t kSlots = size_t{1} << 17;
  static constexpr uintptr_t kNone = 0, kGone = 1;
  struct Lock {
    explicit Lock(Outstanding& of) : outstanding(of) {
      while (outstanding.busy_.test_and_set()) {
      }
    }
    ~Lock() { outstanding.busy_.clear(); }
    Outstanding& outstanding;
  };
  static size_t SlotOf(void* memory) { return reinterpret_cast<uintptr_t>(memory) / 16 * 0x9E3779B97F4A7C15 >> 47; }

  std::atomic_flag busy_;
  std::atomic<int64_t> count_{0};
  uintptr_t table_[kSlots];
};
Outstanding outstanding;

void* Take(std::size_t size, std::size_t alignment) {
  if (allocations.Fails()) return nullptr;
  if (size == 0) size = 1;
  const size_t whole = (size + alignment - 1) / alignment * alignment;
  void* memory = alignment <= alignof(std::max_align_t) ? __libc_malloc(size) : std::aligned_alloc(alignment, whole);
  if (memory != nullptr && allocations.counts()) outstanding.Add(memory);
  return memory;
}

void* TakeOrThrow(std::size_t size, std::size_t alignment) {
  void* memory = Take(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Give(void* memory) {
  outstanding.Remove(memory);
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
  allocations.Stop();
  Say("terminates");
  std::abort();
}

}  // namespace

MemoryFault::MemoryFault(uint64_t number, bool lasts) : number_(number) {
  outstanding.Clear();
  allocations.Start(number, lasts);
}
MemoryFault::~MemoryFault() { allocations.Stop(); }
uint64_t MemoryFault::seen() const { return allocations.seen(); }

int64_t Kept() { return outstanding.count(); }

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
