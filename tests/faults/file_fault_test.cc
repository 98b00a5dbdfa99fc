// Calls of the system for files that fail: the file before or the new one, whole; an error that names the file and the reason; nothing left
// open, and nothing left behind that a pattern matches. What a signal interrupts, or what is done in part, just goes on.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "tests/faults/call_fault.h"
#include "tests/faults/fault_kit.h"
#include "weft/base/file.h"

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

/// What is done with a file. `call` gives the status and what it says.
struct FileWork {
  std::string name, file;
  std::function<weft_status(std::string& text)> call;
  std::function<void()> begin;                // before each call
  std::function<bool(bool succeeded)> whole;  // after it
};

std::string TextOf(weft_diagnostics* problems) {
  const char* text = "";
  (void)weft_diagnostics_text(problems, &text);
  return text;
}

weft_page_options MayWrite(const std::string& folder, const char* const* folders) {
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.folder = folder.c_str();
  options.write_folders = folders;
  options.write_count = 1;
  return options;
}

/// Loads a page whose blocks are `blocks`, and runs it once.
weft_status RunPage(weft_runtime* runtime, const std::string& folder, const std::string& blocks, std::string& text, std::string* value = nullptr,
                    const char* result = nullptr) {
  const std::string json = R"({"weft": 1, "page": "p", "blocks": [)" + blocks + "]}";
  const char* folders[] = {folder.c_str()};
  const weft_page_options options = MayWrite(folder, folders);
  OwnedProblems problems;
  OwnedPage page;
  OwnedSession session;
  weft_status status = weft_page_load(runtime, json.data(), json.size(), &options, page.out(), problems.out());
  if (status == WEFT_OK) status = weft_session_open(page, nullptr, session.out(), problems.out());
  if (status == WEFT_OK) status = weft_session_run(session, nullptr, problems.out());
  text = TextOf(problems);
  if (status != WEFT_OK || value == nullptr) return status;
  OwnedView view;
  OwnedStrings shown;
  const char* as_text = "";
  status = weft_session_view(session, result, view.out(), nullptr);
  if (status == WEFT_OK) status = weft_view_text(view, 100000, shown.out(), nullptr);
  if (status == WEFT_OK) status = weft_strings_get(shown, 0, &as_text, nullptr);
  *value = as_text;
  return status;
}

std::string Text(const std::string& value) { return R"({"dtype": "DT_STRING", "shape": [], "values": [")" + value + "\"]}"; }
std::string Texts(const std::string& value) { return R"({"dtype": "DT_STRING", "shape": [1], "values": [")" + value + "\"]}"; }
std::string Const(const std::string& id, const std::string& value) {
  return "{\"id\": \"" + id + R"(", "block": "Const", "inputs": {"value": )" + value + "}}, ";
}

std::string WriteBlocks(const std::string& file, const std::string& contents) {
  return Const("name", Text(file)) + Const("bytes", Text(contents)) +
         R"({"id": "write", "block": "WriteFile", "inputs": {"filename": "name.output", "contents": "bytes.output"}},
            {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["write.operation"]}})";
}
std::string ReadBlocks(const std::string& file) {
  return Const("name", Text(file)) + R"({"id": "read", "block": "ReadFile", "inputs": {"filename": "name.output"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["read.contents"]}})";
}
std::string SaveBlocks(const std::string& file, const std::string& values) {
  return Const("name", Text(file)) + Const("names", Texts("t")) + Const("x", R"({"dtype": "DT_FLOAT", "shape": [3], "values": [)" + values + "]}") +
         R"({"id": "save", "block": "Save", "inputs": {"filename": "name.output", "tensor_names": "names.output", "data": ["x.output"]}},
            {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["save.operation"]}})";
}
std::string RestoreBlocks(const std::string& pattern) {
  return Const("pattern", Text(pattern)) + Const("name", Text("t")) +
         R"({"id": "restore", "block": "Restore", "attrs": "dt_ = DT_FLOAT;", "inputs": {"file_pattern": "pattern.output", "tensor_name": "name.output"}},
            {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["restore.tensor"]}})";
}

std::string SaveV2Blocks(const std::string& prefix, const std::string& values) {
  return Const("prefix", Text(prefix)) + Const("names", Texts("t")) + Const("parts", Texts("")) +
         Const("x", R"({"dtype": "DT_FLOAT", "shape": [3], "values": [)" + values + "]}") +
         R"({"id": "save", "block": "SaveV2", "inputs": {"prefix": "prefix.output", "tensor_names": "names.output", "shape_and_slices": "parts.output",
             "tensors": ["x.output"]}}, {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["save.operation"]}})";
}
std::string RestoreV2Blocks(const std::string& prefix) {
  return Const("prefix", Text(prefix)) + Const("names", Texts("t")) + Const("parts", Texts("")) +
         R"({"id": "restore", "block": "RestoreV2", "attrs": "dtypes_ = {DT_FLOAT};",
             "inputs": {"prefix": "prefix.output", "tensor_names": "names.output", "shape_and_slices": "parts.output"}},
            {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["restore.tensors[0]"]}})";
}

/// One call fails. False where there were not so many of that kind.
bool Try(const FileWork& work, const fs::path& folder, Call call, uint64_t number, int error) {
  INFO(work.name << ": " << NameOf(call) << " " << number << " fails: " << (error == kShort ? "short" : std::strerror(error)));
  const Watchdog watchdog(work.name.c_str(), number);
  work.begin();
  const std::vector<std::string> names = Names(folder);
  std::string text;
  text.reserve(4096);
  const Held before;
  bool happened = false;
  weft_status status = WEFT_OK;
  {
    const CallFault fault(call, number, error);
    status = work.call(text);
    happened = fault.happened();
  }
  CHECK(Held().descriptors == before.descriptors);
  CHECK(Held().handles == before.handles);
  INFO(text);
  if (!happened || error == EINTR || error == kShort) CHECK(status == WEFT_OK);
  if (status != WEFT_OK) {
    CHECK_THAT(text, Catch::Contains(work.file));
    CHECK_THAT(text, Catch::Contains(std::strerror(error)));
  }
  CHECK(work.whole(status == WEFT_OK));
  std::vector<std::string> now = Names(folder), shown;
  std::copy_if(now.begin(), now.end(), std::back_inserter(shown), [](const std::string& name) { return !IsHidden(name); });
  CHECK(shown == names);
  // What could not be removed goes with the next one.
  CHECK(work.call(text) == WEFT_OK);
  CHECK(work.whole(true));
  CHECK(Names(folder) == names);
  return happened;
}

/// Each call of each kind fails by itself. EINTR is for calls that may be interrupted.
void EveryCallFails(const FileWork& work, const fs::path& folder) {
  std::string text;
  work.begin();
  INFO(work.name);
  const weft_status status = work.call(text);
  INFO(text);
  REQUIRE(status == WEFT_OK);
  REQUIRE(work.whole(true));
  int failed = 0;
  for (const Call call : kFileCalls) {
    for (const int error : {EIO, ENOSPC, EINTR, kShort}) {
      if (error == kShort && call != Call::kRead && call != Call::kWrite) continue;
      if (error == EINTR && !MayBeInterrupted(call)) continue;
      INFO(NameOf(call) << ": " << (error == kShort ? "short" : std::strerror(error)));
      uint64_t number = 1;
      while (number < kMostCalls && Try(work, folder, call, number, error)) ++number;
      CHECK(number < kMostCalls);
      failed += static_cast<int>(number) - 1;
    }
  }
  CHECK(failed > 10);
}

TEST_CASE("WriteFile and ReadFile, whose calls fail", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  const std::string before(3000, 'a'), after(4000, 'b');
  const fs::path file = folder.at / "sub" / "out.txt";
  fs::create_directories(file.parent_path());
  EveryCallFails({"WriteFile", "out.txt", [&](std::string& text) { return RunPage(runtime, folder.text, WriteBlocks("sub/out.txt", after), text); },
                  [&] { kit::WriteBytes(file, before); },
                  [&](bool succeeded) {
                    const std::string now = kit::FileBytes(file);
                    return now == after || (!succeeded && now == before);
                  }},
                 folder.at);
  std::string read;
  EveryCallFails({"ReadFile", "out.txt",
                  [&](std::string& text) {
                    read.clear();
                    return RunPage(runtime, folder.text, ReadBlocks("sub/out.txt"), text, &read, "read.contents");
                  },
                  [] {}, [&](bool succeeded) { return succeeded ? read.find(after) != read.npos : read.empty(); }},
                 folder.at);
  fs::create_directory_symlink(file.parent_path(), folder.at / "link");
  EveryCallFails({"ReadFile by a link", "out.txt",
                  [&](std::string& text) {
                    read.clear();
                    return RunPage(runtime, folder.text, ReadBlocks("link/out.txt"), text, &read, "read.contents");
                  },
                  [] {}, [&](bool succeeded) { return succeeded ? read.find(after) != read.npos : read.empty(); }},
                 folder.at);
}

TEST_CASE("A file that cannot have the permissions of the one before is written whole with those of a new one", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  std::string text;
  const auto permissions = [&] { return fs::status(folder.at / "out.txt").permissions(); };
  const auto write = [&](const char* bytes) { return RunPage(runtime, folder.text, WriteBlocks("out.txt", bytes), text); };
  REQUIRE(write("1") == WEFT_OK);
  const fs::perms of_new = permissions(), own = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(folder.at / "out.txt", own);
  {
    const CallFault interrupted(Call::kMode, 1, EINTR);
    REQUIRE(write("2") == WEFT_OK);
    REQUIRE(interrupted.happened());
  }
  CHECK(permissions() == own);
  for (const int error : {EIO, EPERM, EROFS}) {
    INFO(std::strerror(error));
    fs::permissions(folder.at / "out.txt", own);
    const CallFault fault(Call::kMode, 1, error);
    CHECK(write("3") == WEFT_OK);
    CHECK(fault.happened());
    CHECK(kit::FileBytes(folder.at / "out.txt") == "3");
    CHECK(permissions() == of_new);
  }
}

TEST_CASE("A folder of case files that cannot be listed is an error", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  fs::create_directory(folder.at / "below");
  for (const char* name : {"a.cases.json", "below/b.cases.json"}) kit::WriteBytes(folder.at / name, R"({"block": "Negate", "cases": [
    {"name": "one", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}, "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [-1]}}}]})");
  const auto test = [&](std::string& text, uint64_t& passed) {
    weft_test_options options = WEFT_TEST_OPTIONS_INIT;
    weft_test_totals totals = WEFT_TEST_TOTALS_INIT;
    OwnedProblems problems;
    const weft_status status = weft_runtime_test(runtime, folder.text.c_str(), &options, &totals, problems.out());
    text = TextOf(problems);
    passed = static_cast<uint64_t>(totals.passed);
    return status;
  };
  std::string text;
  uint64_t passed = 0, number = 1;
  REQUIRE(test(text, passed) == WEFT_OK);
  REQUIRE(passed == 2);
  int failed = 0;
  for (bool happened = true; happened && number < kMostCalls; number += happened) {
    INFO("call " << number);
    weft_status status = WEFT_OK;
    {
      const CallFault fault(Call::kList, number, EIO);
      status = test(text, passed);
      happened = fault.happened();
    }
    INFO(text);
    failed += status != WEFT_OK;
    if (status != WEFT_OK) CHECK_THAT(text, Catch::Contains(std::strerror(EIO)));
    else CHECK(passed == 2);
  }
  CHECK(number < kMostCalls);
  CHECK(failed >= 8);  // two folders are opened, in which there are '.', '..' and a file each, and in one of them the other
}

TEST_CASE("WriteFile makes its folders or says why not", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  for (const int error : {EIO, ENOSPC, EINTR}) {
    for (uint64_t number = 1; number <= 3; ++number) {
      const Folder folder;
      INFO(number << ": " << std::strerror(error));
      std::string text;
      weft_status status = WEFT_OK;
      const int descriptors = Held::OpenDescriptors();
      {
        const CallFault fault(Call::kFolder, number, error);
        status = RunPage(runtime, folder.text, WriteBlocks("one/two/out.txt", "x"), text);
        if (error == EINTR || !fault.happened()) CHECK(status == WEFT_OK);
      }
      CHECK(Held::OpenDescriptors() == descriptors);
      if (status != WEFT_OK) CHECK_THAT(text, Catch::Contains("out.txt") && Catch::Contains(std::strerror(error)));
      CHECK(fs::exists(folder.at / "one/two/out.txt") == (status == WEFT_OK));
      CHECK(RunPage(runtime, folder.text, WriteBlocks("one/two/out.txt", "x"), text) == WEFT_OK);
    }
  }
}

TEST_CASE("A long file is on the disk, but for its end, before its last step", "[files]") {
  const Folder folder;
  constexpr size_t kMiB = size_t{1} << 20;
  const std::string bytes(17 * kMiB, 'x');
  for (const size_t piece : {kMiB, kMiB + 1, 17 * kMiB}) {
    INFO(piece);
    NewFile file;
    REQUIRE(file.Create(OpenFolder(folder.at), "long") == 0);
    for (size_t at = 0; at < bytes.size(); at += piece) REQUIRE(file.Write(bytes.data(), std::min(piece, bytes.size() - at)) == 0);
    (void)MostLeftForSync();
    REQUIRE(file.Commit() == 0);
    CHECK(MostLeftForSync() <= static_cast<int64_t>(8 * kMiB));
    CHECK(fs::file_size(folder.at / "long") == bytes.size());
  }
  const auto time = fs::last_write_time(folder.at / "long");
  for (const int error : {EIO, ENOSPC}) {
    for (uint64_t number = 1; number <= 7; ++number) {
      const CallFault fault(Call::kSync, number, error);
      NewFile file;
      REQUIRE(file.Create(OpenFolder(folder.at), "long") == 0);
      CHECK(file.Write(bytes.data(), bytes.size()) == error);
    }
  }
  CHECK(Names(folder.at) == std::vector<std::string>{"long"});
  CHECK(fs::last_write_time(folder.at / "long") == time);
}

TEST_CASE("Save and Restore, whose calls fail", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  const fs::path file = folder.at / "model-1";
  std::string text, value, before, after;
  REQUIRE(RunPage(runtime, folder.text, SaveBlocks("model-1", "4,5,6"), text) == WEFT_OK);
  after = kit::FileBytes(file);
  REQUIRE(RunPage(runtime, folder.text, SaveBlocks("model-1", "1,2,3"), text) == WEFT_OK);
  before = kit::FileBytes(file);
  EveryCallFails({"Save", "model-1", [&](std::string& said) { return RunPage(runtime, folder.text, SaveBlocks("model-1", "4,5,6"), said); },
                  [&] { kit::WriteBytes(file, before); },
                  [&](bool succeeded) {
                    const std::string now = kit::FileBytes(file);
                    return now == after || (!succeeded && now == before);
                  }},
                 folder.at);
  for (const char* pattern : {"model-1", "model-*"}) {
    EveryCallFails({std::string("Restore ") + pattern, "",
                    [&](std::string& said) {
                      value.clear();
                      return RunPage(runtime, folder.text, RestoreBlocks(pattern), said, &value, "restore.tensor");
                    },
                    [] {}, [&](bool succeeded) { return succeeded ? value.find("{4,5,6}") != value.npos : value.empty(); }},
                   folder.at);
  }
}

TEST_CASE("SaveV2 and RestoreV2, whose calls fail", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  const fs::path data = folder.at / "model.data-00000-of-00001", index = folder.at / "model.index";
  using Files = std::pair<std::string, std::string>;
  const auto now = [&] { return Files{kit::FileBytes(data), kit::FileBytes(index)}; };
  std::string text, value;
  REQUIRE(RunPage(runtime, folder.text, SaveV2Blocks("model", "4,5,6"), text) == WEFT_OK);
  const Files after = now();
  REQUIRE(RunPage(runtime, folder.text, SaveV2Blocks("model", "1,2,3"), text) == WEFT_OK);
  const Files before = now();
  EveryCallFails({"SaveV2", "model", [&](std::string& said) { return RunPage(runtime, folder.text, SaveV2Blocks("model", "4,5,6"), said); },
                  [&] { kit::WriteBytes(data, before.first), kit::WriteBytes(index, before.second); },
                  [&](bool succeeded) { return now() == after || (!succeeded && now() == before); }},
                 folder.at);
  EveryCallFails({"RestoreV2", "",
                  [&](std::string& said) {
                    value.clear();
                    return RunPage(runtime, folder.text, RestoreV2Blocks("model"), said, &value, "restore.tensors[0]");
                  },
                  [] {}, [&](bool succeeded) { return succeeded ? value.find("{4,5,6}") != value.npos : value.empty(); }},
                 folder.at);
}

std::string MergeBlocks(const std::string& to) {
  return Const("parts", R"({"dtype": "DT_STRING", "shape": [2], "values": ["c", "d"]})") + Const("to", Text(to)) +
         R"({"id": "merge", "block": "MergeV2Checkpoints", "inputs": {"checkpoint_prefixes": "parts.output", "destination_prefix": "to.output"}},
            {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["merge.operation"]}})";
}

/// All files but hidden ones, by name.
std::map<std::string, std::string> FilesIn(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : Names(folder)) {
    if (!IsHidden(name)) files[name] = kit::FileBytes(folder / name);
  }
  return files;
}

TEST_CASE("MergeV2Checkpoints over a checkpoint, whose calls fail, leaves it and those to be merged or merges them", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  std::string text;
  const auto save = [&](const std::string& name, const std::string& values) {
    std::string blocks = SaveV2Blocks(name, values);
    blocks.replace(blocks.find(Texts("t")), Texts("t").size(), Texts(name));
    REQUIRE(RunPage(runtime, folder.text, blocks, text) == WEFT_OK);
  };
  const auto merge = [&] { return RunPage(runtime, folder.text, MergeBlocks("all"), text); };
  for (const int round : {1, 2}) {
    save("c", Cat(round, ",2,3"));
    save("d", Cat(round, ",5,6"));
    if (round == 1) REQUIRE(merge() == WEFT_OK);
  }
  const auto before = FilesIn(folder.at);
  REQUIRE(before.size() == 7);
  REQUIRE(merge() == WEFT_OK);
  const auto after = FilesIn(folder.at);
  REQUIRE(after.size() == 3);
  /// Merges with one call that fails; false where there were not so many of that kind.
  const auto try_merge = [&](Call call, uint64_t number, int error) {
    INFO(NameOf(call) << " " << number << ": " << std::strerror(error));
    for (const auto& [name, bytes] : before) kit::WriteBytes(folder.at / name, bytes);
    weft_status status = WEFT_OK;
    bool happened = false;
    {
      const CallFault fault(call, number, error);
      status = merge();
      happened = fault.happened();
    }
    INFO(text);
    if (!happened || error == EINTR) CHECK(status == WEFT_OK);
    if (status != WEFT_OK) CHECK_THAT(text, Catch::Contains(std::strerror(error)));
    auto now = FilesIn(folder.at);
    if (status == WEFT_OK) std::erase_if(now, [&](const auto& file) { return !after.contains(file.first); });  // what could not be removed stays
    CHECK(now == (status == WEFT_OK ? after : before));
    return happened;
  };
  int failed = 0;
  for (const Call call : kFileCalls) {
    for (const int error : {EIO, ENOSPC, EINTR}) {
      if (error == EINTR && !MayBeInterrupted(call)) continue;
      uint64_t number = 1;
      while (number < kMostCalls && try_merge(call, number, error)) ++number;
      CHECK(number < kMostCalls);
      failed += static_cast<int>(number) - 1;
    }
  }
  CHECK(failed > 30);
}

TEST_CASE("Snapshots, whose calls fail", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder, pages;
  Sample sample(runtime, "softmax_regression", pages.text);
  REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK && sample.Run() == WEFT_OK));
  const std::string path = (folder.at / "state").string(), other = (pages.at / "other").string(), now = (pages.at / "now").string();
  const auto save = [&](const std::string& to, std::string& text) {
    OwnedProblems problems;
    const weft_status status = weft_page_save_state(sample.page, to.c_str(), nullptr, nullptr, problems.out());
    text = TextOf(problems);
    return status;
  };
  std::string text;
  REQUIRE(save(other, text) == WEFT_OK);
  REQUIRE(sample.Run() == WEFT_OK);
  REQUIRE(save(path, text) == WEFT_OK);
  const std::string before = kit::FileBytes(other), after = kit::FileBytes(path);
  CHECK(before != after);
  EveryCallFails({"save a snapshot", "state", [&](std::string& said) { return save(path, said); }, [&] { kit::WriteBytes(path, before); },
                  [&](bool succeeded) {
                    const std::string found = kit::FileBytes(path);
                    return found == after || (!succeeded && found == before);
                  }},
                 folder.at);
  EveryCallFails({"restore a snapshot", "state",
                  [&](std::string& said) {
                    OwnedProblems problems;
                    const weft_status status = weft_page_restore_state(sample.page, path.c_str(), nullptr, nullptr, problems.out());
                    said = TextOf(problems);
                    return status;
                  },
                  [&] { REQUIRE(weft_page_restore_state(sample.page, other.c_str(), nullptr, nullptr, nullptr) == WEFT_OK); },
                  [&](bool succeeded) {
                    std::string said;
                    return save(now, said) == WEFT_OK && kit::FileBytes(now) == (succeeded ? after : before);
                  }},
                 folder.at);
}

TEST_CASE("A page and its values in files, whose calls fail", "[files]") {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  const std::string path = (folder.at / "page.json").string();
  kit::WriteBytes(path, R"({"weft": 1, "page": "p", "blocks": [
    {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_UINT8", "shape": [4], "file": "values.bin"}}}]})");
  kit::WriteBytes(folder.at / "values.bin", "abcd");
  bool loaded = false;
  EveryCallFails({"load a page", "", [&](std::string& text) {
                    OwnedPage page;
                    OwnedProblems problems;
                    const weft_status status = weft_page_load_file(runtime, path.c_str(), nullptr, page.out(), problems.out());
                    text = TextOf(problems);
                    loaded = page != nullptr;
                    return status;
                  },
                  [] {}, [&](bool succeeded) { return loaded == succeeded; }},
                 folder.at);
}

}  // namespace
}  // namespace weft::faults
