// Loops over single elements, and how loops outside of Workers::Run, and tasks that may be long, see that their run is to end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "weft/base/status.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// Items of a few nanoseconds each that are worked on between two looks: about a millisecond.
inline constexpr int64_t kItemsBetweenLooks = int64_t{1} << 17;

/// For one loop or nested ones, on one thread. Once the run is to end it says so at every call, so that each loop can leave.
class StopCheck {
 public:
  explicit StopCheck(const Workers& workers) : StopCheck(&workers) {}
  /// `workers`: of the run; null where nothing ends it.
  explicit StopCheck(const Workers* workers) : workers_(workers) {}
  /// Whether the run is to end. Counts `items` that have been worked on, and asks once in kItemsBetweenLooks.
  bool operator()(int64_t items = 1) { return (left_ -= items) <= 0 && Look(); }

 private:
  bool Look() {
    const bool stopped = workers_ != nullptr && workers_->Stopped();
    left_ = stopped ? 0 : kItemsBetweenLooks;
    return stopped;
  }

  const Workers* workers_;
  int64_t left_ = kItemsBetweenLooks;
};

/// Calls body(begin, end) over [0, size) tile by tile, in order and on this thread; false where it left since the run is to end.
bool ForTiles(const Workers& workers, int64_t size, int64_t tile, auto&& body) {
  for (int64_t begin = 0; begin < size; begin += tile) {
    if (begin > 0 && workers.Stopped()) return false;
    body(begin, std::min(size, begin + tile));
  }
  return true;
}

/// Calls body(i), or body(i, stop) with the StopCheck of the task, for each i below size, `grain` of them a task.
template <class Body>
void ForEach(Workers& workers, int64_t size, int64_t grain, const Body& body) {
  workers.For(size, grain, [body, &workers](int64_t begin, int64_t end) {  // a copy: one step less to what it refers to
    if constexpr (std::is_invocable_v<Body, int64_t, StopCheck&>) {
      StopCheck stop(workers);
      for (int64_t i = begin; i < end; ++i) body(i, stop);
    } else {
      for (int64_t i = begin; i < end; ++i) body(i);
    }
  });
}

/// Copies n elements, in tasks of their own where they are many: a loop inside of a task stays on its thread.
template <class T>
void CopyLong(Workers& workers, const T* from, T* to, int64_t n) {
  workers.For(n, int64_t{1} << 18, [=](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
}
template <class T>
void FillLong(Workers& workers, T* to, int64_t n, const T& value) {
  workers.For(n, int64_t{1} << 18, [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
}

/// Fills n elements on this thread, until the run is to end.
template <class T>
void FillUntilStopped(StopCheck& stop, T* to, int64_t n, const T& value) {
  constexpr int64_t kTogether = 8;  // that are filled in the time of one item
  while (n > 0) {
    const int64_t count = std::min(n, kItemsBetweenLooks);
    if (stop(count / kTogether)) return;
    std::fill_n(to, count, value);
    to += count, n -= count;
  }
}

/// What a block returns that left for a StopCheck or ForTiles and has no output to give.
inline Status RunStopped() { return Cancelled("the run was cancelled"); }

}  // namespace weft::kernels
