// A page's runs and all that goes with them: its parts under one lock, and the events of its sessions.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "tools/serve/breakpoints.h"
#include "tools/serve/client.h"
#include "tools/serve/context.h"
#include "tools/serve/page_sessions.h"
#include "tools/serve/progress.h"
#include "tools/serve/runs.h"
#include "tools/serve/value_watches.h"

namespace weft::serve {

/// A part of a Runner, whose lock is held as long as this lives: runner.runs()->List().
template <class Part>
class Locked {
 public:
  Locked(std::mutex& mutex, Part& part) : lock_(mutex), part_(part) {}
  Part* operator->() const { return &part_; }

 private:
  std::unique_lock<std::mutex> lock_;
  Part& part_;
};

/// What blocks print, of which a page that prints much is sent a part. Guarded by the lock of the Runner.
class Prints {
 public:
  /// Sends what an event says, or counts it as left out. `run` may be empty.
  void Send(EventLog& log, const weft_event& event, const std::string& run);

 private:
  PerSecond sent_;
  uint64_t dropped_ = 0;
};

/// Functions may be called from any thread, and take turns.
class Runner : public std::enable_shared_from_this<Runner> {
 public:
  Runner(Document& document, Context& context);
  ~Runner();
  /// Ends runs and events; the document goes.
  void Close();

  // What needs one part alone.
  Locked<PageSessions> sessions() { return {mutex_, sessions_}; }
  Locked<Breakpoints> breakpoints() { return {mutex_, breakpoints_}; }
  Locked<ValueWatches> values() { return {mutex_, values_}; }
  /// Looks first how the latest run is.
  Locked<PageRuns> runs();
  bool busy() { return !sessions()->Idle(); }
  /// The protocol's timings.
  Json Timings() { return progress_.times().Report(); }

  // What opens sessions, or has something sent from now on.
  Json Start(const Json& body, const std::string& by);
  Json SetMode(const Json& body, const std::string& by);
  /// As PageRuns does it.
  Json Control(const std::string& run, const std::string& action, const Json& body);
  Json AddBreakpoint(const Json& body, const std::string& by);
  void Feed(const std::string& name, std::unique_ptr<OwnedBuffer> value);
  void WatchTicks(const std::shared_ptr<Client>& client, const Json& call);
  void WatchSummaries(const std::shared_ptr<Client>& client, const Json& call);

  /// `topic` "run", "value", "summaries", or "" for all.
  void Unwatch(const Client& client, const std::string& topic);
  /// The client's lease is over: its breakpoints go, and what they pause goes on.
  void Release(const Client& client);
  /// The page was edited: what is kept by names follows them, and values that came back are subscribed to again.
  void Edited(const Json& renamed);

 private:
  using Lock = std::lock_guard<std::mutex>;

  // With the lock.
  void OpenSessions();
  OpenSession& OpenFetches(const Json& body);
  void Adopt(bool of_fetches);
  void WatchEvents();
  void Take(const weft_event& event);
  // Without it.
  void ArmSoon();
  void Drain();
  void TakeEvents();
  void KeepTicking();
  void TickSoon();
  bool Tick();

  Document& document_;
  Context& context_;
  std::mutex mutex_;
  bool closed_ = false;

  EventsHandle events_;
  std::shared_ptr<Watch> watch_;
  std::atomic<bool> draining_{false}, ticking_{false};
  std::atomic<bool> watched_{false};  // someone wants ticks or summaries

  PageSessions sessions_;
  Breakpoints breakpoints_;
  PageRuns runs_;
  ValueWatches values_;
  ProgressWatches progress_;
  Prints prints_;
};

}  // namespace weft::serve
