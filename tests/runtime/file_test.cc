// Files by descriptors: opening past no link, and files that take the place of others as a whole.
#include "weft/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <set>
#include <thread>
#include <vector>

#include "tests/kit/program.h"
#include "tests/runtime/page_test.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::set<std::string> NamesIn(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

int Put(const fs::path& folder, const std::string& name, std::string_view bytes) {
  NewFile file;
  int error = file.Create(OpenFolder(folder), name);
  if (error == 0) error = file.Write(bytes.data(), bytes.size());
  return error == 0 ? file.Commit() : error;
}

/// The name under which a file is written: of a process that ends in the middle of it.
std::string LeftBehind(const fs::path& folder, const std::string& name) {
  const std::set<std::string> before = NamesIn(folder);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    NewFile file;
    _exit(file.Create(OpenFolder(folder), name) == 0 && file.Write("half", 4) == 0 ? 0 : 1);
  }
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  REQUIRE(how == 0);
  for (const std::string& now : NamesIn(folder)) {
    if (before.count(now) == 0) return now;
  }
  return "";
}

TEST_CASE("A new file has the permissions of the old one; what is no file, or may not be written, stays", "[files]") {
  const TempFolder folder;
  const fs::path secret = folder.Write("secret", "old"), fixed = folder.Write("fixed", "old");
  REQUIRE(::chmod(secret.c_str(), 0600) == 0);
  REQUIRE(Put(folder.path(), "secret", "new") == 0);
  struct stat info {};
  REQUIRE(::stat(secret.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(Put(folder.path(), "pipe", "new") == EOPNOTSUPP);
  CHECK(fs::is_fifo(folder.path() / "pipe"));
  REQUIRE(::chmod(fixed.c_str(), 0444) == 0);
  if (::access(fixed.c_str(), W_OK) != 0) CHECK(Put(folder.path(), "fixed", "new") == EACCES);  // root may always
}

TEST_CASE("A new file is there as a whole or not at all", "[files]") {
  const TempFolder folder;
  folder.Write("x", "old");
  {
    NewFile file;
    REQUIRE(file.Create(OpenFolder(folder.path()), "x") == 0);
    REQUIRE(file.Write("new", 3) == 0);
    CHECK(kit::FileBytes(folder.path() / "x") == "old");
    const std::set<std::string> names = NamesIn(folder.path());
    CHECK(names.size() == 2);
    CHECK(IsUnfinished(*names.begin()));
  }
  CHECK(kit::FileBytes(folder.path() / "x") == "old");
  CHECK(Put(folder.path(), "x", "new") == 0);
  CHECK(kit::FileBytes(folder.path() / "x") == "new");
  CHECK(Put(folder.path(), std::string(255, 'n'), "long") == 0);
  CHECK(Put(folder.path(), std::string(256, 'n'), "longer") == ENAMETOOLONG);
  CHECK(NamesIn(folder.path()) == std::set<std::string>{"x", std::string(255, 'n')});
  fs::create_directory(folder.path() / "folder");
  CHECK(Put(folder.path(), "folder", "1") == EISDIR);
  CHECK(Put(folder.path(), "..", "1") == EISDIR);
  CHECK(Put(folder.path(), "", "1") == EISDIR);
  CHECK(Put(folder.path() / "none", "x", "1") != 0);
  CHECK(NamesIn(folder.path()).size() == 3);
}

TEST_CASE("What a killed writer left goes when the next file of that name is written", "[files]") {
  const TempFolder folder;
  const std::string left = LeftBehind(folder.path(), "x");
  CHECK(IsUnfinished(left));
  CHECK(kit::FileBytes(folder.path() / left) == "half");
  CHECK(Put(folder.path(), "x", "whole") == 0);
  CHECK(NamesIn(folder.path()) == std::set<std::string>{"x"});
  // That of a process that still writes stays.
  NewFile other;
  REQUIRE(other.Create(OpenFolder(folder.path()), "x") == 0);
  REQUIRE(other.Write("later", 5) == 0);
  CHECK(Put(folder.path(), "x", "first") == 0);
  CHECK(NamesIn(folder.path()).size() == 2);
  CHECK(other.Commit() == 0);
  CHECK(kit::FileBytes(folder.path() / "x") == "later");
  CHECK(NamesIn(folder.path()) == std::set<std::string>{"x"});
}

TEST_CASE("Links and pipes under the name of an unfinished file are neither followed nor waited for", "[files]") {
  const TempFolder folder, other;
  other.Write("target", "outside");
  const std::string left = LeftBehind(folder.path(), "x");
  const fs::path beside = folder.path() / left;
  fs::remove(beside);
  fs::create_symlink(other.path() / "target", beside);
  CHECK(Put(folder.path(), "x", "1") == 0);
  CHECK(fs::is_symlink(beside));
  fs::remove(beside);
  fs::create_hard_link(other.path() / "target", beside);
  CHECK(Put(folder.path(), "x", "2") == 0);
  fs::remove(beside);
  REQUIRE(::mkfifo(beside.c_str(), 0600) == 0);
  CHECK(Put(folder.path(), "x", "3") == 0);
  CHECK(kit::FileBytes(folder.path() / "x") == "3");
  CHECK(kit::FileBytes(other.path() / "target") == "outside");
}

TEST_CASE("Many writers of one name do not mix", "[files]") {
  const TempFolder folder;
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string text(100000, static_cast<char>('a' + t));
      for (int i = 0; i < 20; ++i) failed += Put(folder.path(), "x", text) != 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  const std::string text = kit::FileBytes(folder.path() / "x");
  CHECK(text == std::string(100000, text.at(0)));
  CHECK(NamesIn(folder.path()) == std::set<std::string>{"x"});
}

TEST_CASE("Real places are opened past no link, and made past none", "[files]") {
  const TempFolder folder, other;
  const fs::path root = fs::canonical(folder.path());
  fs::create_directory_symlink(other.path(), root / "link");
  other.Write("x", "outside");
  folder.Write("x", "inside");
  CHECK(OpenReal(root / "x", O_RDONLY).valid());
  CHECK(OpenReal("/", O_PATH | O_DIRECTORY).valid());
  const auto error = [](const Descriptor& opened) { return opened.valid() ? 0 : errno; };
  CHECK(error(OpenReal(root / "link/x", O_RDONLY)) == ELOOP);
  CHECK(OpenFolder(root / "link").valid());
  CHECK(error(OpenRealFolder(root / "link", true)) == ELOOP);
  CHECK(!OpenRealFolder(root / "link/made/below", true).valid());
  CHECK(!fs::exists(other.path() / "made"));
  CHECK(error(OpenRealFolder(root / "made/below", false)) == ENOENT);
  CHECK(OpenRealFolder(root / "made/below", true).valid());
  CHECK(fs::is_directory(root / "made/below"));
  CHECK(!OpenRealFolder(root / "x/below", true).valid());
}

}  // namespace
}  // namespace weft
