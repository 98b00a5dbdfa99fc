#include "runtime/session/thread_pool.h"

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <unsupported/Eigen/CXX11/ThreadPool>

#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

namespace weft {

#if defined(__SSE2__)
FlushDenormals::FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }
FlushDenormals::~FlushDenormals() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
FlushDenormals::FlushDenormals() {
  uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  saved_ = static_cast<unsigned>(fpcr);
  asm volatile("msr fpcr, %0" ::"r"(fpcr | (uint64_t{1} << 24)));
}
FlushDenormals::~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(static_cast<uint64_t>(saved_))); }
#else
FlushDenormals::FlushDenormals() : saved_(0) {}
FlushDenormals::~FlushDenormals() = default;
#endif

namespace {

/// Set while this thread works on a task: a loop inside a task runs where it is, since waiting for the pool from within could go on for ever.
thread_local bool in_task = false;

/// Shared by the threads of one loop; lives on the caller's stack, so the caller waits until no helper can touch it any more.
struct Loop {
  Loop(FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled, int64_t count) : task(task), cancelled(cancelled), count(count) {}

  FunctionRef<void(int64_t)> task;
  FunctionRef<bool()> cancelled;
  int64_t count;
  std::atomic<int64_t> next{0};
  std::atomic<int> helpers{0};  // that have not left yet
  std::mutex mutex;
  std::exception_ptr error;

  void Work() {
    FlushDenormals flush;
    bool outer = std::exchange(in_task, true);
    try {
      for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count; i = next.fetch_add(1, std::memory_order_relaxed)) {
        if (cancelled()) break;
        task(i);
      }
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next.store(count, std::memory_order_relaxed);
    }
    in_task = outer;
  }
};

}  // namespace

struct ThreadPool::Impl {
  explicit Impl(int threads) : pool(threads) {}
  Eigen::ThreadPool pool;
};

ThreadPool::ThreadPool(int threads) : threads_(threads < 1 ? 1 : threads) {
  if (threads_ > 1) impl_ = std::make_unique<Impl>(threads_ - 1);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::Run(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled) {
  Loop loop(task, cancelled, count);
  int helpers = in_task ? 0 : static_cast<int>(std::min<int64_t>(threads_ - 1, count - 1));
  if (helpers > 0) {
    loop.helpers.store(helpers, std::memory_order_relaxed);
    for (int i = 0; i < helpers; ++i) {
      impl_->pool.Schedule([&loop] {
        loop.Work();
        loop.helpers.fetch_sub(1, std::memory_order_release);
      });
    }
  }
  loop.Work();
  // Helpers end within a task's time. A helper that has not started yet finds no work left, but must still be waited for.
  for (int spins = 0; loop.helpers.load(std::memory_order_acquire) > 0; ++spins) {
    if (spins > 2000) std::this_thread::yield();
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace weft
