// How the cost of something grows with its input.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/kit/cost.h"
#include "weft/base/text.h"

namespace weft::kit {

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

/// Twice the input may cost so many times as much.
inline constexpr double kMostForTwice = 2.5;

/// Which two sizes are compared, the larger one 2^doublings times the smaller one, and how often.
struct Comparison {
  int doublings;
  double caches;  // so many times more the larger one may take in all, since caches become too small for it on the way
  int rounds;     // at most: other programs may disturb

  double most() const { return std::pow(kMostForTwice, doublings) * caches; }
};

/// By time as given. Instructions tell more: an input and its double, with nothing for caches.
inline Comparison Compare(int doublings, double caches) {
  constexpr int kMostRounds = 8;
  return CountsInstructions() ? Comparison{1, 1, 1} : Comparison{doublings, caches, kMostRounds};
}

/// Before the measurement of each round, from 0 on: from the third on it waits longer each time, so that what disturbed the others may be over.
inline void WaitOutDisturbance(int round) {
  constexpr useconds_t kStep = 150'000;
  if (round > 1) ::usleep(static_cast<useconds_t>(round - 1) * kStep);
}

/// By what is done: the least that it cost, in seconds.
class LeastCosts {
 public:
  template <class Work>
  void operator()(const std::string& what, Work&& work) {
    Note(what, CostOf(std::forward<Work>(work)));
  }
  void Note(const std::string& what, double cost) {
    const auto [least, first] = least_.emplace(what, cost);
    if (!first) least->second = std::min(least->second, cost);
  }
  const std::map<std::string, double>& all() const { return least_; }

 private:
  std::map<std::string, double> least_;
};

/// Measures `small(LeastCosts&)` and, with 2^doublings times the input, `large(LeastCosts&)` again until nothing costs too much. Gives what still
/// does. What is over within moments does not tell.
template <class Small, class Large>
std::vector<std::string> CostsTooMuch(const Comparison& by, Small&& small, Large&& large) {
  constexpr double kMoment = 300e-6;
  LeastCosts of_small, of_large;
  std::vector<std::string> too_much;
  for (int round = 0; round < by.rounds && (round == 0 || !too_much.empty()); ++round) {
    WaitOutDisturbance(round);
    small(of_small);
    large(of_large);
    too_much.clear();
    for (const auto& [what, cost] : of_large.all()) {
      const double before = of_small.all().at(what);
      if (cost > kMoment && cost > by.most() * before) {
        too_much.push_back(Cat(what, ": ", CostText(before), ", ", 1 << by.doublings, " times as large ", CostText(cost)));
      }
    }
  }
  return too_much;
}

}  // namespace weft::kit
