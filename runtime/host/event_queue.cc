// The queue of events, and what wakes the threads that wait for it.
#include <poll.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#else
#include <fcntl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <list>
#include <new>

#include "weft/host/events.h"

namespace weft {
namespace {

constexpr size_t kPriorities = 3;

/// Events of a lower one are dropped first where the queue is full.
size_t PriorityOf(EventKind kind) {
  switch (kind) {
    case EventKind::kState:
    case EventKind::kEdited:
    case EventKind::kError: return 2;
    case EventKind::kPrint: return 1;
    default: return 0;
  }
}

}  // namespace

size_t Event::bytes() const {
  size_t sum = page.size() + session.size() + block.size() + port.size() + text.size() + state.block.size() + state.detail.size();
  for (const Status* link = &status; link != nullptr; link = link->cause()) {
    const Place& place = link->place();
    sum += link->message().size() + link->hint().size() + link->needed().size() + link->found().size();
    sum += place.page.size() + place.pointer.size() + place.block.size() + place.port.size();
  }
  return sum;
}

/// A descriptor that is readable while raised: an eventfd, elsewhere a pipe.
class EventQueue::Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    if (read_ >= 0) close(read_);
    if (write_ >= 0 && write_ != read_) close(write_);
  }

  bool open() const { return read_ >= 0; }
  int fd() const { return read_; }
  Status Open() {
#ifdef __linux__
    read_ = write_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (read_ < 0) return ResourceExhausted("the process cannot have another file descriptor");
#else
    int ends[2];
    if (pipe(ends) != 0) return ResourceExhausted("the process cannot have another pipe");
    for (int end : ends) {
      fcntl(end, F_SETFD, FD_CLOEXEC);
      fcntl(end, F_SETFL, O_NONBLOCK);
    }
    read_ = ends[0];
    write_ = ends[1];
#endif
    return {};
  }
  void Raise() {
    if (!open() || raised_) return;
    const uint64_t one = 1;
    while (write(write_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    raised_ = true;
  }
  void Lower() {
    if (!raised_) return;
    uint64_t number = 0;
    while (read(read_, &number, sizeof number) < 0 && errno == EINTR) {
    }
    raised_ = false;
  }

 private:
  int read_ = -1, write_ = -1;
  bool raised_ = false;
};

struct EventQueue::State {
  explicit State(EventQueueOptions given) : options(given) {}

  bool empty() const { return count == 0 && !woken.load(std::memory_order_relaxed) && !gap_pending; }
  void CountInGap(EventKind kind, uint64_t seq, int64_t t_ns) {
    ++gap.dropped[static_cast<size_t>(kind)];
    gap.seq = std::max(gap.seq, seq);
    gap.t_ns = std::max(gap.t_ns, t_ns);
    gap_pending = true;
  }
  /// Takes the event, or counts it in the gap where there is no memory for it.
  void Add(Event event) {
    event.seq = ++last_seq;
    const size_t size = event.bytes();
    std::list<Event>& list = lists[PriorityOf(event.kind)];
    try {
      list.emplace_back();
    } catch (const std::bad_alloc&) {
      return CountInGap(event.kind, event.seq, event.t_ns);
    }
    list.back() = std::move(event);
    bytes += size;
    ++count;
  }
  /// Drops the oldest event of the lowest priority, and counts it in the gap.
  void DropOne() {
    auto list = std::find_if(lists.begin(), lists.end(), [](const std::list<Event>& events) { return !events.empty(); });
    Event& oldest = list->front();
    CountInGap(oldest.kind, oldest.seq, oldest.t_ns);
    bytes -= oldest.bytes();
    --count;
    list->pop_front();
  }
  /// The list whose first event is the oldest; null where all are empty.
  std::list<Event>* Oldest() {
    std::list<Event>* oldest = nullptr;
    for (std::list<Event>& list : lists) {
      if (!list.empty() && (oldest == nullptr || list.front().seq < oldest->front().seq)) oldest = &list;
    }
    return oldest;
  }

  /// Events that were not polled yet come after so many others.
  void NumberLater(size_t others) {
    for (std::list<Event>& list : lists) {
      for (Event& event : list) event.seq += others;
    }
    if (gap_pending) gap.seq += others;
    last_seq += others;
  }

  /// Keeps what is polled for Replay, as far as there is room. Where there is no memory for one, none before it is kept.
  void Remember(const std::vector<Event>& events) {
    if (!events.empty()) polled_seq = events.back().seq;
    for (const Event& event : events) {
      try {
        history.push_back(event);
        history_bytes += event.bytes();
      } catch (const std::bad_alloc&) {
        history.clear();
        history_bytes = 0;
      }
      while (history.size() > options.most_history || (history_bytes > options.most_bytes && history.size() > 1)) {
        history_bytes -= history.front().bytes();
        history.pop_front();
      }
    }
  }

  const EventQueueOptions options;
  std::mutex poll_mutex;  // one poll at a time; taken before the next
  std::mutex mutex;
  std::condition_variable changed;
  Signal signal;
  std::array<std::list<Event>, kPriorities> lists;  // by priority
  size_t count = 0, bytes = 0;
  std::deque<Event> history;  // that was polled, by growing numbers
  size_t history_bytes = 0;
  uint64_t last_seq = 0, polled_seq = 0;
  Event gap;
  bool gap_pending = false, interrupted = false;
  std::vector<std::weak_ptr<EventSource>> sources;
  std::atomic<bool> woken{false};  // a source has something new
};

EventQueue::EventQueue(EventQueueOptions options) : state_(std::make_unique<State>(options)) { state_->gap.kind = EventKind::kGap; }
EventQueue::~EventQueue() = default;

void EventQueue::Push(Event event) {
  State& s = *state_;
  {
    std::lock_guard lock(s.mutex);
    s.Add(std::move(event));
    while (s.count > std::max<size_t>(s.options.most_events, 1) || (s.bytes > s.options.most_bytes && s.count > 1)) s.DropOne();
    s.signal.Raise();
  }
  s.changed.notify_all();
}

void EventQueue::Lose(EventKind kind) noexcept {
  State& s = *state_;
  {
    std::lock_guard lock(s.mutex);
    s.CountInGap(kind, ++s.last_seq, 0);
    s.signal.Raise();
  }
  s.changed.notify_all();
}

std::vector<Event> EventQueue::Poll(size_t most) {
  State& s = *state_;
  std::vector<Event> events;
  std::vector<std::weak_ptr<EventSource>> sources;
  std::lock_guard polling(s.poll_mutex);
  uint64_t last_seq = 0;
  {
    std::lock_guard lock(s.mutex);
    events.reserve(std::min(most, s.count + 1));  // nothing is taken out that cannot be handed over
    const bool woken = s.woken.load();
    if (woken) sources = s.sources;
    std::list<Event>* next = s.Oldest();
    while (events.size() < most && (s.gap_pending || next != nullptr)) {
      // The gap comes where the last of those was that it stands for.
      if (s.gap_pending && (next == nullptr || s.gap.seq < next->front().seq)) {
        events.push_back(s.gap);
        s.gap = Event();
        s.gap.kind = EventKind::kGap;
        s.gap_pending = false;
        continue;
      }
      s.bytes -= next->front().bytes();
      --s.count;
      events.push_back(std::move(next->front()));
      next->pop_front();
      next = s.Oldest();
    }
    if (woken && events.size() < most) {
      s.woken.store(false);
      std::erase_if(s.sources, [](const auto& source) { return source.expired(); });
    } else {
      sources.clear();
    }
    s.interrupted = false;
    if (s.empty()) s.signal.Lower();
    last_seq = s.last_seq;
  }
  const size_t own = events.size();
  bool all = true;
  for (const auto& weak : sources) {
    auto source = weak.lock();
    try {
      if (source != nullptr) all = (events.size() < most && source->Collect(most - events.size(), events)) && all;
    } catch (const std::bad_alloc&) {
      all = false;  // the rest waits for the next poll
    }
  }
  std::stable_sort(events.begin() + static_cast<std::ptrdiff_t>(own), events.end(), [](const Event& a, const Event& b) { return a.t_ns < b.t_ns; });
  {
    std::lock_guard lock(s.mutex);
    for (size_t i = own; i < events.size(); ++i) events[i].seq = ++last_seq;
    if (events.size() > own) s.NumberLater(events.size() - own);
    s.Remember(events);
  }
  if (!all) Wake();
  return events;
}

std::vector<Event> EventQueue::Replay(uint64_t from, size_t most, uint64_t& missed) {
  State& s = *state_;
  std::vector<Event> events;
  std::lock_guard lock(s.mutex);
  from = std::max<uint64_t>(from, 1);
  auto next = std::find_if(s.history.begin(), s.history.end(), [&](const Event& event) { return event.seq >= from; });
  const uint64_t first = next != s.history.end() ? next->seq : s.polled_seq + 1;
  missed = first > from ? first - from : 0;
  for (; next != s.history.end() && events.size() < most; ++next) events.push_back(*next);
  return events;
}

bool EventQueue::Wait(std::chrono::nanoseconds timeout) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  auto ready = [&] { return !s.empty() || s.interrupted; };
  constexpr std::chrono::nanoseconds kLong = std::chrono::hours(24 * 365);
  if (timeout < std::chrono::nanoseconds(0)) s.changed.wait(lock, ready);
  else s.changed.wait_for(lock, std::min(timeout, kLong), ready);
  s.interrupted = false;
  return !s.empty();
}

void EventQueue::Interrupt() {
  State& s = *state_;
  {
    std::lock_guard lock(s.mutex);
    s.interrupted = true;
    s.signal.Raise();
  }
  s.changed.notify_all();
}

Result<int> EventQueue::fd() {
  State& s = *state_;
  std::lock_guard lock(s.mutex);
  if (!s.signal.open()) {
    WEFT_RETURN_IF_ERROR(s.signal.Open());
    if (!s.empty()) s.signal.Raise();
  }
  return s.signal.fd();
}

void EventQueue::AddSource(std::weak_ptr<EventSource> source) {
  std::lock_guard lock(state_->mutex);
  state_->sources.push_back(std::move(source));
}

void EventQueue::Wake() {
  State& s = *state_;
  if (s.woken.load(std::memory_order_relaxed) || s.woken.exchange(true)) return;
  {
    std::lock_guard lock(s.mutex);
    s.signal.Raise();
  }
  s.changed.notify_all();
}

}  // namespace weft
