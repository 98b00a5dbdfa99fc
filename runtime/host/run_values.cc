#include "runtime/host/run_values.h"

#include <algorithm>

#include "runtime/plan/id_map.h"

namespace weft {

// ---- feeds -----------------------------------------------------------------------------------------------------------------------------

ValueRef RunFeeds::Fed::In(const Graph& other) const { return graph.get() == &other ? value : IdMap(*graph, other).Value(value); }

Status RunFeeds::Add(const Session& session, std::string_view name, std::optional<Tensor> tensor) {
  std::shared_ptr<const Graph> graph = session.scope().revision()->graph;
  Result<ValueRef> found = graph->FindValue(name);
  if (!found.ok() && session.outdated_page()) {
    std::shared_ptr<const Graph> own = session.graph();
    if (Result<ValueRef> before = own->FindValue(name); before.ok()) {
      found = before;
      graph = std::move(own);
    }
  }
  WEFT_ASSIGN_OR_RETURN(const ValueRef value, found);
  const DType needed = graph->TypeOf(value);
  if (tensor && tensor->dtype() != needed) {
    return InvalidArgument("the value '", graph->ValueName(value), "' needs ", needed, ", found ", tensor->dtype())
        .WithNeeded(DTypeName(needed))
        .WithFound(Cat(tensor->dtype(), " ", tensor->shape()));
  }
  std::lock_guard lock(mutex_);
  fed_.reserve(fed_.size() + 1);
  pending_.reserve(pending_.size() + 1);
  const bool was = std::erase_if(fed_, [&](const Fed& fed) { return fed.In(*graph) == value; }) > 0;
  if (!tensor && !was) return NotFound("nothing was fed to '", graph->ValueName(value), "'");
  if (tensor) fed_.push_back({graph, value, std::nullopt});
  pending_.push_back({std::move(graph), value, std::move(tensor)});
  waiting_.store(true);
  return {};
}

Status RunFeeds::Apply(Session& session) {
  if (!waiting()) return {};
  std::lock_guard lock(mutex_);
  std::shared_ptr<const Graph> graph = session.graph();
  const auto fits = [&](const Fed& fed) {
    const ValueRef value = fed.In(*graph);
    return value.valid() && (!fed.tensor || graph->TypeOf(value) == fed.tensor->dtype());
  };
  // What the session has it takes along when it follows an edit, in its next run.
  if (!std::all_of(pending_.begin(), pending_.end(), fits)) {
    WEFT_RETURN_IF_ERROR(session.Follow());
    if (DropOtherTypes(session)) WEFT_RETURN_IF_ERROR(session.Follow());
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

void RunOutputs::Set(std::string_view name, Take take) {
  std::vector<Output> outputs;  // those before end without the lock
  std::lock_guard lock(mutex_);
  for (const Output& output : outputs_) {
    if (output.name != name) outputs.push_back(output);
  }
  if (take) outputs.push_back({std::string(name), std::move(take)});
  outputs_.swap(outputs);
  any_.store(!outputs_.empty());
}

Status RunOutputs::Give(const Session& session) {
  std::vector<Output> outputs;
  {
    std::lock_guard lock(mutex_);
    outputs = outputs_;
  }
  for (const Output& output : outputs) {
    WEFT_ASSIGN_OR_RETURN(const ResultValue result, session.Get(output.name));
    WEFT_RETURN_IF_ERROR(output.take(result));
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
