#include "weft/base/discard.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace weft {

/// The objects that wait, in their order, and the thread that destroys them while there are any.
class DiscardLine {
 public:
  void Add(std::unique_ptr<Discarded> object) {
    std::unique_lock lock(mutex_);
    if (!working_ && !Start()) {
      lock.unlock();
      return;  // and it is destroyed here
    }
    std::unique_ptr<Discarded>& end = last_ == nullptr ? first_ : last_->next_;
    last_ = object.get();
    end = std::move(object);
    ++added_;
  }

  bool AwaitOne() {
    std::unique_lock lock(mutex_);
    if (destroyed_ == added_) return false;
    changed_.wait(lock, [this, before = destroyed_] { return destroyed_ > before; });
    return true;
  }

  void Finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, last = added_] { return destroyed_ >= last; });
    if (!working_ && thread_.joinable()) thread_.join();  // it has done all but return
  }

 private:
  // With the lock held.
  bool Start() {
    if (thread_.joinable()) thread_.join();  // of before, which has done all but return
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::exception&) {  // too many threads, or too little memory
      return false;
    }
    return working_ = true;
  }

  void Work() {
    std::unique_lock lock(mutex_);
    while (first_ != nullptr) {
      std::unique_ptr<Discarded> object = std::move(first_);
      first_ = std::move(object->next_);
      if (first_ == nullptr) last_ = nullptr;
      lock.unlock();
      object.reset();
      lock.lock();
      ++destroyed_;
      changed_.notify_all();
    }
    working_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Discarded> first_;
  Discarded* last_ = nullptr;
  uint64_t added_ = 0, destroyed_ = 0;
  std::thread thread_;
  bool working_ = false;  // the thread takes what is added
};

namespace {

// Never destroyed: objects with static storage may be discarded when the process ends. Takes no memory.
DiscardLine& Line() {
  alignas(DiscardLine) static std::byte place[sizeof(DiscardLine)];
  static DiscardLine& line = *new (place) DiscardLine;
  return line;
}

}  // namespace

void DiscardLater(std::unique_ptr<Discarded> object) noexcept { Line().Add(std::move(object)); }
bool AwaitDiscarded() { return Line().AwaitOne(); }
void FinishDiscarding() { Line().Finish(); }

}  // namespace weft
