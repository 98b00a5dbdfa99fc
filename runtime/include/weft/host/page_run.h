// PageRun: a whole page that runs: all its sessions, those that loop beside one another.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "weft/host/runner.h"

namespace weft {

struct PageRunRequest {
  /// Runs of each session; absent: one of each, and of sessions that loop as many as there are until Stop or Cancel. Negative: the same for
  /// all sessions.
  std::optional<int64_t> steps{};
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  std::chrono::nanoseconds interval{0};  // least time from the start of one run of a session to that of its next
};

/// Sessions that loop (INFINITE_LOOP) run beside one another, each on a thread of its own; the others take turns in page order, run by run.
/// A session that fails cancels all. Thread-safe; the sessions' runners may be watched, paused and cancelled by themselves as well.
class PageRun {
 public:
  /// Called after each run of a session that succeeded, with its number, on the thread that ran it; its results can be read. Two sessions
  /// may call it at the same time.
  using AfterRun = std::function<void(Session& session, uint64_t run)>;

  /// The sessions, in page order. The runners are the host's as well.
  explicit PageRun(std::vector<std::shared_ptr<Runner>> runners, AfterRun after_run = {});
  /// As Close.
  ~PageRun();
  PageRun(const PageRun&) = delete;
  PageRun& operator=(const PageRun&) = delete;

  const std::vector<std::shared_ptr<Runner>>& runners() const { return runners_; }

  /// Runs the page; returns when all sessions have ended, with the first failure. failed_precondition where it runs, and for a session that
  /// is not idle.
  Status Run(const PageRunRequest& request);
  /// The same on a thread of its own. failed_precondition where the page runs.
  Status Start(const PageRunRequest& request);
  /// Waits until the page has ended, at most `timeout` (negative: for ever). `running` tells whether it still runs; where it does not: what
  /// ended it. failed_precondition on a thread that runs a session of it.
  Status Wait(std::chrono::nanoseconds timeout, bool* running = nullptr);
  /// Ends after the runs in progress, which keep their results.
  void Stop();
  /// Ends the runs in progress.
  void Cancel();
  /// The same, for handlers of signals: it takes no lock. Sessions that are paused continue to wait; Cancel ends those, too.
  void Interrupt();

  /// Cancels, waits until nothing runs, closes the runners, and refuses what comes later. Not on_running_thread: there it cancels alone.
  void Close();

  bool running() const { return running_.load(); }
  /// Whether this thread runs the page or a session of it, also where it is between two of their runs.
  bool on_running_thread() const;

  /// A result by its name (Session::Get), of the first session that has one. failed_precondition where a session computes it, and none has
  /// yet; else what Session::Get says.
  /// `session` gets the index of its runner.
  Result<ResultValue> Get(std::string_view name, size_t* session = nullptr) const;
  /// The names of all results that the sessions keep, each once, in page order.
  std::vector<std::string> Results() const;
  /// The values of all of those that have one by now, in the same order; each of the first session that has one.
  std::vector<std::pair<std::string, ResultValue>> Values() const;

 private:
  class StartOfAll;
  class Watch;
  struct Loop {
    Runner* runner;
    uint64_t start;  // RunnerState::start
  };
  void Unwatch();
  Status Begin();
  Status Execute(const PageRunRequest& request);
  bool executes_here() const;
  void StartLoops(const PageRunRequest& request, const std::shared_ptr<StartOfAll>& start, std::vector<Loop>& loops);
  Status TakeTurns(const PageRunRequest& request, StartOfAll* start);
  void Fail(const Status& status);
  bool Ends() const { return stopped_.load() || cancelled_.load(); }

  const std::vector<std::shared_ptr<Runner>> runners_;
  std::vector<std::shared_ptr<Watch>> watches_;  // one of each runner

  mutable std::mutex mutex_;  // of what follows; taken before a runner's own
  std::condition_variable changed_;
  Status first_;        // failure of the current run
  Status last_status_;  // how the last one ended
  std::thread thread_;
  bool closed_ = false;
  std::atomic<bool> running_{false};  // changed with the lock
  std::atomic<std::thread::id> executing_{};  // the thread that is in Execute

  std::atomic<bool> stopped_{false}, cancelled_{false};
};

/// A runner for each of the sessions, planned: faults of shapes go to `found`. `owner` (may be null) lives as long as the sessions.
std::vector<std::shared_ptr<Runner>> OpenRunners(const std::shared_ptr<Scope>& scope, const std::shared_ptr<Revision>& revision,
                                                 std::vector<SessionSpec> sessions, Keep keep, const std::shared_ptr<const void>& owner,
                                                 Diagnostics& found);

}  // namespace weft
