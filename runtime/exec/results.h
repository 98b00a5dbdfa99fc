// Results: two sets of values, so that one stays readable while the other is computed, and the leases of readers.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/exec/run_memory.h"
#include "weft/exec/session.h"

namespace weft {

/// Memories of results that were left to readers, to be used again when their readers let go: a session whose results are read after every
/// run uses three memories in turn and allocates none. For the thread that runs.
class RetiredMemories {
 public:
  /// For a layout of so many memories; forgets those of the layout before.
  void Reset(size_t memories);
  /// Another memory in the place of one that a reader has: one that readers have let go, else a new one.
  Result<std::shared_ptr<ResultMemory>> Exchange(size_t memory, std::shared_ptr<ResultMemory> leased, const RunMemory& from, bool keep);
  /// After every run: memories that nobody has needed for long are given back.
  void CountRun(bool leased);

 private:
  void Clear();

  std::vector<std::vector<std::shared_ptr<ResultMemory>>> retired_;  // by memory
  int runs_unread_ = 0;  // in a row that found nothing leased
};

/// What a session's last run that succeeded left. A reader's tensors stay as they are, whatever runs next: they are leases of the memory,
/// which the next run that would write it exchanges for other memory.
class Results {
 public:
  // ---- for the thread that runs ----

  /// The plan of the runs to come; null where planning failed. Readers see the results of the plan before until a run of this one succeeds.
  void SetPlan(std::shared_ptr<const SessionPlan> plan);
  /// The results of a session before an edit, until a run of this plan succeeds. `before` shows nothing afterwards.
  void TakeOver(Results& before);
  /// The set that readers do not see.
  ResultSet& back() { return sets_[front_ == 0 ? 1 : 0]; }
  bool has_front() const { return front_ >= 0; }
  /// Makes the back set ready to be written: memory that readers have goes to them, and other memory takes its place.
  Status Renew(const RunMemory& memory, const MemoryBudget* budget);
  /// Values that the run left out keep what they had. Only writes to the back set.
  void KeepStale(uint64_t run);
  /// From now on readers see the back set. Cannot fail.
  void Publish(uint64_t run);

  // ---- from any thread ----

  /// `graph`: the one that `value` is of, of this revision of the page or another. failed_precondition where there is no such result.
  Result<ResultValue> Get(const Graph& graph, ValueRef value) const;
  /// All of one run.
  std::vector<Result<ResultValue>> GetAll(const Graph& graph, std::span<const ValueRef> values) const;
  /// Calls read(plan) while the plan cannot change, where there is one.
  void WithPlan(FunctionRef<void(const Plan&)> read) const;

 private:
  /// What readers see; without a plan: nothing.
  struct Shown {
    const SessionPlan* planned = nullptr;
    const ResultSet* set = nullptr;
  };
  /// Results of the plan before.
  struct Before {
    std::shared_ptr<const SessionPlan> planned;
    ResultSet set;
  };
  /// Leases of the memories of one set: by memory, made where the first is needed.
  using Leases = std::vector<std::shared_ptr<const void>>;

  Shown ShownNow() const;
  bool TakeFromFront(ResultSet& set, size_t memory);
  static int SlotIn(const Shown& shown, const Graph& graph, ValueRef value);
  static uint64_t RunOf(const Shown& shown, int slot);
  static Tensor TensorOf(const Shown& shown, int slot, Leases& leases);
  Result<ResultValue> Read(const Shown& shown, const Graph& graph, ValueRef value, Leases& leases) const;

  mutable std::mutex mutex_;  // of all that readers see: the front set, the results before, and the plans of both
  std::shared_ptr<const SessionPlan> planned_;
  ResultSet sets_[2];
  int front_ = -1;  // the set that readers see
  std::unique_ptr<Before> before_;
  uint64_t last_run_ = 0;
  RetiredMemories retired_;
};

}  // namespace weft
