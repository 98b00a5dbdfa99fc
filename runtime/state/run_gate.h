// RunGate: which runs of a scope are in progress, and which of them wait for one another. Snapshots keep new ones out for a moment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "weft/block/services.h"

namespace weft {

/// Thread-safe.
class RunGate {
 public:
  /// A run of the scope, for as long as it lasts.
  class Entry {
   public:
    /// Waits while the gate is closed, or until `stopped`.
    Entry(RunGate& gate, FunctionRef<bool()> stopped);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    RunGate& gate_;
  };

  /// A run that waits for something that another run may bring about, for as long as it does.
  class Waiting {
   public:
    explicit Waiting(RunGate& gate);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    /// What was waited for is there.
    void Succeed() { succeeded_ = true; }
    /// For how long all runs of the scope have waited without one that began or got what it waited for.
    std::chrono::nanoseconds Stalled();

   private:
    RunGate& gate_;
    uint64_t seen_progress_;
    std::chrono::steady_clock::time_point stalled_since_;
    bool succeeded_ = false;
  };

  /// Keeps new runs out while it lives, and other closings.
  class Closing {
   public:
    explicit Closing(RunGate& gate) : gate_(gate) {}
    ~Closing();
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    /// Waits for the runs in progress; with `but_waiting`, not for those that are paused or wait for another. failed_precondition after
    /// the patience.
    Status Close(std::chrono::nanoseconds patience, bool but_waiting);

   private:
    RunGate& gate_;
    bool closed_ = false;
  };

  /// Around a pause of a run by its observer: a run that is paused is no run that waits.
  void SetPaused(bool paused);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;  // a run ended, or the gate opened
  int running_ = 0, waiting_ = 0;
  int paused_ = 0;         // of those that run
  bool closed_ = false;
  uint64_t progress_ = 0;  // counts runs that began and waits that succeeded
};

}  // namespace weft
