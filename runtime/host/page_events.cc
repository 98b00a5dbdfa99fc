#include "weft/host/page_events.h"

#include <algorithm>

#include "runtime/host/steady_ns.h"

namespace weft {

Status PageEvents::AddQueue(std::shared_ptr<EventQueue> queue, uint64_t source) {
  std::lock_guard lock(mutex_);
  if (std::any_of(queues_.begin(), queues_.end(), [&](const Subscriber& subscriber) { return subscriber.queue == queue; })) {
    return AlreadyExists("the page feeds this queue already").WithHint("remove it first");
  }
  queues_.push_back({std::move(queue), source});
  return {};
}

Status PageEvents::RemoveQueue(const EventQueue* queue) {
  std::shared_ptr<EventQueue> removed;  // ends without the lock
  std::lock_guard lock(mutex_);
  auto place = std::find_if(queues_.begin(), queues_.end(), [&](const Subscriber& subscriber) { return subscriber.queue.get() == queue; });
  if (place == queues_.end()) return NotFound("the page does not feed this queue");
  removed = std::move(place->queue);
  queues_.erase(place);
  return {};
}

void PageEvents::SetCallback(Callback callback) {
  std::lock_guard lock(mutex_);
  callback_.swap(callback);
}

bool PageEvents::any() const {
  std::lock_guard lock(mutex_);
  return !queues_.empty() || callback_ != nullptr;
}

PageEvents::Edit PageEvents::Made(const std::string& page, uint64_t revision, const std::string& changes) const {
  Event event;
  event.kind = EventKind::kEdited;
  event.page = page;
  event.revision = revision;
  event.text = changes;
  event.t_ns = SteadyNs();
  Edit edit;
  std::lock_guard lock(mutex_);
  for (const Subscriber& subscriber : queues_) {
    edit.queued.emplace_back(subscriber.queue, event);
    edit.queued.back().second.source = subscriber.source;
  }
  if (!callback_) return edit;
  edit.event = std::make_shared<Event>(std::move(event));
  edit.call = [callback = callback_, told = edit.event] { callback(*told); };
  return edit;
}

std::function<void()> PageEvents::Tell(Edit edit) {
  std::lock_guard lock(mutex_);
  for (auto& [queue, event] : edit.queued) {
    const bool fed = std::ranges::any_of(queues_, [&](const Subscriber& subscriber) { return subscriber.queue == queue; });
    if (fed) queue->Push(std::move(event));
  }
  if (!callback_ || edit.event == nullptr) return {};
  edit.event->seq = ++seq_;
  return std::move(edit.call);
}

}  // namespace weft
