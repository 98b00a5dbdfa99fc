// The files that a page may use, by the C interface.
#include "tests/capi/capi_kit.h"
#include "tests/runtime/page_test.h"

using namespace weft;
using namespace weft::test;

namespace {

std::string TextOf(weft_strings* strings) {
  const char* text = "";
  size_t bytes = 0;
  REQUIRE(weft_strings_get(strings, 0, &text, &bytes) == WEFT_OK);
  return {text, bytes};
}

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

}  // namespace
