// What tests of record readers share.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/record_reader.h"
#include "blocks/protobuf/wire.h"
#include "catch2/catch.hpp"
#include "tests/kit/block_tester.h"
#include "tests/kit/deflated.h"
#include "tests/kit/test_services.h"

namespace weft::kit {

/// A folder of files, a queue of names and a reader as its block makes it.
class ReaderTest {
 public:
  ReaderTest() : files_(folder_.path()), queue_({"FIFOQueue", {DType::kString}, {PartialShape(Shape{})}, -1}, blocks::MakeFifoStore()) {
    services_.files = &files_;
    services_.waiter = &waiter_;
    services_.workers = &workers_;
  }

  ReaderTest& File(const std::string& name, std::string_view bytes) {
    std::ofstream(folder_.path() / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return Name(name);
  }
  ReaderTest& Name(const std::string& name) {
    std::vector<blocks::QueueElement> elements;
    elements.push_back({Tensor::Scalar<String>(name)});
    REQUIRE(queue_.Enqueue(std::move(elements), waiter_, -1).ok());
    return *this;
  }
  ReaderTest& Make(const std::string& attrs, const std::string& block = "FixedLengthRecordReader") {
    REQUIRE(queue_.Close(false).ok());
    return MakeReader(attrs, block);
  }
  /// Another reader of the same queue.
  ReaderTest& MakeReader(const std::string& attrs, const std::string& block) {
    auto made = BlockTester(Catalog(), block).Attrs(attrs).Run();
    INFO(ToString(made.status));
    REQUIRE(made.status.ok());
    handle_ = made.outputs.at("reader_handle").values<ResourceHandle>()[0];
    return *this;
  }

  blocks::RecordReader& reader() { return dynamic_cast<blocks::RecordReader&>(*handle_); }
  /// "key=value", or the name of the failure.
  std::string Read() {
    auto record = reader().Read(queue_, services_);
    return record.ok() ? Cat(record->key, "=", record->value) : std::string(CodeName(record.status().code()));
  }
  std::string ReadUpTo(int64_t count) {
    auto records = reader().ReadUpTo(queue_, count, services_);
    if (!records.ok()) return std::string(CodeName(records.status().code()));
    std::string text;
    for (const blocks::FileRecord& record : *records) text += Cat(record.key, "=", record.value, " ");
    return text;
  }
  /// What a snapshot keeps of the reader.
  std::string State() {
    StateWriter out;
    REQUIRE(reader().Save(out).ok());
    return std::move(out).Take();
  }
  /// Another reader takes the place of this one, and the state; how that went.
  Status Restore(const std::string& attrs, const std::string& block, const std::string& state) {
    MakeReader(attrs, block);
    StateReader in(state, files_, nullptr);
    auto load = reader().Load(in);
    WEFT_RETURN_IF_ERROR(load.status());
    (*load)();
    return in.End();
  }
  const Files& files() const { return files_; }
  std::filesystem::path folder() const { return folder_.path(); }
  const Services& services() const { return services_; }
  /// The run is to end when this many more looks have been taken at that; never where negative.
  void StopAfter(int looks) { workers_.looks_ = looks; }
  void set_budget(std::shared_ptr<MemoryBudget> budget) { services_.budget = std::move(budget); }

 private:
  struct EndingWorkers final : TestWorkers {
    EndingWorkers() : TestWorkers(1) {}
    bool Stopped() const override { return looks_ == 0 || --looks_ == 0; }
    mutable int looks_ = -1;
  };

  TemporaryFolder folder_;
  TestFiles files_;
  TestWaiter waiter_;
  EndingWorkers workers_;
  Services services_;
  blocks::Queue queue_;
  ResourceHandle handle_;
};

/// Bytes without a short period.
inline std::string LongText(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251 + i / 65521);
  return text;
}

inline uint32_t MaskedChecksum(std::string_view bytes) {
  return blocks::checkpoint::MaskCrc32c(blocks::checkpoint::ExtendCrc32c(0, bytes));
}

inline std::string TFRecord(std::string_view data) {
  std::string record;
  blocks::protobuf::PutFixed(record, static_cast<uint64_t>(data.size()));
  blocks::protobuf::PutFixed(record, MaskedChecksum(record));
  record += data;
  blocks::protobuf::PutFixed(record, MaskedChecksum(data));
  return record;
}

}  // namespace weft::kit
