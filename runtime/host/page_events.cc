#include "weft/host/page_events.h"

#include <algorithm>

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

std::function<void()> PageEvents::Edited(const std::string& page, uint64_t revision, const std::string& changes) {
  Event event;
  event.kind = EventKind::kEdited;
  event.page = page;
  event.revision = revision;
  event.text = changes;
  event.t_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::lock_guard lock(mutex_);
  for (const Subscriber& subscriber : queues_) {
    event.source = subscriber.source;
    subscriber.queue->Push(event);
  }
  if (!callback_) return {};
  event.source = 0;
  event.seq = ++seq_;
  return [callback = callback_, event = std::move(event)] { callback(event); };
}

}  // namespace weft
