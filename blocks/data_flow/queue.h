// Queue: elements that blocks and sessions of a page hand to one another. An element is one tensor for each component. What comes out
// next is the business of a QueueStore, so that all kinds of queue share the waiting, the closing and the checks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/data_flow/queue_store.h"
#include "blocks/data_flow/room_line.h"
#include "blocks/data_flow/taker_line.h"
#include "weft/base/discard.h"
#include "weft/block/attr.h"
#include "weft/block/services.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

/// What a queue block says of its queue. Blocks that share one must say the same.
struct QueueSpec {
  std::string block;  // the kind: "FIFOQueue"
  DTypes types;       // of each component
  Shapes shapes;      // of each component; empty: any
  int64_t capacity = -1;  // negative: no limit
  bool padded = false;    // elements taken together are padded to the longest: shapes may have unknown sizes
  // Of a RandomShuffleQueue.
  int64_t min_after_dequeue = 0;
  int64_t seed = 0, seed2 = 0;

  /// Whether the components of any elements can be joined to one tensor each.
  bool joinable() const;
};

/// Elements that come into a queue together; those from `next` on are not in yet.
struct ArrivingElements {
  ArrivingElements() = default;
  explicit ArrivingElements(std::vector<QueueElement> all) : elements(std::move(all)) {}
  ArrivingElements(ArrivingElements&&) = default;
  ArrivingElements& operator=(ArrivingElements&&) = default;
  ~ArrivingElements() { DiscardAll(elements); }

  std::vector<QueueElement> elements;
  size_t next = 0;
};

/// Thread-safe. Those who wait are served in the order they came.
class Queue final : public Resource, public StoredState, private RoomLineOwner<ArrivingElements> {
 public:
  static constexpr std::string_view kKind = "queue";

  Queue(QueueSpec spec, std::unique_ptr<QueueStore> store) : spec_(std::move(spec)), store_(std::move(store)) {}
  std::string_view kind() const override { return kKind; }
  const QueueSpec& spec() const { return spec_; }

  /// invalid_argument where `other` wants a queue of another kind, types, shapes or capacity.
  Status CheckSame(const QueueSpec& other) const;
  /// invalid_argument where components of these types cannot be elements of the queue.
  Status CheckTypes(const DTypes& types) const;
  /// The same for the shape of one component.
  Status CheckShape(int component, const Shape& shape) const;

  /// Adds elements that passed the checks, one after another, and waits for room: at the end of the run, so that a block that comes later
  /// in it may make room. Those already in stay in where a later one fails: cancelled where the queue is closed, the run is cancelled or
  /// `timeout_ms` (where >= 0) has passed. `workers`, where given, are those of the run: of many elements none is added once that is to
  /// end. `self` is the handle of this.
  Status Enqueue(std::vector<QueueElement> elements, Waiter& waiter, int64_t timeout_ms, const Workers* workers = nullptr,
                 const ResourceHandle& self = nullptr);
  /// Takes `count` elements and waits for them; on failure the queue is as it was. out_of_range where the queue is closed and has too few
  /// left; with `up_to`, a closed queue gives the rest, but at least one. invalid_argument for more than the capacity of a queue that
  /// gives whole batches.
  Result<std::vector<QueueElement>> Dequeue(int64_t count, bool up_to, Waiter& waiter, int64_t timeout_ms,
                                            const Workers* workers = nullptr);
  /// Puts elements back that Dequeue gave.
  void Return(std::vector<QueueElement> elements);
  /// Refuses all enqueued from now on; with `cancel_pending`, what waits for room, too. Else cancelled where it is closed already.
  Status Close(bool cancel_pending);
  int64_t size() const;

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override;

 private:
  void Admit() override;
  bool HasRoom() const { return spec_.capacity < 0 || store_->size() < spec_.capacity; }
  /// Whether nothing more can come in.
  bool Ended() const { return closed_ && line_.empty(); }
  int64_t Available() const { return store_->size() - (Ended() ? 0 : store_->held_back()); }
  /// Whether some of `wanted` elements can be taken now.
  bool CanGive(int64_t wanted) const { return Available() >= (store_->whole_batches() ? wanted : 1); }
  Status TakeAll(int64_t count, bool up_to, Waiter& waiter, int64_t timeout_ms, std::unique_lock<std::mutex>& lock,
                 std::vector<QueueElement>& taken, const Workers* workers);
  void PutBack(std::vector<QueueElement>& elements);
  std::vector<QueueElement> AllElements() const;
  void Replace(std::shared_ptr<QueueStore> store, bool closed);
  /// Whether an element that was saved may be in this queue.
  Status CheckElement(const QueueElement& element) const;
  Status ClosedError() const;

  const QueueSpec spec_;
  std::shared_ptr<QueueStore> store_;
  bool closed_ = false;
  TakerLine takers_;
  const std::vector<QueueElement>* in_hand_ = nullptr;  // what the first taker has so far, and puts back where it fails
};

}  // namespace weft::blocks
