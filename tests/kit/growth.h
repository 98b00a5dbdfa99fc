// How the time of something grows with its input.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <ctime>

namespace weft::kit {

/// Of this process, all threads: what other programs do does not count. (They share caches and memory with it, though: take the best of several.)
inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// While it lives, memory that is freed stays with the process: the system takes time to clear pages, more for large memory than for small.
class KeptMemory {
 public:
  KeptMemory() { Set(32 << 20, 1 << 30); }
  ~KeptMemory() {
    Set(128 << 10, 128 << 10);
    ::malloc_trim(0);
  }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

 private:
  static void Set(int mapped_from, int trimmed_from) {
    ::mallopt(M_MMAP_THRESHOLD, mapped_from);
    ::mallopt(M_TRIM_THRESHOLD, trimmed_from);
  }
};

/// Twice the input may take so many times the time.
inline constexpr double kMostForTwice = 2.5;

/// Before the measurement of each round, from 0 on: from the third on it waits longer each time, so that what disturbed the others may be over.
inline void WaitOutDisturbance(int round) {
  constexpr useconds_t kStep = 150'000;
  if (round > 1) ::usleep(static_cast<useconds_t>(round - 1) * kStep);
}

}  // namespace weft::kit
