// Locks of what sessions share, where another one may take long with it.
#pragma once

#include <chrono>
#include <mutex>
#include <thread>

#include "weft/base/workers.h"

namespace weft::blocks {

/// The lock; not taken (false as a condition) where the run is to end first.
inline std::unique_lock<std::mutex> LockUnlessStopped(std::mutex& mutex, const Workers& workers) {
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock() && !workers.Stopped()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  return lock;
}

}  // namespace weft::blocks
