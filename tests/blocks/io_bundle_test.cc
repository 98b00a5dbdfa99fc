// The version 2 checkpoint: large tensors, runs that end, memory, files that are damaged, files that cannot be written.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/table_writer.h"
#include "blocks/io/checkpoint_v2/bundle_merge.h"
#include "blocks/io/checkpoint_v2/bundle_reader.h"
#include "blocks/io/checkpoint_v2/bundle_writer.h"
#include "catch2/catch.hpp"
#include "tests/kit/program.h"
#include "tests/kit/test_services.h"

namespace weft {
namespace {

using namespace blocks::checkpoint_v2;
namespace fs = std::filesystem;

/// The run is to end when this many more looks have been taken at that; never where negative.
struct EndingWorkers final : kit::TestWorkers {
  explicit EndingWorkers(int looks) : TestWorkers(1), looks_(looks) {}
  bool Stopped() const override { return looks_ == 0 || (looks_ > 0 && --looks_ == 0); }
  mutable int looks_;
};

struct BundleTest {
  kit::TemporaryFolder folder;
  kit::TestFiles files{folder.path()};
  kit::TestWorkers workers{1};

  Status Save(const std::string& prefix, const std::vector<NamedTensor>& tensors) { return WriteBundle(files, prefix, tensors, workers); }
  Result<Tensor> Read(const std::string& prefix, const std::string& name, const Workers* run = nullptr,
                      const std::shared_ptr<MemoryBudget>& budget = nullptr) {
    WEFT_ASSIGN_OR_RETURN(BundleReader reader, BundleReader::Open(files, prefix, run, budget));
    const BundleEntry* entry = reader.Find(name);
    if (entry == nullptr) return NotFound(name);
    return reader.Read(name, *entry, TensorSlice::Whole(entry->shape.rank()));
  }
  fs::path index(const std::string& prefix) const { return folder.path() / (prefix + ".index"); }
  fs::path data(const std::string& prefix) const { return folder.path() / (prefix + ".data-00000-of-00001"); }
};

Tensor SeededValues(int64_t count, int seed) {
  Tensor tensor = Tensor::Allocate(DType::kInt32, Shape{count}).value();
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int32_t& value : tensor.values<int32_t>()) value = static_cast<int32_t>(random());
  return tensor;
}

Tensor Words(int64_t count, size_t longest) {
  Tensor tensor = Tensor::Allocate(DType::kString, Shape{count}).value();
  std::mt19937 random(9);
  for (String& word : tensor.values<String>()) word = std::string(random() % longest, static_cast<char>(random()));
  return tensor;
}

TEST_CASE("Large tensors and many strings are saved and read", "[checkpoint]") {
  BundleTest test;
  const Tensor numbers = SeededValues(3'000'000, 1), words = Words(200'000, 40), texts = Words(20, 9'000'000);
  REQUIRE(test.Save("ck", {{"n", numbers}, {"w", words}, {"t", texts}, {"e", SeededValues(0, 1)}}).ok());
  CHECK(SameBits(test.Read("ck", "n").value(), numbers));
  CHECK(SameBits(test.Read("ck", "w").value(), words));
  CHECK(SameBits(test.Read("ck", "t").value(), texts));
  CHECK(test.Read("ck", "e").value().count() == 0);
}

TEST_CASE("A run that is to end neither writes a checkpoint nor reads one to its end", "[checkpoint]") {
  BundleTest test;
  const Tensor numbers = SeededValues(8'000'000, 1), words = Words(400'000, 20), old = SeededValues(3, 2);
  REQUIRE(test.Save("ck", {{"n", old}}).ok());
  for (const Tensor& value : {numbers, words}) {
    REQUIRE(test.Save("large", {{"n", value}}).ok());
    for (int looks = 1; looks < 4; ++looks) {
      const EndingWorkers ended(looks), reading(looks);
      const std::vector<NamedTensor> tensors{{"n", value}};
      CHECK(WriteBundle(test.files, "ck", tensors, ended).code() == Code::kCancelled);
      CHECK(SameBits(test.Read("ck", "n").value(), old));
      CHECK(test.Read("large", "n", &reading).status().code() == Code::kCancelled);
    }
  }
  CHECK(std::distance(fs::directory_iterator(test.folder.path()), fs::directory_iterator()) == 4);
}

TEST_CASE("What is read of a version 2 checkpoint counts in the memory budget", "[checkpoint][memory]") {
  BundleTest test;
  std::vector<NamedTensor> many{{"large", SeededValues(1'000'000, 1)}, {"words", Words(100'000, 40)}};
  for (int i = 0; i < 2000; ++i) many.push_back({Cat("tensor/", i), Tensor::Of<float>({1})});
  REQUIRE(test.Save("ck", many).ok());
  const auto little = std::make_shared<MemoryBudget>(int64_t{1} << 17), some = std::make_shared<MemoryBudget>(int64_t{2} << 20);
  CHECK(test.Read("ck", "tensor/7", nullptr, little).status().code() == Code::kResourceExhausted);
  CHECK(test.Read("ck", "tensor/7", nullptr, some).ok());
  CHECK(test.Read("ck", "large", nullptr, some).status().code() == Code::kResourceExhausted);
  CHECK(test.Read("ck", "words", nullptr, some).status().code() == Code::kResourceExhausted);
  CHECK(little->used() == 0);
  CHECK(some->used() == 0);
}

/// Small tensors of every kind that is read in its own way.
std::vector<std::pair<std::string, Tensor>> Kinds() {
  return {{"b", Tensor::Of<bool>({true, false, true})}, {"n", SeededValues(5, 3)}, {"s", Tensor::Of<String>({"one", "", "three"})}};
}

TEST_CASE("Every flipped byte and every truncation of a version 2 checkpoint is found", "[checkpoint]") {
  BundleTest test;
  std::vector<NamedTensor> tensors;
  for (const auto& [name, value] : Kinds()) tensors.push_back({name, value});
  REQUIRE(test.Save("ck", tensors).ok());
  std::mt19937 random(1);
  for (const fs::path& path : {test.index("ck"), test.data("ck")}) {
    const std::string whole = kit::FileBytes(path);
    const auto check = [&](const std::string& bytes) {
      kit::WriteBytes(path, bytes);
      for (const auto& [name, value] : Kinds()) {
        const auto read = test.Read("ck", name);
        if (read.ok() ? !SameBits(*read, value) : read.status().code() != Code::kDataLoss) FAIL(name << ": " << ToString(read.status()));
      }
    };
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      check(bytes);
      check(whole.substr(0, at));
    }
    kit::WriteBytes(path, whole);
  }
}

/// An index of these entries, under right checksums.
void WriteTable(const BundleTest& test, const std::string& prefix, const std::map<std::string, std::string>& entries) {
  auto file = blocks::AtomicFile::Create(test.index(prefix));
  REQUIRE(file.ok());
  TableWriter table(*file);
  for (const auto& [key, value] : entries) REQUIRE(table.Add(key, value).ok());
  REQUIRE(table.Finish().ok());
  REQUIRE(file->Commit().ok());
}

TEST_CASE("Damage of a version 2 checkpoint under right checksums does no harm", "[checkpoint]") {
  BundleTest test;
  std::mt19937 random(2);
  const std::string bytes("\3\0\5ab", 5);
  kit::WriteBytes(test.data("ck"), bytes + std::string(40, '\1'));
  const auto budget = std::make_shared<MemoryBudget>(int64_t{1} << 24);
  const DType types[] = {DType::kString, DType::kInt32, DType::kBool, DType::kComplex128, DType::kInvalid};
  const auto number = [&]() -> uint64_t {
    const uint64_t pick = random() % 6;
    return pick == 0 ? ~uint64_t{0} : pick == 1 ? uint64_t{1} << (random() % 64) : random() % 12;
  };
  int read_anyway = 0;
  for (int round = 0; round < 3000; ++round) {
    BundleEntry entry{types[random() % 5], Shape{}, static_cast<int64_t>(random() % 3), number(), number(), static_cast<uint32_t>(random()), {}};
    std::vector<int64_t> dims;
    for (int k = static_cast<int>(random() % 4); k > 0; --k) dims.push_back(static_cast<int64_t>(random() % 9 == 0 ? 1u << 20 : random() % 6));
    if (auto shape = Shape::Make(dims); shape.ok()) entry.shape = *shape;
    if (round % 3 == 0 && entry.dtype == DType::kInt32) {  // one that is right
      entry = {DType::kInt32, Shape{2}, 0, random() % 8, 8, 0, {}};
      const std::string all = kit::FileBytes(test.data("ck"));
      entry.checksum = MaskCrc32c(ExtendCrc32c(0, std::string_view(all).substr(entry.offset, 8)));
    }
    if (random() % 4 == 0) entry.slices.push_back({{static_cast<int64_t>(random() % 3)}, {static_cast<int64_t>(random() % 4) - 1}});
    std::string message = EntryMessage(entry);
    if (random() % 3 == 0 && !message.empty()) message[random() % message.size()] = static_cast<char>(random());
    std::map<std::string, std::string> entries{{"", HeaderMessage(static_cast<int64_t>(random() % 3))}, {"t", message}};
    if (!entry.slices.empty()) entries[SliceKey("t", entry.slices[0])] = EntryMessage({entry.dtype, Shape{1}, 0, 0, 4, 0, {}});
    WriteTable(test, "ck", entries);
    const auto read = test.Read("ck", "t", nullptr, budget);
    read_anyway += read.ok();
  }
  CHECK(read_anyway > 0);
  CHECK(budget->used() == 0);
}

TEST_CASE("Indices that Weft does not read say so", "[checkpoint]") {
  BundleTest test;
  WriteTable(test, "big", {{"", std::string("\x08\x01\x10\x01", 4)}});
  WriteTable(test, "new", {{"", std::string("\x08\x01\x1a\x04\x08\x02\x10\x02", 8)}});
  WriteTable(test, "none", {{"a", ""}});
  CHECK(test.Read("big", "t").status().code() == Code::kUnsupported);
  CHECK(test.Read("new", "t").status().code() == Code::kUnsupported);
  CHECK(test.Read("none", "t").status().code() == Code::kDataLoss);
  kit::WriteBytes(test.index("text"), "this is only text, and not long enough to be a table of tensors");
  CHECK(test.Read("text", "t").status().code() == Code::kDataLoss);
  CHECK(test.Read("missing", "t").status().code() == Code::kNotFound);
  CHECK(test.Read("../../../../etc/passwd", "t").status().code() == Code::kPermissionDenied);
}

TEST_CASE("Checkpoints that cannot be merged stay as they are", "[checkpoint]") {
  BundleTest test;
  Services services;
  services.workers = &test.workers;
  const Tensor a = SeededValues(3, 1), b = SeededValues(4, 2);
  REQUIRE(test.Save("p/a", {{"a", a}}).ok());
  REQUIRE(test.Save("p/b", {{"b", b}}).ok());
  const auto merge = [&](const std::vector<std::string>& from, const std::string& to) {
    return MergeBundles(test.files, from, to, {}, services);
  };
  CHECK(merge({"p/a", "p/none"}, "all").code() == Code::kInvalidArgument);
  CHECK(merge({"p/a", "p/a"}, "all").code() == Code::kInvalidArgument);
  CHECK(merge({"p/a", "p/b"}, "../../../../tmp").code() == Code::kPermissionDenied);
  // The index cannot take its place: what was moved goes back.
  fs::create_directories(test.folder.path() / "all.index" / "in the way");
  CHECK_FALSE(merge({"p/a", "p/b"}, "all").ok());
  CHECK(SameBits(test.Read("p/a", "a").value(), a));
  CHECK(SameBits(test.Read("p/b", "b").value(), b));
  CHECK_FALSE(fs::exists(test.folder.path() / "all.data-00000-of-00002"));
  REQUIRE(merge({"p/b", "p/a"}, "one").ok());
  CHECK(SameBits(test.Read("one", "a").value(), a));
  CHECK_FALSE(fs::exists(test.folder.path() / "p"));
}

/// A checkpoint `all` of the tensors a and b, in two files of elements, and others of c and d.
struct MergeTest : BundleTest {
  Services services;
  const Tensor a = SeededValues(3, 1), b = SeededValues(4, 2), c = SeededValues(5, 3), d = SeededValues(6, 4);

  MergeTest() {
    services.workers = &workers;
    REQUIRE((Save("a", {{"a", a}}).ok() && Save("b", {{"b", b}}).ok() && Save("c", {{"c", c}}).ok() && Save("d", {{"d", d}}).ok()));
    REQUIRE(MergeOthers({"a", "b"}).ok());
  }
  Status MergeOthers(const std::vector<std::string>& from) { return MergeBundles(files, from, "all", {}, services); }
  fs::path data_of_all(int number) const { return folder.path() / Cat("all.data-0000", number, "-of-00002"); }
  int64_t count() const { return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()); }
};

TEST_CASE("A merge that fails leaves the checkpoint in whose place it would come", "[checkpoint]") {
  for (const bool missing : {true, false}) {
    INFO((missing ? "missing" : "cut"));
    MergeTest test;
    if (missing) fs::remove(test.data("d"));
    else fs::resize_file(test.data("d"), 23);
    CHECK(test.MergeOthers({"c", "d"}).code() == (missing ? Code::kNotFound : Code::kDataLoss));
    CHECK(SameBits(test.Read("all", "a").value(), test.a));
    CHECK(SameBits(test.Read("all", "b").value(), test.b));
    CHECK(SameBits(test.Read("c", "c").value(), test.c));
    CHECK(test.count() == (missing ? 6 : 7));
  }
  // The second file cannot take its place: the first, which had, goes back, and what it replaced returns.
  MergeTest test;
  fs::remove(test.data_of_all(1));
  fs::create_directory(test.data_of_all(1));
  CHECK_FALSE(test.MergeOthers({"c", "d"}).ok());
  CHECK(SameBits(test.Read("all", "a").value(), test.a));
  CHECK(SameBits(test.Read("c", "c").value(), test.c));
  CHECK(SameBits(test.Read("d", "d").value(), test.d));
  CHECK(test.count() == 7);
  fs::remove(test.data_of_all(1));
  REQUIRE(test.MergeOthers({"c", "d"}).ok());
  CHECK(SameBits(test.Read("all", "c").value(), test.c));
  CHECK(SameBits(test.Read("all", "d").value(), test.d));
  CHECK(test.count() == 3);
}

TEST_CASE("Writers of one checkpoint at the same time come one after the other", "[checkpoint]") {
  MergeTest test;
  {  // Another one has the folder.
    const int other = ::open(test.folder.path().c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(::flock(other, LOCK_EX) == 0);
    const EndingWorkers ended(50);
    const std::vector<NamedTensor> tensors{{"c", test.c}};
    CHECK(WriteBundle(test.files, "a", tensors, ended).code() == Code::kCancelled);
    EndingWorkers merging(100);
    test.services.workers = &merging;
    CHECK(test.MergeOthers({"c", "d"}).code() == Code::kCancelled);
    test.services.workers = &test.workers;
    ::close(other);
    CHECK(test.count() == 7);
  }
  constexpr int kWriters = 4, kRounds = 15;
  std::atomic<int> failed{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&test, &failed, writer] {
      kit::TestWorkers workers(1);
      const std::vector<NamedTensor> tensors{{"n", SeededValues(1000 + writer, writer)}};
      for (int round = 0; round < kRounds; ++round) {
        failed += !WriteBundle(test.files, "shared", tensors, workers).ok();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failed == 0);
  const Tensor last = test.Read("shared", "n").value();
  CHECK(SameBits(last, SeededValues(last.count(), static_cast<int>(last.count()) - 1000)));
  CHECK(test.count() == 9);
}

}  // namespace
}  // namespace weft
