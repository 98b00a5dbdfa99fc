// Blocks that read and write files, on pages that try to leave their folders.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/kit/program.h"
#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/base/file.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

/// page/ and other/ beside it, with a file x.txt each.
struct Place {
  Place() {
    for (const char* name : {"page", "other"}) fs::create_directory(root / name);
    for (const char* name : {"page", "other"}) folder.Write(Cat(name, "/x.txt"), name);
  }
  std::shared_ptr<const Files> Sandbox(bool write) const {
    FolderRules rules = FolderRules::OfPage(root / "page");
    if (write) rules.write = {root / "page"};
    return std::make_shared<FileSandbox>(std::move(rules));
  }
  void Link(const fs::path& target, const char* name) const { fs::create_symlink(target, root / name); }

  TempFolder folder;
  const fs::path root = fs::canonical(folder.path());
};

std::string Text(std::string_view text) { return Cat(R"({"dtype": "DT_STRING", "shape": [], "values": [")", text, "\"]}"); }

/// What a page does with the file of a name: each block that names files, by its type. The node to run is "it".
std::vector<std::string> BlocksThatUse(std::string_view type, std::string_view name) {
  if (type == "ReadFile") return {Block("it", type, {{"filename", Text(name)}})};
  if (type == "WriteFile") return {Block("it", type, {{"filename", Text(name)}, {"contents", Text("made")}})};
  if (type == "Save") {
    return {Block("it", type, {{"filename", Text(name)}, {"tensor_names", Text("t")}, {"data", Cat("[", Scalar(1), "]")}})};
  }
  if (type == "Restore") return {Block("it", type, {{"file_pattern", Text(name)}, {"tensor_name", Text("t")}}, "dt_ = DT_FLOAT;")};
  if (type == "ImmutableConst") return {Block("it", type, {}, Cat("dtype_ = DT_UINT8;shape_ = [4];memory_region_name_ = \\\"", name, "\\\";"))};
  return {Block("names", "FIFOQueue", {}, "component_types_ = {DT_STRING};"),
          Block("put", "QueueEnqueue", {{"handle", "names.handle"}, {"components", Cat("[", Text(name), "]")}}),
          Block("reader", "FixedLengthRecordReader", {}, "record_bytes_ = 2;"),
          Block("it", "ReaderRead", {{"reader_handle", "reader.reader_handle"}, {"queue_handle", "names.handle"}})};
}

struct Use {
  Use(const Place& place, std::string_view type, std::string_view name, bool write = true)
      : page(BlocksThatUse(type, name), {.threads = 1, .memory_limit = 0}, Options(place, write)) {
    if (type == "FixedLengthRecordReader") RunOk(*page.Open({}, {"put"}));
    session = page.Open({}, {"it"});
    status = session->Run();
  }
  static ScopeOptions Options(const Place& place, bool write) {
    ScopeOptions options;
    options.files = place.Sandbox(write);
    options.stall_limit_ms = 300;
    return options;
  }
  TestPage page;
  std::unique_ptr<Session> session;
  Status status;
};

constexpr const char* kReaders[] = {"ReadFile", "Restore", "ImmutableConst", "FixedLengthRecordReader"};
constexpr const char* kWriters[] = {"WriteFile", "Save"};

TEST_CASE("Blocks do not leave the page's folder by links, by .. through what is missing, or by both", "[files]") {
  const Place place;
  place.Link(place.root / "other", "page/link");
  place.Link("../other/x.txt", "page/link.txt");
  place.Link(place.root / "other/made", "page/dangling");
  for (const char* name : {"link/x.txt", "nope/../link/x.txt", "link.txt", "nope/../link.txt", "../other/x.txt", "nope/../../other/x.txt",
                           "./nope/./../link/x.txt", "link/../other/x.txt"}) {
    for (const char* type : kReaders) {
      INFO(type << " " << name);
      const Use use(place, type, name);
      CHECK((use.status.code() == Code::kPermissionDenied || use.status.code() == Code::kNotFound));
      // Where a link leads is not told; what the name itself says is.
      if (!std::string_view(name).starts_with("..")) CHECK_THAT(ToString(use.status), !Contains((place.root / "other").string()));
    }
  }
  for (const char* name : {"link/made", "nope/../link/made", "dangling", "nope/../dangling", "../other/made", "nope/../../other/made"}) {
    for (const char* type : kWriters) {
      INFO(type << " " << name);
      const Use use(place, type, name);
      CHECK((use.status.code() == Code::kPermissionDenied || use.status.code() == Code::kNotFound));
      CHECK(!fs::exists(place.root / "other/made"));
    }
  }
  CHECK(Use(place, "ReadFile", "x.txt").status.ok());
  CHECK(Use(place, "WriteFile", "new/folder/made").status.ok());
  CHECK(kit::FileBytes(place.root / "page/new/folder/made") == "made");
}

TEST_CASE("A page that may read its folder may not write there, itself included", "[files]") {
  const Place place;
  place.folder.Write("page/p.page.json", "{}");
  for (const char* type : kWriters) {
    for (const char* name : {"p.page.json", "new", "sub/new"}) {
      INFO(type << " " << name);
      const Use use(place, type, name, false);
      CHECK(use.status.code() == Code::kPermissionDenied);
      CHECK_THAT(use.status.message(), Contains("outside the folders that the page may write"));
    }
  }
  CHECK(kit::FileBytes(place.root / "page/p.page.json") == "{}");
  CHECK(!fs::exists(place.root / "page/new"));
  CHECK(!fs::exists(place.root / "page/sub"));
}

TEST_CASE("Pipes and devices are no files of a block, and none waits for them", "[files]") {
  const Place place;
  REQUIRE(::mkfifo((place.root / "page/pipe").c_str(), 0600) == 0);
  place.Link("pipe", "page/to_pipe");
  place.Link("/dev/zero", "page/zero");
  const auto start = Clock::now();
  for (const char* name : {"pipe", "to_pipe", "zero"}) {
    for (const char* type : {"ReadFile", "Restore", "ImmutableConst", "FixedLengthRecordReader", "WriteFile", "Save"}) {
      INFO(type << " " << name);
      CHECK(!Use(place, type, name).status.ok());
    }
  }
  CHECK(fs::is_fifo(place.root / "page/pipe"));
  CHECK(MillisecondsSince(start) < 20000);
}

TEST_CASE("A pattern shows nothing of what a link leads to, and nothing that is being written", "[files]") {
  const Place place;
  REQUIRE(Use(place, "Save", "model-1").status.ok());
  // What a writer that was killed left behind, and what the names beside were once.
  NewFile unfinished;
  REQUIRE(unfinished.Create(OpenFolder(place.root / "page"), "model-1") == 0);
  REQUIRE(unfinished.Write("half", 4) == 0);
  for (const char* pattern : {"model-*", "model*", "*-1", "model-[0-9]", ".weft-*.tmp", ".*"}) {
    INFO(pattern);
    const Use use(place, "Restore", pattern);
    CHECK(use.status.ok() == (pattern[0] != '.'));
    if (pattern[0] == '.') CHECK_THAT(use.status.message(), Contains("found no file"));
  }
  place.Link(place.root / "other", "page/linked");
  for (const char* pattern : {"l*/*", "*/x.txt", "*/x*", "l*/none", "linke[d]/x.txt"}) {
    INFO(pattern);
    const Use use(place, "Restore", pattern);
    CHECK(use.status.code() == Code::kNotFound);
    CHECK_THAT(ToString(use.status), !Contains("x.txt'") || Contains(Cat("'", pattern, "'")));
  }
}

/// Exchanges what is at page/way again and again: a folder of the page's own, a link to the one outside, nothing.
class Mover {
 public:
  explicit Mover(const Place& place) : place_(place), thread_([this] { Move(); }) {}
  ~Mover() {
    done_ = true;
    thread_.join();
  }

 private:
  void Move() {
    const std::string page = (place_.root / "page/").string(), way = page + "way", real = page + "real", trap = page + "trap";
    while (!done_) {
      (void)::rename(real.c_str(), way.c_str());
      (void)::rename(way.c_str(), real.c_str());
      (void)::rename(trap.c_str(), way.c_str());
      (void)::rename(way.c_str(), trap.c_str());
    }
  }
  const Place& place_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST_CASE("Who puts a link in a block's way between check and use gets nothing from outside", "[files]") {
  const Place place;
  fs::create_directory(place.root / "page/real");
  place.folder.Write("page/real/x.txt", "page");
  place.Link(place.root / "other", "page/trap");
  TestPage page({Block("read", "ReadFile", {{"filename", Text("way/x.txt")}}),
                 Block("write", "Save", {{"filename", Text("way/made")}, {"tensor_names", Text("t")}, {"data", Cat("[", Scalar(1), "]")}})},
                {.threads = 1, .memory_limit = 0}, Use::Options(place, true));
  auto read = page.Open({"read.contents"});
  auto write = page.Open({}, {"write"});
  int inside = 0, refused = 0;
  {
    const Mover mover(place);
    const auto start = Clock::now();
    // Until the folder and the link were met, at least: a machine may be busy.
    while (MillisecondsSince(start) < 1500 || ((inside == 0 || refused == 0) && MillisecondsSince(start) < 30000)) {
      const Status status = read->Run();
      if (status.ok()) {
        REQUIRE(Get<String>(*read, "read.contents").at(0) == "page");
        ++inside;
      } else {
        refused += status.code() == Code::kPermissionDenied;
      }
      (void)write->Run().ok();
      REQUIRE(!fs::exists(place.root / "other/made"));
    }
  }
  INFO(inside << " read, " << refused << " refused");
  CHECK(inside > 0);
  CHECK(refused > 0);
  CHECK(kit::FileBytes(place.root / "other/x.txt") == "other");
}

TEST_CASE("A host sees each access of a page, and may refuse it", "[files]") {
  const Place place;
  place.Link(place.root / "other", "page/link");
  std::vector<std::string> seen;
  DocumentOptions options;
  options.write_folders = {place.root / "page/out"};
  fs::create_directory(place.root / "page/out");
  options.may_use = [&](const FileAccess& file) {
    seen.push_back(Cat(file.access == Files::Access::kWrite ? "write " : "read ", file.name, " ", file.allowed ? "" : "outside ",
                       file.path.lexically_relative(place.root).string()));
    return !file.name.ends_with("secret");
  };
  place.folder.Write("page/v.bin", std::string(8, '\0'));
  place.folder.Write("page/secret", "secret");
  const std::string value = R"({"dtype": "DT_FLOAT", "shape": [2], "file": "v.bin"})";
  const fs::path path = place.folder.Write(
      "page/p.page.json",
      PageWith(Cat(Block("c", "Const", {{"value", value}}), ",", Block("a", "ReadFile", {{"filename", Text("x.txt")}}), ",",
                   Block("b", "ReadFile", {{"filename", Text("link/x.txt")}}), ",", Block("d", "ReadFile", {{"filename", Text("secret")}}), ",",
                   Block("w", "WriteFile", {{"filename", Text("out/y")}, {"contents", Text("1")}}))));
  auto document = Document::OpenFile(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}), path, options);
  REQUIRE(document->diagnostics().all().empty());
  const auto run = [&](const char* block) {
    SessionSpec spec;
    spec.run = {document->scope()->graph().FindNode(block).value()};
    return Session(document->scope(), std::move(spec), Keep::kAll).Run();
  };
  CHECK(run("a").ok());
  CHECK(run("b").code() == Code::kPermissionDenied);
  const Status refused = run("d");
  CHECK(refused.code() == Code::kPermissionDenied);
  CHECK_THAT(refused.message(), Contains("the host does not let the page read the file 'secret'"));
  CHECK(run("w").ok());
  CHECK(seen == std::vector<std::string>{"read v.bin page/v.bin", "read x.txt page/x.txt", "read link/x.txt outside other/x.txt",
                                         "read secret page/secret", "write out/y page/out/y"});
  CHECK(document->files().Read("secret").status().code() == Code::kPermissionDenied);
}

}  // namespace
}  // namespace weft::test
