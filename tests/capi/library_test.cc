// Blocks in shared libraries, and case files run through the C interface. The library is the documentation's example, compiled here.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/capi/capi_kit.h"
#include "tests/kit/program.h"
#include "tests/kit/sanitized.h"

using namespace weft;
using namespace weft::test;
using kit::ProgramResult;
using kit::RunWeft;
namespace fs = std::filesystem;

namespace {

const std::string kHosts = Cat(WEFT_SOURCE_DIR, "/tests/capi/hosts");
const std::string kCases = kHosts + "/cases";

/// Compiles a library of C and gives its path.
std::string Compile(const fs::path& folder, const std::string& source, const std::string& name) {
  const std::string library = (folder / name).string();
  const std::string command = Cat("cc -std=c99 -pedantic -Wall -Wextra -Werror -Wconversion -Wstrict-prototypes -shared -fPIC -I", WEFT_SOURCE_DIR,
                                  "/runtime/include ", source, " -o ", library);
  REQUIRE(std::system(command.c_str()) == 0);
  return library;
}

const std::string& ExampleLibrary() {
  static const kit::TemporaryFolder folder;
  static const std::string library = Compile(folder.path(), kHosts + "/blocks.c", "libblocks.so");
  return library;
}

std::string TextLibrary(const kit::TemporaryFolder& folder, const std::string& body) {
  const fs::path source = folder.path() / "odd.c";
  std::ofstream(source) << "#include <weft.h>\n"
                           "WEFT_EXPORT weft_status weft_library(weft_runtime* runtime, weft_add_block_function add_block,\n"
                           "                                     weft_diagnostics** problems);\n"
                           "weft_status weft_library(weft_runtime* runtime, weft_add_block_function add_block, weft_diagnostics** problems) {\n"
                           "  (void)runtime, (void)add_block, (void)problems;\n"
                        << body << "\n}\n";
  return Compile(folder.path(), source.string(), "libodd.so");
}

struct Reported {
  std::vector<std::string> names, messages;
  std::vector<int32_t> verdicts;
  static void Take(void* user, const weft_case* ended) {
    auto& seen = *static_cast<Reported*>(user);
    seen.names.emplace_back(Cat(ended->block, ":", ended->name));
    seen.messages.emplace_back(ended->message);
    seen.verdicts.push_back(ended->verdict);
  }
};

std::string HashOf(weft_runtime* runtime) {
  OwnedStrings hash;
  const char* text = "";
  REQUIRE(weft_blocks_hash(runtime, hash.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_strings_get(hash, 0, &text, nullptr) == WEFT_OK);
  return text;
}

}  // namespace

TEST_CASE("C: a library brings its blocks, and its case files pass", "[capi][blocks]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  C_OK(problems, weft_runtime_add_library(runtime, ExampleLibrary().c_str(), problems.out()));
  weft_test_options options = WEFT_TEST_OPTIONS_INIT;
  Reported seen;
  options.report = Reported::Take;
  options.user = &seen;
  weft_test_totals totals = WEFT_TEST_TOTALS_INIT;
  C_OK(problems, weft_runtime_test(runtime, kCases.c_str(), &options, &totals, problems.out()));
  CHECK(totals.passed == 9);
  CHECK(totals.failed == 0);
  CHECK(totals.skipped == 0);
  CHECK(seen.names.size() == 9);
  const char* blocks[] = {"Positives"};
  options.blocks = blocks;
  options.block_count = 1;
  C_OK(problems, weft_runtime_test(runtime, kCases.c_str(), &options, &totals, problems.out()));
  CHECK(totals.passed == 4);
  CHECK(seen.names.back() == "Positives:blocks that read it are planned when its shape is known");
}

TEST_CASE("C: a case that fails is told, and so is a file that cannot be read", "[capi][blocks]") {
  const kit::TemporaryFolder folder;
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  std::ofstream(folder.path() / "Neg.cases.json") << R"({"block": "Neg", "source": "a mistake", "cases": [{"name": "wrong",
    "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}},
    "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}}]})";
  std::ofstream(folder.path() / "bad.cases.json") << "{";
  weft_test_options options = WEFT_TEST_OPTIONS_INIT;
  Reported seen;
  options.report = Reported::Take;
  options.user = &seen;
  weft_test_totals totals = WEFT_TEST_TOTALS_INIT;
  C_OK(problems, weft_runtime_test(runtime, folder.path().c_str(), &options, &totals, problems.out()));
  CHECK(totals.failed == 2);
  CHECK(totals.passed == 0);
  CHECK(seen.messages.at(0).find("-1") != std::string::npos);
  CHECK(seen.verdicts == std::vector<int32_t>{WEFT_CASE_FAILED, WEFT_CASE_FAILED});
  CHECK(weft_runtime_test(runtime, (folder.path() / "none").c_str(), nullptr, &totals, problems.out()) == WEFT_NOT_FOUND);
  const char* blocks[] = {"Add"};
  options.blocks = blocks;
  options.block_count = 1;
  CHECK(weft_runtime_test(runtime, (folder.path() / "Neg.cases.json").c_str(), &options, &totals, problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_runtime_test(runtime, nullptr, nullptr, &totals, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_runtime_test(runtime, folder.path().c_str(), nullptr, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  // Cases seal the runtime, as pages do.
  CHECK(weft_runtime_add_library(runtime, ExampleLibrary().c_str(), problems.out()) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: cases end when they are cancelled or at their deadline, also within a long one; those before count", "[capi][cancel]") {
  const kit::TemporaryFolder folder;
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  std::ofstream(folder.path() / "long.cases.json") << R"({"cases": [
   {"name": "short", "page": {"blocks": [{"id": "n", "block": "Neg", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}}]},
    "steps": [{"fetch": ["n.y"], "outputs": {"n.y": {"dtype": "DT_FLOAT", "shape": [], "values": [-1]}}}]},
   {"name": "long", "page": {"blocks": [
      {"id": "x", "block": "Fill", "inputs": {"dims": {"dtype": "DT_INT32", "shape": [2], "values": [8192, 8192]},
                                              "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
      {"id": "p", "block": "MatMul", "inputs": {"a": "x.output", "b": "x.output"}},
      {"id": "q", "block": "MatMul", "inputs": {"a": "p.product", "b": "x.output"}},
      {"id": "s", "block": "Size", "inputs": {"input": "q.product"}}]},
    "steps": [{"fetch": ["q.product"]}]},
   {"name": "never", "page": {"blocks": []}, "steps": []}]})";
  weft_test_options options = WEFT_TEST_OPTIONS_INIT;
  Reported seen;
  options.report = Reported::Take;
  options.user = &seen;
  options.deadline_ns = 300'000'000;
  weft_test_totals totals = WEFT_TEST_TOTALS_INIT;
  const auto test = [&] { return weft_runtime_test(runtime, folder.path().c_str(), &options, &totals, problems.out()); };
  Clock::time_point begin = Clock::now();
  CHECK(test() == WEFT_CANCELLED);
  CHECK(problems.text().find("deadline") != std::string::npos);
  CHECK(MillisecondsSince(begin) < 300 + 1000 * kSlow);
  CHECK((totals.passed == 1 && totals.failed == 0));
  CHECK(seen.verdicts == std::vector<int32_t>{WEFT_CASE_PASSED});
  // From another thread, for all that go on in the runtime; without a deadline it would take seconds.
  options.deadline_ns = 0;
  std::atomic<bool> over{false};
  int refused = 0;
  std::thread canceller([&] {
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      refused += weft_runtime_cancel_tests(runtime, nullptr) != WEFT_OK;
    }
  });
  begin = Clock::now();
  CHECK(test() == WEFT_CANCELLED);
  over = true;
  canceller.join();
  CHECK(refused == 0);
  CHECK(problems.text().find("cancelled") != std::string::npos);
  CHECK(MillisecondsSince(begin) < 1000 * kSlow);
  CHECK(totals.failed == 0);
  // From the report: no other case begins. What was cancelled before does not count for what comes later.
  const char* blocks[] = {"Scale"};
  OwnedRuntime fresh = OpenRuntime();
  C_OK(problems, weft_runtime_add_library(fresh, ExampleLibrary().c_str(), problems.out()));
  C_OK(problems, weft_runtime_cancel_tests(fresh, problems.out()));
  weft_test_options first = WEFT_TEST_OPTIONS_INIT;
  first.blocks = blocks;
  first.block_count = 1;
  first.user = fresh;
  first.report = [](void* user, const weft_case*) { (void)weft_runtime_cancel_tests(static_cast<weft_runtime*>(user), nullptr); };
  CHECK(weft_runtime_test(fresh, kCases.c_str(), &first, &totals, problems.out()) == WEFT_CANCELLED);
  CHECK(totals.passed == 1);
  first.report = nullptr;
  first.deadline_ns = -1;
  CHECK(weft_runtime_test(fresh, kCases.c_str(), &first, &totals, problems.out()) == WEFT_INVALID_ARGUMENT);
  // A host that knows no deadline has none.
  first.size = offsetof(weft_test_options, deadline_ns);
  C_OK(problems, weft_runtime_test(fresh, kCases.c_str(), &first, &totals, problems.out()));
  CHECK(totals.passed == 5);
}

TEST_CASE("C: what is no library of blocks is refused, with the reason", "[capi][blocks]") {
  const kit::TemporaryFolder folder;
  Problems problems;
  OwnedRuntime runtime = OpenRuntime();
  CHECK(weft_runtime_add_library(runtime, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_runtime_add_library(runtime, "/nowhere/libnone.so", problems.out()) == WEFT_NOT_FOUND);
  CHECK(problems.text().find("libnone.so") != std::string::npos);
  CHECK(weft_runtime_add_library(runtime, "libnone-of-these.so", problems.out()) == WEFT_NOT_FOUND);
  CHECK(std::string(problems.at(0).hint).find("./libnone-of-these.so") != std::string::npos);
  std::ofstream(folder.path() / "other.c") << "int other(void);\nint other(void) { return 1; }\n";
  const std::string other = Compile(folder.path(), (folder.path() / "other.c").string(), "libother.so");
  CHECK(weft_runtime_add_library(runtime, other.c_str(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.text().find("weft_library") != std::string::npos);
  const std::string silent = TextLibrary(folder, "return WEFT_DATA_LOSS;");
  CHECK(weft_runtime_add_library(runtime, silent.c_str(), problems.out()) == WEFT_DATA_LOSS);
  CHECK(problems.text().find("data_loss") != std::string::npos);
}

TEST_CASE("C: the failure of a library's block is that of the call, and its number must be a status", "[capi][blocks]") {
  const kit::TemporaryFolder folder;
  Problems problems;
  OwnedRuntime runtime = OpenRuntime();
  const std::string nameless = TextLibrary(folder, "{ weft_block block = WEFT_BLOCK_INIT; return add_block(runtime, &block, problems); }");
  CHECK(weft_runtime_add_library(runtime, nameless.c_str(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).message == std::string("a block needs a name"));
  CHECK(weft_runtime_add_library(runtime, nameless.c_str(), nullptr) == WEFT_INVALID_ARGUMENT);
  C_OK(problems, weft_runtime_add_library(runtime, ExampleLibrary().c_str(), problems.out()));
  CHECK(weft_runtime_add_library(runtime, ExampleLibrary().c_str(), problems.out()) == WEFT_ALREADY_EXISTS);
  CHECK(problems.at(0).block == std::string("Scale"));
  OwnedRuntime fresh = OpenRuntime();
  const kit::TemporaryFolder second;
  const std::string strange = TextLibrary(second, "return 99;");
  CHECK(weft_runtime_add_library(fresh, strange.c_str(), problems.out()) == WEFT_INTERNAL);
}

TEST_CASE("C: pages and views outlive the runtime's handle, and the library with them", "[capi][blocks]") {
  OwnedSession session;
  {
    OwnedRuntime runtime = OpenRuntime();
    Problems problems;
    C_OK(problems, weft_runtime_add_library(runtime, ExampleLibrary().c_str(), problems.out()));
    OwnedPage page = LoadPage(runtime, {Block("s", "Scale", {{"x", Vector({1, 2})}}, "factor_ = 3;")});
    session = OpenSession(page);
  }
  REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
  CHECK(FloatsOf(session, "s.y") == std::vector<float>{3, 6});
}

TEST_CASE("C: the hash of the blocks changes with them, and only then", "[capi][blocks]") {
  OwnedRuntime plain = OpenRuntime(1), other = OpenRuntime(1);
  const std::string hash = HashOf(plain);
  CHECK(hash.size() == 16);
  CHECK(HashOf(other) == hash);
  REQUIRE(weft_runtime_add_library(other, ExampleLibrary().c_str(), nullptr) == WEFT_OK);
  CHECK(HashOf(other) != hash);
  CHECK(HashOf(plain) == hash);
  CHECK(weft_blocks_hash(plain, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("weft test runs the case files of a library's blocks", "[capi][cli]") {
  ProgramResult all = RunWeft({"test", "--blocks", ExampleLibrary(), kCases});
  CHECK(all.status == 0);
  CHECK(all.out.ends_with("9 passed, 0 failed\n"));
  ProgramResult some = RunWeft({"test", kCases, "--blocks", ExampleLibrary(), "Scale"});
  CHECK(some.status == 0);
  CHECK(some.out.ends_with("4 passed, 0 failed\n"));
  CHECK(RunWeft({"test", kCases}).status == 1);
  ProgramResult none = RunWeft({"test", "--blocks", "./libnone.so", kCases});
  CHECK(none.status == 1);
  CHECK(none.err.find("libnone.so") != std::string::npos);
}

TEST_CASE("every command that has to do with blocks takes those of libraries", "[capi][cli]") {
  const kit::TemporaryFolder folder;
  const std::string page = (folder.path() / "scaled.page.json").string(), library = ExampleLibrary();
  kit::WriteBytes(page, R"({"weft": 1, "page": "scaled", "blocks": [{"id": "s", "block": "Scale", "attrs": "factor_ = 3;",
    "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}}]})");
  CHECK(RunWeft({"check", page}).status == 1);
  const std::string svg = (folder.path() / "scaled.svg").string();
  const std::vector<std::vector<std::string>> commands = {
      {"check", page}, {"run", page}, {"plan", page}, {"show", page, "-o", svg}, {"blocks", "Scale"}, {"blocks"}, {"test", kCases}};
  const char* says[] = {"no errors", "3", "s.y", "", "factor", "Scale", "9 passed"};
  for (size_t i = 0; i < commands.size(); ++i) {
    INFO(commands[i][0]);
    std::vector<std::string> arguments = commands[i];
    arguments.insert(arguments.begin() + 1, {"--library", library});
    const ProgramResult result = RunWeft(arguments);
    INFO(result.out << result.err);
    CHECK(result.status == 0);
    CHECK(result.out.find(says[i]) != std::string::npos);
    CHECK(RunWeft({commands[i][0], "--help"}).out.find("--library LIBRARY") != std::string::npos);
    // One that cannot be loaded is told by its name.
    arguments[2] = "./libnone.so";
    const ProgramResult none = RunWeft(arguments);
    CHECK(none.status == 1);
    CHECK(none.err.find("libnone.so") != std::string::npos);
  }
  CHECK(RunWeft({"bench", "--library", library, "--list"}).status == 2);  // kernels are of no library
  // A name without a slash is one in this folder, where there is such a file.
  fs::copy_file(library, folder.path() / "libhere.so");
  CHECK(RunWeft({"run", page, "--library", "libhere.so"}, {.folder = folder.path(), .out_path = ""}).status == 0);
}
