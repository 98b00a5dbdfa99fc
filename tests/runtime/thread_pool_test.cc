// The engine's threads: loops shared out to helpers that are asleep, awake or busy.
#include "runtime/state/thread_pool.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/kit/sanitized.h"
#include "weft/state/runtime.h"

namespace weft::test {
namespace {

const auto kNoStop = [] { return false; };

/// How often each of so many tasks ran in one loop.
std::vector<int> Turns(ThreadPool& pool, int64_t count) {
  std::vector<std::atomic<int>> turns(static_cast<size_t>(count));
  pool.Run(count, [&](int64_t i) { turns[static_cast<size_t>(i)].fetch_add(1); }, kNoStop);
  return {turns.begin(), turns.end()};
}

TEST_CASE("Every task of a loop runs once, whether helpers are awake or asleep", "[threads]") {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int pause_us : {0, 30, 400}) {  // helpers stay awake for some 100 us
      for (int64_t count = 0; count < 40; ++count) {
        INFO(threads << " threads, " << count << " tasks, " << pause_us << " us apart");
        CHECK(Turns(pool, count) == std::vector<int>(static_cast<size_t>(count), 1));
        if (pause_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
      }
    }
  }
}

TEST_CASE("A pool has as many threads as the system starts", "[threads]") {
  if (kit::kSanitized) return;  // they need all the address space there is
  // Enough for some stacks of the usual size more.
  rlimit before{}, few{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  long pages = 0;
  REQUIRE(std::fscanf(std::unique_ptr<FILE, int (*)(FILE*)>(std::fopen("/proc/self/statm", "r"), std::fclose).get(), "%ld", &pages) == 1);
  few = before;
  few.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (int64_t{64} << 20));
  for (int turn = 0; turn < 3; ++turn) {
    REQUIRE(setrlimit(RLIMIT_AS, &few) == 0);
    auto pool = std::make_unique<ThreadPool>(60);
    const std::vector<int> turns = Turns(*pool, 1000);
    const int threads = pool->threads();
    pool.reset();
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(threads >= 1);
    CHECK(threads < 60);
    CHECK(turns == std::vector<int>(1000, 1));
  }
}

TEST_CASE("What tasks have written is there when their loop has ended", "[threads]") {
  ThreadPool pool(3);
  std::vector<int64_t> values(64);
  for (int64_t loop = 1; loop <= 2000; ++loop) {
    pool.Run(64, [&](int64_t i) { values[static_cast<size_t>(i)] += i; }, kNoStop);
  }
  for (int64_t i = 0; i < 64; ++i) CHECK(values[static_cast<size_t>(i)] == 2000 * i);
}

TEST_CASE("A loop ends after the last of its tasks, also where a helper has that", "[threads]") {
  ThreadPool pool(2);
  std::atomic<int> ended{0};
  for (int loop = 1; loop <= 300; ++loop) {
    const auto take_time = [&](int64_t) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
      while (std::chrono::steady_clock::now() < end) continue;
      ended.fetch_add(1);
    };
    pool.Run(3, take_time, kNoStop);
    CHECK(ended.load() == 3 * loop);
  }
}

TEST_CASE("An exception of a task ends its loop and no other", "[threads]") {
  ThreadPool pool(2);
  for (int loop = 0; loop < 200; ++loop) {
    const auto fail = [&](int64_t i) {
      if (i == loop % 2) throw std::runtime_error("no");
    };
    CHECK_THROWS_AS(pool.Run(2, fail, kNoStop), std::runtime_error);
    CHECK(Turns(pool, 3) == std::vector<int>(3, 1));
  }
}

TEST_CASE("Several threads run loops at once, and loops within loops", "[threads]") {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int loop = 0; loop < 300; ++loop) {
        pool.Run(5, [&](int64_t i) { pool.Run(3, [&](int64_t k) { sum.fetch_add(10 * i + k); }, kNoStop); }, kNoStop);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(sum.load() == 4 * 300 * (3 * 100 + 5 * 3));
}

TEST_CASE("A cancelled loop ends, and the next one runs", "[threads]") {
  ThreadPool pool(2);
  std::atomic<bool> cancelled{false};
  std::atomic<int64_t> ran{0};
  const auto stop = [&](int64_t) {
    ran.fetch_add(1);
    cancelled.store(true);
  };
  pool.Run(1000000, stop, [&] { return cancelled.load(); });
  CHECK(ran.load() < 1000000);
  CHECK(Turns(pool, 4) == std::vector<int>(4, 1));
}

/// How many threads a runtime has.
int ThreadsWith(RuntimeOptions options) { return Runtime(Registry(), options).threads(); }

TEST_CASE("A runtime has no more threads than there are processors for them", "[threads]") {
  const int processors = UsableProcessors();
  CHECK(ThreadsWith({}) == processors);
  CHECK(ThreadsWith({.threads = 1}) == 1);
  CHECK(ThreadsWith({.threads = processors + 3}) == processors);
  CHECK(ThreadsWith({.threads = 5, .processors = 3}) == 3);
  CHECK(ThreadsWith({.threads = 0, .processors = 7}) == 7);
  std::thread bound([] {
    cpu_set_t usable, one;
    REQUIRE(sched_getaffinity(0, sizeof usable, &usable) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &usable)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(UsableProcessors() == 1);
    CHECK(ThreadsWith({}) == 1);
    CHECK(ThreadsWith({.threads = 5}) == 1);
  });
  bound.join();
}

}  // namespace
}  // namespace weft::test
