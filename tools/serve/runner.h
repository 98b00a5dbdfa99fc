// The runs of a page: its sessions, what they report, breakpoints, feeds and subscriptions.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/serve/client.h"
#include "tools/serve/context.h"
#include "tools/serve/engine.h"
#include "tools/serve/tensor.h"

namespace weft::serve {

class Document;

/// A session of the engine.
struct OpenSession {
  std::string id;  // of the ClientSession block, "default", or "fetch"
  SessionHandle handle;
  BreakpointHandle first_block;  // pauses before the first block of a run that starts paused
};

/// A run as clients know it: one start of one session or of all.
struct RunRecord {
  std::string id, target, by;
  bool ended = false, stop_asked = false, by_page_run = false;
  std::string state = "running", outcome, mode = "RUN";
  Json error;
  int64_t started = 0;  // seconds since 1970
  Clock::time_point began = Clock::now();
  int64_t elapsed_ms = 0;
  uint64_t revision = 0;
  Json sessions = Json::array();
};

/// A breakpoint of the page: one of the engine in each session.
struct PageBreakpoint {
  std::string id, kind, block, port, condition, by;
  uint64_t from_hit = 1, hits_before = 0;
  bool once = false, enabled = true;
  std::vector<std::pair<std::string, BreakpointHandle>> in_sessions;  // by the session's id
};

/// A subscription of the engine. Watches that want the same share one: each costs every run something.
struct EngineWatch {
  SubscriptionHandle handle;
  uint64_t tag = 0;
};

/// What a client wants to have of a value.
struct ValueWatch {
  uint64_t sub = 0;
  std::weak_ptr<Client> client;
  std::string name, session, reduction_name;
  weft_subscription_options options = WEFT_SUBSCRIPTION_OPTIONS_INIT;
  std::shared_ptr<EngineWatch> engine;  // null while there is no session that has it
  uint64_t frames = 0;
  bool batch = false;      // samples that are ready together come in one frame
};

/// A sample with its values.
struct TakenSample {
  explicit TakenSample(const weft_sample& taken);
  /// Whether it fits into one frame with the other.
  bool Joins(const TakenSample& first) const;
  weft_sample sample;
  ViewHandle value, high;
  Tensor tensor, high_tensor;
};

/// What a client wants to have while the page runs.
struct TickWatch {
  std::weak_ptr<Client> client;
  std::chrono::milliseconds interval{100};
  bool blocks = false, timings = false;
  Clock::time_point last{};
  std::map<std::string, Json> progress;  // since the last tick
  uint64_t last_runs = 0;
};
struct SummaryWatch {
  std::weak_ptr<Client> client;
  std::chrono::milliseconds interval{250};
  std::vector<std::string> names;
  Clock::time_point last{};
  std::unordered_map<std::string, std::string> sent;  // the summary that the client has, by name
};

/// How long blocks take, added up on the threads that run.
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

/// Functions may be called from any thread, and take turns.
class Runner : public std::enable_shared_from_this<Runner> {
 public:
  Runner(Document& document, Context& context);
  ~Runner();
  /// Ends runs and events; the document goes.
  void Close();

  // Runs.
  Json Start(const Json& body, const std::string& by);
  Json LatestRun();
  Json Runs();
  std::optional<Json> RunOf(const std::string& run);
  /// pause, resume, stop, step, cancel, override.
  Json Control(const std::string& run, const std::string& action, const Json& body);
  Json SetMode(const Json& body, const std::string& by);
  bool busy();
  Json Timings();

  // Values.
  Json Summaries(const std::vector<std::string>& names, bool all, bool statistics, int64_t first);
  /// The value, and the session that has it. Throws 404, 409.
  ViewHandle View(const std::string& name, const std::string& session, std::string& from);
  Json Feeds();
  void Feed(const std::string& name, std::unique_ptr<OwnedBuffer> value);
  void Unfeed(const std::string& name);

  /// The page was edited: what is kept by names follows them, and values that came back are subscribed to again.
  void Edited(const Json& renamed);

  // Breakpoints.
  Json AddBreakpoint(const Json& body, const std::shared_ptr<Client>& client);
  Json ChangeBreakpoint(const std::string& id, const Json& body);
  void RemoveBreakpoint(const std::string& id);
  Json BreakpointsJson();

  // Subscriptions.
  Json WatchValue(const std::shared_ptr<Client>& client, const Json& call, uint64_t sub);
  bool UnwatchValue(const Client& client, uint64_t sub);
  void WatchTicks(const std::shared_ptr<Client>& client, const Json& call);
  void WatchSummaries(const std::shared_ptr<Client>& client, const Json& call);
  /// `topic` "run", "value", "summaries", or "" for all.
  void Unwatch(const Client& client, const std::string& topic);
  size_t WatchesOf(const Client& client);
  /// The client's lease is over: its breakpoints go, and what they pause goes on.
  void Release(const Client& client);

 private:
  using Lock = std::lock_guard<std::mutex>;

  // Sessions. With the lock.
  void OpenSessions();
  OpenSession& OpenFetches(const Json& body);
  void Adopt(OpenSession& session);
  void Abandon();
  std::vector<OpenSession*> AllSessions();
  OpenSession& SessionOf(const std::string& id);
  bool Idle();
  weft_run_options RunOptions(const Json& body, std::string& until_block) const;
  void PauseBeforeFirst(OpenSession& session);

  // Runs. With the lock.
  RunRecord& NewRun(const std::string& target, const std::string& by);
  RunRecord& Find(const std::string& run);
  std::vector<OpenSession*> SessionsFor(const Json& body);
  void Refresh(bool publish);
  void LookAtSessions(RunRecord& run, bool& running, bool& paused);
  void End(RunRecord& run);
  Json RunJson(const RunRecord& run) const;
  Json SessionJson(OpenSession& session, bool& running, bool& paused);
  Json PauseJson(OpenSession& session, const weft_session_info& info);

  // Events. With the lock, except for Drain and Tick.
  void Drain();
  void Arm();
  void Take(const weft_event& event);
  void TakeSamples();
  void Print(const weft_event& event);
  Json SampleHeader(ValueWatch& watch, const char* type, const weft_sample& sample);
  void SendSample(ValueWatch& watch, Client& client, const TakenSample& taken);
  void SendBatch(ValueWatch& watch, Client& client, const TakenSample* first, size_t count);
  void KeepTicking();
  void TickSoon();
  bool Tick();
  void TakeProgress();
  bool SendTicks(Clock::time_point now, bool last);
  void SendTick(TickWatch& watch, Clock::time_point now);
  void SendSummaries(Clock::time_point now, bool last);
  void ChooseProgress();
  void Subscribe(ValueWatch& watch, bool new_one);
  void InsertBreakpoint(PageBreakpoint& breakpoint, OpenSession& session);
  Json BreakpointJson(PageBreakpoint& breakpoint);
  void PublishBreakpoints();
  Json AllBreakpoints();
  Json SummaryOf(weft_results* results, size_t index, bool statistics, int64_t first) const;

  Document& document_;
  Context& context_;
  const Limits& limits_;
  std::mutex mutex_;
  bool closed_ = false;

  EventsHandle events_, progress_;
  std::shared_ptr<Watch> watch_;
  std::atomic<bool> draining_{false}, ticking_{false};
  std::atomic<bool> watched_{false};   // someone wants ticks or summaries
  std::atomic<bool> settling_{false};  // the sessions are idle, the page's run is about to be
  bool progress_on_ = false, timings_on_ = false;
  BlockTimes times_;

  PageRunHandle page_run_;
  std::vector<OpenSession> sessions_;
  std::optional<OpenSession> fetches_;
  bool fetches_latest_ = false;
  std::deque<RunRecord> runs_;  // the latest first
  uint64_t next_run_ = 1;
  std::deque<PageBreakpoint> breakpoints_;
  uint64_t next_breakpoint_ = 1;
  std::map<std::string, std::unique_ptr<OwnedBuffer>> feeds_;
  std::deque<ValueWatch> values_;
  uint64_t next_tag_ = 1;
  std::deque<TickWatch> ticks_;
  std::deque<SummaryWatch> summaries_;
  Clock::time_point print_window_{};
  int prints_ = 0;
  uint64_t prints_dropped_ = 0;
};

}  // namespace weft::serve
