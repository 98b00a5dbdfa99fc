#include "runtime/host/run_values.h"

#include <algorithm>

#include "runtime/host/late_release.h"
#include "runtime/plan/id_map.h"

namespace weft {

namespace {

/// Whether a host means this by a name that the page has not, or has for another value.
bool IsCalled(const KeptName& kept, std::string_view name) { return kept.given() == name || kept.text() == name; }

}  // namespace

// ---- feeds -----------------------------------------------------------------------------------------------------------------------------

ValueRef RunFeeds::Fed::In(const Graph& graph) const {
  const std::optional<std::string> called = name.In(graph);
  const Result<ValueRef> found = called ? graph.FindValue(*called) : Result<ValueRef>(ValueRef());
  return found.ok() ? *found : ValueRef();
}

Status RunFeeds::Add(const Session& session, std::string_view name, std::optional<Tensor> tensor) {
  const auto [graph, found] = LookUpForNextRun(session, [&](const Graph& page) { return page.FindValue(name); });
  std::optional<Fed> before;  // ends without the lock
  std::lock_guard lock(mutex_);
  fed_.reserve(fed_.size() + 1);
  pending_.reserve(pending_.size() + 1);
  auto fed = std::ranges::find_if(fed_, [&](const Fed& one) { return found.ok() && one.In(*graph) == *found; });
  const bool by_name = fed == fed_.end() && !(found.ok() && tensor);
  if (by_name) fed = std::ranges::find_if(fed_, [&](const Fed& one) { return IsCalled(one.name, name); });
  if (by_name && fed == fed_.end()) return found.ok() ? NotFound("nothing was fed to '", graph->ValueName(*found), "'") : found.status();
  if (tensor) {
    const ValueRef value = by_name ? fed->In(*graph) : *found;
    if (!value.valid()) return found.status();
    if (const DType needed = graph->TypeOf(value); tensor->dtype() != needed) {
      return InvalidArgument("the value '", graph->ValueName(value), "' needs ", needed, ", found ", tensor->dtype())
          .WithNeeded(DTypeName(needed))
          .WithFound(Cat(tensor->dtype(), " ", tensor->shape()));
    }
  }
  Fed added{by_name ? fed->name : KeptName::OfValue(session.scope(), *graph, std::string(name)), std::move(tensor)};
  Fed to_hand_over = added;
  // From here on nothing fails.
  if (fed != fed_.end()) {
    before = std::move(*fed);
    fed_.erase(fed);
  }
  if (to_hand_over.tensor) fed_.push_back(std::move(to_hand_over));
  pending_.push_back(std::move(added));
  any_.store(!fed_.empty());
  waiting_.store(true);
  return {};
}

Status RunFeeds::Apply(Session& session) {
  if (!waiting_.load(std::memory_order_acquire)) return {};
  const LateRelease late;
  std::lock_guard lock(mutex_);
  std::shared_ptr<const Graph> graph = session.graph();
  const auto fits = [&](const Fed& fed) {
    const ValueRef value = fed.In(*graph);
    return value.valid() && (!fed.tensor || graph->TypeOf(value) == fed.tensor->dtype());
  };
  // What the session has it takes along when it follows an edit, in its next run.
  if (!std::all_of(pending_.begin(), pending_.end(), fits)) {
    WEFT_RETURN_IF_ERROR(session.FollowUntil(session.scope().runtime().CallEnd()));
    if (DropOtherTypes(session)) WEFT_RETURN_IF_ERROR(session.FollowUntil(session.scope().runtime().CallEnd()));
    graph = session.graph();
  }
  Status status;
  std::vector<Fed> later;
  // Where this ends early all is still pending, and is fed again.
  for (const Fed& fed : pending_) {
    const ValueRef value = fed.In(*graph);
    if (!fits(fed) && session.outdated_page()) later.push_back(fed);              // for the page as it is now
    else if (!value.valid()) continue;                                            // an edit took it from the page
    else if (!fed.tensor) session.Unfeed(value);
    else if (Status failed = session.Feed(value, *fed.tensor); !failed.ok()) status = std::move(failed);
  }
  pending_ = std::move(later);
  waiting_.store(!pending_.empty());
  return status;
}

Status RunFeeds::BeforeRun(Session& session) {
  WEFT_RETURN_IF_ERROR(Apply(session));
  if (any_.load(std::memory_order_relaxed) && edits_ != session.scope().edits()) FeedAgain(session);
  return {};
}

// A session takes feeds along from the page of its last run to that of the next, and drops those whose blocks it does not find there. What is
// back, or has been another block in between, it is to be fed again. Where the page has faults the run will tell.
void RunFeeds::FeedAgain(Session& session) {
  const LateRelease late;
  std::lock_guard lock(mutex_);
  const std::shared_ptr<const Revision> now = session.scope().revision();
  std::shared_ptr<const Graph> own = session.graph();
  const auto has = [&](const Fed& fed, ValueRef value) {
    return std::ranges::any_of(session.spec().feeds,
                               [&](const SessionSpec::Feed& feed) { return feed.value == value && feed.tensor.data() == fed.tensor->data(); });
  };
  const auto goes_along = [&](const Fed& fed) {
    const ValueRef before = fed.In(*own), after = fed.In(*now->graph);
    return !after.valid() || (has(fed, before) && IdMap(*own, *now->graph).Value(before) == after);
  };
  if (!std::ranges::all_of(fed_, goes_along)) {
    static_cast<void>(session.FollowUntil(session.scope().runtime().CallEnd()).ok());
    own = session.graph();
    for (const Fed& fed : fed_) {
      const ValueRef value = fed.In(*own);
      if (!value.valid() || own->TypeOf(value) != fed.tensor->dtype() || has(fed, value)) continue;
      static_cast<void>(session.Feed(value, *fed.tensor).ok());  // it has the type
    }
  }
  edits_.store(now->number);
}

// An edit may have changed the type of a value that is fed, so that the session cannot follow; what is fed now has the new type, and takes
// the place of what was fed before. Called with the lock held.
bool RunFeeds::DropOtherTypes(Session& session) const {
  if (!session.outdated_page()) return false;
  const std::shared_ptr<const Graph> graph = session.graph();
  bool dropped = false;
  for (const Fed& fed : pending_) {
    const ValueRef value = fed.In(*graph);
    if (value.valid() && fed.tensor && graph->TypeOf(value) != fed.tensor->dtype()) dropped = session.Unfeed(value) || dropped;
  }
  return dropped;
}

// ---- outputs ---------------------------------------------------------------------------------------------------------------------------

Status RunOutputs::Set(const Session& session, std::string_view name, Take take) {
  const Lookup looked = LookUp(session, [&](const Graph& page) { return FindNamedValue(page, name); });
  const Graph& graph = *looked.graph;
  const Result<NamedValue>& found = looked.found;
  if (take) WEFT_RETURN_IF_ERROR(found.status());
  const auto is_found = [&](const Output& output) {
    const std::optional<std::string> called = found.ok() ? output.name.In(graph) : std::nullopt;
    const Result<NamedValue> named = called ? FindNamedValue(graph, *called) : Result<NamedValue>(NamedValue());
    return called && named.ok() && named->value == found->value && named->indices == found->indices;
  };
  std::vector<Output> outputs;  // those before end without the lock
  std::lock_guard lock(mutex_);
  auto before = std::ranges::find_if(outputs_, is_found);
  if (!take && before == outputs_.end()) {
    before = std::ranges::find_if(outputs_, [&](const Output& output) { return IsCalled(output.name, name); });
    if (before == outputs_.end()) return found.ok() ? NotFound("no output is bound to '", name, "'") : found.status();
  }
  for (auto output = outputs_.begin(); output != outputs_.end(); ++output) {
    if (output != before) outputs.push_back(*output);
  }
  if (take) outputs.push_back({KeptName::OfValue(session.scope(), graph, std::string(name)), std::move(take), nullptr, std::nullopt});
  outputs_.swap(outputs);
  any_.store(!outputs_.empty());
  return {};
}

// Finds the value in the page of the run that has ended, where its plan keeps it. Called with the lock held.
void RunOutputs::Find(Output& output, const Session& session, const std::shared_ptr<const Graph>& graph) {
  output.graph = graph;
  output.value.reset();
  const std::optional<std::string> called = output.name.In(*graph);
  if (!called) return;
  Result<NamedValue> named = FindNamedValue(*graph, *called);
  if (named.ok() && session.Keeps(named->value)) output.value = std::move(*named);
}

Status RunOutputs::Give(const Session& session) {
  const std::shared_ptr<const Graph> graph = session.graph();
  std::vector<Output> outputs;
  {
    std::lock_guard lock(mutex_);
    for (Output& output : outputs_) {
      if (output.graph != graph) Find(output, session, graph);
    }
    outputs = outputs_;
  }
  for (const Output& output : outputs) {
    if (!output.value) continue;
    WEFT_ASSIGN_OR_RETURN(ResultValue result, session.Get(output.value->value));
    WEFT_ASSIGN_OR_RETURN(result.tensor, ElementOf(result.tensor, output.value->indices));
    Status taken = output.take(result);
    if (!taken.ok()) return std::move(taken).WithBlock(graph->node(output.value->value.node).id);
  }
  return {};
}

void RunOutputs::Clear() {
  std::vector<Output> before;  // ends without the lock
  std::lock_guard lock(mutex_);
  before = std::move(outputs_);
  outputs_.clear();
  any_.store(false);
}

}  // namespace weft
