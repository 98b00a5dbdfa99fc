// Readers of lines, TensorFlow's records and LMDB files: long records, runs that end, memory, states that are kept, files that are damaged.
#include <lmdb.h>

#include <map>
#include <random>

#include "tests/blocks/reader_kit.h"
#include "tests/kit/program.h"

namespace weft {
namespace {

using kit::Deflated;
using kit::LongText;
using kit::ReaderTest;
using kit::TFRecord;

/// All that is left to read; the last is the failure. No honest test has so many.
std::vector<std::string> ReadAll(ReaderTest& test) {
  std::vector<std::string> found;
  const auto failed = [&] { return found.back().find('=') == std::string::npos; };
  do found.push_back(test.Read());
  while (!failed() && found.size() < 20'000);
  return found;
}

/// The same file in a second reader, which starts from the state of the first after `records` of it.
std::vector<std::string> ReadOn(const std::string& block, const std::string& attrs, const std::string& file, int records) {
  ReaderTest test;
  test.File("f", file).Make(attrs, block);
  for (int i = 0; i < records; ++i) REQUIRE(test.Read().find('=') != std::string::npos);
  const Status restored = test.Restore(attrs, block, test.State());
  INFO(ToString(restored));
  REQUIRE(restored.ok());
  CHECK(test.reader().records_produced() == records);
  return ReadAll(test);
}

TEST_CASE("A line may be longer than what is read at once", "[reader]") {
  std::string text = LongText(9'000'000);
  for (char& c : text) c = c == '\n' || c == '\r' ? 'x' : c;
  ReaderTest test;
  test.File("a", text + "\r\n" + text.substr(1) + "\nend").Make("", "TextLineReader");
  CHECK(test.Read() == "a:1=" + text);
  CHECK(test.Read() == "a:2=" + text.substr(1));
  CHECK(test.Read() == "a:3=end");
  CHECK(test.Read() == "out_of_range");
}

TEST_CASE("A run that ends within a line or a record is gone on with by the next", "[reader]") {
  std::string text = LongText(9'000'000);
  for (char& c : text) c = c == '\n' || c == '\r' ? 'x' : c;
  const std::string lines = "head\n" + text + "\r\nshort\n", records = TFRecord("one") + TFRecord(text) + TFRecord("short");
  for (int looks = 1; looks < 10; ++looks) {
    INFO(looks);
    for (const bool of_lines : {true, false}) {
      ReaderTest test;
      if (of_lines) test.File("a", lines).Make("", "TextLineReader");
      else test.File("a", Deflated(records, 31)).Make("compression_type_ = GZIP;", "TFRecordReader");
      std::vector<std::string> found;
      for (int reads = 0; reads < 400 && (found.empty() || found.back() != "out_of_range"); ++reads) {
        test.StopAfter(reads % 8 == 7 ? -1 : looks);
        if (std::string one = test.Read(); one != "cancelled") found.push_back(std::move(one));
      }
      REQUIRE(found.size() == 4);
      CHECK(found[1].substr(found[1].find('=') + 1) == text);
      CHECK(found[2].substr(found[2].find('=') + 1) == "short");
    }
  }
}

TEST_CASE("Lines and records count in the memory budget", "[reader][memory]") {
  const auto budget = std::make_shared<MemoryBudget>(int64_t{8} << 20);
  const std::string zeros(1 << 20, '0');
  std::string packed, lines;
  std::string head = TFRecord("").substr(0, 0);
  blocks::protobuf::PutFixed(head, uint64_t{100} << 20);
  blocks::protobuf::PutFixed(head, kit::MaskedChecksum(head));
  for (int i = 0; i < 100; ++i) packed += Deflated(zeros, 31), lines += zeros;
  {
    ReaderTest records, line;
    records.set_budget(budget);
    records.File("a", Deflated(head, 31) + packed).Make("compression_type_ = GZIP;", "TFRecordReader");
    CHECK(records.Read() == "resource_exhausted");
    CHECK(budget->used() <= budget->limit());
    REQUIRE(records.reader().Reset(records.services()).ok());
    CHECK(budget->used() == 0);
    line.set_budget(budget);
    line.File("a", lines).Make("", "TextLineReader");
    CHECK(line.Read() == "resource_exhausted");
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("The state of a reader in a file is kept", "[reader][snapshot]") {
  CHECK(ReadOn("TextLineReader", "skip_header_lines_ = 1;", "h\na\r\nb\n\nc", 2) == std::vector<std::string>{"f:4=", "f:5=c", "out_of_range"});
  CHECK(ReadOn("TFRecordReader", "", TFRecord("a") + TFRecord("b"), 1) == std::vector<std::string>{"f:17=b", "out_of_range"});
  CHECK(ReadOn("TFRecordReader", "compression_type_ = ZLIB;", Deflated(TFRecord("a") + TFRecord("b"), 15), 1) ==
        std::vector<std::string>{"f:17=b", "out_of_range"});
  CHECK(ReadOn("WholeFileReader", "", "x", 1) == std::vector<std::string>{"out_of_range"});
}

TEST_CASE("States of readers that are none are refused", "[reader][snapshot]") {
  std::mt19937 random(3);
  for (const char* block : {"TextLineReader", "TFRecordReader", "IdentityReader", "WholeFileReader"}) {
    ReaderTest test;
    test.File("f", TFRecord("a\nb\n") + TFRecord("c")).Make("", block);
    (void)test.Read();
    StateWriter out;
    REQUIRE(test.reader().Save(out).ok());
    const std::string state = std::move(out).Take();
    for (int round = 0; round < 300; ++round) {
      std::string bytes = state.substr(0, round % 2 == 0 ? state.size() : random() % (state.size() + 1));
      if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
      StateReader in(bytes, test.files(), std::make_shared<MemoryBudget>(int64_t{1} << 24));
      if (auto load = test.reader().Load(in); load.ok()) (*load)();
      (void)test.Read();
    }
  }
}

TEST_CASE("Damaged files of records do no harm", "[reader]") {
  std::mt19937 random(4);
  const std::string plain = TFRecord("first") + TFRecord("") + TFRecord(LongText(300)) + TFRecord("last");
  for (const char* encoding : {"", "compression_type_ = ZLIB;"}) {
    const std::string whole = *encoding == '\0' ? plain : Deflated(plain, 15);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      ReaderTest flipped, cut;
      flipped.File("a", bytes).Make(encoding, "TFRecordReader");
      cut.File("a", whole.substr(0, at)).Make(encoding, "TFRecordReader");
      const auto found = ReadAll(flipped), before = ReadAll(cut);
      if (*encoding == '\0') CHECK(found.back() == "data_loss");  // every byte is under a checksum
      CHECK((before.back() == "data_loss" || before.back() == "out_of_range"));
    }
  }
}

// LMDB: files as its library writes them.

using Pairs = std::multimap<std::string, std::string>;

/// A file of the pairs; `flags` as of mdb_dbi_open.
std::string LmdbFile(const Pairs& pairs, unsigned flags = 0) {
  const kit::TemporaryFolder folder;
  const std::string path = (folder.path() / "data.mdb").string();
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  REQUIRE(mdb_env_create(&env) == 0);
  REQUIRE(mdb_env_set_mapsize(env, 64 << 20) == 0);
  REQUIRE(mdb_env_open(env, path.c_str(), MDB_NOSUBDIR | MDB_NOSYNC, 0644) == 0);
  REQUIRE(mdb_txn_begin(env, nullptr, 0, &txn) == 0);
  REQUIRE(mdb_dbi_open(txn, nullptr, flags, &dbi) == 0);
  for (const auto& [key, value] : pairs) {
    MDB_val k{key.size(), const_cast<char*>(key.data())}, v{value.size(), const_cast<char*>(value.data())};
    REQUIRE(mdb_put(txn, dbi, &k, &v, 0) == 0);
  }
  REQUIRE(mdb_txn_commit(txn) == 0);
  mdb_env_close(env);
  return kit::FileBytes(path);
}

std::vector<std::string> Expected(const Pairs& pairs) {
  std::vector<std::string> all;
  for (const auto& [key, value] : pairs) all.push_back(key + "=" + value);
  all.emplace_back("out_of_range");
  return all;
}

std::vector<std::string> ReadLmdb(const std::string& file) {
  ReaderTest test;
  test.File("a", file).Make("", "LMDBReader");
  return ReadAll(test);
}

TEST_CASE("LMDB files are read in the order of their keys", "[reader][lmdb]") {
  Pairs few{{"b", "2"}, {"a", ""}, {"c", std::string(1, '\0')}}, many, large;
  for (int i = 0; i < 12000; ++i) many.emplace(Cat("key", i * 7919 % 12000), Cat("value ", i));
  for (int i = 0; i < 40; ++i) large.emplace(Cat("k", i), LongText(static_cast<size_t>(i) * 3000) + Cat(i));
  for (const Pairs& pairs : {Pairs{}, few, many, large}) CHECK(ReadLmdb(LmdbFile(pairs)) == Expected(pairs));
}

TEST_CASE("The values of one key in an LMDB file come one after another", "[reader][lmdb]") {
  Pairs pairs, fixed;
  for (int key = 0; key < 5; ++key) {
    for (int i = 0; i < (key == 3 ? 3000 : key * 4 + 1); ++i) {
      pairs.emplace(Cat("k", key), Cat("v", 100000 + i));
      fixed.emplace(Cat("k", key), Cat(100000 + i));
    }
  }
  CHECK(ReadLmdb(LmdbFile(pairs, MDB_DUPSORT)) == Expected(pairs));
  CHECK(ReadLmdb(LmdbFile(fixed, MDB_DUPSORT | MDB_DUPFIXED)) == Expected(fixed));
}

TEST_CASE("An LMDB file is named by its folder, too, and its state is kept", "[reader][lmdb][snapshot]") {
  const std::string file = LmdbFile({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  ReaderTest test;
  std::filesystem::create_directory(test.folder() / "db");
  std::ofstream(test.folder() / "db" / "data.mdb", std::ios::binary) << file;
  test.Name("db").Name("none").Make("", "LMDBReader");
  CHECK(test.ReadUpTo(9) == "a=1 b=2 c=3 ");
  CHECK(test.Read() == "not_found");
  CHECK(ReadOn("LMDBReader", "", file, 2) == std::vector<std::string>{"c=3", "out_of_range"});
}

TEST_CASE("Damaged LMDB files do no harm", "[reader][lmdb]") {
  std::mt19937 random(5);
  Pairs pairs, several;
  for (int i = 0; i < 300; ++i) pairs.emplace(Cat("key", i), LongText(static_cast<size_t>(i % 7 == 0 ? 5000 : 20)));
  for (int i = 0; i < 900; ++i) several.emplace(Cat("key", i % 3), Cat("value", i));
  const auto budget = std::make_shared<MemoryBudget>(int64_t{1} << 26);
  int damaged = 0;
  for (const std::string& whole : {LmdbFile(pairs), LmdbFile(several, MDB_DUPSORT)}) {
    for (int round = 0; round < 1500; ++round) {
      std::string bytes = round % 10 == 0 ? whole.substr(0, random() % whole.size()) : whole;
      // The heads of pages are where the structure is.
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0 && !bytes.empty(); --flips) {
        const size_t page = random() % (bytes.size() / 4096 + 1) * 4096;
        const size_t at = round % 2 == 0 ? page + random() % 64 : random();
        bytes[at % bytes.size()] = random() % 3 == 0 ? '\xff' : static_cast<char>(random());
      }
      ReaderTest test;
      test.set_budget(budget);
      test.File("a", bytes).Make("", "LMDBReader");
      const auto found = ReadAll(test);
      CHECK((found.back() == "out_of_range" || found.back() == "data_loss" || found.back() == "resource_exhausted"));
      damaged += found.back() == "data_loss";
    }
  }
  CHECK(damaged > 100);
  CHECK(budget->used() == 0);
}

// Readers that go back to a place in a file.

struct RestoredCase {
  std::string block, attrs, file;
  int64_t records;  // that were read before
};

/// Many records each, so that the place is far from the start.
std::vector<RestoredCase> RestoredCases() {
  std::string lines, records;
  Pairs pairs;
  for (int i = 0; i < 100'000; ++i) lines += Cat("line ", i, "\n");
  for (int i = 0; i < 10'000; ++i) records += TFRecord(Cat("record ", i));
  for (int i = 0; i < 12'000; ++i) pairs.emplace(Cat("key", 100'000 + i), Cat("value ", i));
  return {{"FixedLengthRecordReader", "record_bytes_ = 500; encoding_ = GZIP;", Deflated(LongText(4'000'000), 31), 7000},
          {"TextLineReader", "skip_header_lines_ = 2;", lines, 90'000},
          {"TFRecordReader", "compression_type_ = ZLIB;", Deflated(records, 15), 9000},
          {"LMDBReader", "", LmdbFile(pairs), 11'000}};
}

TEST_CASE("A reader goes back to its place in a run that can be ended, and goes on with that in the next", "[reader][snapshot]") {
  for (const auto& [block, attrs, file, records] : RestoredCases()) {
    INFO(block);
    ReaderTest test;
    test.File("f", file).Make(attrs, block);
    (void)test.ReadUpTo(records);
    REQUIRE(test.reader().records_produced() == records);
    const std::string state = test.State(), next = test.Read();
    REQUIRE(test.Restore(attrs, block, state).ok());
    CHECK(test.State() == state);
    CHECK(test.Read() == next);
    REQUIRE(test.Restore(attrs, block, state).ok());
    test.StopAfter(2);  // one look is before the reading
    CHECK(test.Read() == "cancelled");
    CHECK(test.State() == state);
    std::string found = "cancelled";
    for (int runs = 0; runs < 1000 && found == "cancelled"; ++runs) {
      test.StopAfter(3);
      found = test.Read();
    }
    CHECK(found == next);
    CHECK(test.reader().records_produced() == records + 1);
  }
}

TEST_CASE("A reader whose file ends before its place says so, once that is known", "[reader][snapshot]") {
  for (const auto& [block, attrs, file, records] : RestoredCases()) {
    INFO(block);
    ReaderTest test;
    test.File("f", file).Make(attrs, block);
    (void)test.ReadUpTo(records);
    const std::string state = test.State();
    std::string less = Deflated("x", block == "TFRecordReader" ? kit::kZlibBits : kit::kGzipBits);
    if (block == "TextLineReader") less = std::string(95'000, 'x');
    if (block == "LMDBReader") less = LmdbFile({{"a", "1"}});
    kit::WriteBytes(test.folder() / "f", less);
    REQUIRE(test.Restore(attrs, block, state).ok());
    CHECK(test.Read() == "data_loss");
    CHECK(test.Read() == "data_loss");
    REQUIRE(test.reader().Reset(test.services()).ok());
    CHECK(test.Read() == "out_of_range");
  }
  const std::pair<std::string, std::string> plain[] = {
      {"FixedLengthRecordReader", "record_bytes_ = 2;"}, {"TextLineReader", ""}, {"TFRecordReader", ""}};
  for (const auto& [block, attrs] : plain) {
    INFO(block);
    ReaderTest test;
    test.File("f", TFRecord("a\nb\nc") + TFRecord("\n\n\n\n")).Make(attrs, block);
    for (int i = 0; i < 2; ++i) REQUIRE(test.Read().find('=') != std::string::npos);
    const std::string state = test.State();
    kit::WriteBytes(test.folder() / "f", "x");
    CHECK(test.Restore(attrs, block, state).code() == Code::kDataLoss);
  }
}

}  // namespace
}  // namespace weft
