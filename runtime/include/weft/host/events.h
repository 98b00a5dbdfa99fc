// Events: what the runs of sessions report to a host: by callback, or by a bounded queue that the host drains.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/host/runner.h"

namespace weft {

enum class EventKind : uint8_t {
  kState,     // the session became idle, running or paused
  kRun,       // a run began or ended; of many between two polls only the last is delivered
  kProgress,  // a block began or ended; of each block only the last is delivered
  kError,     // a run failed
  kPrint,     // what a Print block or a warning says
  kValues,    // values of subscriptions are ready to be taken
  kGap,       // events were dropped: the queue was full
  kEdited,    // the page was edited; of pages (PageEvents), not of sessions
};
inline constexpr size_t kEventKinds = 8;
using EventMask = uint32_t;
constexpr EventMask MaskOf(EventKind kind) { return EventMask{1} << static_cast<int>(kind); }
inline constexpr EventMask kAllEvents = (EventMask{1} << kEventKinds) - 1;

/// How far a block or a run is.
enum class Progress : uint8_t { kNone, kBegan, kEnded, kSkipped, kFailed, kCancelled };

struct Event {
  EventKind kind = EventKind::kState;
  uint64_t seq = 0;     // grows with every event of a queue or callback; dropped ones have numbers, too
  uint64_t source = 0;  // what the host calls the session or page; 0 for kGap
  int64_t t_ns = 0;     // when, on std::chrono::steady_clock
  uint64_t start = 0;   // RunnerState::start
  uint64_t run = 0;     // counted from 1; 0 where there is none
  std::string page, session, block, port;  // as far as they apply
  RunnerState state;                       // kState
  Progress progress = Progress::kNone;     // kRun, kProgress
  double fraction = -1;     // kProgress: of the run's steps that are done; in loops it goes back. Negative: unknown
  uint64_t merged = 0;      // kRun, kProgress, kValues: earlier ones that this one stands for besides itself
  bool outdated_page = false;  // kRun: see Session::outdated_page
  Status status;            // kError, with its place; kRun of a run that failed or was cancelled
  uint64_t revision = 0;    // kEdited: how many edits the page has had
  std::string text;         // kPrint; kEdited: what changed, as JSON
  std::array<uint64_t, kEventKinds> dropped{};  // kGap, by kind
  size_t bytes() const;  // of its texts, those of what `status` came from as well
};

/// Where a queue gets events from that it does not keep itself, because only the last of each counts.
class EventSource {
 public:
  virtual ~EventSource() = default;
  /// Adds what is new since the last call, at most `most`, and says whether that was all. On the thread that polls, with no lock held.
  virtual bool Collect(size_t most, std::vector<Event>& events) = 0;
};

struct EventQueueOptions {
  size_t most_events = 1024;
  size_t most_bytes = size_t{1} << 20;  // of their texts; the same again for those that were polled
  size_t most_history = 1024;           // events that were polled and are kept for Replay
};

/// Thread-safe; any number of sessions may share one. Bounded: where it is full, the oldest event of the lowest priority is dropped
/// (values and progress first, then prints; errors, states and edits last), and a kGap event in its place tells how many of which kinds.
class EventQueue {
 public:
  explicit EventQueue(EventQueueOptions options = {});
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// An event for which there is no memory counts as dropped.
  void Push(Event event);
  /// An event of the kind could not be made: counts as dropped.
  void Lose(EventKind kind) noexcept;
  /// The next events, in order, at most `most`; empty where there are none.
  std::vector<Event> Poll(size_t most = SIZE_MAX);
  /// Events that were polled, again: those with numbers from `from` on that are still kept, at most `most`. `missed` gets how many numbers
  /// from there on up to the first of them are not kept any more.
  std::vector<Event> Replay(uint64_t from, size_t most, uint64_t& missed);
  /// Waits until there are events (or Interrupt was called), at most `timeout` (negative: for ever); false where there are none.
  bool Wait(std::chrono::nanoseconds timeout);
  /// Ends a Wait.
  void Interrupt();
  /// A file descriptor that is readable while there may be events, for poll, select and event loops. The queue's own: do not read or close
  /// it. resource_exhausted where the process has no more of them.
  Result<int> fd();

  void AddSource(std::weak_ptr<EventSource> source);
  /// A source has something new. Cheap where that is known already.
  void Wake();

 private:
  class Signal;
  struct State;
  const std::unique_ptr<State> state_;
};

struct EventOptions {
  EventMask kinds = kAllEvents;
  uint64_t source = 0;
  std::shared_ptr<EventQueue> queue;           // where events go, or
  std::function<void(const Event&)> callback;  // called on the thread that runs (of prints: any that works for the run), without a lock
  /// With a callback: least time from the begin of one run that is delivered to that of the next; the same for the runs of each block.
  std::chrono::nanoseconds progress_interval = std::chrono::milliseconds(100);
  uint64_t start = 0;  // RunnerState::start when the feed is made; states tell the next ones
};

/// The events of one session. To be added to its runner as a listener; the session must outlive it. One that was removed is not added
/// again: another is made.
class EventFeed final : public RunListener {
 public:
  EventFeed(const Session& session, EventOptions options);
  ~EventFeed() override;

  Status OnRunStart(uint64_t run, RunView& view) override;
  void OnRunBegin(uint64_t run, size_t steps) override;
  Status OnStep(size_t step, const Node& node) override;
  void OnStepEnd(size_t step, const Node& node, bool dead) override;
  void OnPrint(std::string_view text) override;
  void OnRunEnd(uint64_t run, const Status& status) override;
  void OnState(const RunnerState& state) override;
  void OnJoin(RunView& view) override;
  bool joins_at_once() const override { return options_.queue != nullptr; }

 private:
  class Table;
  bool Wants(EventKind kind) const { return (options_.kinds & MaskOf(kind)) != 0; }
  Event Make(EventKind kind) const;
  void Send(Event event);
  template <class Tell>
  void OrLose(EventKind kind, Tell&& tell);
  void TellRun(Progress progress, const Status& status);
  void TellError(const Status& status);
  void TellBlock(const Node& node, Progress progress, size_t done);

  const EventOptions options_;
  const Session& session_of_;
  const std::string page_;
  const std::shared_ptr<Table> table_;
  std::atomic<uint64_t> seq_{0};    // with a callback
  std::atomic<uint64_t> start_;     // as the last state said
  // Of the thread that runs.
  RunView* view_ = nullptr;
  std::shared_ptr<const Graph> graph_;
  uint64_t run_ = 0;
  size_t steps_ = 0;
  bool tells_run_ = false;
  uint32_t undelivered_ = 0;  // the entry of the block that began without being delivered
};

}  // namespace weft
