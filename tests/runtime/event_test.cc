// Events: queues and callbacks, what is merged, what gives way in a full queue, what wakes a host.
#include <poll.h>

#include <map>
#include <set>

#include "tests/runtime/host_kit.h"
#include "weft/host/events.h"

namespace weft::test {
namespace {

std::vector<std::string> PrintingPage() {
  std::vector<std::string> blocks = CountingPage();
  blocks.push_back(Block("say", "Print", {{"input", "seen.z"}, {"data", "[\"seen.z\"]"}}, "message_ = n;"));
  return blocks;
}

Event Print(std::string text) {
  Event event;
  event.kind = EventKind::kPrint;
  event.text = std::move(text);
  return event;
}
Event Error(std::string text) {
  Event event;
  event.kind = EventKind::kError;
  event.status = Internal(text);
  return event;
}

bool Readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, 0) == 1;
}

struct Watched : Driven {
  Watched(const TestPage& page, EventOptions options, const std::vector<std::string>& fetches = {"half.z"},
          const std::vector<std::string>& run = {"count"})
      : Driven(page, fetches, run) {
    runner->AddListener(std::make_shared<EventFeed>(*session, std::move(options)));
  }
  ~Watched() { runner->Close(); }
};

TEST_CASE("A queue gives events in order with growing numbers, and a full one says what it dropped", "[events]") {
  EventQueue queue({.most_events = 4, .most_bytes = 1 << 20});
  CHECK(queue.Poll().empty());
  queue.Push(Error("first"));
  for (int i = 0; i < 10; ++i) queue.Push(Print(Cat(i)));
  queue.Push(Error("last"));
  std::vector<Event> events = queue.Poll();
  REQUIRE(events.size() == 5);
  CHECK(events[0].status.message() == "first");
  CHECK(events[1].kind == EventKind::kGap);
  CHECK(events[1].dropped[static_cast<size_t>(EventKind::kPrint)] == 8);
  CHECK(events[1].dropped[static_cast<size_t>(EventKind::kError)] == 0);
  CHECK(events[2].text == "8");
  CHECK(events[3].text == "9");
  CHECK(events[4].status.message() == "last");
  uint64_t seq = 0, numbers = 0;
  for (const Event& event : events) {
    CHECK(event.seq > seq);
    seq = event.seq;
    for (uint64_t dropped : event.dropped) numbers += dropped;
    numbers += event.kind != EventKind::kGap;
  }
  CHECK(numbers == seq);
  CHECK(queue.Poll().empty());
  queue.Push(Print("next"));
  CHECK(queue.Poll().at(0).seq == seq + 1);
}

TEST_CASE("A queue is bounded in bytes, too, and is drained in parts", "[events]") {
  EventQueue queue({.most_events = 1000, .most_bytes = 1000});
  for (int i = 0; i < 50; ++i) queue.Push(Print(std::string(100, 'x')));
  std::vector<Event> first = queue.Poll(3);
  CHECK(first.size() == 3);
  CHECK(first[0].kind == EventKind::kGap);
  CHECK(first[0].dropped[static_cast<size_t>(EventKind::kPrint)] == 40);
  std::vector<Event> rest = queue.Poll();
  CHECK(rest.size() == 8);
  // One that is too large by itself comes nevertheless.
  queue.Push(Print(std::string(5000, 'y')));
  CHECK(queue.Poll().size() == 1);
}

TEST_CASE("What a failure came from counts among the bytes of a queue", "[events]") {
  const auto caused = [] {
    Event event = Error("outer");
    event.status = std::move(event.status).WithCause(NotFound(std::string(1000, 'x')).WithHint(std::string(500, 'y')));
    return event;
  };
  CHECK(caused().bytes() >= 1505);
  EventQueue queue({.most_events = 1000, .most_bytes = 4000});
  for (int i = 0; i < 10; ++i) queue.Push(caused());
  const std::vector<Event> events = queue.Poll();
  REQUIRE(events.size() == 3);
  CHECK(events[0].dropped[static_cast<size_t>(EventKind::kError)] == 8);
  uint64_t missed = 0;
  CHECK(queue.Replay(1, 100, missed).size() == 3);  // the gap is small
}

TEST_CASE("The descriptor is readable while there are events, and Wait wakes", "[events]") {
  EventQueue queue;
  auto fd = queue.fd();
  REQUIRE(fd.ok());
  CHECK_FALSE(Readable(*fd));
  CHECK_FALSE(queue.Wait(nanoseconds(0)));
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    queue.Push(Print("a"));
  });
  CHECK(queue.Wait(seconds(20)));
  CHECK(Readable(*fd));
  queue.Push(Print("b"));
  CHECK(queue.Poll(1).size() == 1);
  CHECK(Readable(*fd));
  CHECK(queue.Poll().size() == 1);
  CHECK_FALSE(Readable(*fd));
  other.join();
  std::thread interrupter([&] { queue.Interrupt(); });
  CHECK_FALSE(queue.Wait(seconds(20)));
  interrupter.join();
  CHECK(queue.fd().value() == *fd);
}

TEST_CASE("A queue tells states, runs and blocks once however many there were, and prints one by one", "[events]") {
  TestPage page(PrintingPage());
  auto queue = std::make_shared<EventQueue>();
  EventOptions options;
  options.queue = queue;
  options.source = 7;
  Watched host(page, options, {"half.z", "say.output"});
  host.Start(5);
  REQUIRE(host.Ended().ok());
  std::map<std::string, Event> blocks;
  std::vector<std::string> prints, states;
  uint64_t runs = 0;
  // The last state is told after the runner is idle.
  for (const Clock::time_point start = Clock::now(); states.size() < 2 && MillisecondsSince(start) < 20000;) {
    for (Event& event : queue->Poll()) {
      CHECK(event.source == 7);
      CHECK(event.page == "p");
      CHECK(event.session == "test");
      CHECK(event.t_ns > 0);
      if (event.kind == EventKind::kState) states.push_back(Cat(static_cast<int>(event.state.state)));
      if (event.kind == EventKind::kPrint) {
        prints.push_back(event.text);
        CHECK(event.block == "say");
        CHECK(event.run == prints.size());
      }
      if (event.kind == EventKind::kRun) {
        runs = event.merged + 1;
        CHECK(event.progress == Progress::kEnded);
        CHECK(event.run == 5);
      }
      if (event.kind == EventKind::kProgress) blocks[event.block] = event;
    }
  }
  CHECK(states == std::vector<std::string>{"1", "0"});
  CHECK(prints.size() == 5);
  CHECK(runs == 10);  // five that began, five that ended
  REQUIRE(blocks.count("half") == 1);
  CHECK(blocks["half"].progress == Progress::kEnded);
  CHECK(blocks["half"].run == 5);
  CHECK(blocks["half"].merged == 9);
  CHECK(blocks["half"].fraction > 0);
  CHECK(blocks["half"].fraction <= 1);
  CHECK(blocks.size() == 4);
  CHECK(queue->Poll().empty());
}

TEST_CASE("An error is told with its whole place, and its block as failed", "[events]") {
  TestPage page({Block("x", "Const", {{"value", Ints({5})}}), Block("n", "Placeholder", {}, "dtype_ = DT_INT32;"),
                 Block("pick", "Gather", {{"params", Vector({1, 2})}, {"indices", "x.output"}})});
  auto queue = std::make_shared<EventQueue>();
  EventOptions options;
  options.queue = queue;
  Watched host(page, options, {"pick.output"}, {});
  host.Start(1);
  CHECK_FALSE(host.Ended().ok());
  bool error = false, failed = false, run = false;
  for (const Event& event : queue->Poll()) {
    if (event.kind == EventKind::kError) {
      error = true;
      CHECK(event.status.code() != Code::kOk);
      CHECK(event.block == "pick");
      CHECK(event.port == "indices");
      CHECK(event.status.place().block == "pick");
      CHECK_FALSE(event.status.message().empty());
    }
    if (event.kind == EventKind::kProgress && event.block == "pick") failed = event.progress == Progress::kFailed;
    if (event.kind == EventKind::kRun) run = event.progress == Progress::kFailed && !event.status.ok();
  }
  CHECK(error);
  CHECK(failed);
  CHECK(run);
}

TEST_CASE("A feed that is added again while it is there tells everything once", "[events]") {
  TestPage page(PrintingPage());
  Driven host(page, {"say.output"});
  auto queue = std::make_shared<EventQueue>();
  EventOptions options;
  options.queue = queue;
  options.kinds = MaskOf(EventKind::kPrint) | MaskOf(EventKind::kState);
  auto feed = std::make_shared<EventFeed>(*host.session, options);
  for (int i = 0; i < 3; ++i) host.runner->AddListener(feed);
  host.Start(2);
  REQUIRE(host.Ended().ok());
  size_t prints = 0, idle = 0;
  for (const Event& event : queue->Poll()) {
    prints += event.kind == EventKind::kPrint;
    idle += event.kind == EventKind::kState && event.state.state == RunState::kIdle;
  }
  CHECK(prints == 2);
  host.runner->RemoveListener(feed.get());
  host.Start(1);
  REQUIRE(host.Ended().ok());
  CHECK(queue->Poll().empty());
  host.runner->Close();
  CHECK(idle <= 1);  // the last state may come after the wait
}

TEST_CASE("Only the kinds that were asked for are told, and steps only where they are", "[events]") {
  TestPage page(PrintingPage());
  auto queue = std::make_shared<EventQueue>();
  EventOptions options;
  options.queue = queue;
  options.kinds = MaskOf(EventKind::kPrint);
  Watched host(page, options, {"say.output"});
  host.Start(3);
  REQUIRE(host.Ended().ok());
  std::vector<Event> events = queue->Poll();
  CHECK(events.size() == 3);
  for (const Event& event : events) CHECK(event.kind == EventKind::kPrint);
}

TEST_CASE("Callbacks come on the thread that runs, no more often than asked, and may call back", "[events]") {
  TestPage page(CountingPage());
  std::vector<Event> events;
  std::mutex mutex;
  Runner* runner = nullptr;
  std::set<std::thread::id> threads;
  EventOptions options;
  options.progress_interval = std::chrono::hours(1);
  options.callback = [&](const Event& event) {
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    events.push_back(event);
    static_cast<void>(runner->state());
  };
  Watched host(page, options);
  runner = host.runner.get();
  RunRequest request;
  request.steps = 100;
  REQUIRE(runner->RunBlocking(request).ok());
  CHECK(threads == std::set<std::thread::id>{std::this_thread::get_id()});
  int runs = 0, halves = 0, states = 0;
  uint64_t seq = 0;
  for (const Event& event : events) {
    CHECK(event.seq == ++seq);
    runs += event.kind == EventKind::kRun;
    halves += event.kind == EventKind::kProgress && event.block == "half";
    states += event.kind == EventKind::kState;
  }
  CHECK(runs == 2);
  CHECK(halves == 2);
  CHECK(states == 2);
}

TEST_CASE("A queue that nobody drains stays bounded while a page prints on and on", "[events]") {
  TestPage page(PrintingPage());
  auto queue = std::make_shared<EventQueue>(EventQueueOptions{.most_events = 16, .most_bytes = 1 << 16});
  EventOptions options;
  options.queue = queue;
  Watched host(page, options, {"say.output"});
  host.Start(2000);
  REQUIRE(host.Ended().ok());
  uint64_t prints = 0, dropped = 0;
  for (const Event& event : queue->Poll()) {
    prints += event.kind == EventKind::kPrint;
    dropped += event.dropped[static_cast<size_t>(EventKind::kPrint)];
  }
  CHECK(prints + dropped == 2000);
  CHECK(prints <= 16);
}

}  // namespace
}  // namespace weft::test
