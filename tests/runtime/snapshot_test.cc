// Snapshots: everything comes back, at whatever moment the process is killed, and damaged files and other pages are refused.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "tests/kit/sanitized.h"
#include "tests/runtime/host_kit.h"
#include "weft/base/file.h"
#include "weft/host/breakpoints.h"
#include "weft/host/file_sandbox.h"
#include "weft/state/snapshot.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;

/// A folder of this test's own.
struct Folder {
  Folder() : path(fs::temp_directory_path() / Cat("weft_snapshot_", getpid(), "_", ++count_)) { fs::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path file() const { return path / "state.snap"; }
  fs::path path;

 private:
  static inline int count_ = 0;
};

std::string Bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void Write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void Save(const TestPage& page, const fs::path& path) {
  auto saved = SaveSnapshot(*page.scope(), path);
  INFO(ToString(saved.status()));
  REQUIRE(saved.ok());
  CHECK(saved->bytes == static_cast<int64_t>(fs::file_size(path)));
}
Status Restore(const TestPage& page, const fs::path& path, RestoreOptions options = {}) {
  Diagnostics problems;
  Status status = RestoreSnapshot(*page.scope(), path, options, problems).status();
  CHECK(problems.has_errors() == !status.ok());
  return status;
}
void RestoreOk(const TestPage& page, const fs::path& path) {
  const Status status = Restore(page, path);
  INFO(ToString(status));
  REQUIRE(status.ok());
}

/// Variables, a queue, a reader of four records, a random stream.
std::vector<std::string> RichPage() {
  std::vector<std::string> blocks = CountingPage();
  for (std::string block :
       {Variable("w", Vector({1, 2, 3})), Block("grow", "AssignAdd", {{"ref", "w.ref"}, {"value", Vector({1, 1, 1})}}),
        Variable("name", R"({"dtype": "DT_STRING", "shape": [2], "values": ["a", ""]})"),
        Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
        Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"seen.z\"]"}}),
        Block("take", "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"),
        Block("size", "QueueSize", {{"handle", "q.handle"}}),
        Block("draw", "RandomUniform", {{"shape", Ints({3})}}, "dtype_ = DT_FLOAT;seed_ = 5;seed2_ = 6;"),
        Block("chance", "RandomUniform", {{"shape", Ints({3})}}, "dtype_ = DT_FLOAT;"),
        Block("names", "FIFOQueue", {}, "component_types_ = {DT_STRING};"),
        Block("name_file", "QueueEnqueue",
              {{"handle", "names.handle"}, {"components", R"([{"dtype": "DT_STRING", "shape": [], "values": ["records.bin"]}])"}}),
        Block("reader", "FixedLengthRecordReader", {}, "record_bytes_ = 2;"),
        Block("read", "ReaderRead", {{"reader_handle", "reader.reader_handle"}, {"queue_handle", "names.handle"}}),
        Block("produced", "ReaderNumRecordsProduced", {{"reader_handle", "reader.reader_handle"}})}) {
    blocks.push_back(std::move(block));
  }
  return blocks;
}

struct Rich {
  explicit Rich(const Folder& folder) : page(RichPage(), {.threads = 2, .memory_limit = 0}, Options(folder)) {
    Write(folder.path / "records.bin", "aabbccdd");
  }
  static ScopeOptions Options(const Folder& folder) {
    ScopeOptions options;
    options.files = std::make_shared<FileSandbox>(FolderRules::OfPage(folder.path));
    options.stall_limit_ms = 300;
    return options;
  }
  Floats Draw(const std::string& id) {
    auto session = page.Open({id + ".output"});
    RunOk(*session);
    return test::Get(*session, id + ".output");
  }
  std::string Read() {
    auto session = page.Open({"read.value"});
    RunOk(*session);
    return std::string(test::Get<String>(*session, "read.value").at(0));
  }
  float Dequeue() {
    auto session = page.Open({"take.components[0]"});
    RunOk(*session);
    return test::Get(*session, "take.components[0]").at(0);
  }
  void Run(const std::vector<std::string>& blocks) { RunOk(*page.Open({}, blocks)); }

  TestPage page;
};

TEST_CASE("All state of a scope comes back, in the same process and in a new one", "[snapshot]") {
  Folder folder;
  Rich rich(folder);
  for (int i = 0; i < 3; ++i) rich.Run({"count", "grow", "put"});
  rich.Run({"name_file"});
  CHECK(rich.Read() == "aa");
  CHECK(rich.Read() == "bb");
  rich.Draw("draw");
  rich.Draw("chance");
  Save(rich.page, folder.file());
  const Floats next_draw = rich.Draw("draw"), next_chance = rich.Draw("chance");
  CHECK(rich.Dequeue() == 1);
  CHECK(rich.Read() == "cc");
  rich.Run({"count", "grow", "put"});
  // In place, twice.
  for (int i = 0; i < 2; ++i) {
    RestoreOk(rich.page, folder.file());
    CHECK(rich.page.Var("v") == Floats{3});
    CHECK(rich.page.Var("w") == Floats{4, 5, 6});
    CHECK(rich.Draw("draw") == next_draw);
    CHECK(rich.Draw("chance") == next_chance);
    CHECK(rich.Dequeue() == 1);
    CHECK(rich.Dequeue() == 2);
    CHECK(rich.Read() == "cc");
  }
  // Where nothing has run yet.
  Rich fresh(folder);
  RestoreOk(fresh.page, folder.file());
  CHECK(fresh.page.Var("v") == Floats{3});
  CHECK(Values<String>(fresh.page.scope()->GetVariable("name").value()) == std::vector<String>{"a", ""});
  CHECK(fresh.Read() == "cc");
  CHECK(fresh.Read() == "dd");
  CHECK(fresh.Draw("draw") == next_draw);
  CHECK(fresh.Draw("chance") == next_chance);
  CHECK(fresh.Dequeue() == 1);
  fresh.Run({"count", "grow", "put"});
  CHECK(fresh.page.Var("w") == Floats{5, 6, 7});
  for (float expected : {2.0F, 3.0F, 4.0F}) CHECK(fresh.Dequeue() == expected);
}

TEST_CASE("A snapshot of a page that nothing has run in brings its beginning back", "[snapshot]") {
  Folder folder;
  Rich rich(folder);
  Save(rich.page, folder.file());
  const Floats first = rich.Draw("draw");
  rich.Run({"count", "grow", "put", "name_file"});
  CHECK(rich.Read() == "aa");
  RestoreOk(rich.page, folder.file());
  CHECK(rich.page.scope()->GetVariable("v").status().code() == Code::kFailedPrecondition);
  CHECK(rich.Draw("draw") == first);
  auto size = rich.page.Open({"size.size", "produced.records_produced"});
  RunOk(*size);
  CHECK(test::Get<int32_t>(*size, "size.size") == std::vector<int32_t>{0});
  CHECK(test::Get<int64_t>(*size, "produced.records_produced") == std::vector<int64_t>{0});
  rich.Run({"grow"});
  CHECK(rich.page.Var("w") == Floats{2, 3, 4});
}

TEST_CASE("State that has been restored but not used yet goes with a block that is renamed", "[snapshot]") {
  Folder folder;
  Rich rich(folder);
  rich.Draw("draw");
  Save(rich.page, folder.file());
  const Floats next = rich.Draw("draw");
  Rich fresh(folder);
  RestoreOk(fresh.page, folder.file());
  Diagnostics problems;
  const Edit rename = RenameBlock{"draw", "numbers"};
  REQUIRE(fresh.page.scope()->Apply({&rename, 1}, problems).ok());
  CHECK(fresh.Draw("numbers") == next);
}

TEST_CASE("State that has been restored but not used yet is saved again", "[snapshot]") {
  Folder folder;
  Rich rich(folder);
  rich.Run({"put"});
  rich.Draw("draw");
  Save(rich.page, folder.file());
  Rich between(folder);
  RestoreOk(between.page, folder.file());
  Save(between.page, folder.path / "again.snap");
  CHECK(Bytes(folder.file()) == Bytes(folder.path / "again.snap"));
}

TEST_CASE("A snapshot that is cut short or damaged anywhere is refused, and nothing changes", "[snapshot]") {
  Folder folder;
  Rich rich(folder);
  rich.Run({"count", "grow", "put", "name_file"});
  rich.Read();
  rich.Draw("draw");
  Save(rich.page, folder.file());
  rich.Run({"count", "grow"});
  const std::string good = Bytes(folder.file());
  const fs::path bad = folder.path / "bad.snap";
  auto refused = [&](const std::string& bytes) {
    Write(bad, bytes);
    const Status status = Restore(rich.page, bad);
    INFO(ToString(status));
    return !status.ok() && (status.code() == Code::kDataLoss || status.code() == Code::kUnsupported) && status.message().size() > 20;
  };
  const size_t step = kit::kSanitized ? 37 : 7;
  for (size_t size = 0; size < good.size(); size += size < 64 ? 1 : step) {
    INFO("cut at " << size);
    CHECK(refused(good.substr(0, size)));
  }
  for (size_t at = 0; at < good.size(); at += at < 64 ? 1 : step) {
    INFO("changed at " << at);
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    CHECK(refused(changed));
  }
  CHECK(refused(good + "x"));
  CHECK(refused(good + good));
  CHECK(refused(std::string(1000, '\0')));
  CHECK(Restore(rich.page, folder.path / "none.snap").code() == Code::kNotFound);
  CHECK(Restore(rich.page, folder.path).code() == Code::kInvalidArgument);
  CHECK(rich.page.Var("w") == Floats{3, 4, 5});
  CHECK(rich.page.Var("v") == Floats{2});
}

TEST_CASE("A snapshot of another page says all that does not fit, and nothing changes", "[snapshot]") {
  Folder folder;
  TestPage from({Variable("a", Vector({1, 2})), Variable("b", Scalar(1)), Variable("c", Scalar(1)), Variable("old", Scalar(1)),
                 Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
                 Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(1), "]")}}),
                 Block("draw", "RandomUniform", {{"shape", Ints({3})}}, "dtype_ = DT_FLOAT;")});
  RunOk(*from.Open({"a.ref", "draw.output"}, {"put"}));
  Save(from, folder.file());
  TestPage to({Variable("a", Vector({1, 2, 3})), Variable("b", Ints({7})), Block("c", "Const", {{"value", Scalar(1)}}), Variable("young", Scalar(1)),
               Block("q", "FIFOQueue", {}, "component_types_ = {DT_INT32};"),
               Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Literal("DT_INT32", {}, {1}), "]")}})});
  RunOk(*to.Open({"a.ref"}, {"put"}));
  Diagnostics problems;
  auto restored = RestoreSnapshot(*to.scope(), folder.file(), {}, problems);
  CHECK_FALSE(restored.ok());
  auto says = [&](std::string_view block, std::string_view first, std::string_view second) {
    for (const Diagnostic& problem : problems.all()) {
      const std::string text = ToString(problem);
      if (text.find(block) != std::string::npos && text.find(first) != std::string::npos && text.find(second) != std::string::npos) return true;
    }
    return false;
  };
  for (const Diagnostic& problem : problems.all()) UNSCOPED_INFO(ToString(problem));
  CHECK(says("a", "[3]", "[2]"));
  CHECK(says("b", "DT_INT32", "DT_FLOAT"));
  CHECK(says("c", "", "which this page has not"));
  CHECK(says("old", "", "which this page has not"));
  CHECK(says("young", "", "has no variable"));
  CHECK(says("'q'", "DT_INT32", "DT_FLOAT"));
  CHECK(says("'draw'", "RandomUniform", "no block of this page"));
  CHECK(problems.errors() == 7);
  CHECK(to.Var("a") == Floats{1, 2, 3});
}

TEST_CASE("Restored in part, a snapshot gives what fits", "[snapshot]") {
  Folder folder;
  TestPage from({Variable("a", Scalar(1)), Variable("b", Scalar(1)), Block("set", "Assign", {{"ref", "a.ref"}, {"value", Scalar(9)}})});
  RunOk(*from.Open({}, {"set"}));
  Save(from, folder.file());
  TestPage to({Variable("a", Scalar(1)), Variable("b", Vector({1, 2})), Variable("c", Scalar(4))});
  RunOk(*to.Open({"a.ref", "b.ref", "c.ref"}));
  CHECK(Restore(to, folder.file()).code() == Code::kInvalidArgument);
  RestoreOptions options;
  options.partial = true;
  CHECK(Restore(to, folder.file(), options).ok());
  CHECK(to.Var("a") == Floats{9});
  CHECK(to.Var("b") == Floats{1, 2});
  CHECK(to.Var("c") == Floats{4});
}

TEST_CASE("A snapshot cannot name files outside of the allowed folders", "[snapshot]") {
  Folder folder, other;
  Rich rich(folder);
  rich.Run({"name_file"});
  rich.Read();
  Save(rich.page, folder.file());
  // Elsewhere the name means a file that is not there; what is there is not looked for in the first folder.
  Rich elsewhere(other);
  fs::remove(other.path / "records.bin");
  RestoreOk(elsewhere.page, folder.file());
  const Status status = elsewhere.page.Open({"read.value"})->Run();
  CHECK(status.code() == Code::kNotFound);
}

TEST_CASE("Snapshots are taken between runs of a page that runs on, with every value of one run", "[snapshot]") {
  Folder folder;
  TestPage page({Variable("a", Scalar(0)), Variable("b", Scalar(0)), Block("one", "ApplyGradientDescent", {{"var", "a.ref"}, {"alpha", Scalar(-1)}, {"delta", Scalar(1)}}),
                 Block("two", "ApplyGradientDescent", {{"var", "b.ref"}, {"alpha", Scalar(-1)}, {"delta", Scalar(1)}}),
                 Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
                 Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"a.ref\"]"}}),
                 Block("size", "QueueSize", {{"handle", "q.handle"}})});
  Driven host(page, {"a.ref"}, {"one", "two", "put"});
  host.Start(-1);
  for (int i = 0; i < 10; ++i) {
    Save(page, folder.file());
    TestPage copy({Variable("a", Scalar(0)), Variable("b", Scalar(0)), Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
                   Block("size", "QueueSize", {{"handle", "q.handle"}})});
    RestoreOk(copy, folder.file());
    auto size = copy.Open({"size.size", "a.ref", "b.ref"});
    RunOk(*size);
    CHECK(test::Get(*size, "a.ref") == test::Get(*size, "b.ref"));
    CHECK(static_cast<float>(test::Get<int32_t>(*size, "size.size").at(0)) == test::Get(*size, "a.ref").at(0));
  }
  host.runner->Stop();
  CHECK(host.EndedAtLast().ok());
}

TEST_CASE("A run that waits for more of a queue is saved as if it had not begun, with what it has so far, beyond the capacity, too", "[snapshot]") {
  for (const char* kind : {"FIFOQueue", "RandomShuffleQueue"}) {
    INFO(kind);
    Folder folder;
    const std::vector<std::string> blocks = {
        Block("q", kind, {}, "component_types_ = {DT_FLOAT};shapes_ = {[]};capacity_ = 2;"), Variable("n", Scalar(0)),
        Block("next", "AssignAdd", {{"ref", "n.ref"}, {"value", Scalar(1)}}),
        Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"next.output_ref\"]"}}),
        Block("take", "QueueDequeueMany", {{"handle", "q.handle"}, {"n", Ints({1000})}}, "component_types_ = {DT_FLOAT};"),
        Block("five", "QueueDequeueMany", {{"handle", "q.handle"}, {"n", Ints({5})}}, "component_types_ = {DT_FLOAT};")};
    ScopeOptions patient;
    patient.stall_limit_ms = -1;
    TestPage page(blocks, {.threads = 2, .memory_limit = 0}, patient);
    Driven taker(page, {"take.components[0]"}, {});
    taker.Start(1);
    auto put = page.Open({}, {"put"});
    for (int i = 0; i < 5; ++i) RunOk(*put);
    Save(page, folder.file());
    taker.runner->Stop();
    TestPage copy(blocks);
    RestoreOk(copy, folder.file());
    auto five = copy.Open({"five.components[0]"});
    RunOk(*five);
    Floats got = test::Get(*five, "five.components[0]");
    std::ranges::sort(got);
    CHECK(got == Floats{1, 2, 3, 4, 5});
  }
}

TEST_CASE("A paused run can be saved, as if it had not begun, but nothing is restored under it", "[snapshot]") {
  Folder folder;
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  auto points = std::make_shared<Breakpoints>(*host.runner);
  host.runner->AddListener(points);
  BreakSpec spec;
  spec.block = "half";
  spec.from_hit = 3;
  REQUIRE(points->Add(spec).ok());
  host.Start(3);
  host.Paused();
  Save(page, folder.file());
  RestoreOptions options;
  options.patience = milliseconds(20);
  CHECK(Restore(page, folder.file(), options).code() == Code::kFailedPrecondition);
  REQUIRE(host.runner->Resume(GoOn::kRun).ok());
  CHECK(host.Ended().ok());
  CHECK(page.Var("v") == Floats{3});
  RestoreOk(page, folder.file());
  CHECK(page.Var("v") == Floats{2});
  host.runner->Close();
}

TEST_CASE("Where a snapshot cannot be written the old one stays, and it is said why", "[snapshot]") {
  Folder folder;
  TestPage page(CountingPage());
  RunOk(*page.Open({}, {"count"}));
  CHECK(SaveSnapshot(*page.scope(), folder.path / "none" / "state.snap").status().code() == Code::kNotFound);
  fs::create_directory(folder.path / "folder");
  CHECK_FALSE(SaveSnapshot(*page.scope(), folder.path / "folder").ok());
  Save(page, folder.file());
  RestoreOk(page, folder.file());
  for (const auto& entry : fs::directory_iterator(folder.path)) CHECK_FALSE(IsUnfinished(entry.path().filename().string()));
}

TEST_CASE("A snapshot follows no link and waits for no pipe beside it", "[snapshot]") {
  Folder folder, other;
  TestPage page(CountingPage());
  RunOk(*page.Open({}, {"count"}));
  Write(other.path / "target", "outside");
  // What stands where a writer puts its bytes first: as it is called now, and as it was once.
  std::string beside;
  {
    NewFile file;
    REQUIRE(file.Create(OpenFolder(folder.path), folder.file().filename().string()) == 0);
    for (const auto& entry : fs::directory_iterator(folder.path)) beside = entry.path().string();
  }
  REQUIRE(IsUnfinished(fs::path(beside).filename().string()));
  for (const std::string& name : {beside, folder.file().string() + ".new", folder.file().string()}) {
    INFO(name);
    fs::remove(name);
    fs::create_symlink(other.path / "target", name);
    Save(page, folder.file());
    RestoreOk(page, folder.file());
    CHECK_FALSE(fs::is_symlink(folder.file()));
    fs::remove(name);
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    if (name == folder.file()) {  // what is no file is not replaced
      CHECK(SaveSnapshot(*page.scope(), folder.file()).status().code() == Code::kFailedPrecondition);
      CHECK(fs::is_fifo(folder.file()));
      continue;
    }
    Save(page, folder.file());
    RestoreOk(page, folder.file());
  }
  std::ifstream target(other.path / "target");
  CHECK(std::string(std::istreambuf_iterator<char>(target), {}) == "outside");
  fs::remove(folder.file());
  REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  CHECK(Restore(page, folder.file()).code() == Code::kInvalidArgument);
}

TEST_CASE("Two writers of one file do not mix", "[snapshot]") {
  Folder folder;
  TestPage page({Variable("w", Vector(std::vector<double>(3000, 1)))});
  RunOk(*page.Open({"w.ref"}));
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) failed += !SaveSnapshot(*page.scope(), folder.file()).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  RestoreOk(page, folder.file());
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("Killed at any moment, a process leaves a snapshot that is whole: the one before or the next", "[snapshot]") {
  Folder folder;
  constexpr int64_t kCount = 200000;
  const std::vector<std::string> blocks = {Block("w", "Variable", {}, Cat("dtype_ = DT_FLOAT;shape_ = [", kCount, "];"))};
  auto page = std::make_unique<TestPage>(blocks);
  auto set = [](const TestPage& to, float number) {
    Tensor value = Tensor::Allocate(DType::kFloat, Shape{kCount}).value();
    std::fill(value.values<float>().begin(), value.values<float>().end(), number);
    REQUIRE(to.scope()->SetVariable("w", value).ok());
  };
  set(*page, 0);
  const Clock::time_point begin = Clock::now();
  Save(*page, folder.file());
  const auto longest = static_cast<useconds_t>(std::clamp(4000 * MillisecondsSince(begin), 2000.0, 500000.0));
  std::mt19937 random(7);
  float last = 0;
  int newer = 0;
  // Where no save ends before the kill, as others use the machine, more follow, and later ones.
  const int rounds = kit::kSanitized ? 10 : 40;
  for (int round = 0; round < rounds || (newer == 0 && round < 20 * rounds); ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      // Saves greater and greater numbers until it is killed.
      Tensor value = Tensor::Allocate(DType::kFloat, Shape{kCount}).value();
      for (float number = last + 1;; ++number) {
        std::fill(value.values<float>().begin(), value.values<float>().end(), number);
        if (!page->scope()->SetVariable("w", value.Clone().value()).ok()) _exit(1);
        if (!SaveSnapshot(*page->scope(), folder.file()).ok()) _exit(1);
      }
    }
    usleep(std::uniform_int_distribution<useconds_t>(100, longest * (1 + round / rounds))(random));
    kill(child, SIGKILL);
    int how = 0;
    REQUIRE(waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how));
    TestPage copy(blocks);
    RestoreOk(copy, folder.file());
    const Floats values = copy.Var("w");
    CHECK(std::all_of(values.begin(), values.end(), [&](float value) { return value == values[0]; }));
    CHECK(values[0] >= last);
    newer += values[0] > last;
    last = values[0];
  }
  CHECK(newer > 0);
}
#endif

}  // namespace
}  // namespace weft::test
