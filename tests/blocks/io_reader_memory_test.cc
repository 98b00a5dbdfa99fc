// What readers hold counts in the memory budget: what is read ahead after a restore, names, records that wait to be given in random order.
#include "blocks/io/record_yielder.h"
#include "blocks/io/tf_record.h"
#include "tests/blocks/reader_kit.h"

namespace weft {
namespace {

using kit::LongText;
using kit::ReaderTest;
using kit::TFRecord;

TEST_CASE("What a restored reader reads ahead counts in the memory budget", "[reader][snapshot][memory]") {
  const std::string block = "FixedLengthRecordReader", attrs = "record_bytes_ = 3000000;", text = LongText(9'000'000);
  ReaderTest test;
  test.File("f", text).Make(attrs, block);
  (void)test.Read();
  const std::string state = test.State(), next = "f:1=" + text.substr(3'000'000, 3'000'000);
  const auto little = std::make_shared<MemoryBudget>(4'000'000), enough = std::make_shared<MemoryBudget>(9'000'000);
  REQUIRE(test.Restore(attrs, block, state).ok());
  test.set_budget(little);
  CHECK(test.Read() == "resource_exhausted");  // the file's next bytes, and the record of them
  REQUIRE(test.Restore(attrs, block, state).ok());
  CHECK(little->used() == 0);
  test.set_budget(enough);
  CHECK(test.Read() == next);
  CHECK(enough->used() >= 3'000'000);
}

TEST_CASE("Millions of records of a byte, read at once, count in the memory budget for what each takes besides", "[reader][memory]") {
  ReaderTest test;
  test.File("z", kit::Deflated(std::string(size_t{1} << 23, '\0'), kit::kGzipBits)).Name("z").Make("record_bytes_ = 1;encoding_ = GZIP;");
  const auto budget = std::make_shared<MemoryBudget>(int64_t{1} << 24);
  test.set_budget(budget);
  CHECK(test.ReadUpTo(INT64_MAX).substr(0, 30) == "resource_exhausted");
  CHECK(test.reader().records_produced() > 100'000);
  test.reader().Reset();
  CHECK(budget->used() == 0);
  CHECK(test.ReadUpTo(2) == std::string("z:0=\0 z:1=\0 ", 12));
}

TEST_CASE("The name that an IdentityReader gives counts in the memory budget, once", "[reader][memory]") {
  constexpr size_t kBytes = size_t{1} << 20;
  const std::string name(kBytes, 'n');
  const auto little = std::make_shared<MemoryBudget>(kBytes / 2), enough = std::make_shared<MemoryBudget>(2 * kBytes);
  ReaderTest test;
  test.Name(name).Make("", "IdentityReader");
  test.set_budget(little);
  CHECK(test.Read() == "resource_exhausted");
  CHECK(little->used() == 0);
  test.set_budget(enough);
  CHECK(test.Read() == name + "=" + name);
  CHECK(enough->used() >= static_cast<int64_t>(kBytes));
  CHECK(enough->used() < static_cast<int64_t>(kBytes + kBytes / 2));
}

TEST_CASE("The buffer of short records counts in the memory budget", "[reader][snapshot][memory]") {
  constexpr int64_t kRecords = 200'000, kRoom = kRecords * static_cast<int64_t>(sizeof(String));
  std::string file;
  for (int64_t i = 0; i < kRecords; ++i) file += TFRecord("tiny");
  ReaderTest test;
  test.File("f", file);
  const auto little = std::make_shared<MemoryBudget>(kRoom / 2), enough = std::make_shared<MemoryBudget>(2 * kRoom);
  std::vector<String> batch(4);
  blocks::RecordYielder yielder({.pattern = "f", .buffer_size = kRecords}, [] { return blocks::MakeTFRecordSource(blocks::Encoding::kPlain); });
  test.set_budget(little);
  CHECK(yielder.Yield(batch, test.services()).code() == Code::kResourceExhausted);
  CHECK(little->used() > 0);
  yielder.Reset();
  CHECK(little->used() == 0);
  test.set_budget(enough);
  REQUIRE(yielder.Yield(batch, test.services()).ok());
  CHECK(batch[3] == "tiny");
  CHECK(enough->used() >= kRoom);
  StateWriter out;
  REQUIRE(yielder.Save(out).ok());
  const std::string state = std::move(out).Take();
  yielder.Reset();
  CHECK(enough->used() == 0);
  const auto load = [&](const std::shared_ptr<MemoryBudget>& budget) {
    StateReader in(state, test.files(), budget);
    auto loaded = yielder.Load(in);
    if (loaded.ok()) (*loaded)();
    return loaded.status().code();
  };
  CHECK(load(little) == Code::kResourceExhausted);
  CHECK(little->used() == 0);
  CHECK(load(enough) == Code::kOk);
  CHECK(enough->used() >= kRoom);
  CHECK(yielder.Yield(batch, test.services()).ok());
}

TEST_CASE("A run that is to end looks for no more files of records", "[reader]") {
  ReaderTest test;
  test.File("f", "");
  blocks::RecordYielder yielder({.pattern = "none*"}, [] { return blocks::MakeTFRecordSource(blocks::Encoding::kPlain); });
  test.StopAfter(1);
  CHECK(yielder.Yield({}, test.services()).ok());
  std::vector<String> batch(1);
  CHECK(yielder.Yield(batch, test.services()).code() == Code::kCancelled);
  test.StopAfter(-1);
  CHECK(yielder.Yield(batch, test.services()).code() == Code::kNotFound);
}

}  // namespace
}  // namespace weft
