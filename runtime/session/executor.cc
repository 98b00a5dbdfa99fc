#include "runtime/session/executor.h"

#include <algorithm>
#include <new>

namespace weft {

Executor::Executor(Scope& scope, const SessionSpec& spec, Keep keep, std::atomic<bool>& cancelled)
    : scope_(scope),
      graph_(scope.graph()),
      spec_(spec),
      keep_(keep),
      cancelled_(cancelled),
      workers_(scope.runtime().pool(), cancelled),
      files_(scope),
      waiter_(scope, workers_),
      log_(scope.options_.print) {
  services_.workers = &workers_;
  services_.files = &files_;
  services_.waiter = &waiter_;
  services_.log = &log_;
  services_.cancelled = &cancelled_;
  services_.budget = scope.runtime().budget();
}

void Executor::Prepare(Diagnostics& diagnostics) {
  PlanRequest request = RequestFor(graph_, spec_, keep_);
  {
    std::lock_guard lock(scope_.values_mutex_);
    for (size_t v = 0; v < scope_.variables_.size(); ++v) {
      if (scope_.variables_[v].defined()) request.variable_shapes[v] = scope_.variables_[v].shape();
    }
  }
  Diagnostics found;
  Plan plan = MakePlan(graph_, request, found);
  bool ok = !found.has_errors();
  diagnostics.Append(std::move(found));
  std::lock_guard lock(results_mutex_);
  plan_ = std::move(plan);
  request_ = std::move(request);
  planned_ = ok;
  sets_[0].bound = sets_[1].bound = false;
  front_ = -1;
}

// Whether feeds and variables still have the shapes that the plan was made for.
bool Executor::PlanFits() const {
  if (!planned_ || request_.feeds.size() != spec_.feeds.size()) return false;
  for (size_t f = 0; f < spec_.feeds.size(); ++f) {
    if (!(request_.feeds[f].value == spec_.feeds[f].value) || !(request_.feeds[f].shape == spec_.feeds[f].tensor.shape())) return false;
  }
  std::lock_guard lock(scope_.values_mutex_);
  for (int v : plan_.variables) {
    const Tensor& value = scope_.variables_[v];
    const auto& planned = request_.variable_shapes[v];
    if (value.defined() && (!planned || !(*planned == value.shape()))) return false;
  }
  return true;
}

Status Executor::MakeReady() {
  auto broken = [&](int node) { return node >= 0 && graph_.node(node).broken; };
  bool faulty = broken(spec_.node) || std::any_of(spec_.run.begin(), spec_.run.end(), broken);
  for (const SessionSpec::Fetch& fetch : spec_.fetches) faulty |= broken(fetch.value.node);
  if (faulty) return FailedPrecondition("the session '", spec_.id, "' cannot run: the page has errors at what it asks for");
  if (!PlanFits()) {
    Diagnostics diagnostics;
    Prepare(diagnostics);
    WEFT_RETURN_IF_ERROR(diagnostics.FirstError());
  }
  if (!sets_[0].bound) {
    std::lock_guard lock(results_mutex_);
    LayOutKept();
    WEFT_RETURN_IF_ERROR(MakeRecords());
    WEFT_RETURN_IF_ERROR(Bind(sets_[0]));
    variables_.clear();
    variable_index_.assign(graph_.variables().size(), -1);
    for (int v : plan_.variables) {
      if (variable_index_[v] >= 0) continue;
      variable_index_[v] = static_cast<int>(variables_.size());
      variables_.emplace_back().variable = v;
    }
  }
  return {};
}

Status Executor::Run(uint64_t run, const RunOptions& options) {
  try {
    WEFT_RETURN_IF_ERROR(StartVariables(options));
    return RunStarted(run, options);
  } catch (const std::bad_alloc&) {
    if (update_lock_.owns_lock()) update_lock_.unlock();
    return ResourceExhausted("the machine has no memory left");
  }
}

Status Executor::RunStarted(uint64_t run, const RunOptions& options) {
  WEFT_RETURN_IF_ERROR(MakeReady());
  FlushDenormals flush;
  ScopeWaiter::Running running(scope_);
  workers_.set_deadline(options.deadline);
  ResultSet& set = sets_[front_ == 0 ? 1 : 0];
  if (!set.bound) WEFT_RETURN_IF_ERROR(Bind(set));
  WEFT_RETURN_IF_ERROR(RenewLeased(set));
  WEFT_RETURN_IF_ERROR(TakeVariables(set));
  for (const SessionSpec::Feed& feed : spec_.feeds) {
    int slot = plan_.SlotOf(feed.value);
    if (slot >= 0) SetOwned(set, static_cast<uint32_t>(slot), feed.tensor);
  }
  if (options.observer) options.observer->OnRunBegin(run, plan_.steps.size());
  Status status = RunSteps(set, options);
  if (status.ok()) status = CheckFetches(set);
  if (status.ok()) {
    Commit();
    Publish(set, run);
  }
  if (update_lock_.owns_lock()) update_lock_.unlock();
  if (options.observer) options.observer->OnRunEnd(run, status);
  return status;
}

Status Executor::StartVariables(const RunOptions& options) {
  if (graph_.variables().empty()) return {};
  std::lock_guard lock(scope_.start_mutex_);
  if (scope_.variables_started_) return {};
  {
    std::lock_guard values(scope_.values_mutex_);
    for (size_t v = 0; v < scope_.variables_.size(); ++v) {
      const Node& node = graph_.node(graph_.variables()[v]);
      if (!scope_.variables_[v].defined()) scope_.variables_[v] = node.constant;
    }
  }
  WEFT_RETURN_IF_ERROR(StartWired(options));
  scope_.variables_started_ = true;
  return {};
}

// Initial values that come by wire are evaluated together, in a run of their own.
Status Executor::StartWired(const RunOptions& options) {
  SessionSpec spec;
  std::vector<size_t> wired;
  for (size_t v = 0; v < graph_.variables().size(); ++v) {
    const Node& node = graph_.node(graph_.variables()[v]);
    if (!node.initial.valid() || graph_.node(node.initial.node).broken || scope_.variables_[v].defined()) continue;
    spec.fetches.push_back({graph_.ValueName(node.initial), node.initial});
    wired.push_back(v);
  }
  if (wired.empty()) return {};
  Executor start(scope_, spec, Keep::kAsked, cancelled_);
  RunOptions quiet;
  quiet.deadline = options.deadline;
  WEFT_RETURN_IF_ERROR(start.RunStarted(1, quiet));
  for (size_t v : wired) {
    const Node& node = graph_.node(graph_.variables()[v]);
    WEFT_ASSIGN_OR_RETURN(ResultValue value, start.Get(node.initial));
    int attr = node.def->FindAttr("shape");
    const auto* shape = attr < 0 ? nullptr : std::get_if<PartialShape>(&node.attrs[attr]);
    if (shape != nullptr && !shape->Accepts(value.tensor.shape())) {
      return PlaceAtNode(graph_, graph_.variables()[v],
                         InvalidArgument("the initial value needs the shape ", *shape, ", found ", value.tensor.shape()).WithPort("initvalues"));
    }
    std::lock_guard lock(scope_.values_mutex_);
    scope_.variables_[v] = std::move(value.tensor);
  }
  return {};
}

// All reads of a run see the values that the variables have now.
Status Executor::TakeVariables(ResultSet& set) {
  if (variables_.empty()) return {};
  {
    std::lock_guard lock(scope_.values_mutex_);
    for (VariableInRun& variable : variables_) {
      variable.value = scope_.variables_[variable.variable];
      variable.updated = false;
    }
  }
  for (int v : plan_.required_variables) {
    if (InRun(v).value.defined()) continue;
    int node = graph_.variables()[v];
    return PlaceAtNode(graph_, node, FailedPrecondition("the variable has no value: it has no initial value, and nothing was assigned to it")
                                         .WithHint("give it initvalues, or run an Assign first"));
  }
  for (const VariableInRun& variable : variables_) {
    int slot = plan_.SlotOf({graph_.variables()[variable.variable], 0});
    if (plan_.slots[slot].storage == Slot::Storage::kVariable) SetOwned(set, static_cast<uint32_t>(slot), variable.value);
  }
  return {};
}

Status Executor::RunSteps(ResultSet& set, const RunOptions& options) {
  ctx_.values = set.values.data();
  ctx_.services = &services_;
  if (plan_.has_dead_values) {
    for (Value& value : set.values) value.dead = false;
  }
  bool observed = options.observer != nullptr || plan_.has_dead_values || options.deadline.has_value();
  for (size_t s = 0; s < records_.size(); ++s) {
    const Record& record = records_[s];
    if (cancelled_.load(std::memory_order_relaxed)) return Cancelled("the run was cancelled");
    Status status;
    if (observed) {
      status = RunObserved(set, s, options);
    } else if (record.run != nullptr) {
      ctx_.inputs = record.inputs;
      ctx_.outputs = record.outputs;
      ctx_.in_first = record.in_first;
      ctx_.out_first = record.out_first;
      ctx_.scratch_data = record.scratch;
      ctx_.scratch_bytes = record.scratch_bytes;
      status = record.run(record.parameters, ctx_);
    } else {
      status = RunStep(set, s);
    }
    if (!status.ok()) return Explain(set, s, std::move(status));
  }
  // A kernel that saw the flag may have left its output half done.
  if (workers_.Stopped()) return Cancelled("the run was cancelled");
  return {};
}

Status Executor::RunObserved(ResultSet& set, size_t index, const RunOptions& options) {
  const Step& step = plan_.steps[index];
  const Node& node = graph_.node(step.node);
  if (workers_.Stopped()) return Cancelled(options.deadline ? "the run was cancelled, or its deadline passed" : "the run was cancelled");
  if (options.observer) WEFT_RETURN_IF_ERROR(options.observer->OnStep(index, node));
  bool dead = plan_.has_dead_values && SkipDead(set, step);
  if (!dead) WEFT_RETURN_IF_ERROR(RunStep(set, index));
  if (options.observer) options.observer->OnStepEnd(index, node, dead);
  return {};
}

Status Executor::CheckFetches(const ResultSet& set) const {
  if (!plan_.has_dead_values) return {};
  for (const auto& fetch : spec_.fetches) {
    int slot = plan_.SlotOf(fetch.value);
    // A session's fetches may lie on the side that was not taken; a host that asks for one by name must be told.
    if (slot >= 0 && set.values[slot].dead && spec_.node < 0) {
      return InvalidArgument("'", fetch.name, "' has no value in this run: a Switch sent its input the other way")
          .WithPage(graph_.name())
          .WithBlock(graph_.node(fetch.value.node).id);
    }
  }
  return {};
}

void Executor::Commit() {
  if (!plan_.updates_variables) return;
  std::lock_guard lock(scope_.values_mutex_);
  for (VariableInRun& variable : variables_) {
    if (variable.updated) scope_.variables_[variable.variable] = variable.value;
  }
}

void Executor::Publish(ResultSet& set, uint64_t run) {
  std::lock_guard lock(results_mutex_);
  set.run = run;
  if (plan_.has_dead_values) {
    for (size_t s = 0; s < plan_.slots.size(); ++s) {
      if (!set.values[s].dead) set.computed[s] = run;
    }
    if (front_ >= 0) KeepStale(set, sets_[front_]);
  }
  front_ = &set == &sets_[0] ? 0 : 1;
  last_run_ = run;
}

// What this run left out keeps the value it had: the sets swap the memory of such slots.
void Executor::KeepStale(ResultSet& set, ResultSet& front) {
  bool swapped = false;
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    if (!set.values[s].dead || !plan_.slots[s].kept) continue;
    set.computed[s] = front.computed[s];
    if (kept_memory_[s] >= 0) {
      std::swap(set.memories[kept_memory_[s]], front.memories[kept_memory_[s]]);
      swapped = true;
    } else if (front.owned[s].defined()) {
      // A slot that shared another's memory, which goes on to be written, takes a copy.
      Tensor stale = front.owned[s];
      if (front.root[s] >= 0) {
        if (auto copy = stale.Clone(); copy.ok()) stale = std::move(*copy);
      }
      SetOwned(set, static_cast<uint32_t>(s), std::move(stale));
      set.values[s].dead = true;
      set.root[s] = -1;
    }
  }
  if (swapped) {
    PointAtMemory(set);
    PointAtMemory(front);
  }
}

namespace {

/// Keeps a reader's memory from being written while the reader's tensor lives.
struct Lease {
  explicit Lease(std::shared_ptr<KeptMemory> memory) : memory(std::move(memory)) { this->memory->leases.fetch_add(1, std::memory_order_relaxed); }
  ~Lease() { memory->leases.fetch_sub(1, std::memory_order_release); }
  std::shared_ptr<KeptMemory> memory;
};

}  // namespace

Result<ResultValue> Executor::Get(ValueRef value) const {
  std::lock_guard lock(results_mutex_);
  int slot = plan_.SlotOf(value);
  if (front_ < 0 || slot < 0) return FailedPrecondition("'", graph_.ValueName(value), "' has no value: no run has computed it");
  const ResultSet& set = sets_[front_];
  const Slot& planned = plan_.slots[slot];
  ResultValue result;
  result.run = plan_.has_dead_values ? set.computed[slot] : set.run;
  result.stale = result.run != last_run_;
  if (planned.storage == Slot::Storage::kConstant) {
    result.tensor = graph_.node(value.node).constant;
    result.run = set.run;
    result.stale = false;
    return result;
  }
  if (result.run == 0) return FailedPrecondition("'", graph_.ValueName(value), "' has no value yet: a Switch left it out of every run so far");
  if (!planned.kept) {
    return FailedPrecondition("'", graph_.ValueName(value), "' is not kept by this session").WithHint("fetch it, or keep all results");
  }
  const Value& at = set.values[slot];
  result.tensor = set.owned[slot].defined() ? set.owned[slot] : Tensor::View(planned.dtype, *at.shape, at.data, nullptr);
  int root = planned.storage == Slot::Storage::kShared ? set.root[slot] : slot;
  if (root >= 0 && kept_memory_[root] >= 0) {
    auto lease = std::make_shared<Lease>(set.memories[kept_memory_[root]]);
    result.tensor = Tensor::View(planned.dtype, result.tensor.shape(), result.tensor.data(), std::move(lease));
  } else if (root >= 0 && root != slot && plan_.slots[root].storage == Slot::Storage::kConstant) {
    result.tensor = graph_.node(plan_.slots[root].value.node).constant.Reshaped(result.tensor.shape());
  }
  return result;
}

// Adds the block, and the types and shapes of its inputs.
Status Executor::Explain(const ResultSet& set, size_t step, Status status) const {
  if (status.code() == Code::kCancelled && status.place().port.empty() && cancelled_.load(std::memory_order_relaxed)) return status;
  const Node& node = graph_.node(plan_.steps[step].node);
  std::string inputs;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    uint32_t slot = plan_.operands[plan_.steps[step].first_input + v];
    int port = node.in_first.PortOf(static_cast<uint32_t>(v));
    if (set.values[slot].shape == nullptr) continue;
    inputs += Cat(inputs.empty() ? "; inputs: " : ", ", node.def->inputs[port].name, " ", plan_.slots[slot].dtype, " ", *set.values[slot].shape);
    if (inputs.size() > 400) break;
  }
  return PlaceAtNode(graph_, plan_.steps[step].node, std::move(status).Append(inputs));
}

}  // namespace weft
