// RoomLine: what waits for room in a queue or a staging area, first come, first served. Whoever makes room lets it in, so that what was put
// there goes in while the block that put it there does something else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <new>

#include "weft/block/deferred_wait.h"

namespace weft::blocks {

/// What is left of a time limit.
class TimeLeft {
 public:
  explicit TimeLeft(int64_t timeout_ms) : timeout_ms_(timeout_ms), start_(std::chrono::steady_clock::now()) {}
  /// Negative: no limit.
  int64_t ms() const {
    if (timeout_ms_ < 0) return -1;
    auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_).count();
    return std::max<int64_t>(timeout_ms_ - passed, 0);
  }

 private:
  int64_t timeout_ms_;
  std::chrono::steady_clock::time_point start_;
};

/// Used with the lock of the resource held.
template <class Item>
class RoomLine {
 public:
  struct Place {
    Item item;
    bool waits = true;           // false: all of it is in, or it never will be
    bool out_of_memory = false;  // met by whoever let it in
    Status status;               // why not
  };
  using Ticket = std::shared_ptr<Place>;

  bool empty() const { return line_.empty(); }
  Ticket Join(Item item) {
    auto place = std::make_shared<Place>();
    place->item = std::move(item);
    line_.push_back(place);
    return place;
  }
  /// `add(item)` puts in what there is room for and says whether that was all of it. With `in_turn`, nothing overtakes.
  void Admit(bool in_turn, auto&& add) {
    for (auto at = line_.begin(); at != line_.end();) {
      Place& place = **at;
      try {
        Result<bool> in = add(place.item);
        if (in.ok() && !*in) {
          if (in_turn) return;
          ++at;
          continue;
        }
        if (!in.ok()) place.status = std::move(in).status();
      } catch (const std::bad_alloc&) {
        place.out_of_memory = true;
      }
      place.waits = false;
      at = line_.erase(at);
    }
  }
  /// What is not in yet stays out.
  void Leave(const Ticket& ticket) {
    if (!ticket->waits) return;
    ticket->waits = false;
    line_.remove(ticket);
  }
  /// The same for all that wait, who get `status`.
  void Refuse(const Status& status) {
    for (const Ticket& ticket : line_) {
      ticket->waits = false;
      ticket->status = status;
    }
    line_.clear();
  }
  /// How it went for what no longer waits.
  static Status StatusOf(const Place& place) {
    if (place.out_of_memory) throw std::bad_alloc();
    return place.status;
  }

 private:
  std::list<Ticket> line_;
};

template <class Item>
class WaitForRoom;

/// What a resource with a line has: the lock of all that it holds, and what tells of changes.
template <class Item>
class RoomLineOwner {
 protected:
  friend class WaitForRoom<Item>;
  ~RoomLineOwner() = default;
  /// Lets in what there is room for, and tells of it. The lock is held.
  virtual void Admit() = 0;
  /// Waits, at the run's end, where others may make room, for what stands in line. `self` is the resource's handle; the lock is not held.
  Status WaitInLine(const typename RoomLine<Item>::Ticket& ticket, Waiter& waiter, TimeLeft left, std::string_view what,
                    const ResourceHandle& self);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  RoomLine<Item> line_;
};

/// Something put into a resource that has no room for it yet; `handle` keeps the resource.
template <class Item>
class WaitForRoom final : public DeferredWait {
 public:
  using Owner = RoomLineOwner<Item>;
  using Ticket = typename RoomLine<Item>::Ticket;
  WaitForRoom(ResourceHandle handle, Owner& owner, Ticket ticket, Waiter& waiter, TimeLeft left, std::string_view what)
      : handle_(std::move(handle)), owner_(owner), ticket_(std::move(ticket)), waiter_(waiter), left_(left), what_(what) {}
  ~WaitForRoom() override {
    std::lock_guard lock(owner_.mutex_);
    GiveUp();
  }
  Status Finish() override {
    std::unique_lock lock(owner_.mutex_);
    auto ready = [&] { return !ticket_->waits; };
    Status status = ready() ? Status() : waiter_.Wait(lock, owner_.changed_, ready, left_.ms(), what_);
    if (!status.ok()) GiveUp();  // with this lock: who waits in vain must not be let in afterwards
    return status.ok() ? RoomLine<Item>::StatusOf(*ticket_) : status;
  }

 private:
  void GiveUp() {
    if (!ticket_->waits) return;
    owner_.line_.Leave(ticket_);
    owner_.Admit();  // what stood behind it
  }

  const ResourceHandle handle_;
  Owner& owner_;
  const Ticket ticket_;
  Waiter& waiter_;
  const TimeLeft left_;
  const std::string_view what_;
};

template <class Item>
Status RoomLineOwner<Item>::WaitInLine(const typename RoomLine<Item>::Ticket& ticket, Waiter& waiter, TimeLeft left, std::string_view what,
                                       const ResourceHandle& self) {
  std::unique_ptr<DeferredWait> wait;
  try {
    wait = std::make_unique<WaitForRoom<Item>>(self, *this, ticket, waiter, left, what);
  } catch (...) {  // of too little memory
    std::lock_guard lock(mutex_);
    line_.Leave(ticket);
    throw;
  }
  return WaitAtEnd(waiter, std::move(wait));
}

}  // namespace weft::blocks
