#include "weft/host/subscriptions.h"

#include <algorithm>

#include "runtime/exec/result_name.h"
#include "runtime/host/kept_name.h"
#include "runtime/host/reduction.h"
#include "runtime/host/steady_ns.h"

namespace weft {
namespace {

constexpr int64_t kMostBins = 65536;
// What may wait of one subscription, besides its newest sample.
constexpr int64_t kMostPendingBytes = int64_t{16} << 20;

int64_t BytesOf(const Tensor& tensor) { return tensor.defined() ? tensor.bytes() : 0; }

bool NeedsNumbers(Reduction reduction) {
  return reduction == Reduction::kMean || reduction == Reduction::kMinMax || reduction == Reduction::kHistogram;
}
bool Accumulates(Reduction reduction) { return reduction == Reduction::kMean || reduction == Reduction::kMinMax; }

Status Check(const SubscriptionSpec& spec) {
  if (spec.interval.count() < 0) return InvalidArgument("needs an interval of 0 or more, found ", spec.interval.count(), " ns").WithPort("interval");
  if (spec.max_bytes < 0) return InvalidArgument("needs 0 bytes or more, found ", spec.max_bytes).WithPort("max_bytes");
  if (spec.every == 0) return InvalidArgument("needs one of every 1 or more runs, found 0").WithPort("every");
  if (spec.bins < 1 || spec.bins > kMostBins) return InvalidArgument("needs 1 to ", kMostBins, " bins, found ", spec.bins).WithPort("bins");
  return {};
}

/// Whether the page has the value, and numbers where the reduction needs them.
Status CheckIn(const Graph& graph, const SubscriptionSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(const NamedValue named, FindNamedValue(graph, spec.value));
  const DType dtype = graph.TypeOf(named.value);
  if (!NeedsNumbers(spec.reduction) || IsReal(dtype)) return {};
  return InvalidArgument("needs real numbers to reduce, found '", spec.value, "' of ", dtype).WithPort("reduction");
}

}  // namespace

struct Subscriptions::Subscription {
  Subscription(SubscriptionSpec given, KeptName kept) : spec(std::move(given)), name(std::move(kept)), window(spec.reduction) {
    const bool many = spec.reduction == Reduction::kEach || spec.reduction == Reduction::kDecimate;
    if (spec.most_pending == 0) spec.most_pending = many ? 64 : 1;
  }

  /// What the value is called in a revision of the page; where that does not have it, what the page calls it, or did last.
  std::string NameIn(const Graph& graph) const {
    std::optional<std::string> called = name.In(graph);
    return called ? std::move(*called) : name.text();
  }

  uint64_t id = 0;
  SubscriptionSpec spec;  // `value`: as Subscriptions::graph_ calls it
  KeptName name;                    // of the value
  std::optional<NamedValue> value;  // in Subscriptions::graph_, where that has it
  Window window;
  uint64_t first_run = 0, runs = 0;  // since the last delivery
  uint64_t seen = 0;                 // since it was added
  int64_t due_ns = 0;
  Code delivered = Code::kOk;  // the failure that was delivered last
  bool ready = false;     // kLast: a run is to be delivered; its value is read where it is taken
  int64_t ready_ns = 0;
  std::deque<Sample> pending;
  int64_t pending_bytes = 0;
  uint64_t dropped = 0;
};

/// Tells the queue that samples are ready.
class Subscriptions::Notice final : public EventSource {
 public:
  Notice(std::shared_ptr<EventQueue> queue, uint64_t source) : queue_(std::move(queue)), source_(source) {}
  const EventQueue* queue() const { return queue_.get(); }
  void Ready(uint64_t run, int64_t now) {
    {
      std::lock_guard lock(mutex_);
      if (ready_) ++merged_;
      ready_ = true;
      run_ = run;
      now_ = now;
    }
    queue_->Wake();
  }
  bool Collect(size_t, std::vector<Event>& events) override {
    std::lock_guard lock(mutex_);
    if (!ready_) return true;
    events.reserve(events.size() + 1);
    ready_ = false;
    Event event;
    event.kind = EventKind::kValues;
    event.source = source_;
    event.run = run_;
    event.t_ns = now_;
    event.merged = std::exchange(merged_, 0);
    events.push_back(std::move(event));
    return true;
  }

 private:
  const std::shared_ptr<EventQueue> queue_;
  const uint64_t source_;
  std::mutex mutex_;
  bool ready_ = false;
  uint64_t run_ = 0, merged_ = 0;
  int64_t now_ = 0;
};

Subscriptions::Subscriptions(Runner& runner) : runner_(runner) {}
Subscriptions::~Subscriptions() = default;

void Subscriptions::Notify(const std::shared_ptr<EventQueue>& queue, uint64_t source) {
  auto notice = std::make_shared<Notice>(queue, source);
  queue->AddSource(notice);
  std::lock_guard lock(mutex_);
  notices_.push_back(std::move(notice));
  told_ = false;  // the new one has not had the report
}

void Subscriptions::Unnotify(const EventQueue* queue) {
  std::lock_guard lock(mutex_);
  std::erase_if(notices_, [&](const auto& notice) { return notice->queue() == queue; });
}

void Subscriptions::SetReady(std::function<void(uint64_t)> ready) {
  std::lock_guard lock(mutex_);
  ready_ = std::move(ready);
}

Result<uint64_t> Subscriptions::Add(SubscriptionSpec spec) {
  WEFT_RETURN_IF_ERROR(Check(spec));
  const Session& session = runner_.session();
  const auto [graph, status] = LookUp(session, [&](const Graph& page) { return CheckIn(page, spec); });
  WEFT_RETURN_IF_ERROR(status);
  KeptName name = KeptName::OfValue(session.scope(), *graph, spec.value);
  auto subscription = std::make_unique<Subscription>(std::move(spec), std::move(name));
  std::lock_guard lock(mutex_);
  const uint64_t id = subscription->id = ++last_id_;
  all_.push_back(std::move(subscription));
  changed_ = true;
  any_.store(true);
  return id;
}

Status Subscriptions::Remove(uint64_t id) {
  std::unique_ptr<Subscription> removed;  // its samples end without the lock
  std::lock_guard lock(mutex_);
  auto place = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one->id == id; });
  if (place == all_.end()) return NotFound("there is no subscription ", id);
  removed = std::move(*place);
  all_.erase(place);
  any_.store(!all_.empty());
  return {};
}

Result<std::string> Subscriptions::NameOf(uint64_t id) const {
  std::lock_guard lock(mutex_);
  auto place = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one->id == id; });
  if (place == all_.end()) return NotFound("there is no subscription ", id);
  return (*place)->name.text();
}

// The values of subscriptions, in ascending order, by their names in the session's revision.
std::vector<Result<ResultValue>> Subscriptions::ReadResults(const std::vector<uint64_t>& ids) {
  const Session& session = runner_.session();
  for (;;) {
    const std::shared_ptr<const Graph> graph = session.graph();
    std::vector<std::string> names;
    {
      std::lock_guard lock(mutex_);
      for (const auto& subscription : all_) {
        if (!std::binary_search(ids.begin(), ids.end(), subscription->id)) continue;
        names.push_back(subscription->NameIn(*graph));
      }
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    std::vector<Result<ResultValue>> results = session.GetAll(views);
    if (session.graph() == graph) return results;  // else the session followed an edit in between
  }
}

// Reads the last values on the thread that takes them: the one that runs has enough to do.
void Subscriptions::ReadLast(uint64_t id) {
  std::vector<uint64_t> ids;
  std::vector<Result<ResultValue>> results;
  do {  // until none is removed meanwhile
    ids.clear();
    std::lock_guard lock(mutex_);
    for (auto& subscription : all_) {
      if (subscription->ready && (id == 0 || subscription->id == id)) ids.push_back(subscription->id);
    }
  } while (!ids.empty() && (results = ReadResults(ids)).size() != ids.size());
  if (ids.empty()) return;
  std::lock_guard lock(mutex_);
  size_t next = 0;
  for (auto& subscription : all_) {
    if (next == ids.size()) break;
    if (subscription->id != ids[next]) continue;
    const Result<ResultValue>& result = results[next++];
    if (!std::exchange(subscription->ready, false)) continue;  // another thread took it
    const bool left_out = result.ok() && result->stale;
    Sampled(*subscription, result, left_out || !result.ok() ? 0 : result->run, subscription->ready_ns);
  }
}

std::vector<Sample> Subscriptions::Take(uint64_t id, size_t most) {
  ReadLast(id);
  std::vector<Sample> samples;
  std::lock_guard lock(mutex_);
  bool left = false;
  for (auto& subscription : all_) {
    std::deque<Sample>& pending = subscription->pending;
    if (id == 0 || subscription->id == id) samples.reserve(samples.size() + std::min(most - samples.size(), pending.size()));
    while ((id == 0 || subscription->id == id) && !pending.empty() && samples.size() < most) {
      subscription->pending_bytes -= BytesOf(pending.front().value) + BytesOf(pending.front().high);
      samples.push_back(std::move(pending.front()));
      pending.pop_front();
    }
    left = left || !pending.empty() || subscription->ready;
  }
  if (!left) told_ = false;
  return samples;
}

// Finds the values in another revision of the page. Called with the lock held.
void Subscriptions::Find(const std::shared_ptr<const Graph>& graph) {
  if (!changed_ && graph == graph_) return;
  for (auto& subscription : all_) {
    subscription->spec.value = subscription->NameIn(*graph);
    Result<NamedValue> named = FindNamedValue(*graph, subscription->spec.value);
    subscription->value.reset();
    if (named.ok()) subscription->value = std::move(*named);
  }
  graph_ = graph;
  changed_ = false;
}

// Whether this run's value is needed.
bool Subscriptions::Wants(const Subscription& subscription, int64_t now) const {
  const SubscriptionSpec& spec = subscription.spec;
  if (Accumulates(spec.reduction)) return true;
  if (spec.reduction == Reduction::kDecimate) return subscription.seen % spec.every == 0 && now >= subscription.due_ns;
  return now >= subscription.due_ns;
}

void Subscriptions::OnRunEnd(uint64_t run, const Status& status) {
  if (!status.ok() || !any_.load(std::memory_order_acquire)) return;
  const int64_t now = SteadyNs();
  bool tell = false;
  std::vector<std::shared_ptr<Notice>> notices;
  std::function<void(uint64_t)> ready;
  {
    std::lock_guard lock(mutex_);
    const RunView& view = runner_.view();
    Find(view.graph());
    std::vector<ValueRef> values;
    std::vector<Subscription*> wanting;
    for (auto& subscription : all_) {
      if (subscription->runs == 0) subscription->first_run = run;
      const bool wants = Wants(*subscription, now);
      ++subscription->runs;
      ++subscription->seen;
      if (!wants) continue;
      if (subscription->spec.reduction == Reduction::kLast) {
        subscription->ready = tell = true;
        subscription->ready_ns = now;
        subscription->due_ns = now + subscription->spec.interval.count();
        continue;
      }
      wanting.push_back(subscription.get());
      if (subscription->value) values.push_back(subscription->value->value);
    }
    const std::vector<Result<ResultValue>> results = values.empty() ? std::vector<Result<ResultValue>>() : view.Results(values);
    size_t next = 0;
    for (Subscription* subscription : wanting) {
      if (subscription->value) Sampled(*subscription, results[next++], run, now);
      else Sampled(*subscription, NotFound("the page has no '", subscription->spec.value, "' any more"), run, now);
      tell = tell || !subscription->pending.empty();
    }
    tell = tell && !std::exchange(told_, told_ || tell);
    if (!tell) return;
    notices = notices_;
    ready = ready_;
  }
  for (const auto& notice : notices) notice->Ready(run, now);
  if (ready) ready(run);
}

// Called with the lock held.
void Subscriptions::Sampled(Subscription& subscription, const Result<ResultValue>& result, uint64_t run, int64_t now) {
  const SubscriptionSpec& spec = subscription.spec;
  const std::shared_ptr<MemoryBudget>& budget = runner_.session().scope().budget();
  Sample sample;
  sample.subscription = subscription.id;
  sample.tag = spec.tag;
  sample.run = run;
  sample.t_ns = now;
  sample.status = [&]() -> Status {
    if (!result.ok()) return result.status();
    if (result->run != run) return FailedPrecondition("'", spec.value, "' has no value in this run: a Switch left it out");
    const bool last = spec.reduction == Reduction::kLast;  // names its element itself
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, last ? result->tensor : ElementOf(result->tensor, subscription.value->indices));
    if (Accumulates(spec.reduction)) WEFT_RETURN_IF_ERROR(subscription.window.Add(tensor, budget));
    if (now < subscription.due_ns && !last) return {};
    sample.shape = tensor.shape();
    if (spec.reduction == Reduction::kHistogram) return MakeHistogram(tensor, spec.bins, budget, sample);
    if (Accumulates(spec.reduction)) {
      sample.runs = subscription.window.runs();
      subscription.window.Take(sample);
    } else {
      sample.value = std::move(tensor);
    }
    sample.stride = StrideFor(sample.value, spec.max_bytes);
    WEFT_ASSIGN_OR_RETURN(sample.value, Thinned(sample.value, sample.stride, budget));
    if (sample.high.defined()) {
      WEFT_ASSIGN_OR_RETURN(sample.high, Thinned(sample.high, sample.stride, budget));
    }
    return {};
  }();
  const bool last = spec.reduction == Reduction::kLast;
  if (now < subscription.due_ns && sample.status.ok() && !last) return;
  // The same failure in run after run is delivered once.
  const Code delivered = std::exchange(subscription.delivered, sample.status.code());
  if (!sample.status.ok() && delivered == sample.status.code()) return;
  if (sample.status.ok() && !last) subscription.due_ns = now + spec.interval.count();
  sample.first_run = subscription.first_run;
  const uint64_t runs = std::exchange(subscription.runs, 0);
  if (sample.runs == 0) sample.runs = runs;
  Keep(subscription, std::move(sample));
}

// Called with the lock held.
void Subscriptions::Keep(Subscription& subscription, Sample sample) {
  auto drop = [&] {
    const Sample& oldest = subscription.pending.front();
    subscription.pending_bytes -= BytesOf(oldest.value) + BytesOf(oldest.high);
    subscription.dropped += 1;
    subscription.pending.pop_front();
  };
  const int64_t bytes = BytesOf(sample.value) + BytesOf(sample.high);
  while (!subscription.pending.empty() &&
         (subscription.pending.size() >= subscription.spec.most_pending || subscription.pending_bytes + bytes > kMostPendingBytes)) {
    drop();
  }
  sample.dropped = subscription.dropped;
  subscription.pending.push_back(std::move(sample));
  subscription.pending_bytes += bytes;
}

}  // namespace weft
