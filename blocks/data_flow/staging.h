// StagingArea and StagingMap: lists of tensors that blocks and sessions of a page hand to one another, in order or by key. Unlike those of
// a queue they may have any types and shapes.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <vector>

#include "blocks/data_flow/room_line.h"
#include "weft/base/memory.h"
#include "weft/block/attr.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

using StagedValues = std::vector<Tensor>;  // of a map: undefined where there is none

/// How much may be there at a time; 0: no limit. Those of the block that puts something in count.
struct StageLimits {
  int64_t capacity = 0, memory_limit = 0;

  bool HaveRoom(int64_t size, int64_t bytes, int64_t added) const {
    return (capacity <= 0 || size < capacity) && (memory_limit <= 0 || added <= memory_limit - bytes);
  }
  /// resource_exhausted where so many bytes never fit.
  Status Check(int64_t added) const;
};

/// Values on their way into a staging area: one list, which is moved in without taking memory.
struct StagedArrival {
  std::list<StagedValues> values;
  int64_t bytes = 0;
  StageLimits limits;
};

/// First in, first out. Thread-safe.
class StagingArea final : public Resource, public StoredState, private RoomLineOwner<StagedArrival> {
 public:
  static constexpr std::string_view kKind = "staging area";
  std::string_view kind() const override { return kKind; }

  /// Waits for room, at the end of the run where others may make it. `self` is the handle of this.
  Status Put(StagedValues values, const StageLimits& limits, Waiter& waiter, const ResourceHandle& self);
  /// The first values, or those at `index`, which stay, once they are there; invalid_argument, and they stay, where not of `types`.
  Result<StagedValues> Take(const DTypes& types, Waiter& waiter);
  Result<StagedValues> Peek(int64_t index, const DTypes& types, Waiter& waiter);
  int64_t size() const;
  void Clear();

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override { Clear(); }

 private:
  void Admit() override;
  void Replace(std::list<StagedValues> values, int64_t bytes);

  std::list<StagedValues> values_;
  std::deque<std::list<StagedValues>::const_iterator> places_;  // of the first ones, as far as Peek has looked: no list is counted along twice
  int64_t bytes_ = 0;
};

/// The values of a key, those at `indices` of `components`.
struct StagedPart {
  Tensor key;  // one DT_INT64
  std::vector<int32_t> indices;
  StagedValues values;
  int64_t components = 0;
  MemoryCharge room = {};  // of the budget that the part, and a key that it begins, count in
};

/// The same on its way into a staging map.
struct StagedPartArrival {
  StagedPart part;
  int64_t bytes = 0;
  StageLimits limits;
};

/// By key. A key whose values come bit by bit is incomplete until all are there. Thread-safe.
class StagingMap final : public Resource, public StoredState, private RoomLineOwner<StagedPartArrival> {
 public:
  static constexpr std::string_view kKind = "staging map";
  static constexpr std::string_view kOrderedKind = "staging map in order of its keys";
  explicit StagingMap(bool ordered) : ordered_(ordered) {}
  std::string_view kind() const override { return ordered_ ? kOrderedKind : kKind; }

  /// Waits for room as StagingArea::Put. A key that is complete keeps what it has. invalid_argument for an index that is none, or that the
  /// key has a value for; resource_exhausted where the budget has no room for the key.
  Status Put(StagedPart part, const StageLimits& limits, Waiter& waiter, const ResourceHandle& self);

  /// The values at `indices` of a key, once it is complete; with `keep` they stay. invalid_argument where one has been taken, is not of its
  /// type in `types`, or there is no such index: then all stay.
  Result<StagedValues> Take(int64_t key, std::span<const int32_t> indices, const DTypes& types, bool keep, Waiter& waiter);
  /// The same of the lowest key, or of the one that was complete first where keys are not ordered; the key comes first.
  Result<StagedValues> TakeNext(std::span<const int32_t> indices, const DTypes& types, Waiter& waiter);
  int64_t size() const;
  int64_t incomplete_size() const;
  void Clear();

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override { Clear(); }

 private:
  struct Entry {
    Tensor key;
    StagedValues values;
    uint64_t arrival = 0;
  };
  struct HeldEntry : Entry {
    MemoryCharge room;  // of the entry; the elements of key and values count by themselves
  };
  using Entries = std::map<int64_t, HeldEntry>;
  struct State {
    Entries complete, incomplete;
    std::map<uint64_t, int64_t> keys;  // by their arrival
    uint64_t arrivals = 0;
    int64_t bytes = 0;
  };
  void Admit() override;
  Result<bool> Add(StagedPartArrival& arrival);
  /// The incomplete entry that a part belongs to, which may be new.
  Result<Entries::iterator> EntryOf(StagedPart& part);
  Result<StagedValues> TakeFrom(Entries::iterator entry, std::span<const int32_t> indices, const DTypes& types, bool keep);
  /// What an entry of so many values takes besides their elements.
  static int64_t EntryBytes(int64_t values);
  static void Complete(State& state, HeldEntry entry);
  static Status SaveEntries(std::vector<Entry> entries, StateWriter& out);
  static Result<std::vector<HeldEntry>> LoadEntries(StateReader& in);

  const bool ordered_;
  State state_;
};

}  // namespace weft::blocks
