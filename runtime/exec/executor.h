// Executor: runs a plan over two sets of results, so that one stays readable while the other is computed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/exec/fused.h"
#include "runtime/exec/run_log.h"
#include "runtime/state/scope_services.h"
#include "weft/exec/session.h"

namespace weft {

/// Memory of kept results. While a reader holds a lease the executor leaves it alone and takes other memory.
struct KeptMemory {
  std::shared_ptr<Buffer> buffer;
  std::atomic<int> leases{0};
};

class Executor {
 public:
  Executor(Scope& scope, std::shared_ptr<Revision> revision, const SessionSpec& spec, Keep keep, std::atomic<bool>& cancelled);

  /// Plans for the present shapes of feeds and variables.
  void Prepare(Diagnostics& diagnostics);
  const Plan* plan() const { return planned_ ? &plan_ : nullptr; }
  const std::shared_ptr<Revision>& revision() const { return revision_; }
  /// Readers see the results of an executor of an earlier revision until a run of this one succeeds.
  void TakeOver(Executor& former);

  Status Run(uint64_t run, const RunOptions& options);
  Result<ResultValue> Get(ValueRef value) const;
  std::vector<Result<ResultValue>> GetAll(std::span<const ValueRef> values) const;
  /// Calls read(plan) while no other thread can change the plan, where there is one.
  void WithPlan(FunctionRef<void(const Plan&)> read) const;

 private:
  /// The values of one run. Slots with memory of their own have an `owned` tensor.
  struct ResultSet {
    std::vector<Value> values;
    std::vector<Tensor> owned;
    std::vector<std::shared_ptr<KeptMemory>> memories;  // of results; see kept_memory_
    std::vector<uint64_t> computed;                     // by slot: the run that computed it; only where values can be dead
    std::vector<Tensor> stale;                          // by slot: what a dead one had before; only where values can be dead
    std::vector<int> root;                              // by slot: whose memory a shared slot is, or -1
    std::vector<char> lived;                            // by slot: had a value in this run; only where there are loops
    std::vector<std::vector<Tensor>> spare;             // by slot: memory of its values; only where there are loops
    uint64_t run = 0;
    bool bound = false;
    bool moved = false;  // memories were exchanged since the values were pointed at them
  };

  /// Results that readers see: of the present plan, or of the one before, until a run of the present one succeeds.
  struct Shown {
    const Plan* plan = nullptr;
    const ResultSet* set = nullptr;
    const std::vector<int>* kept_memory = nullptr;
    const Revision* revision = nullptr;  // that the plan is of
  };
  struct Former {
    Plan plan;
    ResultSet set;
    std::vector<int> kept_memory;
    std::shared_ptr<Revision> revision;
  };

  /// What the loop over the steps needs of one, without a detour over the graph.
  struct Record {
    RunFunction run = nullptr;  // null: the step needs RunStep
    const void* parameters = nullptr;
    const uint32_t *inputs = nullptr, *in_first = nullptr, *out_first = nullptr;
    std::byte* scratch = nullptr;
    int64_t scratch_bytes = 0;
    uint32_t first_output = 0;  // after `inputs`
    int fused = -1;             // index into Plan::fused: a step of that group; from kFirstPlainUpdate down: which plain update it is

    const uint32_t* outputs() const { return inputs + first_output; }
  };
  static_assert(sizeof(Record) <= 64, "the loop over many steps is bound by what it reads");

  static constexpr int kFirstPlainUpdate = -2;
  /// See plain_updates.cc.
  struct PlainUpdate {
    RunFunction run = nullptr;
    uint32_t variable = 0;  // index into variables_
    uint32_t input = 0;     // input value of the block: the reference
    int output = -1;        // slot of the reference that it gives, or -1
  };

  /// What a dynamic step was planned for last, and what came of it.
  struct DynamicPlan {
    std::vector<std::optional<Shape>> shapes;  // absent for a variable without a value
    std::vector<Tensor> shaping;  // values of ShapedBy inputs
    PlannedBlock block;
    PlannedShapes planned;
    std::shared_ptr<Buffer> scratch;
    ResourceHandle resource;
    bool valid = false;
  };

  /// One variable during a run.
  struct VariableInRun {
    int variable = -1;
    Tensor value;  // what the last update of this run left, or the value at its start
    bool updated = false;
    bool lasts = true;         // after the run
    size_t updates = 0;        // that the plan makes
    std::vector<Tensor> pool;  // tensors that were values; reused when nobody else holds them
    size_t newest = 0;         // of the pool: the others were let go in the order that follows it

    const Tensor* next() const { return pool.empty() ? nullptr : &pool[(newest + 1) % pool.size()]; }
  };

  /// The run as its observer sees it.
  class View final : public RunView {
   public:
    explicit View(Executor& executor) : executor_(executor) {}
    const std::shared_ptr<const Graph>& graph() const override { return executor_.revision_->graph; }
    uint64_t run() const override { return number; }
    uint64_t plan_id() const override { return executor_.plan_id_; }
    Result<Tensor> Peek(ValueRef value) const override;
    Status Override(ValueRef value, const Tensor& tensor) override;
    size_t steps() const override { return set != nullptr ? executor_.plan_.steps.size() : 0; }
    void ForDone(FunctionRef<void(const Node& node, bool dead)> each) const override;
    std::vector<Result<ResultValue>> Results(std::span<const ValueRef> values) const override { return executor_.GetAll(values); }
    int current() const override;
    Status Stopped() const override;
    void SetPaused(bool paused) override;

    uint64_t number = 0;
    const size_t* at = nullptr;  // the step that runs; null outside of steps
    ResultSet* set = nullptr;    // null before the run has begun
    size_t done = 0;                 // steps before this one have run, in plans without loops
    int ended = -1;                  // the step that just ended, or -1
    uint64_t replaced = 0;           // the last run in which a value got memory of its own

   private:
    int StepOf(int slot) const;
    std::vector<char> Settled() const;
    void GiveOwn(size_t slot, Tensor tensor);
    Status KeepForwarded(int root);
    void HandOn(size_t from);

    Executor& executor_;
  };

  // executor.cc
  Status RunWhole(uint64_t run, const RunOptions& options);
  Status RunStarted(uint64_t run, const RunOptions& options);
  Result<ResultSet*> TakeInputs();
  bool FeedsFit() const;
  bool VariablesFit() const;
  Status MakeReady();
  bool TakeVariables();
  Status PlaceVariables(ResultSet& set);
  Status RunSteps(ResultSet& set, const RunOptions& options);
  Status RunEach(ResultSet& set, const RunOptions& options, size_t& step);
  void FetchValues(const ResultSet& set, size_t step) const;
  Status RunObserved(ResultSet& set, size_t index, const RunOptions& options);
  static bool Attending(const RunOptions& options) {
    if (options.observer == nullptr) return false;
    const std::atomic<uint32_t>* attention = options.observer->attention();
    return attention == nullptr || attention->load(std::memory_order_relaxed) != 0;
  }
  Status CheckFetches(const ResultSet& set) const;
  Status Explain(const ResultSet& set, size_t step, Status status) const;
  Status Stopped() const { return Cancelled(workers_.Reason()); }

  // starting.cc
  Status StartVariables(const RunOptions& options);
  Status StartWired(const RunOptions& options);
  Status StartTogether(const std::vector<int>& variables, const RunOptions& options);
  std::vector<int> ReadyToStart(const std::vector<char>& waiting) const;

  // binding.cc
  void LayOutKept();
  Status MakeRecords();
  Status Bind(ResultSet& set);
  Status RenewLeased(ResultSet& set);
  Result<std::shared_ptr<KeptMemory>> NewKept(size_t memory) const;
  Result<std::shared_ptr<KeptMemory>> OtherKept(size_t memory, std::shared_ptr<KeptMemory> leased);
  bool IsSpare(const ResultSet& set, size_t memory) const;
  void PointAtMemory(ResultSet& set);

  // results.cc
  void KeepStale(ResultSet& set, uint64_t run);
  void Publish(ResultSet& set, uint64_t run);
  Shown ShownResults() const;
  int SlotIn(const Shown& shown, ValueRef value) const;
  /// What keeps the memories of one set from being written: by memory, made where it is first needed.
  using Leases = std::vector<std::shared_ptr<const void>>;
  Result<ResultValue> GetShown(const Shown& shown, ValueRef value, Leases& leases) const;
  Tensor TensorOf(const Shown& shown, int slot, Leases& leases) const;
  uint64_t RunOf(const Shown& shown, int slot) const;

  // loops.cc
  Status RunLoops(ResultSet& set, const RunOptions& options, size_t& step);
  void BeginLoops(ResultSet& set, size_t step, size_t from);
  size_t NextStep(ResultSet& set, size_t step);
  bool GoesOn(const ResultSet& set, const Loop& loop) const;
  void EndLoop(ResultSet& set, int index);
  Status TakeReads(ResultSet& set, const Step& step);
  Status OwnSpare(ResultSet& set, uint32_t slot, const Shape& shape);

  // steps.cc
  Status RunStep(ResultSet& set, size_t index);
  Status RunDynamic(ResultSet& set, size_t index);
  bool SameSignature(const ResultSet& set, const Step& step, const DynamicPlan& plan) const;
  Status PlanDynamic(ResultSet& set, size_t index);
  Status OwnOutput(ResultSet& set, uint32_t slot, const Shape& shape);
  Status Produce(ResultSet& set, const Step& step, const PlannedBlock& block);
  void RunForward(ResultSet& set, uint32_t from, uint32_t to, const Shape& shape);
  Status RunSwitch(ResultSet& set, const Step& step);
  Status RunMerge(ResultSet& set, const Step& step);
  Status RunSelect(ResultSet& set, const Step& step);
  bool SkipDead(ResultSet& set, const Step& step) const;
  Status BindResource(int node, const PlannedBlock& block, ResourceHandle& resource);
  Status CallKernel(ResultSet& set, const Step& step, const Record& record, const PlannedBlock& block, const ResourceHandle& resource);
  void SetOwned(ResultSet& set, uint32_t slot, Tensor tensor) const;

  // fused.cc
  Status RunFused(const ResultSet& set, size_t& step);
  Status OwnTiles(ResultSet& set);
  /// Whether the step is the first of fused ones, and nobody wants to see them one by one.
  bool BeginsFused(size_t step, const RunOptions& options) const {
    const int fused = records_[step].fused;
    if (fused < 0 || plan_.fused[static_cast<size_t>(fused)].first != static_cast<int>(step)) return false;
    return !Attending(options) && view_.replaced != view_.number;  // they read what is handed on at its source
  }

  // updates.cc
  Status TakeReferences(ResultSet& set, const Step& step);
  Status MakeNewValues(const Step& step);
  void EndUpdates(const Step& step);
  void SetReferences(ResultSet& set, const Step& step);
  Status LockUpdates();
  Result<Tensor> NewValue(VariableInRun& variable, DType dtype, const Shape& shape);
  void Commit();

  // plain_updates.cc
  bool IsPlainUpdate(const Step& step) const;
  void MakePlainUpdates();
  void FetchUpdates(const ResultSet& set, size_t after) const;
  Status RunPlainUpdate(ResultSet& set, size_t index);

  VariableInRun& InRun(int variable) { return variables_[variable_index_[variable]]; }
  VariableInRun& InRun(const Step::Update& update) { return InRun(update.selector < 0 ? update.variable : selected_[update.selector]); }

  /// Variables, or steps, that a loop over many looks ahead: what they use is then on its way from memory.
  static constexpr size_t kFetchAhead = 8;
  /// Plans of so many steps do not fit the nearer caches with what they use.
  static constexpr size_t kManySteps = 10'000;
  void PointAt(const Record& record) {
    StepFrame& frame = FrameOf(ctx_);
    frame.inputs = record.inputs;
    frame.outputs = record.outputs();
    frame.in_first = record.in_first;
    frame.out_first = record.out_first;
    frame.scratch_data = record.scratch;
    frame.scratch_bytes = record.scratch_bytes;
  }
  /// Begins to fetch lines of memory that will be used soon.
  static void Fetch(const void* from, size_t bytes) {
    const auto first = reinterpret_cast<uintptr_t>(from);  // of a value that has no memory yet: null
    for (size_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(reinterpret_cast<const void*>(first + byte));
  }
  /// With the scope's lock of values held.
  const Tensor& VariableNow(size_t variable) const { return revision_->variables[variable]->value(); }
  void SetVariable(size_t variable, Tensor value) { revision_->variables[variable]->Set(std::move(value), scope_.value_changes_); }

  Scope& scope_;
  const std::shared_ptr<Revision> revision_;
  const Graph& graph_;  // the revision's
  const SessionSpec& spec_;
  const Keep keep_;
  std::atomic<bool>& cancelled_;

  PoolWorkers workers_;
  ScopeFiles files_;
  ScopeWaiter waiter_;
  RunLog log_;
  Services services_;

  View view_{*this};
  bool planned_ = false;
  uint64_t plan_id_ = 0;
  Plan plan_;
  PlanRequest request_;  // what plan_ was made for
  std::shared_ptr<Buffer> arena_;
  FusedRunner fused_;
  std::shared_ptr<Buffer> whole_tiles_;               // kTile slots, for groups whose steps run one by one; made when first needed
  std::vector<Record> records_;                       // by step
  std::vector<int> kept_memory_;                      // by slot: index into ResultSet::memories, or -1
  std::vector<int64_t> kept_offset_;                  // by slot: bytes into that memory
  std::vector<int64_t> kept_bytes_;                   // by memory
  std::vector<int> kept_slot_;                        // by memory: its slot; of small results that share one, the first
  std::vector<std::vector<std::shared_ptr<KeptMemory>>> retired_;  // by memory: what was left to readers, to be used when they let go
  int runs_unread_ = 0;                               // in a row that found nothing leased
  std::vector<ResourceHandle> resources_;   // by step
  std::vector<char> resource_bound_;        // by step
  std::vector<DynamicPlan> dynamic_;        // by step; only where there are such steps
  std::vector<int> selected_;               // by slot of a RefSelect: the variable it chose; only where there are such
  std::vector<int> loop_at_;                // by step: the outermost loop that begins there, or -1; only where there are loops
  std::vector<VariableInRun> variables_;
  // Scope::value_changes_ when variables_ were as the scope's and fitted the plan, 0: they may not be; and at a run's first update.
  uint64_t taken_ = 0, updating_from_ = 0;
  bool as_planned_ = false;  // the values from which this run's updates start are those that it read
  std::vector<PlainUpdate> plain_updates_;  // in the order of their steps
  std::vector<int> variable_index_;         // Graph variable -> variables_, or -1
  std::vector<std::pair<uint32_t, int>> variable_slots_;  // slots of Variable blocks, and their variables
  std::vector<Value> updates_;              // by input value of the step that runs
  std::vector<Tensor> new_values_;          // by update of the step that runs
  std::vector<Tensor> emitted_;             // by output value of the step that runs
  Turn update_turn_;  // held from a run's first update to its commit, so that no update of another session is lost
  RunContext ctx_;

  mutable std::mutex results_mutex_;  // what readers see: the front set, the former results, and the plans of both
  ResultSet sets_[2];
  int front_ = -1;  // the set that readers see
  std::unique_ptr<Former> former_;
  uint64_t last_run_ = 0;
};

/// False for a variable that nothing was assigned to.
inline bool HasValue(const Value& value) { return value.data != nullptr || (value.shape != nullptr && value.shape->count() == 0); }

/// Whether this is the only reference, with all that others did through theirs before.
bool SoleOwner(const std::shared_ptr<const void>& owner);

}  // namespace weft
