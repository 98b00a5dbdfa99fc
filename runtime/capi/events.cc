// Events: queues, callbacks, and what of a session feeds them.
#include <algorithm>
#include <iterator>

#include "runtime/capi/run_options.h"
#include "runtime/capi/watching.h"

using namespace weft;
using namespace weft::capi;

namespace weft::capi {

Breakpoints& Watching::breakpoints() {
  std::lock_guard lock(mutex_);
  if (breakpoints_ == nullptr) {
    breakpoints_ = std::make_shared<Breakpoints>(runner_);
    runner_.AddListener(breakpoints_);
  }
  return *breakpoints_;
}

Subscriptions& Watching::subscriptions() {
  std::lock_guard lock(mutex_);
  return SubscriptionsLocked();
}

Subscriptions& Watching::SubscriptionsLocked() {
  if (subscriptions_ == nullptr) {
    subscriptions_ = std::make_shared<Subscriptions>(runner_);
    runner_.AddListener(subscriptions_);
  }
  return *subscriptions_;
}

// Called with the lock held.
void Watching::AddFeed(EventOptions options) {
  Feed feed{options.queue.get(), nullptr};
  options.start = runner_.last_start();
  feed.feed = std::make_shared<EventFeed>(runner_.session(), std::move(options));
  feeds_.reserve(feeds_.size() + 1);
  runner_.AddListener(feed.feed);
  feeds_.push_back(std::move(feed));
}

// Called with the lock held.
void Watching::DropFeed(std::vector<Feed>::iterator feed) {
  runner_.RemoveListener(feed->feed.get());
  feeds_.erase(feed);
}

Status Watching::AddQueue(const std::shared_ptr<EventQueue>& queue, EventMask kinds, uint64_t source) {
  std::lock_guard lock(mutex_);
  if (std::any_of(feeds_.begin(), feeds_.end(), [&](const Feed& feed) { return feed.queue == queue.get(); })) {
    return AlreadyExists("the session feeds this queue already").WithHint("remove it first");
  }
  EventOptions options;
  options.kinds = kinds;
  options.source = source;
  options.queue = queue;
  AddFeed(std::move(options));
  try {
    if ((kinds & MaskOf(EventKind::kValues)) != 0) SubscriptionsLocked().Notify(queue, source);
    feeds_.back().feed->OnState(runner_.state());
  } catch (...) {  // of too little memory
    DropFeed(std::prev(feeds_.end()));
    if (subscriptions_ != nullptr) subscriptions_->Unnotify(queue.get());
    throw;
  }
  return {};
}

Status Watching::RemoveQueue(const EventQueue* queue) {
  std::lock_guard lock(mutex_);
  auto feed = std::find_if(feeds_.begin(), feeds_.end(), [&](const Feed& one) { return one.queue == queue; });
  if (feed == feeds_.end()) return NotFound("the session does not feed this queue");
  DropFeed(feed);
  if (subscriptions_ != nullptr) subscriptions_->Unnotify(queue);
  return {};
}

PolledEvent::PolledEvent(Event of) : event(std::move(of)) {
  for (const Status* cause = event.status.cause(); cause != nullptr; cause = cause->cause()) causes += Cat(*cause, "\n");
}

void Watching::SetCallback(std::function<void(const Event&)> callback, EventMask kinds, std::chrono::nanoseconds interval) {
  std::lock_guard lock(mutex_);
  const auto is_callback = [](const Feed& one) { return one.queue == nullptr; };
  // The new one first: where there is no memory for it, the one before stays. (It is the first of both in the list.)
  std::function<void(uint64_t)> ready;
  if (callback && (kinds & MaskOf(EventKind::kValues)) != 0) {
    static_cast<void>(SubscriptionsLocked());
    ready = [callback](uint64_t run) {
      Event event;
      event.kind = EventKind::kValues;
      event.run = run;
      callback(event);
    };
  }
  const bool had = std::ranges::any_of(feeds_, is_callback);
  if (callback) {
    EventOptions options;
    options.kinds = kinds;
    options.callback = std::move(callback);
    options.progress_interval = interval;
    AddFeed(std::move(options));
  }
  if (had) DropFeed(std::ranges::find_if(feeds_, is_callback));
  if (subscriptions_ != nullptr) subscriptions_->SetReady(std::move(ready));
}

}  // namespace weft::capi

namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);
static_assert(kAllEvents == WEFT_ALL_EVENTS && kEventKinds == WEFT_EVENT_KINDS);
static_assert(static_cast<int32_t>(EventKind::kGap) == WEFT_EVENT_GAP && static_cast<int32_t>(EventKind::kEdited) == WEFT_EVENT_EDITED && static_cast<int32_t>(EventKind::kPrint) == WEFT_EVENT_PRINT);
static_assert(static_cast<int32_t>(Progress::kCancelled) == WEFT_ENDED_CANCELLED && static_cast<int32_t>(Progress::kBegan) == WEFT_BEGAN);

Status CheckKinds(uint32_t kinds) {
  if (kinds != 0 && (kinds & ~WEFT_ALL_EVENTS) == 0) return {};
  return InvalidArgument("needs some of the kinds of events, at most WEFT_ALL_EVENTS, found ", kinds).WithPort("kinds");
}

/// The failure, or of one without a block (a run of a page with faults) what it came from.
const Status& PlacedStatus(const Status& status) {
  const Status* placed = &status;
  while (placed->place().block.empty() && placed->cause() != nullptr) placed = placed->cause();
  return placed->place().block.empty() ? status : *placed;
}

/// Texts stay those of `polled`.
weft_event ToC(const PolledEvent& polled) {
  const Event& event = polled.event;
  weft_event filled = WEFT_EVENT_INIT;
  filled.start = event.start;
  filled.phase = static_cast<int32_t>(event.status.phase());
  filled.severity = event.kind == EventKind::kPrint ? WEFT_NOTE : WEFT_ERROR;
  filled.needed = event.status.needed().c_str();
  filled.found = event.status.found().c_str();
  filled.causes = polled.causes.c_str();
  filled.kind = static_cast<int32_t>(event.kind);
  filled.seq = event.seq;
  filled.source = event.source;
  filled.t_ns = event.t_ns;
  filled.run = event.run;
  filled.merged = event.merged;
  filled.fraction = event.fraction;
  filled.progress = static_cast<int32_t>(event.progress);
  filled.state = static_cast<int32_t>(event.state.state);
  filled.pause_reason = static_cast<int32_t>(event.state.reason);
  filled.code = CodeOf(event.status);
  filled.revision = event.revision;
  filled.outdated_page = event.outdated_page ? 1 : 0;
  filled.page = event.page.c_str();
  filled.session = event.session.c_str();
  filled.block = event.block.c_str();
  filled.port = event.port.c_str();
  filled.pointer = PlacedStatus(event.status).place().pointer.c_str();
  filled.hint = event.status.hint().c_str();
  filled.text = event.text.c_str();
  if (!event.status.ok()) filled.text = event.status.message().c_str();
  if (event.kind == EventKind::kState) filled.text = event.state.detail.c_str();
  std::copy(event.dropped.begin(), event.dropped.end(), filled.dropped);
  return filled;
}

std::function<void(const Event&)> Calling(weft_event_callback callback, void* user) {
  return [callback, user](const Event& event) {
    const PolledEvent polled(event);
    const weft_event filled = ToC(polled);
    callback(user, &filled);
  };
}

/// Fills the host's array with events, whose texts stay in `kept`, and returns how many there are.
size_t Hand(std::vector<Event> events, std::vector<PolledEvent>& kept, weft_event* array, size_t stride) {
  kept.clear();
  kept.reserve(events.size());
  for (Event& event : events) kept.emplace_back(std::move(event));
  for (size_t i = 0; i < kept.size(); ++i) FillElement(array, stride, i, ToC(kept[i]));
  return kept.size();
}

}  // namespace

weft_status weft_events_open(const weft_events_options* options, weft_events** events, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(events, "events"));
    *events = nullptr;
    weft_events_options known = WEFT_EVENTS_OPTIONS_INIT;
    WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_events_options"));
    EventQueueOptions limits;
    if (known.most_events > 0) limits.most_events = known.most_events;
    if (known.most_bytes > 0) limits.most_bytes = known.most_bytes;
    if (known.most_history > 0) limits.most_history = known.most_history;
    return Give(std::make_shared<EventsObject>(limits), events);
  });
}

weft_status weft_events_close(weft_events* events) {
  return Guard(nullptr, [&]() -> Status {
    if (events == nullptr) return {};
    WEFT_ASSIGN_OR_RETURN(auto object, Close(events));
    object->queue->Interrupt();
    return {};
  });
}

weft_status weft_events_add(weft_events* events, weft_session* session, uint32_t kinds, uint64_t source, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(auto fed, Find(session));
    WEFT_RETURN_IF_ERROR(CheckKinds(kinds));
    return fed->watching->AddQueue(object->queue, kinds, source);
  });
}

weft_status weft_events_remove(weft_events* events, weft_session* session, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(auto fed, Find(session));
    return fed->watching->RemoveQueue(object->queue.get());
  });
}

weft_status weft_events_add_page(weft_events* events, weft_page* page, uint64_t source, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(auto fed, Find(page));
    return fed->document->events().AddQueue(object->queue, source);
  });
}

weft_status weft_events_remove_page(weft_events* events, weft_page* page, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(auto fed, Find(page));
    return fed->document->events().RemoveQueue(object->queue.get());
  });
}

weft_status weft_events_poll(weft_events* events, weft_event* array, size_t capacity, size_t* count, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(const size_t stride, StrideOf(array, capacity, "weft_event"));
    std::lock_guard lock(object->mutex);
    *count = Hand(object->queue->Poll(capacity), object->polled, array, stride);
    return {};
  });
}

weft_status weft_events_replay(weft_events* events, uint64_t from_seq, weft_event* array, size_t capacity, size_t* count, uint64_t* missed,
                               weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    if (missed != nullptr) *missed = 0;
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(const size_t stride, StrideOf(array, capacity, "weft_event"));
    std::lock_guard lock(object->mutex);
    uint64_t lost = 0;
    *count = Hand(object->queue->Replay(from_seq, capacity, lost), object->replayed, array, stride);
    if (missed != nullptr) *missed = lost;
    return {};
  });
}

weft_status weft_events_wait(weft_events* events, int64_t timeout_ms, int32_t* ready, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    if (ready != nullptr) *ready = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    // Waits with a reference to the queue alone, so that a close of the handle ends the wait.
    const std::shared_ptr<EventQueue> queue = object->queue;
    object.reset();
    const bool has = queue->Wait(ToTimeout(timeout_ms));
    if (ready != nullptr) *ready = has ? 1 : 0;
    return {};
  });
}

weft_status weft_events_interrupt(weft_events* events, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    object->queue->Interrupt();
    return {};
  });
}

weft_status weft_events_fd(weft_events* events, int32_t* fd, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(fd, "fd"));
    *fd = -1;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(events));
    WEFT_ASSIGN_OR_RETURN(*fd, object->queue->fd());
    return {};
  });
}

weft_status weft_page_on_event(weft_page* page, weft_event_callback callback, void* user, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    object->document->events().SetCallback(callback == nullptr ? PageEvents::Callback() : Calling(callback, user));
    return {};
  });
}

weft_status weft_session_on_event(weft_session* session, weft_event_callback callback, void* user, uint32_t kinds, int64_t interval_ns,
                                  weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    if (callback == nullptr) {
      object->watching->SetCallback({}, 0, kProgressInterval);
      return {};
    }
    WEFT_RETURN_IF_ERROR(CheckKinds(kinds));
    const std::chrono::nanoseconds interval = interval_ns == 0 ? kProgressInterval : std::chrono::nanoseconds(std::max<int64_t>(interval_ns, 0));
    object->watching->SetCallback(Calling(callback, user), kinds, interval);
    return {};
  });
}
