// A producer and two consumers over each kind of queue and a staging area, whose sessions are opened, cancelled and closed at random:
// nothing is lost, nothing comes twice, and no memory stays behind. $WEFT_SOAK_SECONDS: how long (2 unless it is set).
#include <cstdlib>
#include <random>
#include <set>

#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

using std::chrono::milliseconds;

double SoakSeconds() {
  const char* text = std::getenv("WEFT_SOAK_SECONDS");
  return text == nullptr ? 2 : std::atof(text);
}

/// Blocks: `x` is fed, `put` puts it in, `take` takes one out, `size` counts; and what is fetched.
struct Kind {
  std::string name;
  std::vector<std::string> blocks;
  std::string taken, size;
};

std::vector<Kind> Kinds() {
  const std::string x = Block("x", "Placeholder", {}, "dtype_ = DT_INT64;");
  auto queue = [&](const std::string& kind, const std::string& attrs, bool priority) {
    const std::string types = priority ? "{DT_INT64,DT_INT64}" : "{DT_INT64}";
    return Kind{kind,
                {x, Block("q", kind, {}, Cat("component_types_ = {DT_INT64};shapes_ = [];", attrs)),
                 Block("put", "QueueEnqueue",
                       {{"handle", "q.handle"}, {"components", priority ? "[\"x.output\", \"x.output\"]" : "[\"x.output\"]"}}),
                 Block("take", "QueueDequeue", {{"handle", "q.handle"}}, Cat("component_types_ = ", types, ";")),
                 Block("size", "QueueSize", {{"handle", "q.handle"}})},
                "take.components[0]",
                "size.size"};
  };
  const std::string area = "shared_name_ = s;capacity_ = 5;";
  return {queue("FIFOQueue", "capacity_ = 5;", false),
          queue("PaddingFIFOQueue", "capacity_ = 3;", false),
          queue("PriorityQueue", "capacity_ = 5;", true),
          queue("RandomShuffleQueue", "capacity_ = 5;", false),
          {"Stage",
           {x, Block("put", "Stage", {{"values", "[\"x.output\"]"}}, area), Block("take", "Unstage", {}, area + "dtypes_ = {DT_INT64};"),
            Block("size", "StageSize", {}, area + "dtypes_ = {DT_INT64};")},
           "take.values[0]",
           "size.size"}};
}

/// What came of the runs of all threads. These use no assertions: Catch takes those of one thread at a time.
class Soak {
 public:
  Soak(const TestPage& page, const Kind& kind)
      : page_(page),
        kind_(kind),
        taken_value_(page.graph().FindValue(kind.taken).value()),
        size_value_(page.graph().FindValue(kind.size).value()) {}

  void Produce() {
    std::mt19937 random(1);
    while (!ending_) {
      const auto session = Opened(Open({}, {page_.graph().FindNode("put").value()}), 0);
      for (uint32_t left = random() % 20; left > 0 && !ending_; --left) {
        const int64_t value = ++next_;
        if (!page_.Feed(*session, "x.output", Tensor::Scalar<int64_t>(value)).ok()) std::abort();
        const Status status = session->Run();
        std::lock_guard lock(mutex_);
        if (status.ok()) ++put_;
        else if (!AtWait(status)) maybe_.insert(value);  // it may be in
        else refused_.insert(value);
      }
      Opened(nullptr, 0);
    }
    produced_ = true;
  }

  void Consume(size_t number) {
    std::mt19937 random(static_cast<unsigned>(number));
    while (!drained_) {
      const auto session = Opened(Open({{kind_.taken, taken_value_}}), number);
      for (uint32_t left = random() % 20; left > 0 && !drained_; --left) {
        RunOptions options;
        options.deadline = Clock::now() + milliseconds(50);
        const Status status = session->Run(options);
        std::lock_guard lock(mutex_);
        if (!status.ok()) {
          lost_ += !AtWait(status);  // it may have been out
          continue;
        }
        twice_ += !taken_.insert(session->Get(kind_.taken).value().tensor.values<int64_t>()[0]).second;
      }
      Opened(nullptr, number);
    }
  }

  void CancelSome() {
    std::mt19937 random(7);
    while (!drained_) {
      std::this_thread::sleep_for(milliseconds(random() % 8));
      std::lock_guard lock(mutex_);
      if (const auto& session = open_[random() % 3]; session != nullptr) session->Cancel();
    }
  }

  /// Lets it go on for that long, then ends the producer, and the consumers once nothing is left.
  void End(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    ending_ = true;
    const auto size = Open({{kind_.size, size_value_}});
    for (bool empty = false; !empty || !produced_;) {
      std::this_thread::sleep_for(milliseconds(5));
      if (!size->Run().ok()) std::abort();
      empty = size->Get(kind_.size).value().tensor.values<int32_t>()[0] == 0;
    }
    std::this_thread::sleep_for(milliseconds(20));
    drained_ = true;
  }

  void Check() const {
    int64_t of_maybe = 0, of_refused = 0;
    for (int64_t value : maybe_) of_maybe += taken_.contains(value);
    for (int64_t value : refused_) of_refused += taken_.contains(value);
    const auto certain = static_cast<int64_t>(taken_.size()) - of_maybe;
    INFO(kind_.name << ": " << put_ << " put in, " << taken_.size() << " taken");
    CHECK(put_ > 0);
    CHECK(twice_ == 0);
    CHECK(of_refused == 0);
    CHECK(certain <= put_);
    CHECK(certain + lost_ >= put_);
  }

 private:
  std::shared_ptr<Session> Open(std::vector<SessionSpec::Fetch> fetches, std::vector<int> run = {}) const {
    SessionSpec spec;
    spec.id = "soak";
    spec.fetches = std::move(fetches);
    spec.run = std::move(run);
    return std::make_shared<Session>(page_.scope(), std::move(spec));
  }
  static bool AtWait(const Status& status) { return status.message().find("while it waited") != std::string::npos; }
  std::shared_ptr<Session> Opened(std::shared_ptr<Session> session, size_t number) {
    std::lock_guard lock(mutex_);
    open_[number] = session;
    return session;
  }

  const TestPage& page_;
  const Kind& kind_;
  const ValueRef taken_value_, size_value_;
  std::atomic<bool> ending_{false}, produced_{false}, drained_{false};
  std::mutex mutex_;
  std::shared_ptr<Session> open_[3];
  int64_t next_ = 0, put_ = 0, twice_ = 0, lost_ = 0;
  std::set<int64_t> taken_, maybe_, refused_;
};

TEST_CASE("Producers and consumers that are cancelled at random lose and double nothing", "[waiting-soak]") {
  const std::vector<Kind> kinds = Kinds();
  for (const Kind& kind : kinds) {
    ScopeOptions options;
    options.stall_limit_ms = -1;
    TestPage page(kind.blocks, {.threads = 2, .memory_limit = 0}, options);
    RunOk(*page.Open({kind.size}));
    const int64_t held = page.scope()->budget() == nullptr ? 0 : page.scope()->budget()->used();
    {
      Soak soak(page, kind);
      std::vector<std::thread> threads;
      threads.emplace_back([&] { soak.Produce(); });
      threads.emplace_back([&] { soak.Consume(1); });
      threads.emplace_back([&] { soak.Consume(2); });
      threads.emplace_back([&] { soak.CancelSome(); });
      soak.End(SoakSeconds() / static_cast<double>(kinds.size()));
      for (std::thread& thread : threads) thread.join();
      soak.Check();
    }
    if (page.scope()->budget() != nullptr)
      CHECK(page.scope()->budget()->used() <= held + (64 << 10));  // plans are kept for the next session
  }
}

}  // namespace
}  // namespace weft::test
