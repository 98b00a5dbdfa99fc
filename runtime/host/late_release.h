// LateRelease: a host gets its memory back when no lock is held.
#pragma once

#include <memory>

namespace weft {

/// While one lives, what this thread lets go of is given back to its host only later: by the outermost that lives, at its end. To be made
/// before a lock under which values may end.
class LateRelease {
 public:
  /// What is to be given back.
  class Item {
   public:
    virtual ~Item() = default;
    virtual void Release() noexcept = 0;

   private:
    friend class LateRelease;
    std::unique_ptr<Item> next_;
  };

  LateRelease();
  ~LateRelease();
  LateRelease(const LateRelease&) = delete;
  LateRelease& operator=(const LateRelease&) = delete;

  /// Gives it back: now, or at the end of the outermost that lives on this thread. Takes no memory.
  static void Give(std::unique_ptr<Item> item) noexcept;

 private:
  static thread_local LateRelease* outermost_;
  std::unique_ptr<Item> first_, *last_ = &first_;
};

}  // namespace weft
