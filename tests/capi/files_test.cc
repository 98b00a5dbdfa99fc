// The files that a page may use, by the C interface.
#include "tests/capi/capi_kit.h"
#include "tests/runtime/page_test.h"

using namespace weft;
using namespace weft::test;

namespace {

TEST_CASE("C: a host's own files keep to the page's rules", "[capi]") {
  OwnedRuntime runtime = OpenRuntime(1);
  TempFolder folder, data, out;
  const std::filesystem::path place = std::filesystem::canonical(out.path());
  folder.Write("page.json", PageText({Block("x", "Const", {{"value", Vector({1, 2})}})}));
  folder.Write("notes", std::string("a\0b", 3));
  data.Write("set", "data");
  const char* allowed[] = {data.path().c_str()};
  const char* writable[] = {out.path().c_str()};
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.allowed_folders = allowed, options.allowed_count = 1;
  options.write_folders = writable, options.write_count = 1;
  OwnedPage page;
  Problems problems;
  C_OK(problems, weft_page_load_file(runtime, (folder.path() / "page.json").c_str(), &options, page.out(), problems.out()));

  OwnedStrings content, set, path;
  C_OK(problems, weft_page_read_file(page, "notes", content.out(), problems.out()));
  CHECK(TextOf(content) == std::string("a\0b", 3));
  C_OK(problems, weft_page_read_file(page, (data.path() / "set").c_str(), set.out(), problems.out()));
  CHECK(TextOf(set) == "data");
  OwnedStrings none;
  CHECK(weft_page_read_file(page, "/etc/passwd", none.out(), problems.out()) == WEFT_PERMISSION_DENIED);
  CHECK(std::string(problems.at(0).hint) == "allow its folder: --allow /etc");
  CHECK(weft_page_read_file(page, "none", none.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_read_file(page, "", none.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(none == nullptr);

  CHECK(weft_page_write_file(page, "notes", "1", 1, problems.out()) == WEFT_PERMISSION_DENIED);
  CHECK(weft_page_write_file(page, (data.path() / "set").c_str(), "1", 1, problems.out()) == WEFT_PERMISSION_DENIED);
  C_OK(problems, weft_page_write_file(page, (out.path() / "made").c_str(), "1\0002", 3, problems.out()));
  C_OK(problems, weft_page_write_file(page, (out.path() / "empty").c_str(), nullptr, 0, problems.out()));
  CHECK(weft_page_write_file(page, (out.path() / "made").c_str(), nullptr, 3, problems.out()) == WEFT_INVALID_ARGUMENT);
  OwnedStrings made;
  C_OK(problems, weft_page_read_file(page, (out.path() / "made").c_str(), made.out(), problems.out()));
  CHECK(TextOf(made) == std::string("1\0002", 3));

  CHECK(weft_page_file_path(page, (out.path() / "sub/../made").c_str(), WEFT_FILE_WRITE, none.out(), problems.out()) == WEFT_NOT_FOUND);
  C_OK(problems, weft_page_file_path(page, (out.path() / "new").c_str(), WEFT_FILE_WRITE, path.out(), problems.out()));
  CHECK(TextOf(path) == (place / "new").string());
  CHECK(weft_page_file_path(page, "notes", WEFT_FILE_WRITE, none.out(), problems.out()) == WEFT_PERMISSION_DENIED);
  CHECK(weft_page_file_path(page, "notes", 2, none.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: a page of bytes uses the files of the folders that it is given, and no others", "[capi]") {
  OwnedRuntime runtime = OpenRuntime(1);
  TempFolder folder;
  folder.Write("set", "data");
  OwnedPage bare = LoadPage(runtime, CounterBlocks());
  OwnedStrings content;
  Problems problems;
  CHECK(weft_page_read_file(bare, (folder.path() / "set").c_str(), content.out(), problems.out()) == WEFT_PERMISSION_DENIED);
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.folder = folder.path().c_str();
  OwnedPage page = LoadPage(runtime, CounterBlocks(), &options);
  C_OK(problems, weft_page_read_file(page, "set", content.out(), problems.out()));
  CHECK(TextOf(content) == "data");
  const char* folders[] = {nullptr};
  options.write_folders = folders, options.write_count = 1;
  OwnedPage refused;
  CHECK(weft_page_load(runtime, "{}", 2, &options, refused.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
}

struct CallsSeen {
  std::vector<std::string> accesses;
  int32_t answer = 1;
};

int32_t OnFile(void* user, const char* name, const char* path, int32_t access, int32_t allowed) {
  auto& seen = *static_cast<CallsSeen*>(user);
  seen.accesses.push_back(Cat(access == WEFT_FILE_WRITE ? "write " : "read ", name, " ", path, allowed != 0 ? "" : " outside"));
  return seen.answer;
}

TEST_CASE("C: a host sees each access to a file, and may refuse it", "[capi]") {
  OwnedRuntime runtime = OpenRuntime(1);
  TempFolder folder;
  const std::string place = std::filesystem::canonical(folder.path()).string();
  folder.Write("set", "data");
  CallsSeen seen;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.folder = folder.path().c_str();
  options.file_access = OnFile;
  options.file_user = &seen;
  const std::string name = R"({"dtype": "DT_STRING", "shape": [], "values": ["set"]})";
  OwnedPage page = LoadPage(runtime, {Block("read", "ReadFile", {{"filename", name}})}, &options);
  OwnedSession session = OpenSession(page, {"read.contents"});
  Problems problems;
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(weft_page_write_file(page, "new", "1", 1, problems.out()) == WEFT_PERMISSION_DENIED);
  OwnedStrings content;
  CHECK(weft_page_read_file(page, "/etc/passwd", content.out(), problems.out()) == WEFT_PERMISSION_DENIED);
  CHECK(seen.accesses == std::vector<std::string>{Cat("read set ", place, "/set"), Cat("write new ", place, "/new outside"),
                                                  "read /etc/passwd /etc/passwd outside"});
  seen.answer = 0;
  CHECK(weft_session_run(session, nullptr, problems.out()) == WEFT_PERMISSION_DENIED);
  CHECK(std::string(problems.at(0).block) == "read");
  CHECK_THAT(problems.at(0).message, Catch::Matchers::Contains("the host does not let the page read the file 'set'"));
}

/// A runtime with these lists, or the code of what is wrong with them.
weft_status OpenWithLists(std::vector<const char*> allowed, std::vector<const char*> refused, OwnedRuntime& runtime, Problems& problems) {
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.threads = 1;
  options.allowed_blocks = allowed.data(), options.allowed_block_count = allowed.size();
  options.refused_blocks = refused.data(), options.refused_block_count = refused.size();
  return weft_runtime_open(&options, runtime.out(), problems.out());
}

TEST_CASE("C: lists of blocks that run and that do not", "[capi]") {
  const std::string name = R"({"dtype": "DT_STRING", "shape": [], "values": ["set"]})";
  const std::string text = PageText({Variable("v", Vector({1, 2})), Block("sum", "Add", {{"x", "v.ref"}, {"y", Vector({1, 1})}}),
                                     Block("read", "ReadFile", {{"filename", name}})});
  Problems problems;
  const auto load = [&](std::vector<const char*> allowed, std::vector<const char*> refused) {
    OwnedRuntime runtime;
    C_OK(problems, OpenWithLists(std::move(allowed), std::move(refused), runtime, problems));
    OwnedPage page;
    const weft_status status = weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out());
    if (status == WEFT_OK) return std::string("ok");
    return Cat(weft_status_name(status), " ", problems.at(0).block, ": ", problems.at(0).message);
  };
  const std::string refused = "permission_denied read: the host refuses blocks of the type ReadFile: ";
  CHECK(load({}, {}) == "ok");
  CHECK(load({}, {"ReadFile"}) == refused + "it is on the list of refused blocks");
  CHECK(load({}, {"io_ops"}) == refused + "it is on the list of refused blocks");
  CHECK(load({}, {"WriteFile", "Save"}) == "ok");
  CHECK(load({"Add"}, {}) == refused + "it is not on the list of allowed blocks");
  CHECK(load({"Add", "ReadFile"}, {}) == "ok");
  CHECK(load({"Add", "io_ops"}, {"ReadFile"}) == refused + "it is on the list of refused blocks");
  CHECK(load({"Add", "io_ops"}, {"WriteFile"}) == "ok");

  OwnedRuntime runtime;
  CHECK(OpenWithLists({}, {"ReadFil"}, runtime, problems) == WEFT_NOT_FOUND);
  CHECK(std::string(problems.at(0).port) == "refused_blocks");
  CHECK(std::string(problems.at(0).hint) == "did you mean 'ReadFile'?");
  CHECK(OpenWithLists({"nothing_ops"}, {}, runtime, problems) == WEFT_NOT_FOUND);
  CHECK(OpenWithLists({}, {"ClientSession"}, runtime, problems) == WEFT_INVALID_ARGUMENT);
  CHECK(OpenWithLists({nullptr}, {}, runtime, problems) == WEFT_INVALID_ARGUMENT);
  CHECK(runtime == nullptr);

  // Nor can an edit bring one.
  C_OK(problems, OpenWithLists({}, {"ReadFile"}, runtime, problems));
  OwnedPage page = LoadPage(runtime, {Variable("v", Vector({1, 2}))});
  const std::string add = R"({"op": "add", "block": )" + Block("read", "ReadFile", {{"filename", name}}) + "}";
  CHECK(weft_page_edit(page, add.c_str(), WEFT_EDIT_STRICT, nullptr, problems.out()) == WEFT_PERMISSION_DENIED);
}

TEST_CASE("C: a refused block is a fault of the page, whether a session would run it or not", "[capi]") {
  Problems problems;
  OwnedRuntime runtime;
  C_OK(problems, OpenWithLists({}, {"io_ops"}, runtime, problems));
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.keep_faulty = 1;
  const std::string name = R"({"dtype": "DT_STRING", "shape": [], "values": ["set"]})";
  const std::string read = Block("read", "ReadFile", {{"filename", name}});
  const std::string text = PageText({Variable("v", Vector({1, 2})), Block("sum", "Add", {{"x", "v.ref"}, {"y", Vector({1, 1})}}), read,
                                     R"({"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["sum.z"]}})"});
  OwnedPage page;
  CHECK(weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out()) == WEFT_PERMISSION_DENIED);
  C_OK(problems, weft_page_load(runtime, text.data(), text.size(), &options, page.out(), problems.out()));
  // By the block, how often it is told.
  const auto refused = [&] {
    Problems found;
    REQUIRE(weft_page_diagnostics(page, found.out(), nullptr) == WEFT_OK);
    size_t count = 0;
    REQUIRE(weft_diagnostics_count(found.list(), &count) == WEFT_OK);
    std::string blocks;
    for (size_t i = 0; i < count; ++i) {
      if (found.at(i).code == WEFT_PERMISSION_DENIED) blocks += Cat(blocks.empty() ? "" : " ", found.at(i).block, " ", found.at(i).pointer);
    }
    return blocks;
  };
  CHECK(refused() == "read /blocks/2");
  // Its types are known, and what does not need it runs.
  weft_port_type type = WEFT_PORT_TYPE_INIT;
  C_OK(problems, weft_page_port_type(page, "read.contents", &type, problems.out()));
  CHECK(type.dtype == WEFT_STRING);
  OwnedSession session;
  weft_session_options choice = WEFT_SESSION_OPTIONS_INIT;
  choice.session = "run";
  C_OK(problems, weft_session_open(page, &choice, session.out(), problems.out()));
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  // A session that would run it says so no second time, nor does an edit of something else.
  C_OK(problems, weft_page_edit(page, R"({"op": "connect", "from": "read.contents", "to": "run.fetch_outputs"})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(refused() == "read /blocks/2");
  C_OK(problems, weft_page_edit(page, R"({"op": "rename", "block": "read", "to": "r"})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(refused() == "r /blocks/2");
  C_OK(problems, weft_page_edit(page, R"({"op": "remove", "block": "r"})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(refused().empty());
  C_OK(problems, weft_page_undo(page, nullptr, problems.out()));
  CHECK(refused() == "r /blocks/2");
}

TEST_CASE("C: a list of findings says how many it leaves out", "[capi]") {
  OwnedRuntime runtime = OpenRuntime(1);
  std::string inputs;
  for (int i = 0; i < 1100; ++i) inputs += Cat(i > 0 ? ", " : "", "\"none", i, "\": ", Scalar(1));
  const std::string text = PageText({Cat(R"({"id": "a", "block": "Add", "inputs": {)", inputs, "}}")});
  OwnedPage page;
  Problems problems;
  CHECK(weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out()) != WEFT_OK);
  size_t count = 0;
  REQUIRE(weft_diagnostics_count(problems.list(), &count) == WEFT_OK);
  REQUIRE(count == Diagnostics::kLimit + 1);
  const weft_diagnostic last = problems.at(count - 1);
  CHECK(last.severity == WEFT_NOTE);
  CHECK_THAT(last.message, Catch::Matchers::Contains("a list holds at most 1000 findings: 1"));
}

}  // namespace
