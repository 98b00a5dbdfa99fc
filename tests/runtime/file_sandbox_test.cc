// The sandbox of files: which names lead where, and what may be read and written there.
#include "weft/host/file_sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <thread>

#include "tests/kit/program.h"
#include "tests/runtime/page_test.h"
#include "weft/base/file.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
constexpr auto kRead = Files::Access::kRead, kWrite = Files::Access::kWrite;

/// page/ with a file, data/ and other/ beside it with one each.
struct Place {
  Place() {
    for (const char* name : {"page", "page/sub", "data", "other"}) fs::create_directory(root / name);
    for (const char* name : {"page", "data", "other"}) folder.Write(Cat(name, "/x.txt"), name);
  }
  FileSandbox Sandbox(std::vector<fs::path> read = {}, std::vector<fs::path> write = {}) const {
    FolderRules rules = FolderRules::OfPage(root / "page");
    rules.read.insert(rules.read.end(), read.begin(), read.end());
    rules.write = std::move(write);
    return FileSandbox(rules);
  }
  void Link(const fs::path& target, const char* name) const { fs::create_symlink(target, root / name); }

  TempFolder folder;
  const fs::path root = fs::canonical(folder.path());
};

/// The bytes, or "CODE (hint)".
std::string Read(const FileSandbox& files, std::string_view name) {
  auto bytes = files.Read(name);
  return bytes.ok() ? *bytes : Cat(CodeName(bytes.status().code()), " (", bytes.status().hint(), ")");
}

TEST_CASE("Files: a page reads its own folder and writes nothing", "[files]") {
  const Place place;
  const FileSandbox files = place.Sandbox();
  CHECK(Read(files, "x.txt") == "page");
  CHECK(Read(files, "sub/../x.txt") == "page");
  CHECK(Read(files, (place.root / "page/x.txt").string()) == "page");
  CHECK(Read(files, "../page/x.txt") == "page");
  CHECK(Read(files, "none.txt") == "not_found ()");
  CHECK(Read(files, "../data/x.txt") == Cat("permission_denied (allow its folder: --allow ", (place.root / "data").string(), ")"));
  CHECK(Read(files, "sub/../../data/x.txt").starts_with("permission_denied"));
  CHECK(Read(files, "/etc/passwd") == "permission_denied (allow its folder: --allow /etc)");
  // What lies outside is not told, nor whether it is there.
  CHECK(Read(files, "../nowhere/x.txt").starts_with("permission_denied"));
  CHECK(Read(files, "../nowhere/../page/x.txt").starts_with("permission_denied"));

  const Status refused = files.Write("new.txt", "bytes");
  CHECK(refused.code() == Code::kPermissionDenied);
  CHECK(refused.hint() == Cat("allow its folder: --write ", (place.root / "page").string()));
  CHECK(files.Resolve("x.txt", kWrite).status().code() == Code::kPermissionDenied);
  CHECK(kit::FileBytes(place.root / "page/x.txt") == "page");
  CHECK(!fs::exists(place.root / "page/new.txt"));
}

TEST_CASE("Files: --allow opens a folder for reading, --write for both", "[files]") {
  const Place place;
  const FileSandbox files = place.Sandbox({place.root / "data"}, {place.root / "other"});
  CHECK(Read(files, "../data/x.txt") == "data");
  CHECK(Read(files, (place.root / "data/x.txt").string()) == "data");
  CHECK(Read(files, "../other/x.txt") == "other");
  CHECK(files.Write("../data/x.txt", "1").code() == Code::kPermissionDenied);
  CHECK(files.Write("../other/x.txt", "written").ok());
  CHECK(files.Write((place.root / "other/new").string(), std::string("a\0b", 3)).ok());
  CHECK(kit::FileBytes(place.root / "other/x.txt") == "written");
  CHECK(Read(files, "../other/new") == std::string("a\0b", 3));
  CHECK(files.Write("../other/none/new", "1").code() == Code::kNotFound);
  CHECK(files.Write("../other", "1").code() == Code::kInvalidArgument);
  CHECK(*files.Resolve("../other/not/yet/there", kWrite) == place.root / "other/not/yet/there");
  // Nothing is left beside what was written.
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(place.root / "other")) ++count;
  CHECK(count == 2);
  // A folder whose name begins as an allowed one is another.
  fs::create_directory(place.root / "data2");
  place.folder.Write("data2/x.txt", "data2");
  CHECK(Read(files, "../data2/x.txt").starts_with("permission_denied"));
}

TEST_CASE("Files: of links the real place counts", "[files]") {
  const Place place;
  place.Link(place.root / "other", "page/out");
  place.Link("../other/x.txt", "page/out.txt");
  place.Link("sub", "page/in");
  place.Link("x.txt", "page/in.txt");
  place.Link("loop2", "page/loop1");
  place.Link("loop1", "page/loop2");
  const FileSandbox files = place.Sandbox();
  CHECK(Read(files, "in.txt") == "page");
  CHECK(Read(files, "in/../x.txt") == "page");
  CHECK(Read(files, "out/x.txt").starts_with("permission_denied"));
  CHECK(Read(files, "out.txt").starts_with("permission_denied"));
  CHECK(Read(files, "loop1").starts_with("permission_denied"));
  // ".." after a link is that of the link's target: not the page's folder, however it reads.
  CHECK(Read(files, "out/../x.txt").starts_with("permission_denied"));
  CHECK(Read(files, "out/../page/x.txt") == "page");

  const FileSandbox wider = place.Sandbox({place.root / "other"});
  CHECK(Read(wider, "out/x.txt") == "other");
  CHECK(Read(wider, "out.txt") == "other");
  CHECK(*wider.Resolve("out/x.txt", kRead) == place.root / "other/x.txt");

  // A folder may be allowed by a link to it.
  place.Link("data", "data_link");
  CHECK(Read(place.Sandbox({place.root / "data_link"}), "../data/x.txt") == "data");
}

TEST_CASE("Files: a refusal says what would allow it in the page's words, never where a link leads", "[files]") {
  const Place place;
  place.Link(place.root / "other", "page/out");
  place.Link(place.root / "other/x.txt", "page/out.txt");
  place.Link("page", "page_link");
  const FileSandbox files = place.Sandbox();
  const std::string by_link = "permission_denied (a link on its way leads out of them: allow the folder that it leads to)";
  CHECK(Read(files, "out/x.txt") == by_link);
  CHECK(Read(files, "out.txt") == by_link);
  CHECK(Read(files, "nope/../out.txt") == "not_found ()");  // no letters are taken away
  // A folder that the letters name is not told where it would be another.
  const std::string unclear = "write its name without links and '..': then its folder can be allowed";
  CHECK(files.Write("out/new", "1").hint() == unclear);
  for (const char* name : {"nope/../out/x.txt", "out/../other/x.txt", "../nope/../page/out/x.txt", "../nope/../data/x.txt"}) {
    INFO(name);
    CHECK(files.Write(name, "1").hint() == unclear);
  }
  CHECK(Read(files, "sub/../../other/x.txt") == Cat("permission_denied (allow its folder: --allow ", (place.root / "other").string(), ")"));
  // A page that was opened by a link is not told its real folder.
  const FileSandbox linked(FolderRules::OfPage(place.root / "page_link"));
  CHECK(Read(linked, "x.txt") == "page");
  CHECK(Read(linked, "../y.txt") == Cat("permission_denied (allow its folder: --allow ", place.root.string(), ")"));
  CHECK(linked.Write("new", "1").hint() == Cat("allow its folder: --write ", (place.root / "page_link").string()));
  // Nor one without a folder the folder that the process works in.
  const FileSandbox bare(FolderRules{});
  CHECK(Read(bare, "x.txt") == "permission_denied (give the page a folder that it may read)");
  CHECK(bare.Write("x.txt", "1").hint() == "give the page a folder that it may write");
  CHECK(Read(bare, "/etc/passwd") == "permission_denied (allow its folder: --allow /etc)");
}

TEST_CASE("Files: a link that leads out is no way to write", "[files]") {
  const Place place;
  place.Link(place.root / "other/made", "page/dangling");
  place.Link(place.root / "other", "page/out");
  place.Link("sub/made", "page/inner");
  const FileSandbox files = place.Sandbox({}, {place.root / "page"});
  for (const char* name : {"dangling", "out/made"}) {
    INFO(name);
    CHECK(files.Write(name, "1").code() == Code::kPermissionDenied);
    CHECK(files.Resolve(name, kWrite).status().code() == Code::kPermissionDenied);
  }
  CHECK(!fs::exists(place.root / "other/made"));
  CHECK(files.Write("inner", "1").ok());
  CHECK(fs::is_symlink(place.root / "page/inner"));
  CHECK(kit::FileBytes(place.root / "page/sub/made") == "1");
}

TEST_CASE("Files: pipes, devices and folders are no files of a page", "[files]") {
  const Place place;
  REQUIRE(::mkfifo((place.root / "page/pipe").c_str(), 0600) == 0);
  place.Link("/dev/zero", "page/zero");
  const FileSandbox files = place.Sandbox({"/dev"}, {place.root / "page"});
  const auto start = std::chrono::steady_clock::now();
  for (const char* name : {"pipe", "zero", "/dev/zero"}) {
    INFO(name);
    auto read = files.Read(name, 0, 8);
    CHECK(read.status().code() == Code::kInvalidArgument);
    CHECK_THAT(read.status().message(), Contains("device or pipe"));
    CHECK(files.Resolve(name, kRead).status().code() == Code::kInvalidArgument);
  }
  CHECK(files.Write("pipe", "1").code() == Code::kInvalidArgument);
  CHECK(files.Resolve("pipe", kWrite).status().code() == Code::kInvalidArgument);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK_THAT(files.Read("sub").status().message(), Contains("found the folder 'sub'"));
  CHECK_THAT(files.Read(".").status().message(), Contains("found the folder '.'"));
  CHECK(files.Read("").status().code() == Code::kInvalidArgument);
  CHECK(files.Read(std::string_view("x\0.txt", 6)).status().code() == Code::kInvalidArgument);
  CHECK(files.Read(std::string(5000, 'n')).status().code() == Code::kInvalidArgument);
  CHECK(files.Read("x.txt/y").status().code() == Code::kFailedPrecondition);
}

TEST_CASE("Files: parts of a file", "[files]") {
  const Place place;
  place.folder.Write("page/digits", "0123456789");
  const FileSandbox files = place.Sandbox();
  CHECK(*files.Read("digits", 4) == "456789");
  CHECK(*files.Read("digits", 4, 2) == "45");
  CHECK(*files.Read("digits", 8, 100) == "89");
  CHECK(files.Read("digits", 100, 2)->empty());
  CHECK(files.Read("digits", -1, 2).status().code() == Code::kOutOfRange);
}

TEST_CASE("Files: what is opened below a folder passes no link, with openat2 and without", "[files]") {
  const Place place;
  place.Link("x.txt", "page/link");
  place.Link("sub", "page/folder_link");
  place.folder.Write("page/sub/y.txt", "y");
  const Descriptor folder(::open((place.root / "page").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(folder.valid());
  for (auto* open : {OpenBeneath, OpenBeneathByComponents}) {
    const auto error = [&](const char* name, int flags) { return open(folder, name, flags).valid() ? 0 : errno; };
    CHECK(error("x.txt", O_RDONLY) == 0);
    CHECK(error("sub/y.txt", O_RDONLY) == 0);
    CHECK(error("sub", O_PATH | O_DIRECTORY) == 0);
    CHECK(error(".", O_PATH | O_DIRECTORY) == 0);
    CHECK(error("link", O_RDONLY) == ELOOP);
    CHECK(error("folder_link/y.txt", O_RDONLY) == ELOOP);
    CHECK(error("folder_link", O_PATH | O_DIRECTORY) == ELOOP);
    CHECK(error("../data/x.txt", O_RDONLY) == EXDEV);
    CHECK(error("none/x.txt", O_RDONLY) == ENOENT);
    CHECK(error("x.txt/y", O_RDONLY) == ENOTDIR);
  }
}

TEST_CASE("Files: who puts a link in the way between check and use gets nothing from outside", "[files]") {
  const Place place;
  fs::create_directory(place.root / "page/real");
  place.folder.Write("page/real/x.txt", "page");
  place.Link(place.root / "other", "page/trap");
  const FileSandbox files = place.Sandbox({}, {place.root / "page"});
  std::atomic<bool> done{false};
  std::thread mover([&] {
    // page/way is now a folder, now a link that leads out.
    const std::string way = (place.root / "page/way").string(), real = (place.root / "page/real").string(), trap = (place.root / "page/trap").string();
    while (!done) {
      (void)::rename(real.c_str(), way.c_str());
      (void)::rename(way.c_str(), real.c_str());
      (void)::rename(trap.c_str(), way.c_str());
      (void)::rename(way.c_str(), trap.c_str());
    }
  });
  // Until the folder and the link were met, at least: a machine may be busy.
  int inside = 0, refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&](std::chrono::milliseconds time) { return std::chrono::steady_clock::now() - begin >= time; };
  while (!passed(std::chrono::milliseconds(400)) || ((inside == 0 || refused == 0) && !passed(std::chrono::seconds(30)))) {
    auto bytes = files.Read("way/x.txt");
    if (bytes.ok()) {
      REQUIRE(*bytes == "page");
      ++inside;
    } else {
      refused += bytes.status().code() == Code::kPermissionDenied;
    }
    (void)files.Write("way/made", "1").ok();
  }
  done = true;
  mover.join();
  INFO(inside << " read, " << refused << " refused");
  CHECK(inside > 0);
  CHECK(refused > 0);
  CHECK(!fs::exists(place.root / "other/made"));
  CHECK(kit::FileBytes(place.root / "other/x.txt") == "other");
}

}  // namespace
}  // namespace weft
