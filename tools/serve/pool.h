// The threads that answer calls. What waits is bounded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::serve {

class Pool {
 public:
  Pool(int threads, size_t most_waiting) : most_waiting_(most_waiting) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~Pool() { Stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// False where too many wait, or after Stop.
  bool Add(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || waiting_.size() >= most_waiting_) return false;
      waiting_.push_back(std::move(task));
    }
    ready_.notify_one();
    return true;
  }

  /// Ends the threads after their tasks; those that wait are dropped.
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      waiting_.clear();
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void Work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
        if (stopped_) return;
        task = std::move(waiting_.front());
        waiting_.pop_front();
      }
      try {
        task();
      } catch (const std::exception& error) {
        Tell(error.what());
      } catch (...) {
        Tell("no reason is known");
      }
    }
  }

  /// Once: what fails may fail again and again.
  void Tell(const char* why) {
    if (!told_.exchange(true)) std::cerr << "weft: warning: a task of the server failed: " << why << '\n';
  }

  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::atomic<bool> told_{false};
  std::vector<std::thread> threads_;
};

}  // namespace weft::serve
