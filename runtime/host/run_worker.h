// RunWorker: a thread of its own for what a runner starts.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "weft/base/status.h"

namespace weft {

/// Thread-safe. Its thread lives from the first Make to Close.
class RunWorker {
 public:
  /// Makes the thread, which calls work() for each Post, where there is none. resource_exhausted where there can be none. `work` keeps
  /// alive what it uses, this object too.
  Status Make(std::function<void()> work);
  void Post();
  /// Ends the thread when it has done what was posted, and waits for that unless it waits_for_caller.
  void Close();
  /// Whether it waits for the caller: that runs on it, or helps what does.
  bool waits_for_caller() const;

 private:
  void Loop(const std::function<void()>& work);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  bool posted_ = false, closed_ = false;
  std::atomic<std::thread::id> id_{};
};

}  // namespace weft
