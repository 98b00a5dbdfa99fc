// What clients see while a page runs: how far each block is, how long it takes, and summaries of values in sight.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/serve/client.h"
#include "tools/serve/page_sessions.h"

namespace weft::serve {

/// How long blocks take, added up on the threads that run. Thread-safe.
class BlockTimes {
 public:
  void Add(const weft_event& event);
  void Clear();
  Json Report() const;

 private:
  struct Times {
    int64_t began = 0, total = 0, most = 0, count = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Times> blocks_;
  uint64_t first_run_ = 0, last_run_ = 0;
};

/// What a client wants to have while the page runs.
struct TickWatch {
  std::weak_ptr<Client> client;
  std::chrono::milliseconds interval{100};
  bool blocks = false, timings = false;
  Clock::time_point last{};
  std::map<std::string, Json> progress;  // since the last tick
  uint64_t last_runs = 0;
  bool after_end = false;  // the tick after the end of the run was sent
};

/// The values that a client has in sight.
struct SummaryWatch {
  std::weak_ptr<Client> client;
  std::chrono::milliseconds interval{250};
  std::vector<std::string> names;
  Clock::time_point last{};
  std::unordered_map<std::string, std::string> sent;  // the summary that the client has, by name
  bool more = false;  // not all went into the last message
};

/// Guarded by the lock of the Runner that has it, but for times().
class ProgressWatches {
 public:
  ProgressWatches(Document& document, PageSessions& sessions, const Limits& limits) : document_(document), sessions_(sessions), limits_(limits) {}

  /// As a client's call says. Each client has one of a kind. Throw 400.
  void AddTicks(const std::shared_ptr<Client>& client, const Json& call);
  void AddSummaries(const std::shared_ptr<Client>& client, const Json& call);
  /// `topic` "run", "summaries", or "" for both.
  void Remove(const Client& client, const std::string& topic);
  bool any() const { return !ticks_.empty() || !summaries_.empty(); }
  /// A run starts: what is known of blocks is of it alone.
  void RunStarts();
  void Rename(const Renames& renames);
  /// There are other sessions: they report what is wanted.
  void SessionsChanged();
  /// Sends what is due of a run, the protocol's Run or null. True where something waits for its time.
  bool Send(const Json& run, Clock::time_point now);
  const BlockTimes& times() const { return times_; }

 private:
  void ChooseEvents();
  void TakeProgress();
  void SendTick(TickWatch& watch, const Json& run, Clock::time_point now);
  void SendSummaries(SummaryWatch& watch, bool paused);

  Document& document_;
  PageSessions& sessions_;
  const Limits& limits_;
  EventsHandle progress_;  // of blocks; null while nobody wants to see it
  bool timed_ = false;     // sessions report to times_
  BlockTimes times_;
  std::map<std::string, Json> last_;  // the last that was seen of each block in this run or the last one
  std::deque<TickWatch> ticks_;
  std::deque<SummaryWatch> summaries_;
};

}  // namespace weft::serve
