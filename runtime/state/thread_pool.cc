#include "runtime/state/thread_pool.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>
#include <unsupported/Eigen/CXX11/ThreadPool>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

namespace weft {

#if defined(__SSE2__)
FlushDenormals::FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }
FlushDenormals::~FlushDenormals() { _mm_setcsr(saved_); }
KeepDenormals::KeepDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ & ~unsigned{_MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON}); }
KeepDenormals::~KeepDenormals() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
namespace {

constexpr uint64_t kFlushBit = uint64_t{1} << 24;

uint64_t Mode() {
  uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
}
void SetMode(uint64_t fpcr) { asm volatile("msr fpcr, %0" ::"r"(fpcr)); }

}  // namespace

FlushDenormals::FlushDenormals() : saved_(static_cast<unsigned>(Mode())) { SetMode(saved_ | kFlushBit); }
FlushDenormals::~FlushDenormals() { SetMode(saved_); }
KeepDenormals::KeepDenormals() : saved_(static_cast<unsigned>(Mode())) { SetMode(saved_ & ~kFlushBit); }
KeepDenormals::~KeepDenormals() { SetMode(saved_); }
#else
FlushDenormals::FlushDenormals() : saved_(0) {}
FlushDenormals::~FlushDenormals() = default;
KeepDenormals::KeepDenormals() : saved_(0) {}
KeepDenormals::~KeepDenormals() = default;
#endif

namespace {

/// Set while this thread works on a task: a loop inside a task runs where it is, since waiting for the pool from within could last for
/// ever.
thread_local bool in_task = false;
/// Of the loop that this thread works on.
thread_local std::thread::id caller_of_loop;

/// Neighbouring tasks, which one thread begins with: what it has in its cache from one loop or run to the next stays useful.
struct alignas(64) Range {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};
constexpr int kMostRanges = 64;

/// Shared by the threads of one loop. Helpers may come late, when the caller has long gone: a loop is used again when the last of them has
/// left, and what belongs to the caller is touched only by those that came in time.
struct alignas(64) ParallelLoop {
  std::optional<FunctionRef<void(int64_t)>> task;
  std::optional<FunctionRef<bool()>> cancelled;
  std::thread::id caller;
  int range_count = 0;
  alignas(64) std::atomic<int> helpers{0};  // that were awake or have come
  std::atomic<int> inside{0};  // helpers that may be at work
  std::atomic<int> holders{0};  // the caller, and helpers that have not left yet
  std::mutex mutex;
  std::exception_ptr error;

  /// The ranges lie right after the loop, so that a helper can have its own fetched along with it.
  struct Delete {
    void operator()(ParallelLoop* loop) const {
      loop->~ParallelLoop();
      ::operator delete(loop, std::align_val_t{alignof(ParallelLoop)});
    }
  };
  using Owned = std::unique_ptr<ParallelLoop, Delete>;
  static Owned Make(int threads) {
    const size_t count = static_cast<size_t>(std::min(threads, kMostRanges));
    Owned loop(new (::operator new(sizeof(ParallelLoop) + count * sizeof(Range), std::align_val_t{alignof(ParallelLoop)})) ParallelLoop);
    std::uninitialized_default_construct_n(loop->range(0), count);
    return loop;
  }
  Range* range(int i) { return reinterpret_cast<Range*>(this + 1) + i; }

  /// One range for each of so many threads.
  void Share(int64_t count, int threads) {
    range_count = std::min(threads, kMostRanges);
    for (int i = 0; i < range_count; ++i) {  // seen by those that the loop is given to
      range(i)->next.store(count * i / range_count, std::memory_order_relaxed);
      range(i)->end = count * (i + 1) / range_count;
    }
  }
  void Stop() {
    for (int i = 0; i < range_count; ++i) range(i)->next.store(range(i)->end);
  }

  /// The tasks of thread `self`'s own range, then what others have left in theirs.
  void WorkThrough(int self) {
    for (int i = 0; i < range_count; ++i) {
      Range& range = *this->range((self + i) % range_count);
      if (i > 0 && range.next.load(std::memory_order_relaxed) >= range.end) continue;  // its line is left to others
      for (int64_t at = range.next.fetch_add(1); at < range.end; at = range.next.fetch_add(1)) {
        if ((*cancelled)()) return;
        (*task)(at);
      }
    }
  }
  void Work(int self) {
    FlushDenormals flush;
    const bool outer = std::exchange(in_task, true);
    const std::thread::id outer_caller = std::exchange(caller_of_loop, caller);
    try {
      WorkThrough(self);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      Stop();
    }
    in_task = outer;
    caller_of_loop = outer_caller;
  }

  // A helper that enters after Close has no work left; one that entered before is waited for.
  void Help() {
    inside.fetch_add(1);
    Work(helpers.fetch_add(1) + 1);
    inside.fetch_sub(1);
  }
  void Close() {
    Stop();
    Until([this] { return inside.load() == 0; });
  }
  template <class Done>
  static void Until(Done&& done) {
    for (int spins = 0; !done(); ++spins) {
      if (spins > 10000) std::this_thread::yield();  // some microseconds
    }
  }
};

/// Where a helper that has ended a loop stays awake for a while: waking a thread takes longer than small loops do, and the queue of the
/// pool takes several times as many turns between the threads' caches. The word is kNobody, kAwake, a loop that is given to the helper or,
/// with kTaken, the loop that it is at work on.
struct alignas(64) Seat {
  static constexpr uintptr_t kNobody = 0, kAwake = 1, kTaken = 2;
  std::atomic<uintptr_t> word{kNobody};

  bool Give(ParallelLoop* loop) {
    uintptr_t found = word.load(std::memory_order_relaxed);
    return found == kAwake && word.compare_exchange_strong(found, reinterpret_cast<uintptr_t>(loop));
  }
  /// For the caller that has given the loop: returns when the helper is through with it, or has been kept from beginning.
  void TakeBack(ParallelLoop* loop) {
    uintptr_t given = reinterpret_cast<uintptr_t>(loop);
    if (word.load(std::memory_order_relaxed) == given && word.compare_exchange_strong(given, kAwake)) return;
    const uintptr_t taken = reinterpret_cast<uintptr_t>(loop) | kTaken;
    ParallelLoop::Until([&] { return word.load(std::memory_order_acquire) != taken; });
  }
};

/// A thread that waits for its work. Those of a pool are started before it: Eigen's pool cannot be taken down when it has some of its threads
/// and one more cannot be started.
class ReadyThread {
 public:
  ReadyThread() : thread_([work = work_.get_future()]() mutable {
    if (const std::function<void()> given = work.get()) given();
  }) {}
  ~ReadyThread() {
    if (!given_) work_.set_value({});
    thread_.join();
  }
  void Give(std::function<void()> work) {
    given_ = true;
    work_.set_value(std::move(work));
  }
  void OnCancel() {}

 private:
  std::promise<std::function<void()>> work_;
  bool given_ = false;
  std::thread thread_;
};

/// As many as the system gives, at most `count`: with limits of processes or of address space it may refuse some, or all.
std::vector<std::unique_ptr<ReadyThread>> StartThreads(int count) {
  std::vector<std::unique_ptr<ReadyThread>> started;
  started.reserve(static_cast<size_t>(count));
  try {
    while (started.size() < static_cast<size_t>(count)) started.push_back(std::make_unique<ReadyThread>());
  } catch (const std::exception&) {  // fewer do the same work
  }
  return started;
}

/// Where Eigen's pool gets its threads.
struct ReadyThreads {
  struct Task {
    std::function<void()> f;
  };
  using EnvThread = ReadyThread;
  EnvThread* CreateThread(std::function<void()> work) {
    std::unique_ptr<ReadyThread> thread = std::move(ready->back());
    ready->pop_back();
    thread->Give(std::move(work));
    return thread.release();
  }
  Task CreateTask(std::function<void()> f) { return Task{std::move(f)}; }
  void ExecuteTask(const Task& task) { task.f(); }

  std::shared_ptr<std::vector<std::unique_ptr<ReadyThread>>> ready;
};

}  // namespace

struct ThreadPool::Impl {
  static constexpr std::chrono::microseconds kStaysAwake{100};

  // Loops for helpers that the machine keeps waiting: a run then takes no memory for another.
  explicit Impl(std::vector<std::unique_ptr<ReadyThread>> started)
      : helpers(static_cast<int>(started.size())),
        threads(helpers + 1),
        // Threads that others wait for to leave a processor must not keep it for nothing.
        seats(threads <= UsableProcessors() ? static_cast<size_t>(std::min(helpers, kMostRanges)) : 0),
        pool(helpers, ReadyThreads{std::make_shared<std::vector<std::unique_ptr<ReadyThread>>>(std::move(started))}) {
    constexpr size_t kReady = 256;
    loops.reserve(kReady);
    free.reserve(kReady);
    for (size_t i = 0; i < kReady; ++i) {
      loops.push_back(ParallelLoop::Make(threads));
      free.push_back(loops.back().get());
    }
  }

  ParallelLoop* TakeLoop();
  void Leave(ParallelLoop* loop);
  void Schedule(ParallelLoop* loop);
  void Serve(ParallelLoop* loop);
  ParallelLoop* NextGiven(Seat& seat, int self) const;

  const int helpers, threads;
  std::vector<Seat> seats;        // by helper; none where there are more threads than processors
  std::atomic<int> scheduled{0};  // helpers that are still in the pool's queues
  std::mutex mutex;
  std::vector<ParallelLoop::Owned> loops;  // all there are
  std::vector<ParallelLoop*> free;
  Eigen::ThreadPoolTempl<ReadyThreads> pool;  // last: its threads end before the loops go
};

ParallelLoop* ThreadPool::Impl::TakeLoop() {
  std::lock_guard lock(mutex);
  if (free.empty()) {
    free.reserve(loops.size() + 1);  // so that Leave cannot fail
    loops.push_back(ParallelLoop::Make(threads));
    return loops.back().get();
  }
  ParallelLoop* loop = free.back();
  free.pop_back();
  return loop;
}

void ThreadPool::Impl::Leave(ParallelLoop* loop) {
  if (loop->holders.fetch_sub(1) > 1) return;
  std::lock_guard lock(mutex);
  free.push_back(loop);
}

// One helper more, from the pool.
void ThreadPool::Impl::Schedule(ParallelLoop* loop) {
  loop->holders.fetch_add(1);
  scheduled.fetch_add(1);
  // No more than two pointers: what std::function holds without taking memory.
  pool.Schedule([this, loop] {
    scheduled.fetch_sub(1);
    Serve(loop);
  });
}

void ThreadPool::Impl::Serve(ParallelLoop* loop) {
  loop->Help();
  Leave(loop);
  const size_t helper = static_cast<size_t>(pool.CurrentThreadId());
  if (helper >= seats.size()) return;
  Seat& seat = seats[helper];
  const int self = static_cast<int>(helper) + 1;
  for (;;) {
    seat.word.store(Seat::kAwake, std::memory_order_release);
    ParallelLoop* next = NextGiven(seat, self);
    if (next == nullptr) return;
    next->Work(self);
  }
}

// The loop that is given while the helper stays awake; null where it does not any more.
ParallelLoop* ThreadPool::Impl::NextGiven(Seat& seat, int self) const {
  const auto end = std::chrono::steady_clock::now() + kStaysAwake;
  for (;;) {
    for (int looks = 0; looks < 256; ++looks) {
      uintptr_t word = seat.word.load(std::memory_order_acquire);
      if (word == Seat::kAwake) continue;
      ParallelLoop* const loop = reinterpret_cast<ParallelLoop*>(word);
      __builtin_prefetch(loop);
      __builtin_prefetch(loop->range(self), 1);
      if (seat.word.compare_exchange_strong(word, word | Seat::kTaken)) return loop;
    }
    uintptr_t word = Seat::kAwake;
    const bool leaves = scheduled.load(std::memory_order_relaxed) > 0 || std::chrono::steady_clock::now() >= end;
    if (leaves && seat.word.compare_exchange_strong(word, Seat::kNobody)) return nullptr;
  }
}

bool WaitsForThisThread(std::thread::id other) { return other == std::this_thread::get_id() || (in_task && other == caller_of_loop); }

int UsableProcessors() {
#if defined(__linux__)
  // The kernel refuses sets of fewer bits than it has processors.
  for (size_t bits = CPU_SETSIZE; bits <= (size_t{1} << 20); bits *= 2) {
    std::vector<cpu_set_t> usable(bits / CPU_SETSIZE);
    const size_t bytes = usable.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, usable.data()) == 0) return std::max(CPU_COUNT_S(bytes, usable.data()), 1);
  }
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

ThreadPool::ThreadPool(int threads) : threads_(1) {
  std::vector<std::unique_ptr<ReadyThread>> started = StartThreads(std::max(threads, 1) - 1);
  threads_ += static_cast<int>(started.size());
  if (threads_ > 1) impl_ = std::make_unique<Impl>(std::move(started));
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::Run(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled) {
  int helpers = in_task ? 0 : static_cast<int>(std::min<int64_t>(threads_ - 1, count - 1));
  if (helpers <= 0) return RunAlone(count, task, cancelled);
  ParallelLoop* loop = impl_->TakeLoop();
  loop->task = task;
  loop->cancelled = cancelled;
  loop->caller = std::this_thread::get_id();
  loop->Share(count, helpers + 1);
  loop->error = nullptr;
  loop->holders.store(1, std::memory_order_relaxed);
  int awake = 0;
  uint64_t given = 0;  // seats, a bit each
  static_assert(kMostRanges <= 64);
  for (size_t i = 0; i < impl_->seats.size() && awake < helpers; ++i) {
    if (!impl_->seats[i].Give(loop)) continue;
    given |= uint64_t{1} << i;
    ++awake;
  }
  loop->helpers.store(awake, std::memory_order_relaxed);
  const int scheduled = helpers - awake;
  try {
    for (int i = 0; i < scheduled; ++i) impl_->Schedule(loop);
  } catch (const std::bad_alloc&) {
    impl_->scheduled.fetch_sub(1);
    impl_->Leave(loop);  // for the helper that will not come; those that do are enough
  }
  loop->Work(0);
  for (; given != 0; given &= given - 1) impl_->seats[static_cast<size_t>(std::countr_zero(given))].TakeBack(loop);
  if (scheduled > 0) loop->Close();
  std::exception_ptr error = loop->error;
  impl_->Leave(loop);
  if (error) std::rethrow_exception(error);
}

void ThreadPool::RunAlone(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled) {
  FlushDenormals flush;
  for (int64_t i = 0; i < count && !cancelled(); ++i) task(i);
}

}  // namespace weft
