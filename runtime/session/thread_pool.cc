#include "runtime/session/thread_pool.h"

#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>
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

/// Set while this thread works on a task: a loop inside a task runs where it is, since waiting for the pool from within could go on for
/// ever.
thread_local bool in_task = false;

/// Shared by the threads of one loop. Helpers may come late, when the caller has long gone: a loop is used again when the last of them has
/// left, and what belongs to the caller is touched only by those that came in time.
struct Loop {
  std::optional<FunctionRef<void(int64_t)>> task;
  std::optional<FunctionRef<bool()>> cancelled;
  int64_t count = 0;
  std::atomic<int64_t> next{0};
  std::atomic<int> inside{0};  // helpers that may be at work
  std::atomic<int> holders{0};  // the caller, and helpers that have not left yet
  std::mutex mutex;
  std::exception_ptr error;

  void Work() {
    FlushDenormals flush;
    bool outer = std::exchange(in_task, true);
    try {
      for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        if ((*cancelled)()) break;
        (*task)(i);
      }
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next.store(count);
    }
    in_task = outer;
  }

  // A helper that enters after Close has no work left; one that entered before is waited for.
  void Help() {
    inside.fetch_add(1);
    Work();
    inside.fetch_sub(1);
  }
  void Close() {
    next.store(count);
    for (int spins = 0; inside.load() > 0; ++spins) {
      if (spins > 2000) std::this_thread::yield();
    }
  }
};

}  // namespace

struct ThreadPool::Impl {
  // Loops for helpers that the machine keeps waiting: a run then takes no memory for another.
  explicit Impl(int threads) : pool(threads) {
    constexpr size_t kReady = 256;
    loops.reserve(kReady);
    free.reserve(kReady);
    for (size_t i = 0; i < kReady; ++i) {
      loops.push_back(std::make_unique<Loop>());
      free.push_back(loops.back().get());
    }
  }

  Loop* TakeLoop();
  void Leave(Loop* loop);

  std::mutex mutex;
  std::vector<std::unique_ptr<Loop>> loops;  // all there are
  std::vector<Loop*> free;
  Eigen::ThreadPool pool;  // last: its threads end before the loops go
};

Loop* ThreadPool::Impl::TakeLoop() {
  std::lock_guard lock(mutex);
  if (free.empty()) {
    free.reserve(loops.size() + 1);  // so that Leave cannot fail
    loops.push_back(std::make_unique<Loop>());
    return loops.back().get();
  }
  Loop* loop = free.back();
  free.pop_back();
  return loop;
}

void ThreadPool::Impl::Leave(Loop* loop) {
  if (loop->holders.fetch_sub(1) > 1) return;
  std::lock_guard lock(mutex);
  free.push_back(loop);
}

ThreadPool::ThreadPool(int threads) : threads_(threads < 1 ? 1 : threads) {
  if (threads_ > 1) impl_ = std::make_unique<Impl>(threads_ - 1);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::Run(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled) {
  int helpers = in_task ? 0 : static_cast<int>(std::min<int64_t>(threads_ - 1, count - 1));
  if (helpers <= 0) return RunAlone(count, task, cancelled);
  Loop* loop = impl_->TakeLoop();
  loop->task = task;
  loop->cancelled = cancelled;
  loop->count = count;
  loop->error = nullptr;
  loop->next.store(0);
  loop->holders.store(1);
  try {
    for (int i = 0; i < helpers; ++i) {
      loop->holders.fetch_add(1);
      impl_->pool.Schedule([impl = impl_.get(), loop] {
        loop->Help();
        impl->Leave(loop);
      });
    }
  } catch (const std::bad_alloc&) {
    impl_->Leave(loop);  // for the helper that will not come; those that do are enough
  }
  loop->Work();
  loop->Close();
  std::exception_ptr error = loop->error;
  impl_->Leave(loop);
  if (error) std::rethrow_exception(error);
}

void ThreadPool::RunAlone(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled) {
  FlushDenormals flush;
  for (int64_t i = 0; i < count && !cancelled(); ++i) task(i);
}

}  // namespace weft
