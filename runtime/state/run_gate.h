// RunGate: which runs of a scope are in progress, and which of them wait for one another. Snapshots keep new ones out for a moment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

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
    friend class RunGate;
    RunGate& gate_;
    const std::thread::id thread_;
    bool paused_ = false;
    Entry *next_, *before_ = nullptr;  // of all that there are
  };

  /// The runs that a thread makes one after another, for as long as it goes on: between two of them, too, others may wait for the next.
  class Series {
   public:
    explicit Series(RunGate& gate);
    ~Series();
    Series(const Series&) = delete;
    Series& operator=(const Series&) = delete;

   private:
    RunGate& gate_;
  };

  /// So many sessions run that will, each in a Series: where the scope has no others, nobody need be waited for who may yet begin.
  class Complete {
   public:
    Complete(RunGate& gate, int sessions);
    ~Complete();
    Complete(const Complete&) = delete;
    Complete& operator=(const Complete&) = delete;

   private:
    RunGate& gate_;
    const int sessions_;
  };

  /// A run that waits for something that another run may bring about, for as long as it does.
  class Waiting {
   public:
    /// `what` it waits for, with its block, is for the messages of others. `ends`: by itself, after some time.
    explicit Waiting(RunGate& gate, std::string what = {}, bool ends = false);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    /// To be asked again and again, each time that it was not there: for how long all runs of the scope have waited for one another, so
    /// that what they wait for cannot come. More than any limit where all who will run do so already.
    std::chrono::nanoseconds Stalled();
    /// What all of them wait for: "'a' waits for room in a queue, 'b' waits for ...".
    std::string AllThatWait() const;

   private:
    friend class RunGate;
    RunGate& gate_;
    const std::string what_;
    const bool ends_;
    uint64_t seen_progress_, looked_at_;  // the gate's progress when stalled_since_ was set; when it was last found wanting
    std::chrono::steady_clock::time_point stalled_since_;
    std::list<Waiting*>::iterator place_;
  };

  /// Keeps new runs out while it lives, and other closings.
  class Closing {
   public:
    explicit Closing(RunGate& gate) : gate_(gate) {}
    ~Closing();
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    /// Waits for the runs in progress; with `but_waiting`, not for those that are paused or wait for another. failed_precondition after
    /// the patience, and at once inside a run that it would wait for.
    Status Close(std::chrono::nanoseconds patience, bool but_waiting);

   private:
    RunGate& gate_;
    bool closed_ = false;
  };

  /// Around a pause of a run by its observer, on the thread that runs: a run that is paused is no run that waits.
  void SetPaused(bool paused);
  /// Around the life of a session.
  void CountSession(bool opened);

 private:
  /// Of a thread that makes runs in a series.
  struct Thread {
    int series = 0, runs = 0;
  };

  /// Whether nothing that runs can change what any of those who wait has last seen.
  bool Stuck() const;
  int waiting() const { return static_cast<int>(waiting_.size()); }
  /// Whether this thread is inside a run; `but_paused`: in one that is not paused.
  bool IsInside(bool but_paused) const;

  std::mutex mutex_;
  std::condition_variable changed_;  // a run ended, or the gate opened
  int running_ = 0;
  int paused_ = 0;    // of those that run
  Entry* entries_ = nullptr;  // the last begun first
  int between_ = 0;   // threads that are between two runs of a series
  int sessions_ = 0, complete_ = 0;  // open; and which of those are known to run where they will
  bool closed_ = false;
  std::list<Waiting*> waiting_;
  std::map<std::thread::id, Thread> threads_;
  uint64_t progress_ = 0;  // counts runs that began or ended and waits that began or ended
};

}  // namespace weft
