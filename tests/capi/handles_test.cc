// Every function of weft.h with handles that are null, closed or of another kind.
#include "runtime/capi/handles.h"

#include <algorithm>
#include <set>
#include <thread>

#include "tests/kit/handle_calls.h"
#include "tests/kit/weft_headers.h"

using namespace weft;
using namespace weft::test;

namespace weft::test {

LiveHandles::LiveHandles() : runtime(OpenRuntime(1)), page(LoadPage(runtime, CounterBlocks())), session(OpenSession(page)) {
  REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
  view = ViewOf(session, "n.ref");
}

namespace {

weft_strings* MakeStrings(weft_runtime* runtime) {
  weft_strings* strings = nullptr;
  REQUIRE(weft_block_json(runtime, "Add", &strings, nullptr) == WEFT_OK);
  return strings;
}

weft_diagnostics* MakeDiagnostics(weft_runtime* runtime) {
  weft_diagnostics* list = nullptr;
  weft_strings* strings = nullptr;
  REQUIRE(weft_block_json(runtime, "Ad", &strings, &list) == WEFT_NOT_FOUND);
  return list;
}

/// A handle of the kind that was closed.
void* ClosedHandle(const std::string& kind, LiveHandles& live) {
  if (kind == "weft_runtime") {
    weft_runtime* runtime = OpenRuntime(1).release();
    REQUIRE(weft_runtime_close(runtime) == WEFT_OK);
    return runtime;
  }
  if (kind == "weft_page") {
    weft_page* page = LoadPage(live.runtime, CounterBlocks()).release();
    REQUIRE(weft_page_close(page) == WEFT_OK);
    return page;
  }
  if (kind == "weft_session") {
    weft_session* session = OpenSession(live.page).release();
    REQUIRE(weft_session_close(session) == WEFT_OK);
    return session;
  }
  if (kind == "weft_view") {
    weft_view* view = ViewOf(live.session, "n.ref").release();
    REQUIRE(weft_view_release(view) == WEFT_OK);
    return view;
  }
  if (kind == "weft_strings") {
    weft_strings* strings = MakeStrings(live.runtime);
    REQUIRE(weft_strings_release(strings) == WEFT_OK);
    return strings;
  }
  if (kind == "weft_diagnostics") {
    weft_diagnostics* list = MakeDiagnostics(live.runtime);
    REQUIRE(weft_diagnostics_release(list) == WEFT_OK);
    return list;
  }
  for (const OtherKind& other : OtherKinds()) {
    if (other.kind == kind) return other.closed(live);
  }
  FAIL("no way to close a " << kind);
  return nullptr;
}

std::vector<HandleCall> AllCalls(LiveHandles& live) {
  std::vector<HandleCall> all;
  for (auto table : kTables) {
    for (HandleCall& call : table(live)) all.push_back(std::move(call));
  }
  return all;
}

bool IsKind(const std::string& type) {
  for (const char* kind : {"weft_runtime", "weft_page", "weft_session", "weft_view", "weft_strings", "weft_diagnostics"}) {
    if (type == kind) return true;
  }
  auto others = OtherKinds();
  return std::any_of(others.begin(), others.end(), [&](const OtherKind& other) { return other.kind == type; });
}

}  // namespace
}  // namespace weft::test

TEST_CASE("every function with a handle is tried here", "[capi]") {
  LiveHandles live;
  std::multiset<std::pair<std::string, std::string>> tried, declared;
  for (const HandleCall& call : AllCalls(live)) tried.emplace(call.function, call.kind);
  for (const HeaderFunction& function : HeaderFunctions()) {
    for (size_t i = 0; i < function.handles.size(); ++i) {
      // Structs have names like handles; a handle is one of these, and no output.
      if (IsKind(function.handles[i])) declared.emplace(function.name, function.handles[i]);
    }
  }
  for (const auto& [function, kind] : declared) {
    INFO(function << " with a " << kind);
    CHECK(tried.count({function, kind}) == declared.count({function, kind}));
  }
}

TEST_CASE("null handles are refused, and closing nothing is no error", "[capi]") {
  LiveHandles live;
  for (const HandleCall& call : AllCalls(live)) {
    INFO(call.function << " with a " << call.kind);
    Problems problems;
    CHECK(call.call(nullptr, problems.out()) == (call.null_is_ok ? WEFT_OK : WEFT_INVALID_ARGUMENT));
    if (problems.list() == nullptr) continue;
    CHECK(problems.at(0).code == WEFT_INVALID_ARGUMENT);
    CHECK(std::string(problems.at(0).message) == Cat("needs a ", call.kind, ", found NULL"));
  }
}

TEST_CASE("closed handles are refused for good", "[capi]") {
  LiveHandles live;
  for (const HandleCall& call : AllCalls(live)) {
    INFO(call.function << " with a " << call.kind);
    void* closed = ClosedHandle(call.kind, live);
    Problems problems;
    CHECK(call.call(closed, problems.out()) == WEFT_FAILED_PRECONDITION);
    if (problems.list() != nullptr) CHECK(std::string(problems.at(0).message) == Cat("the ", call.kind, " was closed"));
  }
}

TEST_CASE("foreign pointers are refused, and nothing is read through them", "[capi]") {
  LiveHandles live;
  char own[256] = "not a handle";
  void* handles[] = {live.runtime, live.page, live.session, live.view};
  const char* kinds[] = {"weft_runtime", "weft_page", "weft_session", "weft_view"};
  const uintptr_t page = reinterpret_cast<uintptr_t>(handles[1]), last_generation = uintptr_t{0xffffffff} << 24;
  std::vector<void*> strange = {own,
                                reinterpret_cast<void*>(uintptr_t{1}),
                                reinterpret_cast<void*>(~uintptr_t{0}),
                                reinterpret_cast<void*>(uintptr_t{1} << 63),
                                reinterpret_cast<void*>(page + (1 << 24)),              // a generation to come
                                reinterpret_cast<void*>((page | last_generation) + 1),  // the same of the next slot, whatever it had
                                reinterpret_cast<void*>(page ^ (uintptr_t{1} << 62))};
  for (const HandleCall& call : AllCalls(live)) {
    INFO(call.function << " with a " << call.kind);
    for (void* pointer : strange) CHECK(call.call(pointer, nullptr) == WEFT_INVALID_ARGUMENT);
    for (size_t i = 0; i < std::size(handles); ++i) {
      if (call.kind == kinds[i]) continue;
      Problems problems;
      CHECK(call.call(handles[i], problems.out()) == WEFT_INVALID_ARGUMENT);
      if (problems.list() != nullptr) CHECK(std::string(problems.at(0).message) == Cat("needs a ", call.kind, ", found a ", kinds[i]));
    }
  }
}

TEST_CASE("a closed handle stays closed when others take its place", "[capi]") {
  OwnedRuntime runtime = OpenRuntime(1);
  weft_strings* old = MakeStrings(runtime);
  REQUIRE(weft_strings_release(old) == WEFT_OK);
  for (int i = 0; i < 3000; ++i) REQUIRE(weft_strings_release(MakeStrings(runtime)) == WEFT_OK);
  size_t count = 0;
  CHECK(weft_strings_count(old, &count) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_strings_release(old) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("handles end in any order, and leave nothing behind", "[capi]") {
  size_t before = capi::LiveHandles();
  {
    OwnedView view;
    {
      OwnedRuntime runtime = OpenRuntime();
      OwnedPage page = LoadPage(runtime, CounterBlocks());
      OwnedSession session = OpenSession(page);
      REQUIRE(weft_runtime_close(runtime.release()) == WEFT_OK);
      REQUIRE(weft_page_close(page.release()) == WEFT_OK);
      REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
      view = ViewOf(session, "n.ref");
    }
    CHECK(FloatsOf(view) == std::vector<float>{0});
  }
  CHECK(capi::LiveHandles() == before);
}

TEST_CASE("handles are made, used and closed by many threads at once", "[capi]") {
  OwnedRuntime runtime = OpenRuntime(1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        weft_strings* strings = nullptr;
        if (weft_block_json(runtime, "Add", &strings, nullptr) != WEFT_OK) ++wrong;
        size_t count = 0;
        if (weft_strings_count(strings, &count) != WEFT_OK || count != 1) ++wrong;
        if (weft_strings_release(strings) != WEFT_OK) ++wrong;
        if (weft_strings_count(strings, &count) != WEFT_FAILED_PRECONDITION) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
