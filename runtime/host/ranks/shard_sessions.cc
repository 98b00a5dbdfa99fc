#include "runtime/host/ranks/shard_sessions.h"

namespace weft {

// ---- the watch -------------------------------------------------------------------------------------------------------------------------

void ShardWatch::Announce(uint64_t step, std::string doing, Take take) {
  take_ = std::move(take);
  std::lock_guard lock(mutex_);
  step_ = step;
  doing_ = std::move(doing);
}

Status ShardWatch::OnRunStart(uint64_t /*run*/, RunView& view) {
  starting_ = &view;
  return {};
}

void ShardWatch::OnRunBegin(uint64_t /*run*/, size_t /*steps*/) {
  std::lock_guard lock(mutex_);
  view_ = starting_;
}

void ShardWatch::OnRunEnd(uint64_t /*run*/, const Status& /*status*/) {
  std::lock_guard lock(mutex_);
  view_ = nullptr;
}

std::string ShardWatch::where() const {
  std::lock_guard lock(mutex_);
  std::string text = step_ == 0 ? doing_ : Cat("step ", step_, ", ", doing_);
  const int node = view_ == nullptr ? -1 : view_->current();
  if (node >= 0) text += Cat(", block '", view_->graph()->node(node).id, "'");
  return text;
}

// ---- the sessions ----------------------------------------------------------------------------------------------------------------------

Status ShardSessions::Make(const ShardParts& divided) {
  const auto make = [&](std::unique_ptr<Session>& session, bool there, const SessionSpec& spec) {
    if (session != nullptr) past_.push_back(std::move(session));
    session = there ? std::make_unique<Session>(scope_, spec, Keep::kAsked) : nullptr;
  };
  make(before_, divided.HasBefore(), divided.before);
  make(shard_, true, divided.shard);
  make(after_, divided.HasAfter(), divided.after);
  for (Session* session : {before_.get(), shard_.get(), after_.get()}) {
    if (session != nullptr) WEFT_RETURN_IF_ERROR(session->CheckAsked());
  }
  return {};
}

Status ShardSessions::Run(Session& session, uint64_t step, std::string doing, ShardWatch::Take take) {
  if (scope_->revision()->graph != graph_) {
    return FailedPrecondition("the page was edited since it was cut into shards").WithHint("open it for shards again");
  }
  watch_.Announce(step, std::move(doing), std::move(take));
  RunOptions run;
  run.observer = &watch_;
  running_ = &session;  // before it is looked at: a Cancel in between is for the run that follows
  Status status = cancelled_ ? Cancelled("the run was cancelled") : session.Run(run);
  running_ = nullptr;
  return status;
}

Status ShardSessions::RunOnce(SessionSpec spec, uint64_t step, std::string doing) {
  return Run(*past_.emplace_back(std::make_unique<Session>(scope_, std::move(spec), Keep::kAsked)), step, std::move(doing));
}

void ShardSessions::Cancel() {
  cancelled_ = true;
  if (Session* session = running_) session->Cancel();
}

}  // namespace weft
