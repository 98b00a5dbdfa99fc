#include "runtime/host/run_observer.h"

#include <new>

namespace weft {
namespace {

// Who listens misses what there is no memory to tell; the run continues, and others hear of it.
template <class Tell>
void Missing(Tell&& tell) {
  try {
    tell();
  } catch (const std::bad_alloc&) {
  }
}

bool WantsSteps(const RunListener& listener) { return listener.wants_steps()->load(std::memory_order_relaxed) != 0; }

}  // namespace

Status RunObserver::Pause(PauseReason reason, std::string_view block, std::string_view detail) {
  ++pauses_made_;
  WEFT_ASSIGN_OR_RETURN(const bool pauses, control_.BeginPause(reason, block, detail, in_run_));
  if (!pauses) return {};
  if (in_run_) view_->SetPaused(true);
  TellState();
  Status status = control_.EndPause(before_step_);
  if (in_run_) view_->SetPaused(false);
  TellState();
  return status;
}

// (A state has texts only while paused: to tell the last one of a run takes no memory.)
void RunObserver::TellState() {
  const auto listeners = listeners_.All();
  if (!listeners) return;
  Missing([&] {
    const RunnerState now = control_.info().state;
    for (const auto& [listener, number] : *listeners) Missing([&] { listener->OnState(now); });
  });
}

void RunObserver::TellFailure(const Status& status) {
  const auto listeners = listeners_.All();
  if (!listeners) return;
  for (const auto& [listener, number] : *listeners) Missing([&] { listener->OnFailure(status); });
}

// Reports to those that were added since the run began what it has done. One that had its report when it was added ignores it.
void RunObserver::Join(const ListenerList::Entries& listeners) {
  for (const auto& [listener, number] : listeners) {
    if (number <= last_joined_) continue;
    last_joined_ = number;
    listener->OnJoin(*view_);
  }
}

Status RunObserver::OnRunStart(uint64_t run, RunView& view) {
  view_ = &view;
  const auto listeners = listeners_.All();
  if (!listeners) return {};
  for (const auto& [listener, number] : *listeners) {
    last_joined_ = std::max(last_joined_, number);
    WEFT_RETURN_IF_ERROR(listener->OnRunStart(run, view));
  }
  return {};
}

void RunObserver::OnRunBegin(uint64_t run, size_t steps) {
  in_run_ = true;
  const auto listeners = listeners_.All();
  if (!listeners) return;
  for (const auto& [listener, number] : *listeners) listener->OnRunBegin(run, steps);
}

Status RunObserver::OnStep(size_t step, const Node& node) {
  before_step_ = true;
  const uint64_t pauses_before = pauses_made_;
  Status status;
  if (const auto listeners = listeners_.All()) {
    Join(*listeners);
    for (const auto& [listener, number] : *listeners) {
      if (status.ok() && WantsSteps(*listener)) status = listener->OnStep(step, node);
    }
  }
  // One pause at a place is enough.
  const bool paused = pauses_made_ != pauses_before;
  const PauseReason reason = status.ok() && !paused ? pauses_.Before(*view_, node) : PauseReason::kNone;
  if (reason != PauseReason::kNone) status = Pause(reason, node.id, "");
  before_step_ = false;
  return status;
}

void RunObserver::OnStepEnd(size_t step, const Node& node, bool dead) {
  const auto listeners = listeners_.All();
  if (!listeners) return;
  Join(*listeners);
  for (const auto& [listener, number] : *listeners) {
    if (WantsSteps(*listener)) listener->OnStepEnd(step, node, dead);
  }
}

void RunObserver::OnPrint(std::string_view text) {
  const auto listeners = listeners_.All();
  if (!listeners) return;
  for (const auto& [listener, number] : *listeners) listener->OnPrint(text);
}

void RunObserver::OnRunEnd(uint64_t run, const Status& status) {
  in_run_ = false;
  const auto listeners = listeners_.All();
  if (!listeners) return;
  for (const auto& [listener, number] : *listeners) Missing([&] { listener->OnRunEnd(run, status); });
}

}  // namespace weft
