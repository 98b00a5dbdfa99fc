// TurnLine: what only one run of a scope does at a time (updating variables, starting them), in the order in which they came.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string_view>

#include "weft/block/services.h"

namespace weft {

/// Without an order a run that waits for room in a queue could take every turn before the run that would make the room.
class TurnLine {
 public:
  /// One run's place in the line. For one thread.
  class Turn {
   public:
    explicit Turn(TurnLine& line) : line_(line) {}
    ~Turn() { Give(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool taken() const { return taken_; }
    /// Waits for it, as a block does for a queue: cancelling, deadlines and stalls end the wait. `what` is for their messages.
    Status Take(Waiter& waiter, std::string_view what);
    void Give();

   private:
    friend class TurnLine;
    TurnLine& line_;
    Turn* next_ = nullptr;
    bool taken_ = false;
  };

 private:
  /// The place in the line that points at this turn, or the line's end.
  Turn** PlaceOf(const Turn* turn);

  std::mutex mutex_;
  std::condition_variable changed_;
  Turn* first_ = nullptr;  // has the turn; the next in line is at `next_`, so that no memory is allocated for it
};

}  // namespace weft
