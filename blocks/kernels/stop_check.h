// How loops outside of Workers::Run, and tasks that may be long, see that their run is to end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/base/status.h"
#include "weft/base/workers.h"

namespace weft::kernels {

/// Items of a few nanoseconds each that are worked on between two looks: about a millisecond.
inline constexpr int64_t kItemsBetweenLooks = int64_t{1} << 17;

/// For one loop, or several inside of one another, on one thread. Once it has said that the run is to end it says so at every call, so that
/// each of the loops can leave.
class StopCheck {
 public:
  explicit StopCheck(const Workers& workers) : workers_(workers) {}
  /// Whether the run is to end. Counts `items` that have been worked on, and asks once in kItemsBetweenLooks.
  bool operator()(int64_t items = 1) { return (left_ -= items) <= 0 && Look(); }

 private:
  bool Look() {
    const bool stopped = workers_.Stopped();
    left_ = stopped ? 0 : kItemsBetweenLooks;
    return stopped;
  }

  const Workers& workers_;
  int64_t left_ = kItemsBetweenLooks;
};

/// Calls body(begin, end) over [0, size) in tiles of `tile` items, in their order and on this thread. Asks after each tile whether the run
/// is to end, and is false where it left for that.
template <class Body>
bool ForTiles(const Workers& workers, int64_t size, int64_t tile, Body&& body) {
  for (int64_t begin = 0; begin < size; begin += tile) {
    if (begin > 0 && workers.Stopped()) return false;
    body(begin, std::min(size, begin + tile));
  }
  return true;
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

/// What a block returns that left for a StopCheck or ForTiles and has no output to give.
inline Status RunStopped() { return Cancelled("the run was cancelled"); }

}  // namespace weft::kernels
