// Large pages: 100,000 blocks are read, checked and planned in half a second, and more blocks take more time only in proportion.
#include <catch2/catch.hpp>
#include <ctime>

#include "tests/runtime/page_test.h"
#include "weft/exec/session.h"

namespace weft {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr double kSlower = 30;
#else
constexpr double kSlower = 1;
#endif

// Of the processor, not of the clock on the wall: other programs do not count.
double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string Constant(std::string_view id) {
  return Cat("{\"id\": \"", id, "\", \"block\": \"Const\", \"inputs\": {\"value\": {\"dtype\": \"DT_FLOAT\", \"shape\": [], \"values\": [0.5]}}}");
}

std::string Pages(const std::vector<std::string>& blocks) {
  std::string text = "{\n  \"weft\": 1,\n  \"page\": \"large\",\n  \"blocks\": [\n    ";
  for (size_t i = 0; i < blocks.size(); ++i) text += Cat(i ? ",\n    " : "", blocks[i]);
  return text + "\n  ]\n}\n";
}

std::string MixedChain(int blocks) {
  static constexpr std::string_view kKinds[] = {"Negate", "Square", "Tanh", "Sigmoid"};
  std::vector<std::string> lines{Constant("b0")};
  for (int i = 1; i < blocks; ++i) {
    lines.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"", kKinds[i % 4], "\", \"inputs\": {\"x\": \"b", i - 1, i == 1 ? ".output" : ".y", "\"}}"));
  }
  return Pages(lines);
}

std::string Wide(int blocks) {
  std::vector<std::string> lines;
  for (int i = 0; i < blocks; i += 2) {
    lines.push_back(Constant(Cat("c", i)));
    lines.push_back(Cat("{\"id\": \"y", i, "\", \"block\": \"Square\", \"inputs\": {\"x\": \"c", i, ".output\"}}"));
  }
  return Pages(lines);
}

// The last block first: nothing can be connected in page order.
std::string LastFirst(int blocks) {
  std::vector<std::string> lines;
  for (int i = blocks - 1; i > 0; --i) {
    lines.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"Negate\", \"inputs\": {\"x\": \"b", i - 1, i == 1 ? ".output" : ".y", "\"}}"));
  }
  lines.push_back(Constant("b0"));
  return Pages(lines);
}

// Blocks of one kind, none of which is set as another is.
std::string Different(int blocks) {
  std::vector<std::string> lines{
      "{\"id\": \"c\", \"block\": \"Const\", \"inputs\": {\"value\": {\"dtype\": \"DT_FLOAT\", \"shape\": [1, 1, 1, 2], \"values\": [1, 2]}}}"};
  for (int i = 1; i < blocks; ++i) {
    lines.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"LRN\", \"attrs\": \"depth_radius_ = ", i,
                        ";\", \"inputs\": {\"input\": \"c.output\"}}"));
  }
  return Pages(lines);
}

struct Timing {
  double read = 0, open = 0, prepare = 0;
  double total() const { return read + open + prepare; }
};

Timing Measure(Runtime& runtime, const std::string& text, size_t blocks, size_t steps) {
  Timing timing;
  double begin = ProcessorSeconds();
  ReadPageResult read = ReadText(text);
  timing.read = ProcessorSeconds() - begin;
  REQUIRE(read.page.blocks.size() == blocks);
  auto page = std::make_shared<Page>(std::move(read.page));
  begin = ProcessorSeconds();
  auto scope = Scope::Open(runtime, page, "large", {}, read.diagnostics);
  timing.open = ProcessorSeconds() - begin;
  begin = ProcessorSeconds();
  Session session(scope, scope->graph().DefaultSession());
  session.Prepare(read.diagnostics);
  timing.prepare = ProcessorSeconds() - begin;
  REQUIRE(read.diagnostics.all().empty());
  REQUIRE(session.plan() != nullptr);
  CHECK(session.plan()->steps.size() == steps);
  return timing;
}

Timing Best(Runtime& runtime, const std::string& text, size_t blocks, size_t steps) {
  Timing best = Measure(runtime, text, blocks, steps);
  for (int i = 0; i < 4; ++i) {
    Timing again = Measure(runtime, text, blocks, steps);
    if (again.total() < best.total()) best = again;
  }
  return best;
}

TEST_CASE("A page of 100,000 blocks is read, checked and planned in half a second", "[large]") {
  Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  constexpr int kBlocks = 100000;
  const std::pair<const char*, Timing> timings[] = {
      {"chain", Best(runtime, MixedChain(kBlocks), kBlocks, kBlocks - 1)},
      {"wide", Best(runtime, Wide(kBlocks), kBlocks, kBlocks / 2)},
      {"backwards", Best(runtime, LastFirst(kBlocks), kBlocks, kBlocks - 1)},
      {"different", Best(runtime, Different(kBlocks / 4), kBlocks / 4, kBlocks / 4 - 1)},
  };
  for (const auto& [name, timing] : timings) {
    INFO(name << ": read " << timing.read << " s, open " << timing.open << " s, prepare " << timing.prepare << " s");
    CHECK(timing.total() < 0.5 * kSlower);
  }
  const double quarter = Best(runtime, MixedChain(kBlocks / 4), kBlocks / 4, kBlocks / 4 - 1).total();
  INFO("a quarter of the chain: " << quarter << " s");
  CHECK(timings[0].second.total() < 10 * quarter);
}

// Reads and opens a page that is at fault, and plans what is left; the number of errors.
size_t Errors(Runtime& runtime, const std::string& text) {
  ReadPageResult read = ReadText(text);
  auto page = std::make_shared<Page>(std::move(read.page));
  auto scope = Scope::Open(runtime, page, "large", {}, read.diagnostics);
  CheckSessions(scope, read.diagnostics);
  return read.diagnostics.errors();
}

TEST_CASE("Large pages of nothing but faults are reported in little time", "[large]") {
  Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  const int blocks = kSlower > 1 ? 20000 : 100000;
  std::vector<std::string> nothing, unknown, same, cycles;
  for (int i = 0; i < blocks; ++i) {
    nothing.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"Negate\", \"inputs\": {\"x\": \"a", i, ".y\"}}"));
    unknown.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"Negat", i, "\"}"));
    same.push_back("{\"id\": \"b\", \"block\": \"Negate\", \"inputs\": {\"x\": \"b.y\"}}");
    cycles.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"Negate\", \"inputs\": {\"x\": \"b", i ^ 1, ".y\"}}"));
  }
  const double begin = ProcessorSeconds();
  CHECK(Errors(runtime, Pages(nothing)) == static_cast<size_t>(blocks));
  CHECK(Errors(runtime, Pages(unknown)) == static_cast<size_t>(blocks));
  CHECK(Errors(runtime, Pages(same)) == static_cast<size_t>(blocks));
  CHECK(Errors(runtime, Pages(cycles)) == static_cast<size_t>(blocks) / 2);
  CHECK(ProcessorSeconds() - begin < 10 * kSlower);
}

TEST_CASE("Pages that grow beyond measure are refused", "[large]") {
  Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  const double begin = ProcessorSeconds();
  // Each list holds the one before ten times.
  std::vector<std::string> lists{Constant("c"), "{\"id\": \"l0\", \"block\": \"InputList\", \"inputs\": {\"outputlist\": [\"c.output\"]}}"};
  for (int i = 1; i < 20; ++i) {
    std::string wires;
    for (int k = 0; k < 10; ++k) wires += Cat(k ? ", " : "", "\"l", i - 1, ".output\"");
    lists.push_back(Cat("{\"id\": \"l", i, "\", \"block\": \"InputList\", \"inputs\": {\"outputlist\": [", wires, "]}}"));
  }
  CHECK(Errors(runtime, Pages(lists)) == 1);
  // Lists that blocks give.
  std::vector<std::string> unstacked{
      "{\"id\": \"c\", \"block\": \"Const\", \"inputs\": {\"value\": {\"dtype\": \"DT_FLOAT\", \"shape\": [1048576, 0], \"values\": []}}}"};
  for (int i = 0; i < 60; ++i) {
    unstacked.push_back(Cat("{\"id\": \"u", i, "\", \"block\": \"Unstack\", \"attrs\": \"num_ = 1048576;\", \"inputs\": {\"value\": \"c.output\"}}"));
  }
  CHECK(Errors(runtime, Pages(unstacked)) == 56);  // four are 2^22 values
  // The gradient of the gradient of ...
  std::vector<std::string> gradients{Constant("c"), "{\"id\": \"t\", \"block\": \"Tanh\", \"inputs\": {\"x\": \"c.output\"}}"};
  for (int i = 0; i < 40; ++i) {
    std::string y = i == 0 ? "t.y" : Cat("g", i - 1, ".grad_outputs[0]");
    gradients.push_back(
        Cat("{\"id\": \"g", i, "\", \"block\": \"AddSymbolicGradients\", \"inputs\": {\"outputs\": [\"", y, "\"], \"inputs\": [\"c.output\"]}}"));
  }
  CHECK(Errors(runtime, Pages(gradients)) >= 1);
  CHECK(ProcessorSeconds() - begin < 20 * kSlower);
}

// A chain, and of each of its blocks the gradient with respect to the one before it.
std::string Gradients(int count) {
  std::vector<std::string> lines{Constant("b0")};
  for (int i = 1; i < count; ++i) {
    const std::string from = Cat("b", i - 1, i == 1 ? ".output" : ".y");
    lines.push_back(Cat("{\"id\": \"b", i, "\", \"block\": \"Tanh\", \"inputs\": {\"x\": \"", from, "\"}}"));
    lines.push_back(Cat("{\"id\": \"g", i, "\", \"block\": \"AddSymbolicGradients\", \"inputs\": {\"outputs\": [\"b", i, ".y\"], \"inputs\": [\"", from, "\"]}}"));
  }
  return Pages(lines);
}

TEST_CASE("Twice as many gradients take at most 2.5 times the time", "[large]") {
  Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  const auto time = [&](const std::string& text) {
    const double begin = ProcessorSeconds();
    REQUIRE(Errors(runtime, text) == 0);
    return ProcessorSeconds() - begin;
  };
  const std::string some = Gradients(4000), more = Gradients(8000);
  double once = 1e9, twice = 1e9;
  for (int round = 0; round < 20 && (round < 3 || twice >= 2.5 * once); ++round) {  // the best of each: other programs may disturb
    once = std::min(once, time(some));
    twice = std::min(twice, time(more));
  }
  INFO("4,000: " << once << " s, 8,000: " << twice << " s");
  CHECK(twice < 2.5 * once);
}

TEST_CASE("A page of 20,000 gradients of one chain is checked in five seconds", "[large]") {
  Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  const std::string text = Gradients(20001);
  const double begin = ProcessorSeconds();
  CHECK(Errors(runtime, text) == 0);
  CHECK(ProcessorSeconds() - begin < 5 * kSlower);
}

}  // namespace
}  // namespace weft
