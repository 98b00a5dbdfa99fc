#include "runtime/session/thread_pool.h"

#include <algorithm>
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

/// Neighbouring tasks, which one thread begins with: what it has in its cache from one loop or run to the next stays useful.
struct alignas(64) Range {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};
constexpr int kMostRanges = 64;

/// Shared by the threads of one loop. Helpers may come late, when the caller has long gone: a loop is used again when the last of them has
/// left, and what belongs to the caller is touched only by those that came in time.
struct Loop {
  std::optional<FunctionRef<void(int64_t)>> task;
  std::optional<FunctionRef<bool()>> cancelled;
  std::unique_ptr<Range[]> ranges;
  int range_count = 0;
  std::atomic<int> helpers{0};  // that have come
  std::atomic<int> inside{0};  // helpers that may be at work
  std::atomic<int> holders{0};  // the caller, and helpers that have not left yet
  std::mutex mutex;
  std::exception_ptr error;

  explicit Loop(int threads) : ranges(new Range[static_cast<size_t>(std::min(threads, kMostRanges))]) {}

  /// One range for each of so many threads.
  void Share(int64_t count, int threads) {
    range_count = std::min(threads, kMostRanges);
    for (int i = 0; i < range_count; ++i) {
      ranges[i].next.store(count * i / range_count);
      ranges[i].end = count * (i + 1) / range_count;
    }
  }
  void Stop() {
    for (int i = 0; i < range_count; ++i) ranges[i].next.store(ranges[i].end);
  }

  /// The tasks of thread `self`'s own range, then what others have left in theirs.
  void WorkThrough(int self) {
    for (int i = 0; i < range_count; ++i) {
      Range& range = ranges[(self + i) % range_count];
      for (int64_t at = range.next.fetch_add(1); at < range.end; at = range.next.fetch_add(1)) {
        if ((*cancelled)()) return;
        (*task)(at);
      }
    }
  }
  void Work(int self) {
    FlushDenormals flush;
    bool outer = std::exchange(in_task, true);
    try {
      WorkThrough(self);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      Stop();
    }
    in_task = outer;
  }

  // A helper that enters after Close has no work left; one that entered before is waited for.
  void Help() {
    inside.fetch_add(1);
    Work(helpers.fetch_add(1) + 1);
    inside.fetch_sub(1);
  }
  void Close() {
    Stop();
    for (int spins = 0; inside.load() > 0; ++spins) {
      if (spins > 2000) std::this_thread::yield();
    }
  }
};

}  // namespace

struct ThreadPool::Impl {
  // Loops for helpers that the machine keeps waiting: a run then takes no memory for another.
  explicit Impl(int helpers) : threads(helpers + 1), pool(helpers) {
    constexpr size_t kReady = 256;
    loops.reserve(kReady);
    free.reserve(kReady);
    for (size_t i = 0; i < kReady; ++i) {
      loops.push_back(std::make_unique<Loop>(threads));
      free.push_back(loops.back().get());
    }
  }

  Loop* TakeLoop();
  void Leave(Loop* loop);

  const int threads;
  std::mutex mutex;
  std::vector<std::unique_ptr<Loop>> loops;  // all there are
  std::vector<Loop*> free;
  Eigen::ThreadPool pool;  // last: its threads end before the loops go
};

Loop* ThreadPool::Impl::TakeLoop() {
  std::lock_guard lock(mutex);
  if (free.empty()) {
    free.reserve(loops.size() + 1);  // so that Leave cannot fail
    loops.push_back(std::make_unique<Loop>(threads));
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
  loop->Share(count, helpers + 1);
  loop->error = nullptr;
  loop->helpers.store(0);
  loop->holders.store(1);
  try {
    for (int i = 0; i < helpers; ++i) {
      loop->holders.fetch_add(1);
      // No more than two pointers: what std::function holds without taking memory.
      impl_->pool.Schedule([impl = impl_.get(), loop] {
        loop->Help();
        impl->Leave(loop);
      });
    }
  } catch (const std::bad_alloc&) {
    impl_->Leave(loop);  // for the helper that will not come; those that do are enough
  }
  loop->Work(0);
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
