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

Status ShardSessions::Make(const ShardParts& divided, bool keep_before) {
  if (!keep_before) before_ = divided.HasBefore() ? std::make_unique<Session>(scope_, divided.before, Keep::kAsked) : nullptr;
  shard_ = std::make_unique<Session>(scope_, divided.shard, Keep::kAsked);
  after_ = divided.HasAfter() ? std::make_unique<Session>(scope_, divided.after, Keep::kAsked) : nullptr;
  for (Session* session : {before_.get(), shard_.get(), after_.get()}) {
    if (session != nullptr) WEFT_RETURN_IF_ERROR(session->CheckAsked());
  }
  return {};
}

Status ShardSessions::Run(Session& session, uint64_t step, std::string doing, ShardWatch::Take take) {
  if (cancelled_) return Cancelled("the run was cancelled");
  watch_.Announce(step, std::move(doing), std::move(take));
  RunOptions run;
  run.observer = &watch_;
  return session.Run(run);
}

void ShardSessions::Cancel() {
  cancelled_ = true;
  for (Session* session : {before_.get(), shard_.get(), after_.get()}) {
    if (session != nullptr) session->Cancel();
  }
}

}  // namespace weft
