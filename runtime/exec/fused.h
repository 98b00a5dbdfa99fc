// Runs fused steps: threads take tiles, and each takes its tile through all steps while it is in the cache.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/exec/result_set.h"
#include "runtime/state/thread_pool.h"
#include "weft/plan/plan.h"

namespace weft {

/// Loops of kernels that already run on one thread of many.
class SerialWorkers final : public Workers {
 public:
  int threads() const override { return 1; }
  void Run(int64_t count, FunctionRef<void(int64_t)> task) override {
    for (int64_t i = 0; i < count; ++i) task(i);
  }
};

/// Owns the memory of the tiles of a plan's fused steps: all groups share it, a part for each thread. For the thread that runs.
class FusedRunner {
 public:
  FusedRunner(const Plan& plan, const Services& services) : plan_(plan), services_(services) { services_.workers = &serial_; }

  /// Takes the memory. resource_exhausted where there is too little.
  Status Make(int threads);

  /// Runs the group. `values` by slot. Where a step fails, `failed` tells which: of several the one that would have run first. Ends early
  /// where the workers have stopped; outputs do not count then.
  Status RunGroup(const FusedSteps& fused, const Value* values, PoolWorkers& workers, size_t& failed);

  /// Whether values of kTile slots have whole memory: only then may the steps of a group run one by one, as they do for an observer.
  bool whole() const { return whole_tiles_ != nullptr; }
  /// Takes that memory, where there is none, and points the values of the set at it.
  Status MakeWhole(ResultSet& set);
  /// Where the value of a kTile slot is; while it is not whole, memory that nobody reads.
  void* TileMemory(const Slot& slot) const;

 private:
  /// What one thread works with.
  struct Lane {
    std::vector<Value> values;  // by operand
    std::byte* memory = nullptr;
    RunContext ctx;
    std::vector<ChainOp> steps;  // of all chains
    /// Those of them whose memory is a part of what outlives the group, another for each tile.
    struct Moving {
      ChainOp* step;
      std::byte* elements;  // the first of all
      int64_t element_bytes;
    };
    std::vector<Moving> moving;
    int failed = 0;         // step; of several the first
    int64_t failed_at = 0;  // the first element of its tile
    Status status;
  };
  struct Partial {
    alignas(PartialReduction::kPartialBytes) std::byte bytes[PartialReduction::kPartialBytes];
  };

  void Begin(const FusedSteps& fused, const Value* values, Lane& lane) const;
  static void BeginChains(const FusedSteps& fused, const Value* values, Lane& lane);
  void Work(const FusedSteps& fused, const Value* values, const PoolWorkers& workers, Lane& lane);
  bool RunTile(const FusedSteps& fused, const Value* values, int64_t begin, size_t shape, Lane& lane) const;
  static void CopyOut(const FusedSteps::Operand& operand, const Value* values, int64_t begin, const Value& tile);
  void Finish(const FusedSteps& fused, const Value* values);
  static void MoveTo(const FusedSteps& fused, const Value* values, int64_t begin, size_t shape, Lane& lane);

  const Plan& plan_;
  SerialWorkers serial_;
  Services services_;  // with serial_ for workers
  std::vector<Lane> lanes_;
  std::shared_ptr<Buffer> memory_;
  std::atomic<int64_t> next_{0};  // part
  std::vector<Partial> partials_;     // by reduction and part
  std::shared_ptr<Buffer> whole_tiles_;
};

}  // namespace weft
