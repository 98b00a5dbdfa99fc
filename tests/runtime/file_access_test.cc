// What a host sees of the files that blocks use, each kind of block by itself: every file with what is done to it, and its refusal holds.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "tests/blocks/reader_kit.h"
#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/file_sandbox.h"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using Accesses = std::set<std::string>;

std::string StringOf(std::string_view text) { return Cat(R"({"dtype": "DT_STRING", "shape": [], "values": [")", text, "\"]}"); }
std::string StringsOf(const std::vector<std::string>& texts) {
  std::string values;
  for (const std::string& text : texts) values += Cat(values.empty() ? "\"" : ", \"", text, "\"");
  return Cat(R"({"dtype": "DT_STRING", "shape": [)", texts.size(), "], \"values\": [", values, "]}");
}

/// A folder that a page may read and write, and a host that looks on. "read x": the file x, from the folder on.
class Watched {
 public:
  /// Runs the block "it"; the host refuses what is `refused`. Forgets what it saw before.
  Status Run(const std::vector<std::string>& blocks, std::string refused = "") {
    refused_ = std::move(refused);
    FolderRules rules = FolderRules::OfPage(root_);
    rules.write = {root_};
    rules.may_use = [this](const FileAccess& file) {
      const char* what = !file.allowed ? "outside " : file.access == Files::Access::kWrite ? "write " : "read ";
      const std::string access = Cat(what, file.path.lexically_relative(root_).string());
      seen_.insert(access);
      return access != refused_;
    };
    ScopeOptions options;
    options.files = std::make_shared<FileSandbox>(std::move(rules));
    options.stall_limit_ms = 300;
    const TestPage page(blocks, {.threads = 1, .memory_limit = 0}, std::move(options));
    if (page.graph().FindNode("put").ok()) RunOk(*page.Open({}, {"put"}));
    seen_.clear();
    return page.Open({}, {"it"})->Run();
  }
  void RunWell(const std::vector<std::string>& blocks) {
    const Status status = Run(blocks);
    INFO(ToString(status));
    REQUIRE(status.ok());
  }
  const Accesses& seen() const { return seen_; }
  const TempFolder& folder() const { return folder_; }
  const fs::path& root() const { return root_; }

 private:
  TempFolder folder_;
  const fs::path root_ = fs::canonical(folder_.path());
  std::string refused_;
  Accesses seen_;
};

using PageBlocks = std::vector<std::string>;

PageBlocks Saving(std::string_view type, std::string_view name, std::string_view tensor) {
  const std::string file = StringOf(name), data = Cat("[", Scalar(1), "]"), names = StringsOf({std::string(tensor)});
  if (type == "SaveV2") return {Block("it", type, {{"prefix", file}, {"tensor_names", names}, {"shape_and_slices", StringsOf({""})}, {"tensors", data}})};
  if (type == "Save") return {Block("it", type, {{"filename", file}, {"tensor_names", names}, {"data", data}})};
  return {Block("it", type, {{"filename", file}, {"tensor_names", names}, {"shapes_and_slices", StringsOf({""})}, {"data", data}})};
}

PageBlocks Restoring(std::string_view type, std::string_view name) {
  if (type == "RestoreV2") {
    return {Block("it", type, {{"prefix", StringOf(name)}, {"tensor_names", StringsOf({"t"})}, {"shape_and_slices", StringsOf({""})}},
                  "dtypes_ = {DT_FLOAT};")};
  }
  if (type == "Restore") return {Block("it", type, {{"file_pattern", StringOf(name)}, {"tensor_name", StringOf("t")}}, "dt_ = DT_FLOAT;")};
  return {Block("it", type, {{"file_pattern", StringOf(name)}, {"tensor_name", StringOf("t")}, {"shape_and_slice", StringOf("")}}, "dt_ = DT_FLOAT;")};
}

/// A reader of this type, of which one record is read.
PageBlocks Reading(std::string_view type, std::string_view name) {
  return {Block("names", "FIFOQueue", {}, "component_types_ = {DT_STRING};"),
          Block("put", "QueueEnqueue", {{"handle", "names.handle"}, {"components", Cat("[", StringOf(name), "]")}}),
          Block("reader", type, {}, type == "FixedLengthRecordReader" ? "record_bytes_ = 2;" : ""),
          Block("it", "ReaderRead", {{"reader_handle", "reader.reader_handle"}, {"queue_handle", "names.handle"}})};
}

struct AccessRow {
  std::string type;
  PageBlocks blocks;
  Accesses seen;
  Code code = Code::kOk;  // of a run that is not refused
};

const std::vector<AccessRow>& AccessRows() {
  static const std::vector<AccessRow> rows = {
      {"ReadFile", {Block("it", "ReadFile", {{"filename", StringOf("x")}})}, {"read x"}},
      {"WriteFile", {Block("it", "WriteFile", {{"filename", StringOf("new/y")}, {"contents", StringOf("1")}})}, {"write new/y"}},
      {"ImmutableConst", {Block("it", "ImmutableConst", {}, R"(dtype_ = DT_UINT8;shape_ = [4];memory_region_name_ = \"x\";)")}, {"read x"}},
      {"MatchingFiles", {Block("it", "MatchingFiles", {{"pattern", StringOf("model-*")}})}, {"read ."}},
      {"Save", Saving("Save", "saved", "t"), {"write saved"}},
      {"SaveSlices", Saving("SaveSlices", "saved", "t"), {"write saved"}},
      {"SaveV2", Saving("SaveV2", "out/v2", "t"), {"write out/v2.data-00000-of-00001", "write out/v2.index"}},
      {"Restore", Restoring("Restore", "model-1"), {"read model-1"}},
      {"Restore", Restoring("Restore", "model-*"), {"read model-*", "read model-1", "read model-2"}},
      {"RestoreSlice", Restoring("RestoreSlice", "model-?"), {"read model-?", "read model-1", "read model-2"}},
      {"RestoreV2", Restoring("RestoreV2", "in/a"), {"read in/a.data-00000-of-00001", "read in/a.index"}},
      {"RestoreV2", Restoring("RestoreV2", "model-1"), {"read model-1", "read model-1.index"}},
      {"FixedLengthRecordReader", Reading("FixedLengthRecordReader", "x"), {"read x"}},
      {"TextLineReader", Reading("TextLineReader", "x"), {"read x"}},
      {"TFRecordReader", Reading("TFRecordReader", "record"), {"read record"}},
      {"WholeFileReader", Reading("WholeFileReader", "x"), {"read x"}},
      // Neither file is one of LMDB; they are opened as one that is.
      {"LMDBReader", Reading("LMDBReader", "x"), {"read x"}, Code::kDataLoss},
      {"LMDBReader", Reading("LMDBReader", "lmdb"), {"read lmdb", "read lmdb/data.mdb"}, Code::kDataLoss},
      {"RecordInput", {Block("it", "RecordInput", {}, R"(file_pattern_ = \"rec*\";batch_size_ = 1;file_buffer_size_ = 1;)")}, {"read rec*", "read record"}},
      // Last: it moves files.
      {"MergeV2Checkpoints",
       {Block("it", "MergeV2Checkpoints", {{"checkpoint_prefixes", StringsOf({"in/a", "in/b"})}, {"destination_prefix", StringOf("out/all")}})},
       {"read in/a.data-00000-of-00001", "read in/a.index", "read in/b.data-00000-of-00001", "read in/b.index", "write in/a.data-00000-of-00001",
        "write in/a.index", "write in/b.data-00000-of-00001", "write in/b.index", "write out/all.data-00000-of-00002",
        "write out/all.data-00001-of-00002", "write out/all.index", "write ."}}};
  return rows;
}

/// What is not refused, but left undone: a folder that is empty after its checkpoints were merged stays.
bool IsLeftUndone(const AccessRow& row, const std::string& access) { return row.type == "MergeV2Checkpoints" && access == "write ."; }

TEST_CASE("A host sees each file that a block of any type uses, and its refusal names the block", "[files]") {
  Watched host;
  for (const char* name : {"in", "out", "lmdb", "lower"}) fs::create_directory(host.root() / name);
  host.folder().Write("x", "text\n");
  host.folder().Write("lmdb/data.mdb", "none");
  host.folder().Write("record", kit::TFRecord("one"));
  host.RunWell(Saving("Save", "model-1", "t"));
  host.RunWell(Saving("Save", "model-2", "u"));
  host.RunWell(Saving("Save", "lower/model-3", "t"));
  host.RunWell(Saving("SaveV2", "in/a", "t"));
  host.RunWell(Saving("SaveV2", "in/b", "u"));
  for (const AccessRow& row : AccessRows()) {
    INFO(row.type);
    for (const std::string& access : row.seen) {
      if (IsLeftUndone(row, access)) continue;
      const Status refused = host.Run(row.blocks, access);
      INFO(access << " is refused: " << ToString(refused));
      CHECK(refused.code() == Code::kPermissionDenied);
      CHECK(refused.place().block == "it");
      CHECK_THAT(refused.message(), Catch::Contains(Cat("the host does not let the page ", access.substr(0, access.find(' ')), " the file '")));
    }
    const Status status = host.Run(row.blocks);
    INFO(ToString(status));
    CHECK(status.code() == row.code);
    CHECK(host.seen() == row.seen);
  }

  // A folder that only a pattern leads to shows nothing where the host refuses it.
  const Accesses all = {"read low*/model-*", "read lower", "read lower/model-3"};
  host.RunWell(Restoring("Restore", "low*/model-*"));
  CHECK(host.seen() == all);
  CHECK(host.Run(Restoring("Restore", "low*/model-*"), "read lower").code() == Code::kNotFound);
  CHECK(host.Run(Restoring("Restore", "low*/model-*"), "read lower/model-3").code() == Code::kPermissionDenied);
}

TEST_CASE("Each block of files is one of those whose accesses a host is shown to see", "[files]") {
  // They use no file, but what a reader of the list above has open.
  const std::set<std::string> none = {"IdentityReader", "ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderRead", "ReaderReadUpTo",
                                      "ReaderReset", "ReaderRestoreState", "ReaderSerializeState", "ShardedFilename", "ShardedFilespec"};
  const Registry registry = MakeCatalog();
  for (const auto& def : registry.blocks()) {
    if (def->category != "io_ops") continue;
    INFO(def->name);
    CHECK(none.contains(def->name) != std::ranges::any_of(AccessRows(), [&](const AccessRow& row) { return row.type == def->name; }));
  }
}

}  // namespace
}  // namespace weft::test
