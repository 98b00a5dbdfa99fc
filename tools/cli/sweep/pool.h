// Processes that run the points of a sweep. A point that ends its process (a crash, no memory) or takes too long is a failed point; the
// others of its process are run by the next one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/sweep/journal.h"

namespace weft::cli {

struct PoolOptions {
  int jobs = 1;                        // processes at the same time
  std::vector<std::string> arguments;  // of `weft`, for a process that works as Work does
  const std::atomic<int>* interrupted = nullptr;  // the pool ends when it is not 0; set by handlers of signals
};

/// Told on the thread that runs the pool.
struct PoolEvents {
  std::function<Status(std::string_view lines, const std::vector<PointLine>& points)> done;  // whole lines; a failure ends the pool
  std::function<void()> tick;                                                               // at times
};

class Pool {
 public:
  /// `grid` and `id` must outlive the pool.
  Pool(const Grid& grid, const SweepId& id, PoolOptions options, PoolEvents events);
  /// Ends the processes that are left, and waits for them.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs the points; returns when each has had its line, or the pool was interrupted (cancelled). failed_precondition where no process can
  /// work: it could not start, or found another grid or page than this one.
  Status Run(const std::vector<PointRange>& points);

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;
  Status Start(Worker& worker);
  void Give(Worker& worker);
  Status Read(Worker& worker);
  Status TakeLines(Worker& worker);
  Status TakeEnd(Worker& worker);
  Status Serve();
  void EndLate();
  int64_t BatchSize() const;
  bool busy() const;

  const Grid& grid_;
  const SweepId& id_;
  const PoolOptions options_;
  const PoolEvents events_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<PointRange> todo_;
  int64_t left_ = 0;           // points in todo_
  int killed_starts_ = 0;
  double point_seconds_ = 0;   // that points have taken lately
};

}  // namespace weft::cli
