// One budget counts what a page makes the process hold; what goes over it is refused with the block and the bytes, and the page goes on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <thread>

#include "runtime/base/call_limit.h"
#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/base/discard.h"
#include "weft/host/document.h"
#include "weft/state/snapshot.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;
constexpr int64_t kMiB = 1 << 20;

std::string TextLiteral(const std::string& text) { return Cat("{\"dtype\": \"DT_STRING\", \"shape\": [], \"values\": [\"", text, "\"]}"); }

/// The processor's time that this thread has taken.
double ThreadMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// A string, joined with itself `times` times.
std::vector<std::string> Doubled(size_t bytes, int times) {
  std::vector<std::string> blocks = {Block("a0", "Const", {{"value", TextLiteral(std::string(bytes, 'x'))}})};
  for (int i = 1; i <= times; ++i) {
    const std::string before = Cat("a", i - 1, i == 1 ? ".output" : ".z");
    blocks.push_back(Block(Cat("a", i), "Add", {{"x", before}, {"y", before}}));
  }
  return blocks;
}

TEST_CASE("Strings share their bytes with their copies", "[memory][string]") {
  const String none, brief("fifteen letters"), text(std::string(100, 'x'));
  CHECK(none.empty());
  CHECK(none.size() == 0);
  CHECK(none.heap_bytes() == 0);
  CHECK(brief == "fifteen letters");
  CHECK(brief.heap_bytes() == 0);
  CHECK(text.heap_bytes() >= 100);
  String copy = text, other("short");
  CHECK(copy.data() == text.data());
  CHECK(copy == text);
  CHECK(copy != brief);
  swap(copy, other);
  CHECK(other.data() == text.data());
  CHECK(copy == "short");
  copy = other;
  copy = std::move(other);
  CHECK(copy == text);
  CHECK(other.empty());
  CHECK(brief + "!" == std::string("fifteen letters!"));
  CHECK((String("a") < String("b") && !(String("b") < String("a"))));
  CHECK(String("a\0b", 3).size() == 3);
  CHECK(String("a\0b", 3) != String("a"));
}

TEST_CASE("A string counts once for all its copies, until the last one ends", "[memory][string]") {
  const auto budget = std::make_shared<MemoryBudget>(1000);
  {
    String text(std::string(400, 'x'));
    CHECK(text.Hold(budget).ok());
    const auto held = static_cast<int64_t>(text.heap_bytes());
    CHECK(budget->used() == held);
    std::vector<String> copies(100, text);
    for (const String& copy : copies) CHECK(copy.Hold(budget).ok());
    CHECK(budget->used() == held);
    text = String();
    CHECK(budget->used() == held);
    CHECK(String(std::string(800, 'y')).Hold(budget).code() == Code::kResourceExhausted);
    CHECK(budget->used() == held);
    CHECK(String("in place").Hold(budget).ok());
    // From several threads at once.
    const String shared(std::string(300, 'z'));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([shared, &budget] {
        for (int i = 0; i < 1000; ++i) (void)String(shared).Hold(budget);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(budget->used() == held + static_cast<int64_t>(shared.heap_bytes()));
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("A string is refused before its bytes are there", "[memory][string]") {
  const auto budget = std::make_shared<MemoryBudget>(1000);
  CHECK(String::Uninitialized(size_t{1} << 60, budget).status().code() == Code::kResourceExhausted);
  CHECK(budget->used() == 0);
  {
    auto text = String::Uninitialized(500, budget);
    REQUIRE(text.ok());
    std::fill_n(text->mutable_data(), text->size(), 'x');
    CHECK(*text == std::string(500, 'x'));
    CHECK(budget->used() == static_cast<int64_t>(text->heap_bytes()));
    auto brief = String::Uninitialized(3, budget);
    std::copy_n("abc", 3, brief->mutable_data());
    CHECK(*brief == "abc");
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("What takes back a page's edits counts, and the oldest are forgotten where the memory ends", "[memory]") {
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 16 * kMiB});
  auto document = Document::Open(runtime, PageOf({Block("a", "Const", {{"value", TextLiteral("x")}})}));
  const int64_t before = runtime->budget()->used();
  const auto note = [&](char letter) {
    Diagnostics found;
    const std::string edit = Cat(R"({"op": "set", "block": "a", "key": "note", "value": ")", std::string(kMiB / 4, letter), "\"}");
    return document->Apply(edit, EditMode::kApply, found).ok();
  };
  for (int i = 0; i < 40; ++i) REQUIRE(note(static_cast<char>('a' + i % 26)));
  const size_t kept = document->history().undo;
  CHECK(kept > 2);
  CHECK(kept <= 8);  // an eighth of the limit
  CHECK(runtime->budget()->used() <= 4 * kMiB);
  CHECK(runtime->budget()->used() > before + static_cast<int64_t>(kept - 1) * kMiB / 4);
  for (size_t i = 0; i < kept; ++i) REQUIRE(document->Undo().ok());
  CHECK(document->Undo().status().code() == Code::kFailedPrecondition);
}

TEST_CASE("A page's budget counts in the runtime's, and a charge ends with its owner", "[memory]") {
  const auto all = std::make_shared<MemoryBudget>(1000);
  const auto one = std::make_shared<MemoryBudget>(600, all), other = std::make_shared<MemoryBudget>(600, all);
  CHECK(one->Reserve(500));
  CHECK(all->used() == 500);
  CHECK(!one->Reserve(101));
  CHECK(!other->Reserve(501));
  CHECK(other->used() == 0);
  CHECK(other->available() == 500);
  CHECK_THAT(other->Refusal(501).message(), Contains("needs 501 bytes") && Contains("500 of the limit of 1000"));
  CHECK_THAT(one->Refusal(101).message(), Contains("500 of the limit of 600"));
  one->Release(500);
  {
    MemoryCharge charge(one);
    CHECK(charge.Resize(300));
    CHECK(!charge.Resize(601));
    CHECK(charge.bytes() == 300);
    CHECK(charge.Hold(700).code() == Code::kResourceExhausted);
    MemoryCharge moved = std::move(charge);
    CHECK(one->used() == 300);
    CHECK(moved.Resize(100));
    CHECK(all->used() == 100);
  }
  CHECK(all->used() == 0);
}

TEST_CASE("Values of a file count in the budget before the file is asked, and are read in pieces", "[memory]") {
  int64_t asked = 0, most = 0;
  ReadOptions options{"p.page.json", [&](const std::string&, int64_t, int64_t size) -> Result<std::string> {
                        asked += size;
                        most = std::max(most, size);
                        return std::string(static_cast<size_t>(std::max<int64_t>(size, 0)), '\2');
                      }};
  const auto read = [&](int64_t limit, const char* dtype) {
    CallLimit call(std::nullopt, nullptr, std::make_shared<MemoryBudget>(limit));
    return ReadPage(ConstWith(Cat("{\"dtype\": \"", dtype, "\", \"shape\": [", 50 * kMiB, "], \"file\": \"big.bin\"}")), options);
  };
  CHECK_THAT(Finding(read(40 * kMiB, "DT_INT8")), Contains("resource_exhausted") && Contains("c.value") && Contains("needs 52428800 bytes"));
  CHECK(asked == 0);
  const ReadPageResult whole = read(60 * kMiB, "DT_BOOL");
  CHECK(Finding(whole) == "none");
  CHECK(asked == 50 * kMiB + 1);  // first whether the last byte is there
  CHECK(most <= 16 * kMiB);
}

TEST_CASE("Strings that a run joins are refused where the limit ends, and the page goes on", "[memory]") {
  TestPage page(Doubled(1000, 22), {.threads = 1, .memory_limit = 16 * kMiB});
  const int64_t before = page.runtime().budget()->used();
  {
    auto session = page.Open({"a22.z"}, {}, Keep::kAsked);
    const Status status = session->Run();
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
    CHECK(status.place().block == "a14");  // 16 MB beside all the halves before
    CHECK_THAT(status.message(), Contains("needs 16384000 bytes"));
    auto small = page.Open({"a3.z"}, {}, Keep::kAsked);
    RunOk(*small);
    CHECK(session->Run().code() == Code::kResourceExhausted);
    RunOk(*small);
  }
  CHECK(page.runtime().budget()->used() <= before + 1000);  // plans are gone; the constant was counted when the page was loaded
}

TEST_CASE("Copies of a long string take no memory of their own", "[memory]") {
  TestPage page({Block("a", "Const", {{"value", TextLiteral(std::string(1000000, 'x'))}}),
                 Block("f", "Fill", {{"dims", Ints({100000})}, {"value", "a.output"}}),
                 Block("t", "Tile", {{"input", "f.output"}, {"multiples", Ints({2})}})},
                {.threads = 1, .memory_limit = 32 * kMiB});
  auto session = page.Open({"t.output"}, {}, Keep::kAsked);
  RunOk(*session);
  CHECK(page.runtime().budget()->used() < 16 * kMiB);
}

TEST_CASE("Rows of a queue count what they are besides their elements", "[memory]") {
  TestPage page({Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};shapes_ = {[0]};"),
                 Block("z", "Fill", {{"dims", Ints({20000000, 0})}, {"value", Scalar(0)}}),
                 Block("e", "QueueEnqueueMany", {{"handle", "q.handle"}, {"components", "[\"z.output\"]"}})},
                {.threads = 1, .memory_limit = 64 * kMiB});
  auto session = page.Open({}, {"e"});
  const Status status = session->Run();
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(status.place().block == "e");
  constexpr auto kRow = static_cast<int64_t>(2 * sizeof(std::vector<Tensor>) + sizeof(Tensor) + 2 * sizeof(void*));
  CHECK_THAT(status.message(), Contains(Cat("needs ", 20000000 * kRow, " bytes of memory; ")) && Contains(Cat("of the limit of ", 64 * kMiB)));
}

TEST_CASE("Rows of a queue count for as long as they are in it", "[memory]") {
  constexpr int64_t kRows = 100'000;
  TestPage page({Block("q", "FIFOQueue", {}, "component_types_ = {DT_INT8};shapes_ = {[]};"),
                 Block("z", "Fill", {{"dims", Ints({kRows})}, {"value", R"({"dtype": "DT_INT8", "shape": [], "values": [1]})"}}),
                 Block("put", "QueueEnqueueMany", {{"handle", "q.handle"}, {"components", "[\"z.output\"]"}}),
                 Block("get", "QueueDequeueMany", {{"handle", "q.handle"}, {"n", Literal("DT_INT32", {}, {kRows})}},
                       "component_types_ = {DT_INT8};")},
                {.threads = 1, .memory_limit = 64 * kMiB});
  const auto put = page.Open({}, {"put"}), get = page.Open({}, {"get"});
  RunOk(*put);
  CHECK(page.runtime().budget()->used() >= kRows * static_cast<int64_t>(sizeof(std::vector<Tensor>) + sizeof(Tensor)));
  Status status;
  int batches = 1;
  for (; status.ok() && batches < 100; ++batches) status = put->Run();
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(batches < 8);
  RunOk(*get);  // makes room
  RunOk(*put);
}

TEST_CASE("Keys of a staging map count with the places of values that are yet to come", "[memory]") {
  constexpr int kValues = 1000;
  std::string types = "DT_FLOAT";
  for (int i = 1; i < kValues; ++i) types += ",DT_FLOAT";
  TestPage page({Block("key", "Placeholder", {}, "dtype_ = DT_INT64;shape_ = [];"), Block("v", "Const", {{"value", Scalar(1)}}),
                 Block("put", "MapStage", {{"key", "key.output"}, {"indices", Ints({0})}, {"values", "[\"v.output\"]"}},
                       Cat("dtypes_ = {", types, "};shared_name_ = map;")),
                 Block("clear", "MapClear", {}, "dtypes_ = {DT_FLOAT};shared_name_ = map;")},
                {.threads = 1, .memory_limit = 16 * kMiB});
  const auto put = page.Open({}, {"put"}), clear = page.Open({}, {"clear"});
  const auto put_keys = [&] {
    Status status;
    int64_t key = 0;
    for (; status.ok() && key < 1000; ++key) {
      REQUIRE(page.Feed(*put, "key.output", Tensor::Scalar<int64_t>(key)).ok());
      status = put->Run();
    }
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
    CHECK(status.place().block == "put");
    return key;
  };
  const int64_t keys = put_keys();
  CHECK(keys <= 16 * kMiB / (kValues * static_cast<int64_t>(sizeof(Tensor))) + 1);
  RunOk(*clear);
  CHECK(put_keys() > keys / 2);
}

/// A block "x" of so many values, of the highest rank.
std::string OfHighestRank(int64_t rows) {
  std::vector<double> dims(kMaxRank, 1);
  dims[0] = static_cast<double>(rows);
  return Block("x", "Fill", {{"dims", Ints(dims)}, {"value", R"({"dtype": "DT_INT8", "shape": [], "values": [1]})"}});
}

TEST_CASE("Shapes of high rank count, of an array's elements and of a block's outputs", "[memory]") {
  const auto run = [](std::vector<std::string> blocks, const std::string& id) {
    TestPage page(std::move(blocks), {.threads = 1, .memory_limit = 64 * kMiB});
    const Status status = page.Open({}, {id})->Run();
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
  };
  run({OfHighestRank(20'000), Block("a", "TensorArray", {{"size", Literal("DT_INT32", {}, {20'000})}}, "dtype_ = DT_INT8;"),
       Block("i", "Range",
             {{"start", Literal("DT_INT32", {}, {0})}, {"limit", Literal("DT_INT32", {}, {20'000})}, {"delta", Literal("DT_INT32", {}, {1})}}),
       Block("s", "TensorArrayScatter", {{"handle", "a.handle"}, {"indices", "i.output"}, {"value", "x.output"}, {"flow_in", "a.flow"}})},
      "s");
  run({OfHighestRank(20'000), Block("s", "Split", {{"axis", Literal("DT_INT32", {}, {0})}, {"value", "x.output"}}, "num_split_ = 20000;")}, "s");
  run({OfHighestRank(40'000), Block("q", "FIFOQueue", {}, "component_types_ = {DT_INT8};"),
       Block("e", "QueueEnqueueMany", {{"handle", "q.handle"}, {"components", "[\"x.output\"]"}})},
      "e");
}

TEST_CASE("The runs of sorted segments count", "[memory]") {
  const auto number = [](double value) { return Literal("DT_INT32", {}, {value}); };
  TestPage page({Block("ids", "Range", {{"start", number(0)}, {"limit", number(1e6)}, {"delta", number(1)}}),
                 Block("x", "Fill", {{"dims", Ints({1'000'000})}, {"value", Scalar(1)}}),
                 Block("sum", "SegmentSum", {{"data", "x.output"}, {"segment_ids", "ids.output"}})},
                {.threads = 1, .memory_limit = 24 * kMiB});
  const Status status = page.Open({"sum.output"}, {}, Keep::kAsked)->Run();
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(status.place().block == "sum");
  CHECK_THAT(status.message(), Contains("needs 24000000 bytes"));
}

TEST_CASE("What is still to be destroyed is no reason to refuse", "[memory]") {
  constexpr int64_t kCount = 1'000'000;
  const std::string text(100, 'x');
  const auto budget = std::make_shared<MemoryBudget>(kCount * 250);
  for (int i = 0; i < 3; ++i) {
    Tensor tensor = Tensor::Allocate(DType::kString, Shape{kCount}, budget).value();
    CHECK(std::ranges::all_of(tensor.values<String>(), &String::empty));
    Status held;
    for (String& each : tensor.values<String>()) {
      each = String(text);  // each has bytes of its own
      if (held.ok()) held = each.Hold(budget);
    }
    INFO(ToString(held));
    REQUIRE(held.ok());
    CHECK(Tensor::Allocate(DType::kString, Shape{kCount * 10}, budget).status().code() == Code::kResourceExhausted);
    const double begin = ThreadMilliseconds();
    tensor = Tensor();
    CHECK(ThreadMilliseconds() - begin < 5);
  }
  while (AwaitDiscarded()) {
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("A page whose text and graph need more than the limit is refused, and lets go of all", "[memory]") {
  std::vector<std::string> blocks = {Block("b0", "Const", {{"value", Vector({1, 2})}})};
  for (int i = 1; i < 5000; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("b", i - 1, i == 1 ? ".output" : ".y")}}));
  const std::string text = PageOf(blocks);
  for (const int64_t limit : {100 * int64_t{1} << 10, kMiB, 2 * kMiB}) {
    const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = limit});
    {
      const auto document = Document::Open(runtime, text);
      const Status first = document->diagnostics().FirstError();
      INFO(limit << " " << ToString(first));
      CHECK(first.code() == Code::kResourceExhausted);
      CHECK_THAT(first.message(), Contains(Cat("limit of ", limit)));
    }
    CHECK(runtime->budget()->used() == 0);
  }
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 64 * kMiB});
  const auto document = Document::Open(runtime, text);
  CHECK(!document->diagnostics().has_errors());
  CHECK(runtime->budget()->used() > kMiB);
}

/// A page of one block that has more unknown inputs than findings are kept.
std::string WithUnknownInputs(const std::string& id) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (size_t i = 0; i < Diagnostics::kLimit + 100; ++i) inputs.emplace_back(Cat("none", i), "b.c");
  return PageOf({Block(id, "Add", inputs)});
}

TEST_CASE("What is found of a page counts, and a page that it makes too large is refused", "[memory]") {
  const std::string text = WithUnknownInputs(std::string(1000, 'i'));
  int64_t used = 0;
  {
    const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 64 * kMiB});
    const auto document = Document::Open(runtime, text);
    const Diagnostics found = document->diagnostics();
    used = runtime->budget()->used();
    CHECK(found.all().size() == Diagnostics::kLimit);
    CHECK(found.bytes() > kMiB);
    CHECK(used > 2 * found.bytes());  // those of the page as it is, and those of connecting alone
  }
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = used / 2});
  {
    const auto document = Document::Open(runtime, text);
    const Diagnostics found = document->diagnostics();
    const auto refused = std::ranges::find(found.all(), Code::kResourceExhausted, [](const Diagnostic& one) { return one.status.code(); });
    REQUIRE(refused != found.all().end());
    CHECK_THAT(refused->status.message(), Contains("needs ") && Contains(Cat("limit of ", used / 2)));
    CHECK(runtime->budget()->used() <= used / 2);
    CHECK(document->scope()->graph().page().blocks.empty());
  }
  CHECK(runtime->budget()->used() == 0);
}

TEST_CASE("An edit after which more is found than the limit has room for leaves the page as it was", "[memory]") {
  const auto open = [](int64_t limit) {
    return Document::Open(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = limit}), WithUnknownInputs("a"));
  };
  const auto large = open(64 * kMiB);
  const auto document = open(large->runtime().budget()->used() + 2 * kMiB);
  const std::string before = document->Write();
  const int64_t used = document->runtime().budget()->used();
  const auto rename = [](Document& page, size_t bytes) {
    Diagnostics found;
    return page.Apply(Cat(R"({"op": "rename", "block": "a", "to": ")", std::string(bytes, 'i'), "\"}"), EditMode::kApply, found).status();
  };
  const Status status = rename(*document, 1000);
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(document->Write() == before);
  CHECK(document->runtime().budget()->used() == used);
  CHECK(rename(*document, 2).ok());
  CHECK(rename(*large, 1000).ok());
}

TEST_CASE("A long list of outputs counts as what a plan has of each", "[memory]") {
  constexpr int64_t kOutputs = 1'000'000, kLeast = 2 * kOutputs * static_cast<int64_t>(sizeof(Shape) + sizeof(PartialShape));
  const std::string text = PageOf({Block("z", "Fill", {{"dims", Ints({kOutputs})}, {"value", Scalar(0)}}),
                                   Block("many", "Split", {{"axis", Literal("DT_INT32", {}, {0})}, {"value", "z.output"}},
                                         Cat("num_split_ = ", kOutputs, ";"))});
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = kLeast});
  {
    const auto document = Document::Open(runtime, text);
    const Status first = document->diagnostics().FirstError();
    INFO(ToString(first));
    CHECK(first.code() == Code::kResourceExhausted);
    CHECK(first.place().block == "many");
  }
  CHECK(runtime->budget()->used() == 0);
}

TEST_CASE("An edit that needs more than the limit leaves the page as it was", "[memory]") {
  const auto runtime = std::make_shared<Runtime>(
      MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 64 * kMiB, .page_memory_limit = 2 * kMiB});
  const auto document = Document::Open(runtime, PageOf({Block("a", "Const", {{"value", Scalar(1)}})}));
  const auto other = Document::Open(runtime, PageOf({Block("a", "Const", {{"value", Scalar(1)}})}));
  const std::string before = document->Write();
  const std::string large =
      Cat(R"({"op": "add", "block": )", Block("b", "Const", {{"value", TextLiteral(std::string(3000000, 'x'))}}), "}");
  Diagnostics found;
  const Status status = document->Apply(large, EditMode::kApply, found).status();
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(document->Write() == before);
  const int64_t used = runtime->budget()->used();
  for (int i = 0; i < 20; ++i) CHECK(!document->Apply(large, EditMode::kApply, found).ok());
  CHECK(runtime->budget()->used() == used);
  const std::string small = Cat(R"({"op": "add", "block": )", Block("b", "Const", {{"value", TextLiteral("x")}}), "}");
  CHECK(document->Apply(small, EditMode::kApply, found).ok());
  CHECK(other->Apply(small, EditMode::kApply, found).ok());
}

TEST_CASE("What a call has made counts until it ends or something else holds it", "[memory]") {
  const auto budget = std::make_shared<MemoryBudget>(kMiB);
  {
    const CallLimit limit(std::nullopt, nullptr, budget);
    CallLimit::Grow(1000);
    CHECK(budget->used() >= 1000);
    {
      const CallLimit inner(std::nullopt);
      CallLimit::Grow(500000);
      CHECK(budget->used() >= 501000);
    }
    {
      const Result<MemoryCharge> kept = CallLimit::Keep(500000, budget);
      REQUIRE(kept.ok());
      CHECK(budget->used() >= 501000);
      CHECK(budget->used() < 1000000);  // once
    }
    CHECK(budget->used() < 500000);
    CHECK(CallLimit::Keep(2 * kMiB, budget).status().code() == Code::kResourceExhausted);
    CHECK_THROWS_AS(CallLimit::Grow(2 * kMiB, "b"), CallStopped);
  }
  CHECK(budget->used() == 0);
  CallLimit::Grow(kMiB);  // without a limit nothing happens
}

TEST_CASE("Strings that a snapshot brings count, of variables and of queues", "[memory][snapshot]") {
  const auto blocks = [](const std::string& text) {
    return std::vector<std::string>{Variable("v", TextLiteral(text)), Block("q", "FIFOQueue", {}, "component_types_ = {DT_STRING};"),
                                    Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"v.ref\"]"}}),
                                    Block("size", "QueueSize", {{"handle", "q.handle"}})};
  };
  const TempFolder folder;
  const RuntimeOptions options{.threads = 1, .memory_limit = 64 * kMiB};
  const TestPage large(blocks(std::string(3 * kMiB, 'x')), options), small(blocks("y"), options);
  RunOk(*large.Open({}, {"put"}));
  REQUIRE(SaveSnapshot(*large.scope(), folder.path() / "state").ok());
  RunOk(*small.Open({"size.size"}));
  const int64_t before = small.scope()->budget()->used();
  Diagnostics found;
  REQUIRE(RestoreSnapshot(*small.scope(), folder.path() / "state", {}, found).ok());
  CHECK(small.scope()->budget()->used() - before >= 6 * kMiB);
}

}  // namespace
}  // namespace weft::test
