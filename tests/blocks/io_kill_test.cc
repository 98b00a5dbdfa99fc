// Writers that are killed: the file before or the next one is there, whole, and nothing beside it that a pattern picks up.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint_v1/checkpoint_writer.h"
#include "blocks/io/checkpoint_v2/bundle_merge.h"
#include "blocks/io/checkpoint_v2/bundle_reader.h"
#include "blocks/io/checkpoint_v2/bundle_writer.h"
#include "runtime/state/snapshot_file.h"
#include "tests/kit/sanitized.h"
#include "tests/kit/test_services.h"
#include "weft/base/file.h"

namespace weft::killed {
namespace {

using namespace blocks::checkpoint_v1;
using namespace blocks::checkpoint_v2;
namespace fs = std::filesystem;

constexpr int64_t kCount = 50000;

/// A folder, and what writes a number into files of it. `Read` gives the number that each value is full of; nothing where a value is refused.
class KilledWriter {
 public:
  virtual ~KilledWriter() = default;
  virtual bool Write(float number) = 0;
  using Numbers = std::map<std::string, std::optional<float>>;
  virtual Numbers Read() = 0;
  /// Names that may be there besides unfinished ones.
  virtual std::set<std::string> names() const = 0;
  /// Whether each of its values is one file: then it is always there.
  virtual bool one_file() const { return true; }

  const fs::path& folder() const { return folder_; }
  const Files& files() const { return files_; }

 protected:
  Services services() {
    Services services;
    services.workers = &workers_;
    return services;
  }
  static Tensor FullOf(float number) {
    Tensor value = Tensor::Allocate(DType::kFloat, Shape{kCount}).value();
    std::fill(value.values<float>().begin(), value.values<float>().end(), number);
    return value;
  }
  static float NumberIn(const Tensor& value) {
    const auto values = value.values<float>();
    CHECK(std::all_of(values.begin(), values.end(), [&](float each) { return each == values[0]; }));
    return values[0];
  }
  bool SaveBundle(const std::string& prefix, float number) {
    const NamedTensor named{prefix, FullOf(number)};
    return WriteBundle(files_, prefix, std::span(&named, 1), workers_).ok();
  }
  /// Elements of one save under the index of another are refused, by their checksum.
  std::optional<float> ReadBundle(const std::string& prefix, const std::string& name) {
    auto reader = BundleReader::Open(files_, prefix, &workers_, nullptr);
    if (!reader.ok()) CHECK(reader.status().code() == Code::kNotFound);
    const BundleEntry* entry = reader.ok() ? reader->Find(name) : nullptr;
    if (entry == nullptr) return std::nullopt;
    auto value = reader->Read(name, *entry, TensorSlice::Whole(1));
    INFO(ToString(value.status()));
    if (!value.ok()) CHECK((value.status().code() == Code::kDataLoss || value.status().code() == Code::kNotFound));
    return value.ok() ? std::optional(NumberIn(*value)) : std::nullopt;
  }

 private:
  const kit::TemporaryFolder temporary_;
  const fs::path folder_ = fs::canonical(temporary_.path());
  const kit::TestFiles files_{folder_};
  kit::TestWorkers workers_{1};
};

struct SaveWriter : KilledWriter {
  const fs::path path = folder() / "model-1";
  std::set<std::string> names() const override { return {"model-1"}; }
  bool Write(float number) override {
    const NamedTensor named{"t", FullOf(number)};
    return WriteCheckpoint(path, std::span(&named, 1)).ok();
  }
  Numbers Read() override {
    auto reader = CheckpointReader::Open({path});
    INFO(ToString(reader.status()));
    REQUIRE(reader.ok());
    auto value = reader->Read("t", TensorSlice::Whole(1), nullptr);
    INFO(ToString(value.status()));
    REQUIRE(value.ok());
    return {{"t", NumberIn(*value)}};
  }
};

struct FileWriter : KilledWriter {
  const fs::path path = folder() / "text-1";
  std::set<std::string> names() const override { return {"text-1"}; }
  bool Write(float number) override {
    auto file = blocks::AtomicFile::Create(path);
    const String text(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
    if (!file.ok()) return false;
    std::string bytes;
    for (int64_t i = 0; i < kCount; ++i) bytes.append(text.view());
    return file->Write(bytes).ok() && file->Commit().ok();
  }
  Numbers Read() override {
    const std::string bytes = kit::FileBytes(path);
    REQUIRE(bytes.size() == kCount * sizeof(float));
    Tensor value = FullOf(0);
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(value.data()));
    return {{"text", NumberIn(value)}};
  }
};

struct SnapshotFileWriter : KilledWriter {
  const fs::path path = folder() / "state";
  std::set<std::string> names() const override { return {"state"}; }
  bool Write(float number) override {
    SnapshotWriter file;
    const Tensor value = FullOf(number);
    const std::string_view bytes(static_cast<const char*>(value.data()), static_cast<size_t>(value.bytes()));
    return file.Open(path).ok() && file.Add(SectionTag::kElements, bytes).ok() && file.Finish().ok();
  }
  Numbers Read() override {
    SnapshotReader file;
    REQUIRE(file.Open(path, "state").ok());
    auto section = file.Next();
    REQUIRE(section.ok());
    Tensor value = FullOf(0);
    REQUIRE(section->size == static_cast<uint64_t>(value.bytes()));
    REQUIRE(file.Read(value.data(), "elements").ok());
    auto end = file.Next();
    REQUIRE(end.ok());
    CHECK(end->tag == SectionTag::kEnd);
    return {{"elements", NumberIn(value)}};
  }
};

struct SaveV2Writer : KilledWriter {
  std::set<std::string> names() const override { return {"model.index", "model.data-00000-of-00001"}; }
  bool one_file() const override { return false; }
  bool Write(float number) override { return SaveBundle("model", number); }
  Numbers Read() override { return {{"model", ReadBundle("model", "model")}}; }
};

struct MergeWriter : KilledWriter {
  std::set<std::string> names() const override {
    return {"c.index", "c.data-00000-of-00001", "d.index", "d.data-00000-of-00001", "all.index", "all.data-00000-of-00002", "all.data-00001-of-00002"};
  }
  bool one_file() const override { return false; }
  bool Write(float number) override {
    return SaveBundle("c", number) && SaveBundle("d", number) && MergeBundles(files(), {"c", "d"}, "all", {}, services()).ok();
  }
  Numbers Read() override { return {{"c", ReadBundle("all", "c")}, {"d", ReadBundle("all", "d")}}; }
};

/// What is in the folder: its own names, and others, which are unfinished and which no pattern matches. Gives whether there are such.
bool UnfinishedLeft(KilledWriter& writer) {
  const std::set<std::string> known = writer.names();
  size_t finished = 0, unfinished = 0;
  for (const auto& entry : fs::directory_iterator(writer.folder())) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    finished += known.contains(name);
    unfinished += !known.contains(name);
    CHECK((known.contains(name) || IsUnfinished(name)));
  }
  CHECK(unfinished <= 2 * known.size());  // of each name one that is written and one that is kept, however often
  if (writer.one_file()) CHECK((finished == 1 && unfinished <= 1));
  const std::string one = *known.begin();
  for (const std::string& pattern : {std::string("*"), "?" + one.substr(1), one.substr(0, 1) + "*", "*" + one.substr(1)}) {
    INFO(pattern);
    auto matches = blocks::MatchFiles(writer.files(), pattern);
    REQUIRE(matches.ok());
    for (const fs::path& match : *matches) CHECK(known.contains(match.filename().string()));
    if (pattern == "*") CHECK(matches->size() == finished);
  }
  return unfinished > 0;
}

/// Kills a process that writes greater and greater numbers.
void WriteAndKill(KilledWriter& writer, float first, useconds_t after) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (float number = first;; ++number) {
      if (!writer.Write(number)) _exit(1);
    }
  }
  usleep(after);
  kill(child, SIGKILL);
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  REQUIRE(WIFSIGNALED(how));
}

#if !defined(__SANITIZE_THREAD__)
TEMPLATE_TEST_CASE("Killed at any moment, a writer leaves the file before or the next one, and nothing that a pattern matches", "[files]", SaveWriter,
                   FileWriter, SnapshotFileWriter, SaveV2Writer, MergeWriter) {
  TestType writer;
  REQUIRE(writer.Write(0));
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(writer.Write(1));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  const auto longest = static_cast<useconds_t>(std::max<int64_t>(2 * took, 3000));
  // Kills that fall into a write leave something unfinished: about half of them do. Where few do, or hardly a write ends before, as others use
  // the machine, more follow, and later ones.
  const int rounds = kit::kSanitized ? 20 : 200, least = rounds / 20;
  std::mt19937 random(11);
  float last = 1;
  int left = 0, read = 0;
  const auto few = [&] { return left < least || read <= rounds / 4 || last <= 1; };
  for (int round = 0; round < rounds || (few() && round < 20 * rounds); ++round) {
    WriteAndKill(writer, last + 1, std::uniform_int_distribution<useconds_t>(100, longest * (1 + round / rounds))(random));
    const float before = last;
    for (const auto& [name, number] : writer.Read()) {
      INFO(name);
      if (writer.one_file()) REQUIRE(number.has_value());
      if (!number) continue;
      ++read;
      if (writer.one_file()) CHECK(*number >= before);
      last = std::max(last, *number);
    }
    left += UnfinishedLeft(writer);
  }
  INFO(left << " times something was left, " << read << " values were read, the last one " << last);
  CHECK(left >= least);
  CHECK(read > rounds / 4);
  CHECK(last > 1);
  REQUIRE(writer.Write(2));
  for (const auto& [name, number] : writer.Read()) CHECK(number == 2);
}
#endif

}  // namespace
}  // namespace weft::killed
