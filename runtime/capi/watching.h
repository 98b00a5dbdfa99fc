// What a host observes of a session: events, samples, breakpoints. Each is made, and costs something, only when it is first asked for.
#pragma once

#include "runtime/capi/objects.h"
#include "weft/host/breakpoints.h"
#include "weft/host/events.h"
#include "weft/host/subscriptions.h"

namespace weft::capi {

class Watching {
 public:
  explicit Watching(Runner& runner) : runner_(runner) {}

  Breakpoints& breakpoints();
  Subscriptions& subscriptions();

  /// already_exists where the queue is fed.
  Status AddQueue(const std::shared_ptr<EventQueue>& queue, EventMask kinds, uint64_t source);
  /// not_found where it is not.
  Status RemoveQueue(const EventQueue* queue);
  /// Empty: none.
  void SetCallback(std::function<void(const Event&)> callback, EventMask kinds, std::chrono::nanoseconds interval);

 private:
  struct Feed {
    const EventQueue* queue = nullptr;  // null: of the callback
    std::shared_ptr<EventFeed> feed;
  };
  void AddFeed(EventOptions options);
  void DropFeed(std::vector<Feed>::iterator feed);
  Subscriptions& SubscriptionsLocked();

  Runner& runner_;
  std::mutex mutex_;
  std::shared_ptr<Breakpoints> breakpoints_;
  std::shared_ptr<Subscriptions> subscriptions_;
  std::vector<Feed> feeds_;
};

/// An event, and the text of what its failure came from.
struct PolledEvent {
  explicit PolledEvent(Event of);
  Event event;
  std::string causes;
};

class EventsObject final : public Object {
 public:
  explicit EventsObject(EventQueueOptions options) : queue(std::make_shared<EventQueue>(options)) {}
  ~EventsObject() override { queue->Interrupt(); }
  const std::shared_ptr<EventQueue> queue;
  std::mutex mutex;
  std::vector<PolledEvent> polled, replayed;  // whose texts the host reads; with mutex
};

class SubscriptionObject final : public Object {
 public:
  ~SubscriptionObject() override;
  std::shared_ptr<SessionObject> session;
  uint64_t id = 0;
};

class BreakpointObject final : public Object {
 public:
  ~BreakpointObject() override;
  std::shared_ptr<SessionObject> session;
  uint64_t id = 0;
};

}  // namespace weft::capi

WEFT_HANDLE(weft_events, weft::capi::EventsObject, kEvents);
WEFT_HANDLE(weft_subscription, weft::capi::SubscriptionObject, kSubscription);
WEFT_HANDLE(weft_breakpoint, weft::capi::BreakpointObject, kBreakpoint);

namespace weft::capi {

/// How far apart the elements of an array are that the host passes: the size of its first. Checked where there is room for one.
template <class Struct>
Result<size_t> StrideOf(const Struct* array, size_t capacity, std::string_view name) {
  if (capacity == 0) return size_t{0};
  WEFT_RETURN_IF_ERROR(NeedPointer(array, "array"));
  uint32_t size = 0;
  std::memcpy(&size, array, sizeof size);
  if (size < sizeof(uint32_t) || size > 65536) return InvalidArgument("needs a ", name, " with its size set, found size ", size);
  return size_t{size};
}

/// Writes element `index` of such an array: what fits.
template <class Struct>
void FillElement(Struct* array, size_t stride, size_t index, Struct filled) {
  filled.size = static_cast<uint32_t>(stride);
  std::memcpy(reinterpret_cast<unsigned char*>(array) + index * stride, &filled, std::min(stride, sizeof(Struct)));
}

}  // namespace weft::capi
