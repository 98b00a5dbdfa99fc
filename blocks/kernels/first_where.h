// Searches for the first item with some property, on all threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// The least of the numbers that pieces of work found. Thread-safe.
class LeastFound {
 public:
  /// Nothing where `number` is negative.
  void Found(int64_t number) {
    if (number < 0) return;
    int64_t least = least_.load(std::memory_order_relaxed);
    while (number < least && !least_.compare_exchange_weak(least, number, std::memory_order_relaxed)) {
    }
  }
  /// -1 where none was found.
  int64_t number() const {
    const int64_t least = least_.load();
    return least == kNone ? -1 : least;
  }

 private:
  static constexpr int64_t kNone = INT64_MAX;
  std::atomic<int64_t> least_{kNone};
};

/// Calls is(i) for each i below `count`, and gives the least for which it is true, or -1. cancelled where the run is to end: then not every
/// item was looked at.
Result<int64_t> FirstWhere(Workers& workers, int64_t count, const auto& is) {
  constexpr int64_t kGrain = int64_t{1} << 16;
  LeastFound least;
  workers.For(count, kGrain, [&](int64_t begin, int64_t end) {
    int64_t first = -1;
    for (int64_t i = end; i-- > begin;) {
      if (is(i)) first = i;
    }
    least.Found(first);
  });
  if (count > kGrain && workers.Stopped()) return RunStopped();
  return least.number();
}

}  // namespace weft::kernels
