// Subscriptions: values of a running session, as often and as short as a host wants them.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/host/events.h"

namespace weft {

/// What becomes of the values between two deliveries.
enum class Reduction : uint8_t {
  kEach,       // all are delivered, up to most_pending of them
  kLast,       // the last one, as it is when it is taken
  kMean,       // of each element over the runs, as DT_DOUBLE
  kMinMax,     // of each element over the runs: Sample::value and Sample::high; NaN where there was nothing else
  kDecimate,   // one of every `every` runs
  kHistogram,  // of the elements of the last one
};

struct SubscriptionSpec {
  std::string value;  // a name as of Session::Get, elements too; from then on the value counts, whatever its block is called
  Reduction reduction = Reduction::kLast;
  std::chrono::nanoseconds interval{0};  // least time between two deliveries; 0: every run delivers
  int64_t max_bytes = 0;      // longer values are thinned to every n-th element, in row-major order; 0: never
  uint64_t every = 1;         // kDecimate
  int64_t bins = 64;          // kHistogram: 1 to 65536
  size_t most_pending = 0;    // samples that wait to be taken; then the oldest is dropped. 0: 64 for kEach and kDecimate, else 1
  uint64_t tag = 0;           // comes back in its samples
};

/// What is delivered. Tensors stay as they are, whatever runs next.
struct Sample {
  uint64_t subscription = 0, tag = 0;
  uint64_t first_run = 0, run = 0;  // the first and last run that it speaks of
  uint64_t runs = 0;                // how many that computed the value
  uint64_t dropped = 0;             // samples of the subscription that were not taken in time, so far
  int64_t t_ns = 0;                 // when, on std::chrono::steady_clock
  Shape shape;                      // of the value
  int64_t stride = 1;               // more than 1: `value` (and `high`) are thinned, of shape [n]
  Tensor value;                     // kHistogram: DT_INT64 [bins], how many elements lie in each
  Tensor high;                      // kMinMax only
  double lowest = 0, highest = 0;   // kHistogram: where the first bin begins and the last one ends
  int64_t not_finite = 0;           // kHistogram: elements in no bin
  Status status;                    // why there is no value; delivered once
};

/// The subscriptions of one session. Thread-safe. To be added to its runner as a listener. Costs nothing while there are none. A subscription
/// is to a value: it follows the value's block when an edit renames it, and has no value while the page has no such block. When one with the
/// id that it had last is added, the subscription is to the value of that.
class Subscriptions final : public RunListener {
 public:
  explicit Subscriptions(Runner& runner);
  ~Subscriptions() override;

  /// Its number, never used again. not_found for a value that the page has not; invalid_argument for settings out of their ranges, and for
  /// a mean, extremes or histogram of what has no real numbers.
  Result<uint64_t> Add(SubscriptionSpec spec);
  /// not_found for a number that is none.
  Status Remove(uint64_t id);
  /// The value's name as the page calls it now; the last one where an edit took it from the page. not_found for a number that is none.
  Result<std::string> NameOf(uint64_t id) const;
  /// The samples that are ready, of all subscriptions or of one, the oldest first of each; at most so many.
  std::vector<Sample> Take(uint64_t id = 0, size_t most = SIZE_MAX);

  /// `queue` gets a kValues event with `source` when samples are ready, and the next one when they have been taken.
  void Notify(const std::shared_ptr<EventQueue>& queue, uint64_t source);
  void Unnotify(const EventQueue* queue);
  /// Called in the same way, on the thread that runs, with the number of the run. Empty: no more.
  void SetReady(std::function<void(uint64_t run)> ready);

  void OnRunEnd(uint64_t run, const Status& status) override;

 private:
  struct Subscription;
  class Notice;

  void ReadLast(uint64_t id);
  void Find(const std::shared_ptr<const Graph>& graph);
  std::vector<Result<ResultValue>> ReadResults(const std::vector<uint64_t>& ids);
  void Sampled(Subscription& subscription, const Result<ResultValue>& result, uint64_t run, int64_t now);
  static void Keep(Subscription& subscription, Sample sample);
  bool Wants(const Subscription& subscription, int64_t now) const;

  Runner& runner_;
  std::atomic<bool> any_{false};

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Subscription>> all_;
  std::shared_ptr<const Graph> graph_;  // that the values were found in
  bool changed_ = true;                 // since then
  uint64_t last_id_ = 0;
  bool told_ = false;
  std::vector<std::shared_ptr<Notice>> notices_;
  std::function<void(uint64_t)> ready_;
};

}  // namespace weft
