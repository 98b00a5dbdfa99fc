// What the parts of the server share.
#pragma once

#include <chrono>
#include <functional>

#include "tools/serve/limits.h"
#include "tools/serve/net.h"

namespace weft::serve {

class Journals;

struct Context {
  const Limits& limits;
  const Journals& journals;
  /// Has a task done by a thread for calls, later. Tasks that do not fit any more are dropped: false.
  std::function<bool(std::function<void()>)> work;
  /// The network's thread and timers; null until the server listens, and in tests without one.
  Net* net = nullptr;

  void After(std::chrono::milliseconds delay, std::function<void()> task) const {
    if (net == nullptr) return;
    net->After(delay, [work = &work, task = std::move(task)] { (*work)(task); });
  }
};

}  // namespace weft::serve
