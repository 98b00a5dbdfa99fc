// TakerLine: who waits to take something out of a resource, first come, first served.
#pragma once

#include <condition_variable>
#include <list>

namespace weft::blocks {

/// Used with the lock of the resource held.
class TakerLine {
 public:
  /// A place in the line, given up at the end of its life, of which `changed` tells the others.
  class Turn {
   public:
    Turn(TakerLine& line, std::condition_variable& changed)
        : line_(line), changed_(changed), place_(line.turns_.insert(line.turns_.end(), this)) {}
    ~Turn() {
      line_.turns_.erase(place_);
      changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool first() const { return line_.turns_.front() == this; }

   private:
    TakerLine& line_;
    std::condition_variable& changed_;
    const std::list<const Turn*>::iterator place_;
  };

 private:
  std::list<const Turn*> turns_;
};

}  // namespace weft::blocks
