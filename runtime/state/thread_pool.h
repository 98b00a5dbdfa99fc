// The engine's threads: Eigen's pool, with denormals flushed to zero on every thread while kernels run.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "weft/block/services.h"

namespace weft {

/// Flushes denormals to zero on this thread while it lives, as TensorFlow does inside its kernels.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned saved_;
};

/// Keeps them while it lives, for what is worked out within a run as it would be before one.
class KeepDenormals {
 public:
  KeepDenormals();
  ~KeepDenormals();
  KeepDenormals(const KeepDenormals&) = delete;
  KeepDenormals& operator=(const KeepDenormals&) = delete;

 private:
  unsigned saved_;
};

/// How many processors this thread may run on, at least 1. Threads beyond them would take the processors from one another, so that a loop
/// waits for those of its threads that have none.
int UsableProcessors();

/// Whether a thread cannot go on before what this one is doing is done: it is this one, or called the loop that this one works on.
bool WaitsForThisThread(std::thread::id other);

class ThreadPool {
 public:
  /// With fewer threads where the system refuses to start as many; the calling one is always among them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const { return threads_; }
  /// Calls task(0..count-1) on up to threads() threads, the calling one included. `cancelled` is looked at before each task.
  /// An exception in a task ends the loop and is thrown again on the calling thread.
  /// Does not wait for threads that other loops keep busy.
  void Run(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled);

 private:
  void RunAlone(int64_t count, FunctionRef<void(int64_t)> task, FunctionRef<bool()> cancelled);

  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;
};

/// The Workers of one run.
class PoolWorkers final : public Workers {
 public:
  PoolWorkers(ThreadPool& pool, std::atomic<bool>& cancelled) : pool_(pool), cancelled_(cancelled) {}
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) { deadline_ = deadline; }
  const std::optional<std::chrono::steady_clock::time_point>& deadline() const { return deadline_; }
  /// Whether the run shall end; sets the cancel flag when the deadline has passed.
  bool Stopped() const override {
    if (cancelled_.load(std::memory_order_relaxed)) return true;
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) {
      cancelled_.store(true, std::memory_order_relaxed);
      return true;
    }
    return false;
  }
  /// Why the run ends, when Stopped.
  std::string_view Reason() const {
    bool late = deadline_ && std::chrono::steady_clock::now() >= *deadline_;
    return late ? "the run's deadline passed" : "the run was cancelled";
  }
  int threads() const override { return pool_.threads(); }
  void Run(int64_t count, FunctionRef<void(int64_t)> task) override {
    pool_.Run(count, task, [this] { return Stopped(); });
  }

 private:
  ThreadPool& pool_;
  std::atomic<bool>& cancelled_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace weft
