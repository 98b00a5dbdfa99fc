#include "weft/exec/session.h"

#include <algorithm>
#include <set>

#include "runtime/base/call_limit.h"
#include "runtime/base/failure.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/result_name.h"
#include "runtime/state/host_call.h"
#include "runtime/state/run_gate.h"

namespace weft {
namespace {

/// Whether the page has such a value.
bool IsValue(const Graph& graph, ValueRef value) {
  if (value.node < 0 || value.node >= static_cast<int>(graph.nodes().size()) || value.output < 0) return false;
  return value.output < static_cast<int>(graph.node(value.node).output_types.size());
}

/// What the page calls the results of a plan.
std::vector<std::pair<std::string, ValueRef>> NamesIn(const Plan& plan, const Graph& graph, const SessionSpec& spec, Keep keep) {
  std::vector<std::pair<std::string, ValueRef>> names;
  std::vector<char> listed(plan.slots.size(), 0);
  // A fetch is called what the page calls it: a gradient has the name of the port that offers it, not that of the block that computes it.
  for (const auto& fetch : spec.fetches) {
    int slot = plan.SlotOf(fetch.value);
    if (slot < 0 || listed[slot]) continue;
    listed[slot] = 1;
    names.emplace_back(fetch.name, fetch.value);
  }
  std::vector<OfferedGradient> gradients;
  for (size_t s = 0; keep == Keep::kAll && s < plan.slots.size(); ++s) {
    const std::span<const OfferedGradient> of = graph.GradientsOf(plan.slots[s].value);
    if (!of.empty() && !listed[s] && plan.SlotOf(of[0].value) == static_cast<int>(s)) gradients.push_back(of[0]);
  }
  std::ranges::sort(gradients, {}, [](const OfferedGradient& gradient) { return std::pair(gradient.block, gradient.index); });
  for (const OfferedGradient& gradient : gradients) {
    listed[plan.SlotOf(gradient.value)] = 1;
    names.emplace_back(Cat(graph.node(gradient.block).id, ".grad_outputs[", gradient.index, "]"), gradient.value);
  }
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.result && !listed[s]) names.emplace_back(graph.ValueName(slot.value), slot.value);
  }
  return names;
}

}  // namespace

Session::Session(std::shared_ptr<Scope> scope, SessionSpec spec, Keep keep, std::shared_ptr<Revision> revision)
    : scope_(std::move(scope)),
      spec_(std::make_unique<SessionSpec>(std::move(spec))),
      keep_(keep),
      executor_(std::make_unique<Executor>(*scope_, revision != nullptr ? std::move(revision) : scope_->revision(), *spec_, keep_, cancelled_)),
      names_(std::make_unique<NameCache>()) {
  executor_->KeepBlocks();
  followed_ = executor_->revision()->number;
  scope_->runs().CountSession(true);
}

Session::~Session() { scope_->runs().CountSession(false); }

void Session::Prepare(Diagnostics& diagnostics) {
  const CallLimit limit(scope_->runtime().CallEnd(), nullptr, scope_->budget());
  const std::shared_ptr<Revision> before = executor_->revision();
  if (!FollowTo(diagnostics).ok() || outdated_page() || executor_->revision() != before) return;  // what was taken over is planned
  executor_->Prepare(diagnostics);
}

std::shared_ptr<const Graph> Session::graph() const {
  std::lock_guard lock(executor_mutex_);
  return executor_->revision()->graph;
}

std::string Session::id() const {
  std::lock_guard lock(executor_mutex_);
  return spec_->id;
}

const Plan* Session::plan() const { return executor_->plan(); }

Status Session::Feed(ValueRef value, Tensor tensor) {
  const Graph& graph = *executor_->revision()->graph;
  if (!IsValue(graph, value)) return InvalidArgument("a feed needs an output of the page");
  DType needed = graph.TypeOf(value);
  if (tensor.dtype() != needed) {
    return InvalidArgument("the feed of '", graph.ValueName(value), "' needs ", needed, ", found ", tensor.dtype());
  }
  if (outdated_page()) followed_.reset();  // with other feeds the page may be one to run
  for (SessionSpec::Feed& feed : spec_->feeds) {
    if (feed.value == value) {
      feed.tensor = std::move(tensor);
      return {};
    }
  }
  spec_->feeds.push_back({value, std::move(tensor)});
  return {};
}

bool Session::Unfeed(ValueRef value) {
  if (outdated_page()) followed_.reset();
  return std::erase_if(spec_->feeds, [&](const SessionSpec::Feed& feed) { return feed.value == value; }) > 0;
}

Status Session::FollowUntil(std::optional<CallLimit::Clock::time_point> deadline, const std::atomic<bool>* cancelled) {
  const CallLimit limit(deadline, cancelled, scope_->budget());
  try {
    return Follow();
  } catch (...) {
    return StatusOfException("the session's planning ended");
  }
}

Status Session::Run(const RunOptions& options) {
  const uint64_t run = runs_.load(std::memory_order_relaxed) + 1;
  Status status;
  if (followed_ != scope_->edits()) status = FollowUntil(options.deadline, &cancelled_);
  if (status.ok()) {
    status = executor_->Execute(run, options);
  } else {
    status = std::move(status).WithPhase(Phase::kConnect);
    if (options.observer != nullptr) options.observer->OnRunEnd(run, status);
  }
  failed_.store(!status.ok(), std::memory_order_relaxed);
  if (status.ok()) runs_.store(run, std::memory_order_release);
  // A Cancel that came too late for a run that succeeded ends the next one.
  else cancelled_.store(false, std::memory_order_relaxed);
  return status;
}

Status Session::RunSteps(int64_t steps, const RunOptions& options) {
  Status status;
  for (int64_t i = 0; status.ok() && (steps < 0 || i < steps); ++i) status = Run(options);
  return status;
}

Result<ResultValue> Session::Dated(Result<ResultValue> result) const {
  if (result.ok()) {
    result->outdated = failed_.load(std::memory_order_relaxed);
    result->outdated_page = outdated_page();
  }
  return result;
}

Result<ResultValue> Session::Get(ValueRef value) const {
  std::lock_guard lock(executor_mutex_);
  if (!IsValue(*executor_->revision()->graph, value)) return InvalidArgument("a result needs an output of the page");
  return Dated(executor_->results().Get(*executor_->revision()->graph, value));
}

Result<ResultValue> Session::Get(std::string_view name) const {
  std::unique_lock lock(executor_mutex_);
  WEFT_ASSIGN_OR_RETURN(NamedValue named, FindNamedValue(*executor_->revision()->graph, name));
  WEFT_ASSIGN_OR_RETURN(ResultValue result, Dated(executor_->results().Get(*executor_->revision()->graph, named.value)));
  lock.unlock();
  WEFT_ASSIGN_OR_RETURN(result.tensor, ElementOf(result.tensor, named.indices));
  return result;
}

std::vector<Result<ResultValue>> Session::GetAll(std::span<const std::string_view> names) const {
  std::vector<Result<ResultValue>> read, results;
  std::shared_ptr<const NameCache::Values> values;
  for (bool same = false; !same;) {
    // Names are looked up without the lock that a run may need; should an edit come in between, once more.
    std::shared_ptr<const Graph> now = graph();
    values = names_->Find(now, names);
    std::lock_guard lock(executor_mutex_);
    same = executor_->revision()->graph == now;
    if (same) read = executor_->results().GetAll(*now, values->found);
  }
  if (read.size() < names.size()) results.reserve(names.size());
  size_t next = 0;
  for (const Result<NamedValue>& named : values->named) {
    if (!named.ok()) {
      results.push_back(named.status());
      continue;
    }
    Result<ResultValue>& result = read[next++];
    result = Dated(std::move(result));
    if (result.ok() && !named->indices.empty()) {
      auto element = ElementOf(result->tensor, named->indices);
      if (element.ok()) result->tensor = std::move(*element);
      else result = std::move(element).status();
    }
    if (read.size() < names.size()) results.push_back(std::move(result));
  }
  return read.size() < names.size() ? results : read;
}

bool Session::Keeps(ValueRef value) const {
  std::lock_guard lock(executor_mutex_);
  bool keeps = false;
  if (!IsValue(*executor_->revision()->graph, value)) return false;
  executor_->results().WithPlan([&](const Plan& plan) {
    int slot = plan.SlotOf(value);
    keeps = slot >= 0 && (plan.slots[slot].kept || plan.slots[slot].storage == Slot::Storage::kConstant);
  });
  return keeps;
}

std::vector<std::pair<std::string, ValueRef>> Session::Results() const {
  std::vector<std::pair<std::string, ValueRef>> names;
  std::lock_guard lock(executor_mutex_);
  executor_->results().WithPlan([&](const Plan& plan) { names = NamesIn(plan, *executor_->revision()->graph, *spec_, keep_); });
  return names;
}

bool Session::planned() const {
  bool planned = false;
  std::lock_guard lock(executor_mutex_);
  executor_->results().WithPlan([&](const Plan&) { planned = true; });
  return planned;
}

}  // namespace weft
