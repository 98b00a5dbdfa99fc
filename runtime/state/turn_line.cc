#include "runtime/state/turn_line.h"

#include "runtime/base/failure.h"

namespace weft {

TurnLine::Turn** TurnLine::PlaceOf(const Turn* turn) {
  Turn** place = &first_;
  while (*place != nullptr && *place != turn) place = &(*place)->next_;
  return place;
}

Status TurnLine::Turn::Take(Waiter& waiter, std::string_view what) {
  if (taken_) return {};
  std::unique_lock lock(line_.mutex_);
  next_ = nullptr;
  *line_.PlaceOf(this) = this;
  Status status;
  try {
    status = waiter.Wait(lock, line_.changed_, [&] { return line_.first_ == this; }, -1, what);
  } catch (...) {  // a turn that is gone must not stand in the line
    status = StatusOfException("waiting ended");
  }
  taken_ = status.ok();
  if (taken_) return {};
  *line_.PlaceOf(this) = next_;
  line_.changed_.notify_all();
  return status;
}

void TurnLine::Turn::Give() {
  if (!taken_) return;
  taken_ = false;
  {
    std::lock_guard lock(line_.mutex_);
    line_.first_ = next_;
  }
  line_.changed_.notify_all();
}

}  // namespace weft
