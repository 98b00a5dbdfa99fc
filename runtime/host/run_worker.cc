#include "runtime/host/run_worker.h"

#include <utility>

#include "runtime/base/failure.h"
#include "runtime/state/thread_pool.h"

namespace weft {

Status RunWorker::Make(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (thread_.joinable() || closed_) return {};
  try {
    thread_ = std::thread([this, work = std::move(work)] { Loop(work); });
  } catch (...) {
    return NoThread();
  }
  id_.store(thread_.get_id());
  return {};
}

void RunWorker::Loop(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return posted_ || closed_; });
    if (!std::exchange(posted_, false)) return;
    lock.unlock();
    work();
    lock.lock();
  }
}

void RunWorker::Post() {
  std::lock_guard lock(mutex_);
  posted_ = true;
  changed_.notify_all();
}

bool RunWorker::waits_for_caller() const { return WaitsForThisThread(id_.load()); }

void RunWorker::Close() {
  std::thread ended;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    ended = std::move(thread_);
  }
  if (!ended.joinable()) return;
  if (WaitsForThisThread(ended.get_id())) ended.detach();
  else ended.join();
}

}  // namespace weft
