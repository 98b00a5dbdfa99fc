#include "runtime/exec/executor.h"

#include <algorithm>
#include <new>
#include <optional>

#include "runtime/base/call_limit.h"
#include "runtime/base/failure.h"
#include "runtime/exec/run_resources.h"
#include "runtime/exec/variable_start.h"
#include "runtime/state/host_call.h"
#include "runtime/state/run_gate.h"
#include "runtime/state/thread_pool.h"

namespace weft {

/// What runs of one plan need, in the order in which it is made.
struct Executor::Parts {
  Parts(Scope& scope, const SessionPlan& planned, RunServices& services)
      : fused(planned.plan, services.services()),
        memory(planned, fused, services.budget()),
        variables(scope, planned, services.waiter()),
        plain_updates(planned, variables, services.budget()),
        dynamic(scope, planned, services.budget()),
        resources(planned.plan) {
    if (!planned.plan.loops.empty()) frames.emplace(planned);
  }
  /// About how much memory they take, without the arena, tiles and what runs make.
  static int64_t BytesFor(const Plan& plan) {
    return StepLoop::BytesFor(plan) + DynamicSteps::BytesFor(plan) + VariableTransaction::BytesFor(plan) + PlainUpdates::BytesFor(plan) +
           RunResources::BytesFor(plan) + (plan.loops.empty() ? 0 : LoopFrames::BytesFor(plan));
  }
  StepParts OfSteps() { return {memory, fused, variables, plain_updates, dynamic, frames ? &*frames : nullptr}; }

  MemoryCharge held;  // of all the others
  FusedRunner fused;
  RunMemory memory;
  VariableTransaction variables;
  PlainUpdates plain_updates;
  DynamicSteps dynamic;
  RunResources resources;
  std::optional<LoopFrames> frames;
  std::optional<StepLoop> loop;  // when there is memory
};

Status CheckSpec(const Revision& revision, const SessionSpec& spec) {
  const auto broken = [&](int node) { return node >= 0 && revision.graph->node(node).broken; };
  bool faulty = broken(spec.node) || std::any_of(spec.run.begin(), spec.run.end(), broken);
  for (const SessionSpec::Fetch& fetch : spec.fetches) faulty |= broken(fetch.value.node);
  if (!faulty) return {};
  return FailedPrecondition("the session '", spec.id, "' cannot run: the page has errors at what it asks for").WithCause(revision.found.FirstError());
}

Executor::Executor(Scope& scope, std::shared_ptr<Revision> revision, const SessionSpec& spec, Keep keep, std::atomic<bool>& cancelled)
    : scope_(scope),
      revision_(std::move(revision)),
      spec_(spec),
      keep_(keep),
      cancelled_(cancelled),
      services_(scope, cancelled),
      view_(scope, *revision_, planned_, results_, services_) {}

Executor::~Executor() = default;

// ---- planning --------------------------------------------------------------------------------------------------------------------------

void Executor::Prepare(Diagnostics& diagnostics) {
  const Planning planning(scope_);
  const KeepDenormals keep;
  const Graph& graph = *revision_->graph;
  PlanRequest request;
  Diagnostics found;
  const uint64_t number = scope_.NumberPlan(keep_);
  std::shared_ptr<const SessionPlan> planned;
  try {
    request = RequestFor(spec_, keep_);
    request.shape_of = ShapesNow(*revision_, scope_.variables());
    std::optional<Plan> plan = revision_->TakePlan(request);
    if (!plan) plan = weft::MakePlan(graph, request, found);
    CallLimit::CheckNow();
    request.shape_of = nullptr;
    parts_.reset();
    Result<MemoryCharge> held = CallLimit::Keep(plan->bytes() + ResultLayout::BytesFor(*plan), scope_.budget());
    if (!held.ok()) found.Error(Status(held.status()).WithPage(graph.name()));
    if (!found.has_errors()) planned = std::make_shared<SessionPlan>(revision_, std::move(request), std::move(*plan), number, std::move(*held));
  } catch (const CallStopped& stopped) {
    return diagnostics.Error(stopped.status());
  }
  results_.SetPlan(planned);
  planned_ = std::move(planned);
  found.SetPhase(Phase::kCompile);
  diagnostics.Append(std::move(found));
}

bool Executor::FeedsFit() const {
  const std::vector<PlanRequest::Feed>& planned = planned_->request.feeds;
  return std::ranges::equal(planned, spec_.feeds, [](const PlanRequest::Feed& feed, const SessionSpec::Feed& now) {
    return feed.value == now.value && feed.shape == now.tensor.shape();
  });
}

Status Executor::MakePlan() {
  WEFT_RETURN_IF_ERROR(CheckSpec(*revision_, spec_));
  const CallLimit limit(services_.deadline(), &services_.cancel_flag(), scope_.budget());
  Diagnostics diagnostics;
  Prepare(diagnostics);
  return diagnostics.FirstError();
}

Status Executor::MakeParts() {
  if (services_.stopped()) return services_.Stopped();  // plans may have millions of values, which each of these looks at
  const CallLimit limit(services_.deadline(), &services_.cancel_flag());
  MemoryCharge held(services_.budget());
  if (Status status = held.Hold(Parts::BytesFor(planned_->plan)); !status.ok()) return std::move(status).WithPage(planned_->graph.name());
  auto parts = std::make_unique<Parts>(scope_, *planned_, services_);
  parts->held = std::move(held);
  if (services_.stopped()) return services_.Stopped();
  WEFT_RETURN_IF_ERROR(parts->memory.TakeArena());
  WEFT_RETURN_IF_ERROR(parts->fused.Make(services_.workers().threads()));
  parts->loop.emplace(scope_, *planned_, parts->OfSteps(), services_, view_);
  parts_ = std::move(parts);
  return {};
}

namespace {

// What a run has committed stays so: one who has no memory to hear of its end misses it.
void TellEnd(Observer& observer, uint64_t run, const Status& status) {
  try {
    observer.OnRunEnd(run, status);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

// ---- a run -----------------------------------------------------------------------------------------------------------------------------

Status Executor::Execute(uint64_t run, const RunOptions& options) {
  Observer* const observer = options.observer;
  services_.Begin(options);
  view_.Start(run);
  Status status;
  try {
    if (observer != nullptr) status = observer->OnRunStart(run, view_);
    std::optional<RunGate::Entry> entry;
    if (status.ok()) {
      entry.emplace(scope_.runs(), [&] { return services_.stopped(); });
      status = StartVariables(options);
    }
    const FlushDenormals flush;
    if (status.ok()) status = TakeInputs();
    if (status.ok()) {
      if (observer != nullptr) observer->OnRunBegin(run, planned_->plan.steps.size());
      try {
        status = parts_->loop->Dispatch(results_.back(), options);
      } catch (...) {
        status = StatusOfException("the block failed");
      }
      services_.EndSteps();
      status = Complete(run, std::move(status));
    }
  } catch (...) {
    status = StatusOfException("the run ended");
  }
  if (parts_ != nullptr) parts_->variables.End();
  view_.End();
  status = std::move(status).WithPhase(Phase::kRun);
  if (observer != nullptr) TellEnd(*observer, run, status);
  return status;
}

// After the steps: their values become the results, and their updates the scope's, or neither.
Status Executor::Complete(uint64_t run, Status status) {
  const ResultSet& set = results_.back();
  parts_->resources.End(set);
  status = parts_->loop->Explain(set, std::move(status));
  if (status.ok()) status = CheckFetches(set);
  if (status.ok()) {
    results_.KeepStale(run);
    // From here on nothing fails.
    parts_->variables.Commit();
    results_.Publish(run);
  }
  parts_->variables.End();
  return status;
}

Status Executor::StartVariables(const RunOptions& options) {
  const auto evaluate = [&](const SessionSpec& spec) { return Executor(scope_, revision_, spec, Keep::kAsked, cancelled_).Evaluate(options); };
  return VariableStart(scope_, *revision_, services_.waiter(), evaluate).Start();
}

Result<std::vector<Tensor>> Executor::Evaluate(const RunOptions& options) {
  constexpr uint64_t kRun = 1;
  const FlushDenormals flush;
  services_.Begin(options);
  view_.Start(kRun);
  WEFT_RETURN_IF_ERROR(TakeInputs());
  Status status;
  try {
    status = parts_->loop->Dispatch(results_.back(), {.observer = nullptr, .deadline = options.deadline});
  } catch (...) {
    status = StatusOfException("the block failed");
  }
  services_.EndSteps();
  WEFT_RETURN_IF_ERROR(Complete(kRun, std::move(status)));
  std::vector<Tensor> values;
  for (const SessionSpec::Fetch& fetch : spec_.fetches) {
    WEFT_ASSIGN_OR_RETURN(ResultValue value, results_.Get(*revision_->graph, fetch.value));
    values.push_back(std::move(value.tensor));
  }
  return values;
}

// A plan that fits, and values of variables and feeds in place. Another session may change a variable's shape at any time.
Status Executor::TakeInputs() {
  constexpr int kMostPlans = 100;
  bool fits = planned_ != nullptr && FeedsFit();
  for (int attempt = 0; attempt <= kMostPlans; ++attempt) {
    if (!fits) WEFT_RETURN_IF_ERROR(MakePlan());
    if (parts_ == nullptr) WEFT_RETURN_IF_ERROR(MakeParts());
    fits = parts_->variables.Take();
    if (!fits) continue;
    if (services_.stopped()) return services_.Stopped();
    WEFT_RETURN_IF_ERROR(BindBack());
    ResultSet& set = results_.back();
    WEFT_RETURN_IF_ERROR(results_.Renew(parts_->memory, services_.budget().get()));
    WEFT_RETURN_IF_ERROR(parts_->variables.Place(set));
    for (const SessionSpec::Feed& feed : spec_.feeds) {
      const int slot = planned_->plan.SlotOf(feed.value);
      if (slot >= 0) set.Own(static_cast<uint32_t>(slot), feed.tensor);
    }
    view_.Begin(set, parts_->frames ? &*parts_->frames : nullptr);
    return {};
  }
  return Aborted("other sessions change the shapes of variables all the time").WithHint("run again");
}

Status Executor::BindBack() {
  if (results_.back().bound) return {};
  const CallLimit limit(services_.deadline(), &services_.cancel_flag());
  Status status = parts_->memory.Bind(results_.back());
  if (!status.ok() && !results_.has_front()) parts_.reset();  // no run will use their memory: the next one makes all anew
  return status;
}

Status Executor::CheckFetches(const ResultSet& set) const {
  if (!planned_->plan.has_dead_values || !spec_.by_name) return {};
  const Graph& graph = planned_->graph;
  for (const auto& fetch : spec_.fetches) {
    const int slot = planned_->plan.SlotOf(fetch.value);
    if (slot >= 0 && set.values[slot].dead) {
      return InvalidArgument("'", fetch.name, "' has no value in this run: a Switch sent its input the other way")
          .WithPage(graph.name())
          .WithBlock(graph.node(fetch.value.node).id);
    }
  }
  return {};
}

}  // namespace weft
