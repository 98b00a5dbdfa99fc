// What a run does, as events.
#include <algorithm>
#include <new>

#include "runtime/host/steady_ns.h"
#include "weft/host/events.h"

namespace weft {
namespace {

Progress ProgressOf(const Status& status) {
  if (status.ok()) return Progress::kEnded;
  return status.code() == Code::kCancelled ? Progress::kCancelled : Progress::kFailed;
}

}  // namespace

/// The last progress of each block and of the runs; earlier progress does not count. Entry 0 is the runs, block i of the graph entry i + 1.
class EventFeed::Table final : public EventSource {
 public:
  struct Noted {
    uint64_t start = 0, run = 0;
    Progress progress = Progress::kNone;
    double fraction = -1;
    bool outdated_page = false;
  };
  explicit Table(const EventOptions& options) : queue_(options.queue), source_(options.source), interval_(options.progress_interval.count()) {}

  void Begin(const std::shared_ptr<const Graph>& graph, const std::string& session) {
    std::lock_guard lock(mutex_);
    if (graph_ == graph) return;
    const size_t blocks = graph->nodes().size();
    std::vector<Entry> entries(blocks + 1);
    changed_.reserve(blocks + 1);
    std::string name = session;
    // From here on nothing fails. What an edit changed makes the rest of the old page's progress stale; the runs' stays.
    if (!entries_.empty()) entries[0] = std::move(entries_[0]);
    entries_ = std::move(entries);
    graph_ = graph;
    session_ = std::move(name);
    std::erase_if(changed_, [](uint32_t entry) { return entry != 0; });
  }

  /// For polling: notes it, and wakes the queue where nothing else was noted.
  void Note(uint32_t index, const Noted& noted, const Status& status) {
    bool first;
    {
      std::lock_guard lock(mutex_);
      Entry& entry = entries_[index];
      first = changed_.empty();
      if (entry.changed) ++entry.merged;
      else changed_.push_back(index);
      entry.changed = true;
      entry.noted = noted;
      entry.t_ns = SteadyNs();
      if (!status.ok() || !entry.status.ok()) entry.status = status;
    }
    if (first) queue_->Wake();
  }

  /// For callbacks, by the thread that runs alone: whether this is to be delivered now. The last of a run is delivered by Rest.
  bool Due(uint32_t index, int64_t now) {
    Entry& entry = entries_[index];
    if (entry.t_ns != 0 && now - entry.t_ns < interval_) {
      ++entry.merged;
      return false;
    }
    entry.t_ns = now;
    return true;
  }
  uint64_t TakeMerged(uint32_t index) { return std::exchange(entries_[index].merged, 0); }

  bool Collect(size_t most, std::vector<Event>& events) override {
    std::lock_guard lock(mutex_);
    events.reserve(events.size() + std::min(most, changed_.size()));
    size_t taken = 0;
    const auto forget = [&] { changed_.erase(changed_.begin(), changed_.begin() + static_cast<std::ptrdiff_t>(taken)); };
    for (; taken < changed_.size() && taken < most; ++taken) {
      Entry& entry = entries_[changed_[taken]];
      Event event;
      try {
        event.page = graph_->name();
        event.session = session_;
        if (changed_[taken] > 0) event.block = graph_->node(static_cast<int>(changed_[taken]) - 1).id;
      } catch (const std::bad_alloc&) {
        forget();
        throw;
      }
      event.kind = changed_[taken] == 0 ? EventKind::kRun : EventKind::kProgress;
      event.source = source_;
      event.start = entry.noted.start;
      event.run = entry.noted.run;
      event.t_ns = entry.t_ns;
      event.progress = entry.noted.progress;
      event.fraction = entry.noted.fraction;
      event.outdated_page = entry.noted.outdated_page;
      event.merged = std::exchange(entry.merged, 0);
      event.status = entry.status;
      entry.changed = false;
      events.push_back(std::move(event));
    }
    forget();
    return changed_.empty();
  }

 private:
  struct Entry {
    Noted noted;
    uint64_t merged = 0;
    int64_t t_ns = 0;
    bool changed = false;
    Status status;
  };

  const std::shared_ptr<EventQueue> queue_;
  const uint64_t source_;
  const int64_t interval_;
  std::mutex mutex_;
  std::shared_ptr<const Graph> graph_;
  std::string session_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> changed_;
};

EventFeed::EventFeed(const Session& session, EventOptions options)
    : options_(std::move(options)),
      session_of_(session),
      page_(session.scope().revision()->graph->name()),
      table_(std::make_shared<Table>(options_)),
      start_(options_.start) {
  WantSteps(Wants(EventKind::kProgress));
  if (options_.queue != nullptr) options_.queue->AddSource(table_);
}

EventFeed::~EventFeed() = default;

Event EventFeed::Make(EventKind kind) const {
  Event event;
  event.kind = kind;
  event.source = options_.source;
  event.page = page_;
  event.session = session_of_.id();
  event.start = start_.load(std::memory_order_relaxed);
  event.t_ns = SteadyNs();
  return event;
}

// What there is no memory to tell counts as dropped in the queue; the run goes on.
template <class Tell>
void EventFeed::OrLose(EventKind kind, Tell&& tell) {
  try {
    tell();
  } catch (const std::bad_alloc&) {
    if (options_.queue != nullptr) options_.queue->Lose(kind);
  }
}

void EventFeed::Send(Event event) {
  if (options_.queue != nullptr) {
    options_.queue->Push(std::move(event));
  } else if (options_.callback) {
    event.seq = seq_.fetch_add(1, std::memory_order_relaxed) + 1;
    options_.callback(event);
  }
}

void EventFeed::TellRun(Progress progress, const Status& status) {
  if (!Wants(EventKind::kRun)) return;
  const bool outdated = session_of_.outdated_page();
  if (options_.queue != nullptr) return table_->Note(0, {start_.load(std::memory_order_relaxed), run_, progress, -1, outdated}, status);
  const int64_t now = SteadyNs();
  // The interval is that between runs: each one delivered has both its ends.
  if (progress == Progress::kBegan) tells_run_ = table_->Due(0, now);
  if (!tells_run_ && status.ok()) return;
  Event event = Make(EventKind::kRun);
  event.t_ns = now;
  event.run = run_;
  event.progress = progress;
  event.merged = table_->TakeMerged(0);
  event.outdated_page = outdated;
  event.status = status;
  Send(std::move(event));
}

// A run of a page with faults has no place of its own: what it came from has.
void EventFeed::TellError(const Status& status) {
  if (!Wants(EventKind::kError)) return;
  const Status* placed = &status;
  while (placed->place().block.empty() && placed->cause() != nullptr) placed = placed->cause();
  Event event = Make(EventKind::kError);
  event.run = run_;
  event.block = placed->place().block;
  event.port = placed->place().port;
  event.status = status;
  Send(std::move(event));
}

void EventFeed::TellBlock(const Node& node, Progress progress, size_t done) {
  if (graph_ == nullptr) return;
  const auto index = static_cast<uint32_t>(&node - graph_->nodes().data()) + 1;
  const double fraction = steps_ == 0 ? -1 : static_cast<double>(done) / static_cast<double>(steps_);
  if (options_.queue != nullptr) return table_->Note(index, {start_.load(std::memory_order_relaxed), run_, progress, fraction}, {});
  const int64_t now = SteadyNs();
  if (progress == Progress::kBegan && !table_->Due(index, now)) {
    undelivered_ = index;
    return;
  }
  if (std::exchange(undelivered_, 0) == index) return;
  Event event = Make(EventKind::kProgress);
  event.t_ns = now;
  event.run = run_;
  event.block = node.id;
  event.progress = progress;
  event.fraction = fraction;
  event.merged = table_->TakeMerged(index);
  Send(std::move(event));
}

Status EventFeed::OnRunStart(uint64_t run, RunView& view) {
  view_ = &view;
  run_ = run;
  steps_ = 0;
  if (graph_ != view.graph()) {
    table_->Begin(view.graph(), session_of_.id());
    graph_ = view.graph();
  }
  return {};
}

void EventFeed::OnRunBegin(uint64_t, size_t steps) {
  steps_ = steps;
  TellRun(Progress::kBegan, {});
}

Status EventFeed::OnStep(size_t step, const Node& node) {
  TellBlock(node, Progress::kBegan, step);
  return {};
}

void EventFeed::OnStepEnd(size_t step, const Node& node, bool dead) {
  TellBlock(node, dead ? Progress::kSkipped : Progress::kEnded, step + 1);
}

void EventFeed::OnPrint(std::string_view text) {
  if (!Wants(EventKind::kPrint)) return;
  OrLose(EventKind::kPrint, [&] {
    Event event = Make(EventKind::kPrint);
    event.run = run_;
    const int node = view_ != nullptr ? view_->current() : -1;
    if (node >= 0) event.block = graph_->node(node).id;
    event.text = text;
    Send(std::move(event));
  });
}

void EventFeed::OnRunEnd(uint64_t run, const Status& status) {
  run_ = run;
  const Progress progress = ProgressOf(status);
  if (graph_ != nullptr && !status.ok() && Wants(EventKind::kProgress)) {
    OrLose(EventKind::kProgress, [&] {
      auto node = graph_->FindNode(status.place().block);
      if (node.ok() && !status.place().block.empty()) TellBlock(graph_->node(*node), progress, 0);
    });
  }
  if (progress == Progress::kFailed) OrLose(EventKind::kError, [&] { TellError(status); });
  if (graph_ != nullptr) OrLose(EventKind::kRun, [&] { TellRun(progress, status); });
  view_ = nullptr;
}

// Tells what the current run has done so far.
void EventFeed::OnJoin(RunView& view) {
  const bool joined = view_ != nullptr && run_ == view.run();
  if (joined || view.steps() == 0) return;
  static_cast<void>(OnRunStart(view.run(), view).ok());
  OnRunBegin(view.run(), view.steps());
  if (!Wants(EventKind::kProgress)) return;
  size_t done = 0;
  view.ForDone([&](const Node& node, bool dead) { TellBlock(node, dead ? Progress::kSkipped : Progress::kEnded, ++done); });
}

void EventFeed::OnState(const RunnerState& state) {
  start_.store(state.start, std::memory_order_relaxed);
  if (!Wants(EventKind::kState)) return;
  OrLose(EventKind::kState, [&] {
    Event event = Make(EventKind::kState);
    event.block = state.block;
    event.state = state;
    Send(std::move(event));
  });
}

}  // namespace weft
