// The link between ranks, over messages that a test moves: what a deadline counts from, how many pieces are under way, how a job ends.
#include <catch2/catch.hpp>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "tests/kit/program.h"
#include "tests/kit/sanitized.h"
#include "weft/host/message_module.h"
#include "weft/host/rank_link.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Catch::Matchers::Contains;

constexpr int kAskTag = 1, kAnswerTag = 2, kNamesTag = 3;
constexpr int kAborted = 42, kTwoThreads = 43;  // how a process ends: by the library's abort, or by a call beside another
constexpr double kSlack = kit::kSanitized ? 3 : 1;                // seconds

/// Messages of rank 0 of a job whose other ranks are made up. The state of a process of its own, which the test forks.
struct Fake {
  int size = 2;
  /// Whether the next piece of a stream (a rank, and a direction) is there: it was begun so long after the first of its stream.
  std::function<bool(int rank, bool receive, int piece)> there = [](int, bool, int) { return true; };
  /// What a rank that is asked says, as the text behind its question's number and the age of its last progress; none where it is silent.
  std::function<std::string(int rank)> says = [](int) { return std::string(); };
  std::function<void()> in_test = [] {}, in_abort = [] {};

  struct Request {
    int rank, piece;
    bool receive, of_names, done;
  };
  std::vector<Request> requests;
  std::map<std::pair<int, bool>, int> begun, ended;  // pieces of streams
  std::deque<std::pair<int, std::string>> answers;
  int64_t tests = 0, under_way = 0, most_under_way = 0;
  std::atomic<int> inside{0};
  std::atomic<bool> alone{true};  // a second call ends the process
};
Fake fake;

/// One call of the library: no other thread is in one.
class Call {
 public:
  Call() {
    if (fake.inside.fetch_add(1) != 0 && fake.alone) _exit(kTwoThreads);
  }
  ~Call() { fake.inside.fetch_sub(1); }
};

int Begin(int tag, int rank, bool receive) {
  const bool names = tag <= kNamesTag;
  const int number = names ? 0 : fake.begun[{rank, receive}]++;
  if (!names) fake.most_under_way = std::max(fake.most_under_way, ++fake.under_way);
  fake.requests.push_back({rank, number, receive, names, false});
  return static_cast<int>(fake.requests.size()) - 1;
}

int Send(int to, int tag, const void* data, size_t bytes) {
  const Call call;
  if (tag == kAskTag) {
    const std::string question(static_cast<const char*>(data), bytes), said = fake.says(to);
    if (!said.empty()) fake.answers.emplace_back(to, question.substr(0, question.find(' ')) + " " + said);
  }
  return Begin(tag, to, false);
}

int Receive(int from, int tag, void* data, size_t bytes) {
  const Call call;
  if (tag == kAnswerTag) {
    std::memcpy(data, fake.answers.front().second.data(), bytes);
    fake.answers.pop_front();
  } else if (tag == kNamesTag) {  // lengths, then names
    std::memset(data, bytes == sizeof(uint64_t) ? 0 : 'n', bytes);
    if (bytes == sizeof(uint64_t)) *static_cast<char*>(data) = 1;
  }
  return Begin(tag, from, true);
}

int Test(int request) {
  const Call call;
  fake.in_test();
  Fake::Request& asked = fake.requests[static_cast<size_t>(request)];
  if (asked.of_names) return 1;
  ++fake.tests;
  int& ended = fake.ended[{asked.rank, asked.receive}];
  if (asked.piece != ended || !fake.there(asked.rank, asked.receive, asked.piece)) return 0;
  ++ended;
  --fake.under_way;
  return 1;
}

int Arrived(int tag, int* from, size_t* bytes) {
  const Call call;
  if (tag != kAnswerTag || fake.answers.empty()) return 0;
  *from = fake.answers.front().first;
  *bytes = fake.answers.front().second.size();
  return 1;
}

void Abort(int) {
  const Call call;
  fake.in_abort();
  _exit(kAborted);
}

constexpr WeftMessages kMessages = {WEFT_MESSAGES_VERSION,
                                    [](int* rank, int* size) { return *rank = 0, *size = fake.size, 0; },
                                    [] { return "made up"; },
                                    Send,
                                    Receive,
                                    Test,
                                    Arrived,
                                    [] { return "a fault"; },
                                    Abort,
                                    [] { const Call call; }};

std::shared_ptr<RankLink> OpenFake(std::chrono::nanoseconds deadline, std::function<void(std::string_view)> tell) {
  void* const library = dlopen(WEFT_GIVEN_MESSAGES, RTLD_NOW);
  if (library == nullptr) _exit(101);
  reinterpret_cast<void (*)(const WeftMessages*)>(dlsym(library, "give_messages"))(&kMessages);
  LinkOptions options;
  options.library = WEFT_GIVEN_MESSAGES;
  options.deadline = deadline;
  options.tell = std::move(tell);
  auto link = RankLink::Open(options);
  if (!link.ok()) _exit(102);
  return *link;
}

struct Ended {
  int status = -1;
  std::string told;
  double seconds = 0;
};

/// Runs this in a process of its own, as a rank that may end with its job.
Ended InProcess(std::chrono::nanoseconds deadline, const std::function<void(RankLink&)>& body) {
  const kit::TemporaryFolder folder;
  const std::string file = (folder.path() / "told").string();
  const Clock::time_point start = Clock::now();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto link = OpenFake(deadline, [&](std::string_view why) { kit::WriteBytes(file, why); });
    body(*link);
    link->Close();
    _exit(0);
  }
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  return {WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how), kit::FileBytes(file), std::chrono::duration<double>(Clock::now() - start).count()};
}

/// Memory of which nothing is used: a message's bytes stay where they are.
char* Unused(size_t bytes) {
  return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

constexpr size_t kPiece = size_t{256} << 10;

/// Pieces come from these ranks, one after another, each so long after the last.
std::function<bool(int, bool, int)> Steadily(std::chrono::nanoseconds each, std::function<bool(int rank)> moves) {
  return [=, start = Clock::now()](int rank, bool, int piece) { return moves(rank) && Clock::now() - start > each * (piece + 1); };
}

}  // namespace

TEST_CASE("a transfer that moves is not ended by its deadline", "[ranks]") {
  for (const bool receive : {true, false}) {
    const Ended ended = InProcess(500ms, [&](RankLink& link) {
      fake.there = Steadily(250ms, [](int) { return true; });
      const Message message{1, receive, Unused(10 * kPiece), 10 * kPiece};
      if (!link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok()) _exit(3);
    });
    INFO(ended.told);
    CHECK(ended.status == 0);
    CHECK(ended.seconds > 2.5);
  }
}

TEST_CASE("a transfer that stands still is ended, though it moved before", "[ranks]") {
  const Ended ended = InProcess(300ms, [&](RankLink& link) {
    fake.there = [start = Clock::now()](int, bool, int piece) { return piece < 5 && Clock::now() - start > 100ms * (piece + 1); };
    const Message message{1, true, Unused(10 * kPiece), 10 * kPiece};
    static_cast<void>(link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok());
  });
  CHECK(ended.status == kAborted);
  CHECK_THAT(ended.told, Contains("waited 0.3 s, for a bucket") && Contains("rank 1 (n) does not answer"));
  CHECK(ended.seconds < 0.5 + 0.3 + 1.5 + kSlack);
}

TEST_CASE("a rank that stopped is named, and no other, though another one's messages move", "[ranks]") {
  fake.size = 3;
  const Ended ended = InProcess(300ms, [&](RankLink& link) {
    fake.there = Steadily(50ms, [](int rank) { return rank == 1; });
    fake.says = [](int rank) { return rank == 1 ? std::string("0 its step") : std::string(); };
    char* const memory = Unused(200 * kPiece);
    const Message messages[] = {
        {1, true, memory, 20 * kPiece}, {2, true, memory, 20 * kPiece}, {1, false, memory, 20 * kPiece}, {2, false, memory, kPiece}};
    static_cast<void>(link.Move(CollectiveUser::kGradients, messages, "for a bucket").ok());
  });
  fake.size = 2;
  CHECK(ended.status == kAborted);
  CHECK_THAT(ended.told, Contains("rank 2 (n) does not answer") && !Contains("rank 1"));
  CHECK(ended.seconds < 1 + 0.3 + 1.5 + 1);  // after the other's are there
}

TEST_CASE("a rank that waits for messages which move is not late", "[ranks]") {
  // Nothing comes from it for a while: it gets itself what it is to pass on.
  const Ended ended = InProcess(300ms, [&](RankLink& link) {
    fake.there = [start = Clock::now()](int, bool, int) { return Clock::now() - start > 2500ms; };
    fake.says = [](int) { return std::string("10 its step"); };
    const Message message{1, true, Unused(kPiece), kPiece};
    if (!link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok()) _exit(3);
  });
  INFO(ended.told);
  CHECK(ended.status == 0);
}

TEST_CASE("a rank that answers and does not move is late", "[ranks]") {
  for (const std::string says : {"-1 step 7, block 'conv'", "400 step 7, block 'conv'"}) {
    const Ended ended = InProcess(300ms, [&](RankLink& link) {
      fake.there = [](int, bool, int) { return false; };
      fake.says = [&](int) { return says; };
      const Message message{1, true, Unused(kPiece), kPiece};
      static_cast<void>(link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok());
    });
    CHECK(ended.status == kAborted);
    CHECK_THAT(ended.told, Contains("rank 1 (n) is at step 7, block 'conv'"));
    CHECK(ended.seconds < 0.3 + 1.5 + kSlack);
  }
}

TEST_CASE("looks at many pieces are about as many as the pieces", "[ranks]") {
  fake.size = 9;
  const Ended ended = InProcess(20s, [&](RankLink& link) {
    // Of each stream a piece is there at every second look.
    std::map<std::pair<int, bool>, int> looks;
    fake.there = [&](int rank, bool receive, int) { return ++looks[{rank, receive}] % 2 == 0; };
    const size_t pieces = 2000, bytes = pieces * kPiece;
    char* const memory = Unused(bytes);
    std::vector<Message> messages;
    for (int rank = 1; rank < fake.size; ++rank) {
      messages.push_back({rank, true, memory, bytes});
      messages.push_back({rank, false, memory, bytes});
    }
    if (!link.Move(CollectiveUser::kGradients, messages, "for a bucket").ok()) _exit(3);
    const auto all = static_cast<int64_t>(pieces * messages.size());
    if (fake.tests > 8 * all) _exit(4);
    if (fake.most_under_way > 1024) _exit(5);
    for (const auto& [stream, count] : fake.ended) {
      if (count < static_cast<int>(pieces)) _exit(6);
    }
  });
  fake.size = 2;
  CHECK(ended.status == 0);
}

// ---- the end of a job ------------------------------------------------------------------------------------------------------------------

namespace {

/// Ends the job of a rank beside a thread that waits for messages which never come.
Ended AbortedBesideAMove(const std::function<void()>& prepare) {
  return InProcess(100s, [&](RankLink& link) {
    fake.there = [](int, bool, int) { return false; };
    prepare();
    const Message message{1, true, Unused(kPiece), kPiece};
    std::thread([&] { static_cast<void>(link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok()); }).detach();
    std::this_thread::sleep_for(200ms);
    link.Abort("the end");
  });
}

}  // namespace

TEST_CASE("a job is ended by its library beside a thread that waits for messages", "[ranks]") {
  const Ended ended = AbortedBesideAMove([] {});
  CHECK(ended.status == kAborted);
  CHECK(ended.told == "the end");
  CHECK(ended.seconds < 1.5);
}

TEST_CASE("a job ends though a thread does not come back from the library", "[ranks]") {
  const Ended ended = AbortedBesideAMove([] {
    fake.alone = false;  // nothing else is possible
    fake.in_test = [] { std::this_thread::sleep_for(100s); };
  });
  CHECK(ended.status == kAborted);
  CHECK(ended.seconds < 5);
}

TEST_CASE("a job ends though the library's end of it hangs", "[ranks]") {
  const Ended ended = AbortedBesideAMove([] { fake.in_abort = [] { std::this_thread::sleep_for(100s); }; });
  CHECK(ended.status == 1);
  CHECK(ended.seconds < 5);
  const Ended late = InProcess(200ms, [&](RankLink& link) {
    fake.there = [](int, bool, int) { return false; };
    fake.in_abort = [] { std::this_thread::sleep_for(100s); };
    const Message message{1, true, Unused(kPiece), kPiece};
    static_cast<void>(link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok());
  });
  CHECK(late.status == 1);
  CHECK(late.seconds < 5);
}

TEST_CASE("two threads end a job once", "[ranks]") {
  const Ended ended = InProcess(100s, [&](RankLink& link) {
    fake.in_abort = [] { std::this_thread::sleep_for(300ms); };
    std::thread([&] { link.Abort("one end"); }).detach();
    link.Abort("another end");
  });
  CHECK(ended.status == kAborted);
}

TEST_CASE("a link is closed when what moves has come", "[ranks]") {
  const Ended ended = InProcess(5s, [&](RankLink& link) {
    fake.there = [start = Clock::now()](int, bool, int) { return Clock::now() - start > 500ms; };
    std::thread mover([&] {
      const Message message{1, true, Unused(kPiece), kPiece};
      if (!link.Move(CollectiveUser::kGradients, {&message, 1}, "for a bucket").ok()) _exit(3);
    });
    std::this_thread::sleep_for(100ms);
    link.Close();
    if (fake.ended.empty()) _exit(4);
    mover.join();
  });
  CHECK(ended.status == 0);
}

}  // namespace weft::test
