// ElementBarrier: elements whose components come one by one, under a key; those that have all of them are ready to be taken, in the order
// in which the first of their components came.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "blocks/data_flow/queue.h"
#include "weft/base/memory.h"

namespace weft::blocks {

/// Thread-safe.
class ElementBarrier final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "barrier";
  ElementBarrier(const DTypes& types, const Shapes& shapes);
  std::string_view kind() const override { return kKind; }
  const DTypes& types() const { return types_; }
  /// invalid_argument where `types` and `shapes` are others.
  Status CheckSame(const DTypes& types, const Shapes& shapes) const;
  /// What is taken: an index, the key and the components of each.
  const QueueSpec& ready_spec() const { return ready_.spec(); }

  /// Row i of `rows`, as CutRows makes them of one tensor, becomes component `component` of the key i, one after another: those before one
  /// that fails are in. invalid_argument for a component that the barrier has not, that the key has already, or of another type or shape;
  /// cancelled for a new key once the barrier is closed, and where the run is to end.
  Status Insert(std::span<const String> keys, int64_t component, std::vector<QueueElement> rows, const Services& services);
  /// Takes elements that are ready and waits for them, as Queue::Dequeue. `small`: a closed barrier gives what is ready where that is less.
  Result<std::vector<QueueElement>> Take(int64_t count, bool small, const Services& services, const Workers& workers);
  /// Puts back what was taken.
  void Return(std::vector<QueueElement> elements) { ready_.Return(std::move(elements)); }
  /// Refuses new keys; with `cancel`, also components of those that lack some, which are dropped. cancelled where it is closed so already.
  Status Close(bool cancel);
  int64_t ready_size() const { return ready_.size(); }
  int64_t incomplete_size() const;

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override;

 private:
  struct Incomplete {
    int64_t index = 0;
    size_t missing = 0;              // components that are not there yet
    std::vector<Tensor> components;  // undefined where missing
  };
  struct HeldIncomplete : Incomplete {
    MemoryCharge room;  // of the entry; the key's text and the components count by themselves
  };
  using Entries = std::map<String, HeldIncomplete>;
  struct State {
    bool closed = false, cancelled = false;
    int64_t next_index = INT64_MIN;  // of the keys that the next insert brings
    Entries incomplete;
  };
  Status CheckComponent(int64_t component, const Tensor& row) const;
  Status ClosedError(std::string_view found) const;
  Status InsertSome(std::span<const String> keys, size_t component, std::span<QueueElement> rows, const Services& services, bool& is_new);
  /// Adds to `complete`, which has room for it, where it was the last component. Where it fails the key is as it was.
  Status InsertOne(const String& key, size_t component, Tensor row, const std::shared_ptr<MemoryBudget>& budget, bool& is_new,
                   std::vector<QueueElement>& complete);
  /// A new entry of `state`, without components.
  Result<Entries::iterator> Begin(State& state, const String& key, int64_t index, const std::shared_ptr<MemoryBudget>& budget) const;
  void EndWhereDone();
  Status LoadComponents(StateReader& in, Incomplete& to) const;

  const DTypes types_;
  const Shapes shapes_;
  mutable std::mutex mutex_;  // taken before the queue's
  State state_;
  Queue ready_;
};

}  // namespace weft::blocks
