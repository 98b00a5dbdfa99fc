// How the time of something grows with its input.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "weft/base/text.h"

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

/// By what is done: the least time that it took, in seconds.
class BestTimes {
 public:
  template <class Work>
  void operator()(const std::string& what, Work&& work) {
    const double begin = ProcessorSeconds();
    work();
    const double seconds = ProcessorSeconds() - begin;
    const auto [best, first] = best_.emplace(what, seconds);
    if (!first) best->second = std::min(best->second, seconds);
  }
  const std::map<std::string, double>& all() const { return best_; }

 private:
  std::map<std::string, double> best_;
};

/// Measures `once(BestTimes&)` and, with 2^doublings times the input, `more(BestTimes&)` again until nothing takes too long, at most eight times:
/// other programs may disturb. Gives what still does. What is over within moments does not tell. `caches`: so many times more the larger one may
/// take in all, since caches become too small for it on the way.
template <class Once, class More>
std::vector<std::string> TakesTooLong(int doublings, double caches, Once&& once, More&& more) {
  constexpr int kMostRounds = 8;
  constexpr double kMoment = 300e-6;
  const double most = std::pow(kMostForTwice, doublings) * caches;
  BestTimes small, large;
  std::vector<std::string> too_long;
  for (int round = 0; round < kMostRounds && (round == 0 || !too_long.empty()); ++round) {
    WaitOutDisturbance(round);
    once(small);
    more(large);
    too_long.clear();
    for (const auto& [what, seconds] : large.all()) {
      const double before = small.all().at(what);
      if (seconds > kMoment && seconds > most * before) {
        too_long.push_back(Cat(what, ": ", 1e3 * before, " ms, ", 1 << doublings, " times as large ", 1e3 * seconds, " ms"));
      }
    }
  }
  return too_long;
}

}  // namespace weft::kit
