#include "runtime/exec/executor.h"

#include <algorithm>
#include <new>

#include "runtime/plan/port_facts.h"
#include "runtime/state/host_call.h"

namespace weft {

Executor::Executor(Scope& scope, std::shared_ptr<Revision> revision, const SessionSpec& spec, Keep keep, std::atomic<bool>& cancelled)
    : scope_(scope),
      revision_(std::move(revision)),
      graph_(*revision_->graph),
      spec_(spec),
      keep_(keep),
      cancelled_(cancelled),
      workers_(scope.runtime().pool(), cancelled),
      files_(scope),
      waiter_(scope, workers_),
      log_(scope.options_.print),
      update_turn_(scope, &Scope::updating_) {
  services_.workers = &workers_;
  services_.files = &files_;
  services_.waiter = &waiter_;
  services_.log = &log_;
  services_.cancelled = &cancelled_;
  services_.budget = scope.runtime().budget();
}

void Executor::Prepare(Diagnostics& diagnostics) {
  const Planning planning(scope_);
  PlanRequest request = RequestFor(graph_, spec_, keep_);
  {
    std::lock_guard lock(scope_.values_mutex_);
    for (size_t v = 0; v < revision_->variables.size(); ++v) {
      if (VariableNow(v).defined()) request.variable_shapes[v] = VariableNow(v).shape();
    }
  }
  Diagnostics found;
  scope_.last_keep_.store(keep_, std::memory_order_relaxed);
  std::optional<Plan> checked = revision_->TakePlan(request);
  Plan plan = checked ? std::move(*checked) : MakePlan(graph_, request, found);
  bool ok = !found.has_errors();
  found.SetPhase(Phase::kCompile);
  diagnostics.Append(std::move(found));
  std::lock_guard lock(results_mutex_);
  if (front_ >= 0) {
    former_ = std::make_unique<Former>();
    former_->plan = std::move(plan_);
    former_->set = std::move(sets_[front_]);
    former_->kept_memory = std::move(kept_memory_);
    former_->revision = revision_;
  }
  // What readers do not see makes room for the new plan's memory.
  sets_[0] = sets_[1] = ResultSet();
  retired_.clear();
  arena_.reset();
  fused_.Clear();
  whole_tiles_.reset();
  dynamic_.clear();
  variables_.clear();
  plan_ = std::move(plan);
  plan_id_ = ++scope_.plans_;
  request_ = std::move(request);
  planned_ = ok;
  front_ = -1;
}

bool Executor::FeedsFit() const {
  if (request_.feeds.size() != spec_.feeds.size()) return false;
  for (size_t f = 0; f < spec_.feeds.size(); ++f) {
    if (!(request_.feeds[f].value == spec_.feeds[f].value) || !(request_.feeds[f].shape == spec_.feeds[f].tensor.shape())) return false;
  }
  return true;
}

// Whether variables still have the shapes that the plan was made for. Called with the scope's values locked.
bool Executor::VariablesFit() const {
  for (int v : plan_.variables) {
    const Tensor& value = VariableNow(static_cast<size_t>(v));
    const auto& planned = request_.variable_shapes[v];
    if (value.defined() && (!planned || !(*planned == value.shape()))) return false;
  }
  return true;
}

Status Executor::MakeReady() {
  auto broken = [&](int node) { return node >= 0 && graph_.node(node).broken; };
  bool faulty = broken(spec_.node) || std::any_of(spec_.run.begin(), spec_.run.end(), broken);
  for (const SessionSpec::Fetch& fetch : spec_.fetches) faulty |= broken(fetch.value.node);
  if (faulty) {
    return FailedPrecondition("the session '", spec_.id, "' cannot run: the page has errors at what it asks for").WithCause(revision_->found.FirstError());
  }
  if (!planned_ || !FeedsFit()) {
    Diagnostics diagnostics;
    Prepare(diagnostics);
    WEFT_RETURN_IF_ERROR(diagnostics.FirstError());
  }
  if (sets_[0].bound || sets_[1].bound) return {};
  {
    std::lock_guard lock(results_mutex_);
    LayOutKept();
  }
  WEFT_RETURN_IF_ERROR(MakeRecords());
  variables_.clear();
  taken_ = 0;
  variable_slots_.clear();
  variable_index_.assign(graph_.variables().size(), -1);
  for (int v : plan_.variables) {
    if (variable_index_[v] >= 0) continue;
    variable_index_[v] = static_cast<int>(variables_.size());
    VariableInRun& variable = variables_.emplace_back();
    variable.variable = v;
    variable.lasts = graph_.variable_info(v).temporary.empty();
  }
  for (uint32_t s = 0; s < plan_.slots.size(); ++s) {
    const Slot& slot = plan_.slots[s];
    int variable = graph_.node(slot.value.node).variable;
    bool own = variable >= 0 && plan_.SlotOf(slot.value) == static_cast<int>(s);  // others are those of updates
    if (own && slot.storage == Slot::Storage::kVariable) variable_slots_.emplace_back(s, variable);
  }
  for (const Step& step : plan_.steps) {
    for (const Step::Update& update : step.updates) {
      if (update.variable >= 0) ++InRun(update.variable).updates;
      for (int variable : update.choices) ++InRun(variable).updates;
    }
  }
  MakePlainUpdates();
  return {};
}

Status Executor::Run(uint64_t run, const RunOptions& options) {
  Status status;
  log_.set_observer(options.observer);
  view_.set = nullptr;
  view_.number = run;
  try {
    status = RunWhole(run, options);
  } catch (const std::bad_alloc&) {
    status = ResourceExhausted("the machine has no memory left");
  } catch (const std::exception& error) {
    status = Internal("the run ended unexpectedly: ", error.what());
  }
  update_turn_.Give();
  view_.set = nullptr;
  status = std::move(status).WithPhase(Phase::kRun);
  if (options.observer) options.observer->OnRunEnd(run, status);
  return status;
}

Status Executor::RunWhole(uint64_t run, const RunOptions& options) {
  workers_.set_deadline(options.deadline);
  if (options.observer) WEFT_RETURN_IF_ERROR(options.observer->OnRunStart(run, view_));
  ScopeWaiter::Running running(scope_, workers_);
  WEFT_RETURN_IF_ERROR(StartVariables(options));
  return RunStarted(run, options);
}

Status Executor::RunStarted(uint64_t run, const RunOptions& options) {
  FlushDenormals flush;
  WEFT_ASSIGN_OR_RETURN(ResultSet * set, TakeInputs());
  view_.set = set;
  view_.done = 0;
  view_.ended = -1;
  if (options.observer) options.observer->OnRunBegin(run, plan_.steps.size());
  Status status = RunSteps(*set, options);
  if (status.ok()) status = CheckFetches(*set);
  if (status.ok()) {
    KeepStale(*set, run);
    // From here on nothing fails.
    Commit();
    Publish(*set, run);
  }
  update_turn_.Give();
  return status;
}

// The results to compute next, with the values of variables and feeds in place. Another session may change a variable's shape at any time.
Result<Executor::ResultSet*> Executor::TakeInputs() {
  constexpr int kMostPlans = 100;
  for (int attempt = 0;; ++attempt) {
    WEFT_RETURN_IF_ERROR(MakeReady());
    if (TakeVariables()) break;
    if (attempt == kMostPlans) return Aborted("other sessions change the shapes of variables all the time").WithHint("run again");
    planned_ = false;
  }
  ResultSet& set = sets_[front_ == 0 ? 1 : 0];
  if (Status status = set.bound ? Status() : Bind(set); !status.ok()) {
    if (front_ < 0) arena_.reset();  // no run will use it: the next one makes all anew
    return status;
  }
  WEFT_RETURN_IF_ERROR(RenewLeased(set));
  WEFT_RETURN_IF_ERROR(PlaceVariables(set));
  for (const SessionSpec::Feed& feed : spec_.feeds) {
    int slot = plan_.SlotOf(feed.value);
    if (slot >= 0) SetOwned(set, static_cast<uint32_t>(slot), feed.tensor);
  }
  return &set;
}

// All reads of a run see the values that the variables have now. False where the plan does not fit them.
bool Executor::TakeVariables() {
  if (variables_.empty()) return true;
  std::lock_guard lock(scope_.values_mutex_);
  if (taken_ != 0 && taken_ == scope_.value_changes_) return true;
  if (!VariablesFit()) return false;
  for (VariableInRun& variable : variables_) {
    variable.value = VariableNow(static_cast<size_t>(variable.variable));
    variable.updated = false;
  }
  taken_ = scope_.value_changes_;
  return true;
}

Status Executor::PlaceVariables(ResultSet& set) {
  for (int v : plan_.required_variables) {
    if (InRun(v).value.defined()) continue;
    int node = graph_.variables()[v];
    Status status = FailedPrecondition("the variable has no value: it has no initial value, and nothing was assigned to it");
    return PlaceAtNode(graph_, node, std::move(status).WithHint("give it initvalues, or run an Assign first"));
  }
  // What lies in memory of its own is fetched some variables ahead: where there are many, waiting for it takes most of the time.
  for (size_t i = 0; i < variable_slots_.size(); ++i) {
    if (i + 2 * kFetchAhead < variable_slots_.size()) {
      Fetch(&set.owned[variable_slots_[i + 2 * kFetchAhead].first], sizeof(Tensor));
      const auto [slot, variable] = variable_slots_[i + kFetchAhead];
      InRun(variable).value.PrefetchOwner();
      set.owned[slot].PrefetchOwner();
    }
    const auto [slot, variable] = variable_slots_[i];
    SetOwned(set, slot, InRun(variable).value);
  }
  return {};
}

Status Executor::RunSteps(ResultSet& set, const RunOptions& options) {
  FrameOf(ctx_).values = set.values.data();
  FrameOf(ctx_).services = &services_;
  if (plan_.has_dead_values) {
    for (Value& value : set.values) value.dead = false;
  }
  size_t step = 0;
  Status status;
  view_.at = &step;
  try {
    status = RunEach(set, options, step);
  } catch (const std::bad_alloc&) {
    status = ResourceExhausted("the machine has no memory left");
  } catch (const std::exception& error) {
    status = Internal("the block failed unexpectedly: ", error.what());
  }
  view_.at = nullptr;
  if (!status.ok() && step < records_.size()) status = Explain(set, step, std::move(status));
  // A kernel that saw the flag may have left its output half done.
  if (status.ok() && workers_.Stopped()) return Stopped();
  return status;
}

// `step` tells which one failed.
Status Executor::RunEach(ResultSet& set, const RunOptions& options, size_t& step) {
  if (!plan_.loops.empty()) return RunLoops(set, options, step);
  const std::atomic<uint32_t>* attention = options.observer != nullptr ? options.observer->attention() : nullptr;
  const bool many = records_.size() >= kManySteps;
  const bool observed = plan_.has_dead_values || options.deadline.has_value() || (options.observer != nullptr && attention == nullptr);
  for (; step < records_.size(); ++step) {
    const Record& record = records_[step];
    if (cancelled_.load(std::memory_order_relaxed)) return Stopped();
    if (many && step + kFetchAhead < records_.size()) FetchValues(set, step + kFetchAhead);
    if (observed || (attention != nullptr && attention->load(std::memory_order_relaxed) != 0)) {
      if (BeginsFused(step, options)) WEFT_RETURN_IF_ERROR(RunFused(set, step));
      else WEFT_RETURN_IF_ERROR(RunObserved(set, step, options));
    } else if (record.run != nullptr) {
      PointAt(record);
      WEFT_RETURN_IF_ERROR(record.run(record.parameters, ctx_));
    } else if (BeginsFused(step, options)) {
      WEFT_RETURN_IF_ERROR(RunFused(set, step));
    } else if (record.fused <= kFirstPlainUpdate) {
      WEFT_RETURN_IF_ERROR(RunPlainUpdate(set, step));
    } else {
      WEFT_RETURN_IF_ERROR(RunStep(set, step));
    }
  }
  return {};
}

// Begins to fetch the values of a step to come.
void Executor::FetchValues(const ResultSet& set, size_t step) const {
  const Record& record = records_[step];
  // With the first output; a step that has none may be the table's last.
  const uint32_t* end = std::min(record.outputs() + 1, plan_.operands.data() + plan_.operands.size());
  for (const uint32_t* slot = record.inputs; slot < end; ++slot) Fetch(set.values[*slot].data, 256);
}

Status Executor::RunObserved(ResultSet& set, size_t index, const RunOptions& options) {
  const Step& step = plan_.steps[index];
  const Node& node = graph_.node(step.node);
  if (workers_.Stopped()) return Stopped();
  if (Attending(options)) {
    view_.done = index;
    view_.ended = -1;
    WEFT_RETURN_IF_ERROR(options.observer->OnStep(index, node));
  }
  bool dead = plan_.has_dead_values && SkipDead(set, step);
  if (!dead) WEFT_RETURN_IF_ERROR(RunStep(set, index));
  if (Attending(options)) {
    view_.done = index + 1;
    view_.ended = dead ? -1 : static_cast<int>(index);
    options.observer->OnStepEnd(index, node, dead);
  }
  return {};
}

Status Executor::CheckFetches(const ResultSet& set) const {
  if (!plan_.has_dead_values || !spec_.by_name) return {};
  for (const auto& fetch : spec_.fetches) {
    int slot = plan_.SlotOf(fetch.value);
    if (slot >= 0 && set.values[slot].dead) {
      return InvalidArgument("'", fetch.name, "' has no value in this run: a Switch sent its input the other way")
          .WithPage(graph_.name())
          .WithBlock(graph_.node(fetch.value.node).id);
    }
  }
  return {};
}

// Adds the block, and the types and shapes of its inputs.
Status Executor::Explain(const ResultSet& set, size_t step, Status status) const {
  if (status.code() == Code::kCancelled && status.place().port.empty() && cancelled_.load(std::memory_order_relaxed)) return status;
  const Node& node = graph_.node(plan_.steps[step].node);
  std::string inputs;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    uint32_t slot = plan_.operands[plan_.steps[step].first_input + v];
    int port = node.in_first.PortOf(static_cast<uint32_t>(v));
    if (!HasValue(set.values[slot])) continue;
    inputs += Cat(inputs.empty() ? "; inputs: " : ", ", node.def->inputs[port].name, " ", plan_.slots[slot].dtype, " ",
                  *set.values[slot].shape);
    if (inputs.size() > 400) break;
  }
  status = WithPortFacts(graph_, node, std::move(status).Append(inputs), [&](uint32_t v) {
    const Value& value = set.values[plan_.operands[plan_.steps[step].first_input + v]];
    return HasValue(value) ? value.shape : nullptr;
  });
  return PlaceAtNode(graph_, plan_.steps[step].node, std::move(status));
}

}  // namespace weft
