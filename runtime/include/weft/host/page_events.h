// PageEvents: tells hosts of the edits of a page.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "weft/host/events.h"

namespace weft {

/// The queues and the callback that get the edits of one page. Thread-safe.
class PageEvents {
 public:
  using Callback = std::function<void(const Event&)>;

  /// `queue` gets a kEdited event with `source` for each edit from now on. already_exists where it does.
  Status AddQueue(std::shared_ptr<EventQueue> queue, uint64_t source);
  /// not_found where it does not.
  Status RemoveQueue(const EventQueue* queue);
  /// Is called with each kEdited event in place of the one before. Empty: none.
  void SetCallback(Callback callback);
  /// Whether anyone gets them: else what changed need not be found out.
  bool any() const;

  /// An edit that is about to be made, ready to be told.
  struct Edit {
    std::vector<std::pair<std::shared_ptr<EventQueue>, Event>> queued;
    std::shared_ptr<Event> event;  // for the callback
    std::function<void()> call;
  };
  /// `revision` is what will count the page's edits, `changes` says what changes, as JSON.
  Edit Made(const std::string& page, uint64_t revision, const std::string& changes) const;
  /// It has been made. To be called in the order of edits; queues get the event before it returns. What it returns calls the callback, and is
  /// to be called without a lock; it may be empty. Takes no memory.
  std::function<void()> Tell(Edit edit);

 private:
  struct Subscriber {
    std::shared_ptr<EventQueue> queue;
    uint64_t source = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Subscriber> queues_;
  Callback callback_;
  uint64_t seq_ = 0;  // of the callback
};

}  // namespace weft
