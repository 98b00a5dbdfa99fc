// Record readers: layouts of records, compressed files, the queue of names.
#include <vector>

#include "blocks/io/byte_stream.h"
#include "tests/blocks/reader_kit.h"

namespace weft {
namespace {

using kit::Deflated;
using kit::LongText;
using kit::ReaderTest;

TEST_CASE("Records lie between header and footer", "[reader]") {
  ReaderTest test;
  test.File("a", "hABCDEFff").Make("record_bytes_ = 2; header_bytes_ = 1; footer_bytes_ = 2;");
  CHECK(test.Read() == "a:0=AB");
  CHECK(test.Read() == "a:1=CD");
  CHECK(test.Read() == "a:2=EF");
  CHECK(test.Read() == "out_of_range");
  CHECK(test.reader().records_produced() == 3);
  CHECK(test.reader().files_completed() == 1);
}

TEST_CASE("Hops shorter and longer than a record", "[reader]") {
  ReaderTest overlap, gaps, beyond;
  overlap.File("b", "0123456789").Make("record_bytes_ = 4; hop_bytes_ = 2; footer_bytes_ = 1; header_bytes_ = 1;");
  CHECK(overlap.ReadUpTo(9) == "b:0=1234 b:1=3456 b:2=5678 ");
  gaps.File("b", "0123456789").Make("record_bytes_ = 2; hop_bytes_ = 4;");
  CHECK(gaps.ReadUpTo(9) == "b:0=01 b:1=45 b:2=89 ");
  beyond.File("b", "0123456789").Make("record_bytes_ = 4; hop_bytes_ = 20;");
  CHECK(beyond.Read() == "b:0=0123");
  CHECK(beyond.Read() == "out_of_range");
  CHECK(beyond.reader().files_completed() == 1);
}

TEST_CASE("Reading up to a number stays in one file", "[reader]") {
  ReaderTest test;
  test.File("a", "0123456").File("b", "abcdefgh").File("c", "").Make("record_bytes_ = 2;");
  CHECK(test.ReadUpTo(0) == "");
  CHECK(test.ReadUpTo(5) == "a:0=01 a:1=23 a:2=45 ");
  CHECK(test.ReadUpTo(3) == "b:0=ab b:1=cd b:2=ef ");
  CHECK(test.ReadUpTo(3) == "b:3=gh ");
  CHECK(test.ReadUpTo(3) == "out_of_range");
  CHECK(test.reader().files_completed() == 3);
  REQUIRE(test.reader().Reset(test.services()).ok());
  CHECK(test.reader().records_produced() == 0);
}

TEST_CASE("A file that cannot be opened is passed", "[reader]") {
  ReaderTest test;
  test.Name("none").Name(".").Name("../../../../etc/passwd").File("short", "x").File("b", "hhhh01");
  test.Make("record_bytes_ = 2; header_bytes_ = 4;");
  CHECK(test.Read() == "not_found");
  CHECK(test.Read() == "failed_precondition");  // a folder
  CHECK(test.Read() == "permission_denied");
  CHECK(test.Read() == "out_of_range");  // fewer bytes than the header
  CHECK(test.Read() == "b:0=01");
}

TEST_CASE("Compressed files are expanded, and damage is found", "[reader]") {
  std::string long_text;
  for (int i = 0; i < 200000; ++i) long_text += static_cast<char>('a' + (i * 7 + i / 26) % 26);
  ReaderTest gzip, zlib, members, plain, cut;
  gzip.File("a", Deflated(long_text, 31)).Make("record_bytes_ = 100000; encoding_ = GZIP;");
  CHECK(gzip.ReadUpTo(5) == "a:0=" + long_text.substr(0, 100000) + " a:1=" + long_text.substr(100000) + " ");
  zlib.File("a", Deflated("abcdefgh", 15) + "xx").Make("record_bytes_ = 4; encoding_ = ZLIB;");
  CHECK(zlib.ReadUpTo(5) == "a:0=abcd a:1=efgh ");
  members.File("a", Deflated("abcdef", 31) + Deflated("ghij", 31) + std::string(3, '\0')).Make("record_bytes_ = 4; encoding_ = GZIP;");
  CHECK(members.ReadUpTo(5) == "a:0=abcd a:1=efgh ");
  plain.File("a", "not gzip at all....").Make("record_bytes_ = 4; encoding_ = GZIP;");
  CHECK(plain.Read() == "data_loss");
  CHECK(plain.Read() == "data_loss");
  // As TensorFlow does: the records before the cut.
  cut.File("a", Deflated(std::string(100, 'x'), 15).substr(0, 4)).Make("record_bytes_ = 90; encoding_ = ZLIB;");
  CHECK(cut.Read() == "out_of_range");
}

TEST_CASE("Records as MNIST files have them", "[reader]") {
  std::string file(16, 'h');
  for (int image = 0; image < 50; ++image) file += std::string(784, static_cast<char>(image));
  ReaderTest test;
  test.File("train-images", file).Make("header_bytes_ = 16; record_bytes_ = 784;");
  for (int image = 0; image < 50; ++image) {
    CHECK(test.Read() == Cat("train-images:", image, "=", std::string(784, static_cast<char>(image))));
  }
  CHECK(test.Read() == "out_of_range");
}

TEST_CASE("Records that are longer than what is read at once", "[reader]") {
  constexpr size_t kRecord = 9'000'000, kHop = 5'000'000, kHeader = 4'500'000;
  const std::string text = LongText(30'000'000);
  const auto record = [&](size_t i) { return text.substr(kHeader + i * kHop, kRecord); };
  const std::string layout = "record_bytes_ = 9000000; hop_bytes_ = 5000000; header_bytes_ = 4500000; footer_bytes_ = 3;";
  for (const bool packed : {false, true}) {
    ReaderTest test;
    if (packed) test.File("a", Deflated(text, 31)).Make(layout + "encoding_ = GZIP;");
    else test.File("a", text).Make(layout);
    for (size_t i = 0; i < 4; ++i) CHECK(test.Read() == Cat("a:", i, "=", record(i)));
    CHECK(test.Read() == "out_of_range");
  }
}

TEST_CASE("A reader whose run ends goes on where it was", "[reader]") {
  const std::string text = LongText(30'000'000);
  for (const char* encoding : {"", "encoding_ = GZIP;"}) {
    for (int looks = 1; looks < 12; ++looks) {
      INFO(encoding << " " << looks);
      ReaderTest test;
      test.File("a", *encoding == '\0' ? text : Deflated(text, 31));
      test.Make(Cat("record_bytes_ = 9000000; hop_bytes_ = 14000000; header_bytes_ = 5000000;", encoding));
      std::vector<std::string> found;
      for (int reads = 0; reads < 200 && (found.empty() || found.back() != "out_of_range"); ++reads) {
        test.StopAfter(looks);
        std::string one = test.Read();
        if (one != "cancelled") found.push_back(std::move(one));
        else CHECK(test.reader().records_produced() == static_cast<int64_t>(found.size()));
        // A look for each piece is needed to get on.
        if (reads % 8 == 7 && (found.empty() || found.back() != "out_of_range")) test.StopAfter(-1), found.push_back(test.Read());
      }
      REQUIRE(found.size() == 3);
      CHECK(found[0] == "a:0=" + text.substr(5'000'000, 9'000'000));
      CHECK(found[1] == "a:1=" + text.substr(19'000'000, 9'000'000));
    }
  }
}

TEST_CASE("Records count in the memory budget before they are there", "[reader]") {
  const auto budget = std::make_shared<MemoryBudget>(int64_t{16} << 20);
  const std::string zeros(1 << 20, '\0');
  std::string packed;
  for (int i = 0; i < 100; ++i) packed += Deflated(zeros, 31);
  {
    ReaderTest test;
    test.set_budget(budget);
    test.File("a", packed).File("b", "0123").Make("record_bytes_ = 90000000; encoding_ = GZIP;");
    CHECK(test.Read() == "resource_exhausted");
    CHECK(budget->used() <= budget->limit());
    REQUIRE(test.reader().Reset(test.services()).ok());
    CHECK(budget->used() == 0);
    CHECK(test.Read() == "data_loss");
  }
  CHECK(budget->used() == 0);
  ReaderTest small;
  small.set_budget(budget);
  small.File("a", LongText(20'000'000)).Make("record_bytes_ = 1000; hop_bytes_ = 500;");
  for (int i = 0; i < 30'000; ++i) REQUIRE(small.Read() != "resource_exhausted");
  CHECK(budget->used() <= int64_t{10} << 20);
}

TEST_CASE("Layouts that are refused", "[reader]") {
  for (const char* attrs : {"record_bytes_ = 0;", "record_bytes_ = -1;", "record_bytes_ = 4; header_bytes_ = -1;",
                            "record_bytes_ = 4; encoding_ = LZ4;", "record_bytes_ = 9223372036854775807;",
                            "record_bytes_ = 4; footer_bytes_ = 9223372036854775807;"}) {
    INFO(attrs);
    CHECK(kit::BlockTester(kit::Catalog(), "FixedLengthRecordReader").Attrs(attrs).Run().status.code() == Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace weft
