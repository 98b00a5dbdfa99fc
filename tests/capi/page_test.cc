// Pages through the C interface: loading, diagnostics, writing, variables; options by their size.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/state/thread_pool.h"
#include "tests/capi/capi_kit.h"
#include "tests/kit/program.h"

using namespace weft;
using namespace weft::test;

namespace {

std::vector<std::string> TextsOf(weft_strings* strings) {
  size_t count = 0;
  REQUIRE(weft_strings_count(strings, &count) == WEFT_OK);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    const char* text = nullptr;
    size_t bytes = 0;
    REQUIRE(weft_strings_get(strings, i, &text, &bytes) == WEFT_OK);
    CHECK(std::strlen(text) == bytes);
    texts.emplace_back(text, bytes);
  }
  return texts;
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::vector<std::string> kFaulty = {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("y", "Relu", {{"features", "x.out"}}),
                                          Block("z", "Relux", {{"features", "x.output"}})};

}  // namespace

TEST_CASE("C: a page gives its blocks, its sessions and itself", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page;
  Problems problems;
  const std::filesystem::path path = std::filesystem::path(WEFT_SOURCE_DIR) / "graphs/xor.page.json";
  C_OK(problems, weft_page_load_file(runtime, path.c_str(), nullptr, page.out(), problems.out()));
  OwnedStrings blocks, sessions, text;
  C_OK(problems, weft_page_blocks(page, blocks.out(), problems.out()));
  C_OK(problems, weft_page_sessions(page, sessions.out(), problems.out()));
  C_OK(problems, weft_page_write(page, text.out(), problems.out()));
  CHECK(TextsOf(blocks).size() > 10);
  CHECK(TextsOf(sessions).size() == 1);
  REQUIRE(TextsOf(text).size() == 1);
  CHECK(TextsOf(text)[0] == Read(path));
  OwnedProblems all;
  C_OK(problems, weft_page_diagnostics(page, all.out(), problems.out()));
  size_t count = 1;
  CHECK(weft_diagnostics_count(all, &count) == WEFT_OK);
  CHECK(count == 0);
}

TEST_CASE("C: all faults of a page are told at once, each with its place", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  weft_page* page = reinterpret_cast<weft_page*>(1);
  Problems problems;
  std::string text = PageText(kFaulty);
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.name = "my page";
  CHECK(weft_page_load(runtime, text.data(), text.size(), &options, &page, problems.out()) == WEFT_NOT_FOUND);
  CHECK(page == nullptr);
  size_t count = 0;
  REQUIRE(weft_diagnostics_count(problems.list(), &count) == WEFT_OK);
  REQUIRE(count >= 2);
  weft_diagnostic first = problems.at(0);
  CHECK(first.severity == WEFT_ERROR);
  CHECK(first.code == WEFT_NOT_FOUND);
  CHECK(first.page == std::string("my page"));
  CHECK(first.pointer == std::string("/blocks/1/inputs/features"));
  CHECK(first.block == std::string("y"));
  CHECK(first.port == std::string("features"));
  CHECK(std::string(first.hint).find("output") != std::string::npos);
  CHECK(problems.text().find("my page:/blocks/1/inputs/features: error: y.features:") == 0);
  weft_diagnostic one = WEFT_DIAGNOSTIC_INIT;
  CHECK(weft_diagnostics_get(problems.list(), count, &one) == WEFT_OUT_OF_RANGE);
  CHECK(one.message == std::string());
}

TEST_CASE("C: a faulty page can be kept, and says what is wrong with it", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.keep_faulty = 1;
  OwnedPage page = LoadPage(runtime, kFaulty, &options);
  OwnedProblems all;
  REQUIRE(weft_page_diagnostics(page, all.out(), nullptr) == WEFT_OK);
  size_t count = 0;
  CHECK(weft_diagnostics_count(all, &count) == WEFT_OK);
  CHECK(count >= 2);
  OwnedSession session;
  Problems problems;
  weft_status status = weft_session_open(page, nullptr, session.out(), problems.out());
  if (status == WEFT_OK) status = weft_session_run(session, nullptr, problems.out());
  CHECK(status != WEFT_OK);
  CHECK(!problems.text().empty());
}

TEST_CASE("C: what cannot be read is refused, whatever it is", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page;
  Problems problems;
  CHECK(weft_page_load(runtime, "", 0, nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.list() != nullptr);
  CHECK(weft_page_load(runtime, nullptr, 4, nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_load(runtime, "{\"weft\": 1", 10, nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_load(runtime, "{}", 2, nullptr, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_load_file(runtime, "/no/such/page.json", nullptr, page.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_load_file(runtime, nullptr, nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.stall_limit_ms = -7;
  CHECK(weft_page_load(runtime, "{}", 2, &options, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).port == std::string("stall_limit_ms"));
  options = WEFT_PAGE_OPTIONS_INIT;
  options.allowed_count = 1;
  CHECK(weft_page_load(runtime, "{}", 2, &options, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  const char* folders[] = {nullptr};
  options.allowed_folders = folders;
  CHECK(weft_page_load(runtime, "{}", 2, &options, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(page == nullptr);
}

TEST_CASE("C: structs are read by their size", "[capi]") {
  OwnedRuntime runtime;
  struct {
    weft_runtime_options known;
    uint64_t more;
  } newer = {WEFT_RUNTIME_OPTIONS_INIT, 0};
  newer.known.size = sizeof newer, newer.known.threads = 1;
  CHECK(weft_runtime_open(&newer.known, runtime.out(), nullptr) == WEFT_OK);
  newer.more = 1;
  OwnedRuntime other;
  Problems problems;
  CHECK(weft_runtime_open(&newer.known, other.out(), problems.out()) == WEFT_UNSUPPORTED);
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.size = 8, options.threads = 3, options.memory_limit = -1;  // an older host, which knows no memory limit
  CHECK(weft_runtime_open(&options, other.out(), problems.out()) == WEFT_OK);
  for (uint32_t size : {0u, 3u, 1u << 20}) {
    options.size = size;
    OwnedRuntime none;
    CHECK(weft_runtime_open(&options, none.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  }
  weft_runtime_info info = {8, 77, 77, 77};
  CHECK(weft_runtime_get_info(other, &info, nullptr) == WEFT_OK);
  CHECK(info.size == 8);
  CHECK(info.threads == std::min(3, UsableProcessors()));
  CHECK(info.memory_limit == 77);
  info.size = 2;
  CHECK(weft_runtime_get_info(other, &info, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: options of a runtime have limits", "[capi]") {
  OwnedRuntime runtime;
  Problems problems;
  for (auto [threads, limit] : {std::pair<int32_t, int64_t>{-1, 0}, {5000, 0}, {0, -1}}) {
    weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
    options.threads = threads;
    options.memory_limit = limit;
    CHECK(weft_runtime_open(&options, runtime.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
    CHECK(runtime == nullptr);
  }
  CHECK(weft_runtime_open(nullptr, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.memory_limit = 1 << 20;
  CHECK(weft_runtime_open(&options, runtime.out(), problems.out()) == WEFT_OK);
  OwnedPage page = LoadPage(runtime, {Block("x", "Fill", {{"dims", test::Ints({1024, 1024})}, {"value", Scalar(1)}})});
  OwnedSession session = OpenSession(page);
  CHECK(weft_session_run(session, nullptr, problems.out()) == WEFT_RESOURCE_EXHAUSTED);
  CHECK(problems.at(0).block == std::string("x"));
}

TEST_CASE("C: a page that takes longer to load than the runtime allows is refused as cancelled", "[capi]") {
  OwnedRuntime runtime;
  Problems problems;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.call_deadline_ns = -1;
  CHECK(weft_runtime_open(&options, runtime.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).port == std::string("call_deadline_ns"));
  options.call_deadline_ns = 1;
  C_OK(problems, weft_runtime_open(&options, runtime.out(), problems.out()));
  const std::string text = R"({"weft": 1, "page": "p", "blocks": [{"id": "n", "block": "NoOp"}]})";
  OwnedPage page;
  CHECK(weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out()) == WEFT_CANCELLED);
  CHECK(page == nullptr);
  CHECK(problems.at(0).message == std::string("the call's deadline passed"));
}

TEST_CASE("C: what a host holds for a page counts in the page's memory limit", "[capi]") {
  constexpr int64_t kLimit = 1 << 20;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.page_memory_limit = kLimit;
  OwnedRuntime runtime;
  Problems problems;
  C_OK(problems, weft_runtime_open(&options, runtime.out(), problems.out()));
  const auto used = [&] {
    weft_runtime_info info = WEFT_RUNTIME_INFO_INIT;
    REQUIRE(weft_runtime_get_info(runtime, &info, nullptr) == WEFT_OK);
    return info.memory_used;
  };
  const std::string text = R"({"weft": 1, "page": "p", "blocks": [{"id": "n", "block": "NoOp"}]})";
  OwnedPage page;
  C_OK(problems, weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out()));
  const int64_t own = used();
  C_OK(problems, weft_page_hold_memory(page, 500000, problems.out()));
  C_OK(problems, weft_page_hold_memory(page, 700000, problems.out()));  // in all, not more
  CHECK(used() == own + 700000);
  CHECK(weft_page_hold_memory(page, kLimit, problems.out()) == WEFT_RESOURCE_EXHAUSTED);
  CHECK(problems.at(0).message == Cat("needs ", kLimit - 700000, " bytes of memory; ", own + 700000, " of the limit of ", kLimit, " are in use"));
  CHECK(problems.at(0).page == std::string("page"));
  CHECK(weft_page_hold_memory(page, -1, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(used() == own + 700000);
  C_OK(problems, weft_page_hold_memory(page, 0, problems.out()));
  CHECK(used() == own);
  C_OK(problems, weft_page_hold_memory(page, 1000, problems.out()));
  CHECK(weft_page_close(page.release()) == WEFT_OK);
  CHECK(used() == 0);
}

TEST_CASE("C: the blocks of a runtime as JSON", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedStrings all, one;
  Problems problems;
  C_OK(problems, weft_blocks_json(runtime, all.out(), problems.out()));
  CHECK(TextsOf(all)[0] == kit::RunWeft({"blocks", "--json"}).out);
  C_OK(problems, weft_block_json(runtime, "BiasAddGrad", one.out(), problems.out()));
  CHECK(TextsOf(one)[0].find("\"out_backprop\"") != std::string::npos);
  CHECK(weft_block_json(runtime, "BiasAddGrat", one.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(problems.at(0).hint == std::string("did you mean 'BiasAddGrad'?"));
  CHECK(weft_block_json(runtime, nullptr, one.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  C_OK(problems, weft_block_markdown(runtime, "Sub", one.out(), problems.out()));
  CHECK(TextsOf(one)[0].find("# Subtract\n") == 0);
  CHECK(TextsOf(one)[0].find("\"weft\": 1") != std::string::npos);
  CHECK(weft_block_markdown(runtime, "BiasAddGrat", one.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(problems.at(0).hint == std::string("did you mean 'BiasAddGrad'?"));
  const char* text = nullptr;
  OwnedStrings again;
  C_OK(problems, weft_block_json(runtime, "Add", again.out(), problems.out()));
  CHECK(weft_strings_get(again, 1, &text, nullptr) == WEFT_OUT_OF_RANGE);
  CHECK(weft_strings_get(again, 0, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: variables are read and set between runs", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, CounterBlocks());
  OwnedSession session = OpenSession(page);
  OwnedView view;
  Problems problems;
  CHECK(weft_page_get_variable(page, "n", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_page_get_variable(page, "m", view.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_get_variable(page, "next", view.out(), problems.out()) == WEFT_NOT_FOUND);
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  C_OK(problems, weft_page_get_variable(page, "n", view.out(), problems.out()));
  CHECK(FloatsOf(view) == std::vector<float>{1});
  float ten = 10;
  weft_buffer value = WEFT_BUFFER_INIT;
  value.dtype = WEFT_FLOAT;
  value.data = &ten;
  value.bytes = sizeof ten;
  C_OK(problems, weft_page_set_variable(page, "n", &value, problems.out()));
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(FloatsOf(view) == std::vector<float>{1});
  OwnedView now;
  C_OK(problems, weft_page_get_variable(page, "n", now.out(), problems.out()));
  CHECK(FloatsOf(now) == std::vector<float>{11});
  value.dtype = WEFT_INT32;
  CHECK(weft_page_set_variable(page, "n", &value, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_set_variable(page, "next", &value, problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_set_variable(page, "n", nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: prints go to the host, with its own pointer", "[capi]") {
  std::vector<std::string> lines;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.print = [](void* user, const char* text) { static_cast<std::vector<std::string>*>(user)->emplace_back(text); };
  options.user = &lines;
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime,
                            {Block("x", "Const", {{"value", Vector({1, 2})}}),
                             Block("p", "Print", {{"input", "x.output"}, {"data", "[\"x.output\"]"}}, "message_ = seen: ;")},
                            &options);
  OwnedSession session = OpenSession(page);
  Problems problems;
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("[1 2]") != std::string::npos);
}
