// The machine's limits for `weft bench`: reading, triad and product, each the best of several trials on all threads.
#include <sched.h>
#include <sys/mman.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>

#include "tools/cli/bench.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Vectors as wide as the registers that the program is compiled for.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
using Floats __attribute__((vector_size(kVectorBytes))) = float;
using Words __attribute__((vector_size(kVectorBytes))) = uint64_t;

constexpr int64_t kBlock = 16 * kVectorBytes;       // bytes of one iteration of an inner loop
constexpr int64_t kSmallest = int64_t{32} << 10;    // with fewer bytes the cost of the loop itself dominates
constexpr int64_t kLargest = int64_t{1} << 30;
constexpr size_t kHugePage = size_t{2} << 20;

struct Free {
  void operator()(char* p) const { std::free(p); }
};
using Memory = std::unique_ptr<char, Free>;

/// Allocates memory and writes it once, so that its pages are mapped. Null where there is not enough.
Memory Allocate(int64_t bytes) {
  size_t size = (static_cast<size_t>(bytes) + kHugePage - 1) / kHugePage * kHugePage;
  Memory memory(static_cast<char*>(std::aligned_alloc(kHugePage, size)));
  if (!memory) return memory;
  madvise(memory.get(), size, MADV_HUGEPAGE);
  std::fill_n(reinterpret_cast<float*>(memory.get()), size / sizeof(float), 1.0f);
  return memory;
}

std::atomic<uint64_t> sink;  // results are stored here, so that the compiler keeps the loops

void ReadPass(const char* memory, int64_t bytes) {
  Words sums[4] = {};
  auto* words = reinterpret_cast<const Words*>(memory);
  for (int64_t i = 0; i < bytes / kVectorBytes; i += 16) {
    for (int j = 0; j < 16; ++j) sums[j % 4] |= words[i + j];
  }
  Words all = sums[0] | sums[1] | sums[2] | sums[3];
  sink.fetch_or(all[0], std::memory_order_relaxed);
}

void TriadPass(char* memory, int64_t bytes, bool stream) {
  auto* a = reinterpret_cast<Floats*>(memory);
  auto* b = reinterpret_cast<const Floats*>(memory + bytes);
  auto* c = reinterpret_cast<const Floats*>(memory + 2 * bytes);
  Floats scale = Floats{} + 0.5f;
  int64_t count = bytes / kVectorBytes;
#if defined(__SSE__)
  if (stream) {
    for (int64_t i = 0; i < count; ++i) {
      Floats sum = b[i] + scale * c[i];
      auto* parts = reinterpret_cast<const __m128*>(&sum);
      for (int j = 0; j < kVectorBytes / 16; ++j) _mm_stream_ps(reinterpret_cast<float*>(a + i) + 4 * j, parts[j]);
    }
    _mm_sfence();
    return;
  }
#endif
  (void)stream;
  for (int64_t i = 0; i < count; ++i) a[i] = b[i] + scale * c[i];
  asm volatile("" ::: "memory");
}

// Independent accumulators: twice the number of additions in flight, where there are registers for them. Fewer do not fill the ports.
constexpr int kSums = kVectorBytes == 64 ? 20 : 12;
constexpr int64_t kProductSteps = 20000;

void ProductPass() {
  Floats sums[kSums];
  for (int j = 0; j < kSums; ++j) sums[j] = Floats{} + static_cast<float>(j);
  Floats factor = Floats{} + 0.999f, step = Floats{} + 0.001f;
#if defined(__x86_64__)
  asm volatile("" : "+x"(factor), "+x"(step));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(factor), "+w"(step));
#endif
  for (int64_t i = 0; i < kProductSteps; ++i) {
#pragma GCC unroll 20
    for (int j = 0; j < kSums; ++j) sums[j] = sums[j] * factor + step;
  }
  Floats all = sums[0];
  for (int j = 1; j < kSums; ++j) all += sums[j];
  sink.fetch_or(static_cast<uint64_t>(std::lround(all[0])), std::memory_order_relaxed);
}

/// Pins the calling thread to one of the processors that the process may use, so that no two threads share one while another is idle.
void Pin(int thread) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int skip = thread % std::max(CPU_COUNT(&allowed), 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/// Seconds for `passes` calls of pass(thread) on each of all threads, from a common start to the end of the last thread. Infinite where the
/// system refuses to start as many.
template <class Pass>
double TimeOnThreads(int threads, int64_t passes, const Pass& pass) {
  Clock::time_point start;
  std::barrier ready(threads, [&]() noexcept { start = Clock::now(); });
  std::vector<std::thread> all;
  all.reserve(static_cast<size_t>(threads));
  bool started = true;
  for (int thread = 0; thread < threads; ++thread) {
    try {
      all.emplace_back([&, thread] {
        Pin(thread);
        pass(thread);  // warms the caches
        ready.arrive_and_wait();
        for (int64_t i = 0; i < passes; ++i) pass(thread);
      });
    } catch (const std::system_error&) {
      started = false;
      ready.arrive_and_drop();  // for the thread that is not there
    }
  }
  for (std::thread& thread : all) thread.join();
  if (!started) return INFINITY;
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The best rate of several trials: `amount` (per pass of all threads) per second.
template <class Pass>
double BestRate(int threads, double seconds, double amount, const Pass& pass) {
  double once = std::max(TimeOnThreads(1, 1, pass), 1e-8);
  auto passes = static_cast<int64_t>(std::clamp(seconds / 8 / once, 1.0, 1e6));  // long enough to hide the start of the threads
  double best = 0;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (int trial = 0; trial < 3 || Clock::now() < end; ++trial) {
    best = std::max(best, amount * static_cast<double>(passes) / TimeOnThreads(threads, passes, pass));
  }
  return best;
}

/// Bytes of each of `parts`, rounded to whole blocks.
int64_t PartOf(int64_t bytes, int parts) { return std::max<int64_t>(bytes / parts / kBlock, 1) * kBlock; }

int64_t Bounded(double bytes) { return static_cast<int64_t>(std::clamp(bytes, double{kSmallest}, double{kLargest})); }

std::vector<Memory> AllocateEach(int threads, int64_t bytes) {
  std::vector<Memory> memory;
  for (int i = 0; i < threads; ++i) {
    memory.push_back(Allocate(bytes));
    if (!memory.back()) return {};
  }
  return memory;
}

double MeasureRead(int threads, double seconds, int64_t bytes) {
  int64_t part = PartOf(bytes, threads);
  std::vector<Memory> memory = AllocateEach(threads, part);
  if (memory.empty()) return 0;
  return BestRate(threads, seconds, static_cast<double>(part * threads) / 1e9, [&](int thread) { ReadPass(memory[thread].get(), part); });
}

double MeasureTriad(int threads, double seconds, int64_t bytes) {
  int64_t part = PartOf(bytes, 3 * threads);
  std::vector<Memory> memory = AllocateEach(threads, 3 * part);
  if (memory.empty()) return 0;
  double best = 0;
  for (bool stream : {false, true}) {
    best = std::max(best, BestRate(threads, seconds / 2, static_cast<double>(3 * part * threads) / 1e9,
                                   [&](int thread) { TriadPass(memory[thread].get(), part, stream); }));
  }
  return best;
}

double MeasureProduct(int threads, double seconds) {
  double flops = 2.0 * kSums * kProductSteps * (kVectorBytes / sizeof(float)) * threads;
  return BestRate(threads, seconds, flops / 1e9, [](int) { ProductPass(); });
}

}  // namespace

double MachineLimits::Read(double bytes) {
  double& rate = read_[Bounded(bytes)];
  if (rate == 0) rate = MeasureRead(threads_, seconds_, Bounded(bytes));
  return rate;
}

double MachineLimits::Triad(double bytes) {
  double& rate = triad_[Bounded(bytes)];
  if (rate == 0) rate = MeasureTriad(threads_, seconds_, Bounded(bytes));
  return rate;
}

void MachineLimits::MeasureAgain(const Work& work) {
  int64_t bytes = Bounded(work.working_set);
  for (auto [known, measure] : {std::pair(&read_, &MeasureRead), {&triad_, &MeasureTriad}}) {
    auto place = known->find(bytes);
    if (place != known->end()) place->second = std::max(place->second, measure(threads_, seconds_, bytes));
  }
  if (work.flops > 0) product_ = std::max(product_, MeasureProduct(threads_, seconds_));
}

double MachineLimits::Product() {
  if (product_ == 0) product_ = MeasureProduct(threads_, seconds_);
  return product_;
}

Limit MachineLimits::Of(const Work& work) {
  bool reads = work.written_bytes < 0.05 * work.bytes();
  Limit limit;
  limit.kind = reads ? Limit::Kind::kRead : Limit::Kind::kTriad;
  limit.read = Read(work.working_set);
  double last = reads ? limit.read : Triad(work.working_set);
  if (limit.read > 0 && last > 0) {
    limit.seconds = (work.read_pass_bytes / limit.read + (work.bytes() - work.read_pass_bytes) / last) / 1e9;
    limit.rate = work.bytes() / limit.seconds / 1e9;
  }
  const double computing = work.flops > 0 ? work.flops / Product() / 1e9 : 0;
  if (computing > limit.seconds) limit = {Limit::Kind::kProduct, Product(), computing, limit.read};
  return limit;
}

}  // namespace weft::cli
