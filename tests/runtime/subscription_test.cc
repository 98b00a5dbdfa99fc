// Subscriptions: what becomes of values between two deliveries, how often and how long they come, what gives way.
#include <cmath>

#include "tests/runtime/host_kit.h"
#include "weft/host/subscriptions.h"

namespace weft::test {
namespace {

struct Subscribed : Driven {
  template <class... Args>
  explicit Subscribed(Args&&... args)
      : Driven(std::forward<Args>(args)...), queue(std::make_shared<EventQueue>()), values(std::make_shared<Subscriptions>(*runner)) {
    values->Notify(queue, 3);
    runner->AddListener(values);
  }
  ~Subscribed() { runner->Close(); }
  uint64_t Add(SubscriptionSpec spec) {
    auto id = values->Add(std::move(spec));
    INFO(ToString(id.status()));
    REQUIRE(id.ok());
    return *id;
  }
  void Run(int64_t steps) {
    RunRequest request;
    request.steps = steps;
    const Status status = runner->RunBlocking(request);
    INFO(ToString(status));
    REQUIRE(status.ok());
  }
  std::shared_ptr<EventQueue> queue;
  std::shared_ptr<Subscriptions> values;
};

SubscriptionSpec Spec(std::string value, Reduction reduction) {
  SubscriptionSpec spec;
  spec.value = std::move(value);
  spec.reduction = reduction;
  return spec;
}

struct Counting {
  TestPage page{CountingPage()};
  Subscribed host{page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"}};
};

TEST_CASE("The last value is delivered, or each, or one of so many", "[subscriptions]") {
  Counting c;
  const uint64_t last = c.host.Add(Spec("seen.z", Reduction::kLast));
  const uint64_t each = c.host.Add(Spec("seen.result_z", Reduction::kEach));
  SubscriptionSpec third = Spec("seen.z", Reduction::kDecimate);
  third.every = 3;
  const uint64_t decimated = c.host.Add(third);
  CHECK(c.host.values->Take().empty());
  c.host.Run(7);
  std::vector<Event> events = c.host.queue->Poll();
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == EventKind::kValues);
  CHECK(events[0].source == 3);
  std::vector<Sample> samples = c.host.values->Take(last);
  REQUIRE(samples.size() == 1);
  CHECK(Values(samples[0].value) == Floats{7});
  CHECK(samples[0].run == 7);
  CHECK(samples[0].runs == 7);
  Floats seen, thirds;
  for (const Sample& sample : c.host.values->Take()) {
    CHECK(sample.status.ok());
    if (sample.subscription == each) seen.push_back(Values(sample.value).at(0));
    if (sample.subscription == decimated) thirds.push_back(Values(sample.value).at(0));
  }
  CHECK(seen == Floats{1, 2, 3, 4, 5, 6, 7});
  CHECK(thirds == Floats{1, 4, 7});
  CHECK(c.host.queue->Poll().empty());
  // Told again after samples were taken.
  c.host.Run(1);
  CHECK(c.host.queue->Poll().size() == 1);
  REQUIRE(c.host.values->Remove(each).ok());
  CHECK(c.host.values->Remove(each).code() == Code::kNotFound);
}

TEST_CASE("Means and extremes are of the runs since the last delivery", "[subscriptions]") {
  Counting c;
  SubscriptionSpec mean = Spec("seen.z", Reduction::kMean), extremes = Spec("seen.z", Reduction::kMinMax);
  // The first run delivers; the second delivery comes after the interval.
  mean.interval = extremes.interval = milliseconds(200);
  const uint64_t id = c.host.Add(mean);
  c.host.Add(extremes);
  c.host.Run(1);
  CHECK(c.host.values->Take().size() == 2);
  c.host.Run(4);
  CHECK(c.host.values->Take().empty());
  std::this_thread::sleep_for(milliseconds(220));
  c.host.Run(1);
  std::vector<Sample> samples = c.host.values->Take();
  REQUIRE(samples.size() == 2);
  for (const Sample& sample : samples) {
    CHECK(sample.first_run == 2);
    CHECK(sample.run == 6);
    CHECK(sample.runs == 5);
    if (sample.subscription == id) {
      CHECK(Values<double>(sample.value) == std::vector<double>{4});
      CHECK_FALSE(sample.high.defined());
    } else {
      CHECK(Values(sample.value) == Floats{2});
      CHECK(Values(sample.high) == Floats{6});
    }
  }
}

TEST_CASE("A value comes no more often than its interval", "[subscriptions]") {
  Counting c;
  SubscriptionSpec rare = Spec("seen.z", Reduction::kEach);
  rare.interval = std::chrono::hours(1);
  c.host.Add(rare);
  c.host.Run(50);
  CHECK(c.host.values->Take().size() == 1);
}

TEST_CASE("Long values are thinned, and elements can be subscribed to", "[subscriptions]") {
  std::vector<double> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(i);
  TestPage page({Block("x", "Const", {{"value", Vector(numbers)}}), Block("y", "Negate", {{"x", "x.output"}})});
  Subscribed host(page, std::vector<std::string>{"y.y"});
  SubscriptionSpec thin = Spec("y.y", Reduction::kLast);
  thin.max_bytes = 40;
  host.Add(thin);
  host.Add(Spec("y.y[7]", Reduction::kLast));
  host.Run(1);
  std::vector<Sample> samples = host.values->Take();
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].stride == 10);
  CHECK(samples[0].shape == Shape{100});
  CHECK(Values(samples[0].value) == Floats{0, -10, -20, -30, -40, -50, -60, -70, -80, -90});
  CHECK(samples[1].stride == 1);
  CHECK(Values(samples[1].value) == Floats{-7});
}

TEST_CASE("A histogram counts the finite elements of the last value", "[subscriptions]") {
  TestPage page({Block("x", "Const", {{"value", Vector({0, 1, 2, 3, 4, 4, 4, 0})}}), Block("d", "Const", {{"value", Vector({1, 1, 1, 1, 1, 1, 1, 0})}}),
                 Block("y", "Div", {{"x", "x.output"}, {"y", "d.output"}}), Block("same", "Const", {{"value", Vector({5, 5})}}),
                 Block("s", "Negate", {{"x", "same.output"}})});
  Subscribed host(page, std::vector<std::string>{"y.z", "s.y"});
  SubscriptionSpec spec = Spec("y.z", Reduction::kHistogram);
  spec.bins = 4;
  host.Add(spec);
  spec.value = "s.y";
  host.Add(spec);
  host.Run(1);
  std::vector<Sample> samples = host.values->Take();
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].lowest == 0);
  CHECK(samples[0].highest == 4);
  CHECK(samples[0].not_finite == 1);
  CHECK(Values<int64_t>(samples[0].value) == std::vector<int64_t>{1, 1, 1, 4});
  CHECK(Values<int64_t>(samples[1].value) == std::vector<int64_t>{2, 0, 0, 0});
}

TEST_CASE("Samples stay as they are while the page runs on", "[subscriptions]") {
  Counting c;
  c.host.Add(Spec("seen.z", Reduction::kEach));
  c.host.Run(3);
  std::vector<Sample> held = c.host.values->Take();
  c.host.Run(20);
  REQUIRE(held.size() == 3);
  for (size_t i = 0; i < held.size(); ++i) CHECK(Values(held[i].value) == Floats{static_cast<float>(i + 1)});
}

TEST_CASE("What waits to be taken is bounded", "[subscriptions]") {
  Counting c;
  SubscriptionSpec few = Spec("seen.z", Reduction::kEach);
  few.most_pending = 5;
  c.host.Add(few);
  c.host.Run(100);
  std::vector<Sample> samples = c.host.values->Take();
  REQUIRE(samples.size() == 5);
  CHECK(samples.back().dropped == 95);
  CHECK(Values(samples.front().value) == Floats{96});
}

TEST_CASE("A value that the session does not keep is told once, without a value", "[subscriptions]") {
  TestPage page(CountingPage());
  Subscribed host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"}, Keep::kAsked);
  host.Add(Spec("seen.z", Reduction::kEach));
  host.Run(10);
  std::vector<Sample> samples = host.values->Take();
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].status.code() == Code::kFailedPrecondition);
  CHECK_FALSE(samples[0].value.defined());
}

TEST_CASE("Subscriptions that make no sense are refused", "[subscriptions]") {
  TestPage page({Block("x", "Const", {{"value", Vector({1})}}),
                 Block("text", "Const", {{"value", R"({"dtype": "DT_STRING", "shape": [], "values": ["a"]})"}})});
  Subscribed host(page, std::vector<std::string>{"x.output"});
  auto code = [&](const SubscriptionSpec& spec) { return host.values->Add(spec).status().code(); };
  CHECK(code(Spec("y.output", Reduction::kLast)) == Code::kNotFound);
  CHECK(code(Spec("x", Reduction::kLast)) == Code::kInvalidArgument);
  for (Reduction reduction : {Reduction::kMean, Reduction::kMinMax, Reduction::kHistogram}) {
    CHECK(code(Spec("text.output", reduction)) == Code::kInvalidArgument);
  }
  SubscriptionSpec spec = Spec("x.output", Reduction::kLast);
  spec.interval = milliseconds(-1);
  CHECK(code(spec) == Code::kInvalidArgument);
  spec = Spec("x.output", Reduction::kDecimate);
  spec.every = 0;
  CHECK(code(spec) == Code::kInvalidArgument);
  spec = Spec("x.output", Reduction::kHistogram);
  for (int64_t bins : {int64_t{0}, int64_t{-1}, int64_t{65537}, INT64_MAX}) {
    spec.bins = bins;
    CHECK(code(spec) == Code::kInvalidArgument);
  }
  spec = Spec("x.output", Reduction::kLast);
  spec.max_bytes = -1;
  CHECK(code(spec) == Code::kInvalidArgument);
}

TEST_CASE("Values that are taken from another thread while a page runs are never halves of two runs", "[subscriptions]") {
  std::vector<std::string> blocks = {Variable("v", Vector(std::vector<double>(5000, 0))),
                                     Block("ones", "OnesLike", {{"x", "v.ref"}}), Block("y", "Negate", {{"x", "v.ref"}}),
                                     Block("count", "AssignAdd", {{"ref", "v.ref"}, {"value", "ones.y"}})};
  TestPage page(blocks);
  Subscribed host(page, std::vector<std::string>{"y.y"}, std::vector<std::string>{"count"});
  host.Add(Spec("y.y", Reduction::kLast));
  host.Start(400);
  size_t taken = 0;
  bool whole = true;
  while (host.runner->state().state != RunState::kIdle) {
    host.queue->Wait(milliseconds(5));
    static_cast<void>(host.queue->Poll());
    for (const Sample& sample : host.values->Take()) {
      ++taken;
      for (float element : sample.value.values<float>()) whole = whole && element == -static_cast<float>(sample.run - 1);
    }
  }
  CHECK(host.Ended().ok());
  CHECK(whole);
  CHECK(taken + host.values->Take().size() > 0);
}

TEST_CASE("A subscription follows its value through a rename, with its name as the page calls it now", "[subscriptions][page_edit]") {
  Counting c;
  const auto edit = [&](const char* json) {
    Diagnostics found;
    REQUIRE(c.page.scope()->Apply(ReadEdits(json).value(), found).ok());
  };
  const uint64_t last = c.host.Add(Spec("seen.result_z", Reduction::kLast)), mean = c.host.Add(Spec("seen.z", Reduction::kMean));
  c.host.Run(1);
  edit(R"({"op": "rename", "block": "seen", "to": "middle"})");
  CHECK(c.host.values->NameOf(last).value() == "middle.result_z");
  // Of the run before the edit, taken after it.
  std::vector<Sample> samples = c.host.values->Take();
  REQUIRE(samples.size() == 2);
  for (const Sample& sample : samples) CHECK(sample.status.ok());
  edit(R"([{"op": "rename", "block": "middle", "to": "end"}, {"op": "add", "block": {"id": "seen", "block": "Add", "inputs": {"x": "v.ref", "y": "v.ref"}}}])");
  c.host.Run(1);
  CHECK(c.host.values->NameOf(mean).value() == "end.z");
  samples = c.host.values->Take();
  REQUIRE(samples.size() == 2);
  for (const Sample& sample : samples) {
    REQUIRE(sample.status.ok());
    const bool is_mean = sample.subscription == mean;
    CHECK((is_mean ? sample.value.values<double>()[0] : static_cast<double>(sample.value.values<float>()[0])) == 2);
  }
  CHECK(c.host.values->NameOf(99).status().code() == Code::kNotFound);
}

TEST_CASE("A subscription whose block an edit removes says so once, and goes on when the block is back", "[subscriptions][page_edit]") {
  std::vector<std::string> blocks = CountingPage();
  blocks.push_back(Block("n", "Neg", {{"x", "v.ref"}}));
  TestPage page(blocks);
  Runner runner(std::make_shared<Session>(page.scope(), page.graph().DefaultSession()));
  auto values = std::make_shared<Subscriptions>(runner);
  runner.AddListener(values);
  const uint64_t id = values->Add(Spec("n.y", Reduction::kMean)).value();
  const auto sampled = [&](size_t count) {
    REQUIRE(runner.RunBlocking({}).ok());
    std::vector<Sample> samples = values->Take();
    REQUIRE(samples.size() == count);
    return count == 0 ? Status() : samples[0].status;
  };
  CHECK(sampled(1).ok());
  Diagnostics found;
  auto undo = page.scope()->Apply(ReadEdits(R"({"op": "remove", "block": "n"})").value(), found);
  REQUIRE(undo.ok());
  CHECK(sampled(1).code() == Code::kNotFound);
  CHECK(sampled(0).ok());
  CHECK(values->NameOf(id).value() == "n.y");
  REQUIRE(page.scope()->Apply(*undo, found).ok());
  CHECK(sampled(1).ok());
  runner.Close();
}

}  // namespace
}  // namespace weft::test
