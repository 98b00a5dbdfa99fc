// The version 1 checkpoint: what Save writes, what Restore reads, and what it says of files that are damaged.
#include <snappy.h>

#include <fstream>
#include <iterator>
#include <random>

#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint_v1/checkpoint_writer.h"
#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/table_reader.h"
#include "blocks/io/checkpoint/table_writer.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"
#include "catch2/catch.hpp"
#include "tests/kit/block_tester.h"
#include "tests/kit/test_services.h"

namespace weft {
namespace {

using namespace blocks::checkpoint_v1;
using namespace blocks::protobuf;
namespace fs = std::filesystem;

std::string Slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void Spill(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string FromBase64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    if (count += 6; count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count));
  }
  return bytes;
}

/// Six tensors as TensorFlow 2.21's Save wrote them.
std::string FileOfTensorFlow() {
  return FromBase64(
      "AADIAQrFAQodCgl0L0RUX0JPT0wSCBICCAISAggDGAoiBAoACgAKHwoLdC9EVF9ET1VCTEUSCBICCAISAggDGAIiBAoACgAKHgoKdC9EVF9GTE9BVBIIEgII"
      "AhICCAMYASIECgAKAAoeCgp0L0RUX0lOVDMyEggSAggCEgIIAxgDIgQKAAoACh4KCnQvRFRfSU5UNjQSCBICCAISAggDGAkiBAoACgAKHwoLdC9EVF9TVFJJ"
      "TkcSCBICCAISAggDGAciBAoACgASAggBABIdAHQvRFRfQk9PTAABAQKAf4B/EhsKCXQvRFRfQk9PTBIECgAKABoIWgYAAQABAQEGDklET1VCTEUAAQECgH+A"
      "fxJHCgt0L0RUX0RPVUJMRRIECgAKABoyMjC8zob8M4PxP554zhYQWtC/+tNGdTqQub9Zhc0AF+TwP+QtVz82CfA/O4xJfy8F6L8GDTBGTE9BVAABAQKAf4B/"
      "Ei4KCnQvRFRfRkxPQVQSBAoACgAaGioY5fKfv7Kdrz/pSH6/NxrwPyUGgT1HcoE/Bg05SU5UMzIAAQECgH+AfxI3Cgp0L0RUX0lOVDMyEgQKAAoAGiM6Ifv/"
      "/////////wH8//////////8BAgH8//////////8BAAkKSzY0AAEBAoB/gH8SSQoKdC9EVF9JTlQ2NBIECgAKABo1UjP///////////8B/v//////////AQT9"
      "//////////8B/P//////////Afv//////////wEGDlpTVFJJTkcAAQECgH+AfxJYCgt0L0RUX1NUUklORxIECgAKABpDQgNhbnRCA/8AekIuY2F0ZXJwaWxs"
      "YXIgdGhhdCBpcyBsb25nZXIgdGhhbiBhIHNob3J0IHN0cmluZ0IAQgBCA2FudAAAAAABAAAAAE9mfCEAAAAAAQAAAADA8qGwAAEDAQCsBQAAAAABAAAAAH0p"
      "tHexBQi+BQ8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAV/uAiyR1R9s=");
}

Result<Tensor> ReadAll(const std::vector<fs::path>& files, const std::string& name) {
  WEFT_ASSIGN_OR_RETURN(CheckpointReader reader, CheckpointReader::Open(files));
  const SavedTensor* saved = reader.Find(name);
  return reader.Read(name, TensorSlice::Whole(saved ? saved->shape.rank() : 0), nullptr);
}

kit::BlockResult SaveBlock(const fs::path& folder, const std::string& file, const std::vector<NamedTensor>& tensors) {
  Tensor names = Tensor::Allocate(DType::kString, Shape{static_cast<int64_t>(tensors.size())}).value();
  std::vector<Tensor> data;
  for (size_t i = 0; i < tensors.size(); ++i) {
    names.values<String>()[i] = tensors[i].name;
    data.push_back(tensors[i].tensor);
  }
  return kit::BlockTester(kit::Catalog(), "Save")
      .Folder(folder)
      .Input("filename", Tensor::Scalar<String>((folder / file).string()))
      .Input("tensor_names", names)
      .Inputs("data", data)
      .Run();
}

kit::BlockResult RestoreBlock(const fs::path& folder, const std::string& pattern, const std::string& name, DType dtype,
                              const std::string& more = "") {
  return kit::BlockTester(kit::Catalog(), "Restore")
      .Folder(folder)
      .Attrs(Cat("dt_ = ", dtype, ";", more))
      .Input("file_pattern", Tensor::Scalar<String>((folder / pattern).string()))
      .Input("tensor_name", Tensor::Scalar<String>(name))
      .Run();
}

/// A tensor whose bytes are all kinds of bytes.
Tensor Sample(DType dtype, Shape shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor tensor = Tensor::Allocate(dtype, std::move(shape)).value();
  if (dtype == DType::kString) {
    for (String& s : tensor.values<String>()) s = String(std::string(random() % 40, static_cast<char>(random())));
    return tensor;
  }
  const size_t bytes = static_cast<size_t>(tensor.count()) * ElementSize(dtype);
  const uint32_t mask = dtype == DType::kBool ? 1 : 255;
  for (size_t i = 0; i < bytes; ++i) static_cast<uint8_t*>(tensor.data())[i] = static_cast<uint8_t>(random() & mask);
  return tensor;
}

// A table made of records given as they are.
void WriteTable(const fs::path& path, const std::vector<std::pair<std::string, std::string>>& records) {
  auto file = blocks::AtomicFile::Create(path);
  REQUIRE(file.ok());
  TableWriter table(*file);
  for (const auto& [key, value] : records) REQUIRE(table.Add(key, value).ok());
  REQUIRE(table.Finish().ok());
  REQUIRE(file->Commit().ok());
}

std::string SliceText(const TensorSlice& slice) {
  std::string text, extent;
  for (size_t i = 0; i < slice.starts.size(); ++i) {
    extent.clear();
    PutVarintField(extent, 1, static_cast<uint64_t>(slice.starts[i]));
    if (slice.lengths[i] >= 0) PutVarintField(extent, 2, static_cast<uint64_t>(slice.lengths[i]));
    PutBytesField(text, 1, extent);
  }
  return text;
}

/// The records of float tensor "t" of [4,3], saved in parts; element [i,j] of all parts is 10 i + j.
std::vector<std::pair<std::string, std::string>> PartRecords(const std::vector<TensorSlice>& slices) {
  std::string entry, shape, meta, first;
  PutBytesField(shape, 2, "\x08\x04");
  PutBytesField(shape, 2, "\x08\x03");
  PutBytesField(entry, 1, "t");
  PutBytesField(entry, 2, shape);
  PutVarintField(entry, 3, 1);
  std::map<std::string, std::string> sorted;
  for (const TensorSlice& slice : slices) {
    PutBytesField(entry, 4, SliceText(slice));
    const auto box = BoxOf(slice, Shape{4, 3});
    REQUIRE(box);
    std::vector<float> values;
    for (int64_t i = 0; i < box->lengths[0]; ++i) {
      for (int64_t j = 0; j < box->lengths[1]; ++j) values.push_back(static_cast<float>(10 * (box->starts[0] + i) + box->starts[1] + j));
    }
    std::string message, saved, record;
    PutValues(message, DType::kFloat, values.data(), static_cast<int64_t>(values.size()));
    PutBytesField(saved, 1, "t");
    PutBytesField(saved, 2, SliceText(slice));
    PutBytesField(saved, 3, message);
    PutBytesField(record, 2, saved);
    sorted[SliceKey("t", slice)] = record;
  }
  PutBytesField(meta, 1, entry);
  PutBytesField(first, 1, meta);
  std::vector<std::pair<std::string, std::string>> records{{"", first}};
  records.insert(records.end(), sorted.begin(), sorted.end());
  return records;
}

TEST_CASE("Checksums and keys are those of TensorFlow", "[checkpoint]") {
  CHECK(ExtendCrc32c(0, "123456789") == 0xe3069283u);
  CHECK(ExtendCrc32c(ExtendCrc32c(0, "12345"), "6789") == 0xe3069283u);
  CHECK(SliceKey("t", TensorSlice::Whole(1)) == std::string("\0t\0\1\1\1\x80\x7f", 8));
  CHECK(SliceKey(std::string("\0x\xff", 3), TensorSlice::Whole(0)) == std::string("\0\0\xffx\xff\0\0\1\0", 9));
  // 64 is the first start of two bytes, 8192 of three.
  CHECK(SliceKey("", {{63, 64, 8192}, {-1, -64, -65}}) == std::string("\0\0\1\1\3\xbf\x7f\xc0\x40\x40\xe0\x20\0\x3f\xbf", 15));
}

TEST_CASE("Keys sort as names and slices do", "[checkpoint]") {
  std::vector<int64_t> numbers{0};
  for (int bit = 0; bit < 63; ++bit) {
    const auto power = static_cast<int64_t>(uint64_t{1} << bit);
    for (int64_t n : {power - 1, power, power + 1, -power, -power - 1}) numbers.push_back(n);
  }
  numbers.push_back(INT64_MAX);
  numbers.push_back(INT64_MIN);
  for (int64_t a : numbers) {
    for (int64_t b : numbers) REQUIRE((SliceKey("n", {{a}, {-1}}) < SliceKey("n", {{b}, {-1}})) == (a < b));
  }
}

TEST_CASE("A file of TensorFlow is read, and written the same", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const fs::path file = folder.path() / "tf";
  Spill(file, FileOfTensorFlow());
  std::vector<NamedTensor> tensors;
  for (const char* type : {"FLOAT", "INT32", "STRING", "BOOL", "INT64", "DOUBLE"}) {
    const std::string name = Cat("t/DT_", type);
    auto read = ReadAll({file}, name);
    REQUIRE(read.ok());
    CHECK(read->shape() == Shape{2, 3});
    tensors.push_back({name, std::move(*read)});
  }
  CHECK(SameBits(tensors[0].tensor, Tensor::Of<float>({-1.2496f, 1.372f, -0.9933f, 1.8758f, 0.063f, 1.0113f}, Shape{2, 3})));
  CHECK(SameBits(tensors[1].tensor, Tensor::Of<int32_t>({-5, -4, 2, 1, -4, 0}, Shape{2, 3})));
  CHECK(tensors[2].tensor.values<String>()[1] == std::string("\xff\0z", 3));
  REQUIRE(WriteCheckpoint(folder.path() / "weft", tensors).ok());
  CHECK(Slurp(folder.path() / "weft") == FileOfTensorFlow());
}

TEST_CASE("The published checkpoints are read", "[checkpoint]") {
  const fs::path folder = fs::path(WEFT_SOURCE_DIR).parent_path() / "shared/enuspace/checkpoints";
  if (!fs::exists(folder / "trainW")) {
    WARN("skipped: no published checkpoints beside this folder");
    return;
  }
  auto w = RestoreBlock(folder, "trainW", "W", DType::kFloat);
  REQUIRE(w.status.ok());
  CHECK(w.outputs.at("tensor").shape() == Shape{10, 784});
  auto b = RestoreBlock(folder, "trainB", "B", DType::kFloat);
  REQUIRE(b.status.ok());
  CHECK(b.outputs.at("tensor").shape() == Shape{1, 10});
  // The four bytes that the file holds first.
  CHECK(b.outputs.at("tensor").values<float>()[0] == std::bit_cast<float>(0xbdb16e75u));
}

TEST_CASE("Save then Restore gives the same bits, for every type and shape", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const DType types[] = {DType::kFloat, DType::kDouble, DType::kHalf,      DType::kInt8,       DType::kInt16, DType::kInt32,
                         DType::kInt64, DType::kUInt8,  DType::kUInt16,    DType::kBool,       DType::kQInt8, DType::kQUInt8,
                         DType::kQInt32, DType::kString, DType::kComplex64, DType::kComplex128};
  std::vector<NamedTensor> tensors;
  uint32_t seed = 0;
  for (DType dtype : types) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 5}, Shape{2, 0, 4}, Shape{2, 1, 2, 1, 2, 1, 3, 1}}) {
      tensors.push_back({Cat(dtype, shape), Sample(dtype, shape, ++seed)});
    }
  }
  REQUIRE(SaveBlock(folder.path(), "all", tensors).status.ok());
  for (const NamedTensor& named : tensors) {
    auto read = RestoreBlock(folder.path(), "all", named.name, named.tensor.dtype());
    INFO(named.name << ": " << ToString(read.status));
    REQUIRE(read.status.ok());
    CHECK(SameBits(read.outputs.at("tensor"), named.tensor));
  }
}

TEST_CASE("Many and large tensors, in any order, with odd names", "[checkpoint]") {
  kit::TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 3000; ++i) tensors.push_back({Cat("layer/", (i * 7919) % 3000, "/w"), Tensor::Of<int32_t>({i, -i})});
  tensors.push_back({"", Tensor::Scalar<float>(1)});
  tensors.push_back({std::string("\0\xff\1", 3), Tensor::Scalar<float>(2)});
  tensors.push_back({"large", Sample(DType::kInt64, Shape{300, 1000}, 5)});
  tensors.push_back({"larger", Sample(DType::kFloat, Shape{1000, 1000}, 6)});
  const fs::path file = folder.path() / "many";
  REQUIRE(WriteCheckpoint(file, tensors).ok());
  auto reader = CheckpointReader::Open({file});
  REQUIRE(reader.ok());
  for (size_t i = 0; i < tensors.size(); i += i < 2900 ? 97 : 1) {
    auto read = reader->Read(tensors[i].name, TensorSlice::Whole(tensors[i].tensor.shape().rank()), nullptr);
    REQUIRE(read.ok());
    REQUIRE(SameBits(*read, tensors[i].tensor));
  }
}

TEST_CASE("Parts of a tensor are put together", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const fs::path a = folder.path() / "part-0", b = folder.path() / "part-1";
  const TensorSlice top{{0, 0}, {1, -1}}, left{{1, 0}, {3, 2}}, right{{1, 2}, {3, 1}};
  const Tensor whole = Tensor::Of<float>({0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}, Shape{4, 3});
  WriteTable(a, PartRecords({top, left}));
  WriteTable(b, PartRecords({right}));

  auto both = RestoreBlock(folder.path(), "part-?", "t", DType::kFloat);
  REQUIRE(both.status.ok());
  CHECK(SameBits(both.outputs.at("tensor"), whole));
  CHECK(RestoreBlock(folder.path(), "part-0", "t", DType::kFloat).status.code() == Code::kInvalidArgument);

  auto reader = CheckpointReader::Open({a, b});
  REQUIRE(reader.ok());
  auto part = reader->Read("t", {{0, 1}, {3, 2}}, nullptr);
  REQUIRE(part.ok());
  CHECK(SameBits(*part, Tensor::Of<float>({1, 2, 11, 12, 21, 22}, Shape{3, 2})));
  CHECK(reader->Read("t", {{2, 1}, {3, 2}}, nullptr).status().code() == Code::kInvalidArgument);

  // Twice the same rows and none of the last: as many elements as needed, but not the right ones.
  WriteTable(a, PartRecords({{{0, 0}, {2, 3}}, {{0, 0}, {1, 3}}, {{1, 0}, {1, 3}}}));
  CHECK(ReadAll({a}, "t").status().code() == Code::kDataLoss);
  CHECK(ReadAll({b, b}, "t").status().code() == Code::kInvalidArgument);
}

TEST_CASE("Shards: a pattern, and the one to look into first", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const Tensor x = Tensor::Of<float>({1, 2}), y = Tensor::Of<int32_t>({3});
  REQUIRE(SaveBlock(folder.path(), "m-00000-of-00002", {{"x", x}}).status.ok());
  REQUIRE(SaveBlock(folder.path(), "m-00001-of-00002", {{"y", y}}).status.ok());
  for (const char* more : {"", "preferred_shard_ = 1;", "preferred_shard_ = 7;"}) {
    for (const char* pattern : {"m-0000?-of-00002", "m-*", "m-[0-9]*"}) {
      auto read = RestoreBlock(folder.path(), pattern, "x", DType::kFloat, more);
      REQUIRE(read.status.ok());
      CHECK(SameBits(read.outputs.at("tensor"), x));
    }
  }
  // A name that holds signs of a pattern, and is that of a file.
  REQUIRE(SaveBlock(folder.path(), "m[1]?", {{"x", y}}).status.ok());
  auto read = RestoreBlock(folder.path(), "m[1]?", "x", DType::kInt32);
  REQUIRE(read.status.ok());
  CHECK(SameBits(read.outputs.at("tensor"), y));
}

/// The plain file with its first block stored by Snappy.
std::string Compressed(std::string_view plain) {
  std::string_view footer = plain.substr(plain.size() - kFooterBytes);
  uint64_t meta_offset = 0, meta_size = 0;
  REQUIRE(TakeVarint(footer, meta_offset));
  REQUIRE(TakeVarint(footer, meta_size));
  std::string file, key, trailer, text;
  auto add = [&](const std::string& block, char kind) {
    const uint64_t offset = file.size();
    file += block;
    file += kind;
    PutFixed(file, MaskCrc32c(ExtendCrc32c(ExtendCrc32c(0, block), std::string_view(&kind, 1))));
    std::string place;
    PutVarint(place, offset);
    PutVarint(place, block.size());
    return place;
  };
  std::string packed;
  snappy::Compress(plain.data(), static_cast<size_t>(meta_offset) - kTrailerBytes, &packed);
  TableBlockBuilder index(1);
  index.Add("\xff", add(packed, kSnappyBlock));
  std::string end = add(TableBlockBuilder(1).Take(), kPlainBlock);
  end += add(index.Take(), kPlainBlock);
  end.resize(kFooterBytes - sizeof(uint64_t));
  PutFixed(end, kTableMagic);
  return file + end;
}

TEST_CASE("Blocks compressed by Snappy are read", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const std::string plain = FileOfTensorFlow(), packed = Compressed(plain);
  CHECK(packed.size() < plain.size());
  Spill(folder.path() / "plain", plain);
  Spill(folder.path() / "packed", packed);
  for (const char* name : {"t/DT_FLOAT", "t/DT_STRING", "t/DT_INT64"}) {
    auto expected = ReadAll({folder.path() / "plain"}, name), found = ReadAll({folder.path() / "packed"}, name);
    REQUIRE(found.ok());
    CHECK(SameBits(*found, *expected));
  }
}

TEST_CASE("Blocks compressed by Snappy are not expanded to their end where the run is to end", "[checkpoint]") {
  class EndedWorkers final : public kit::TestWorkers {
   public:
    EndedWorkers() : TestWorkers(1) {}
    bool Stopped() const override { return true; }
  };
  kit::TemporaryFolder folder;
  const fs::path file = folder.path() / "t";
  // Two records in one block, of bytes that Snappy cannot make fewer.
  const Tensor less = Sample(DType::kFloat, {60'000}, 1), more = Sample(DType::kFloat, {125'000}, 2);
  REQUIRE(SaveBlock(folder.path(), "t", {{"less", less}, {"more", more}}).status.ok());
  Spill(file, Compressed(Slurp(file)));
  auto read = ReadAll({file}, "more");
  REQUIRE(read.ok());
  CHECK(SameBits(*read, more));
  const EndedWorkers ended;
  auto table = TableReader::Open(file, "a table", &ended);
  REQUIRE(table.ok());
  CHECK(table->Get("").status().code() == Code::kCancelled);
}

TEST_CASE("What is read of a checkpoint counts in the memory budget", "[checkpoint][memory]") {
  kit::TemporaryFolder folder;
  const fs::path file = folder.path() / "t";
  std::vector<NamedTensor> many;
  for (int i = 0; i < 2000; ++i) many.push_back({Cat("tensor/", i), Tensor::Of<float>({1})});
  REQUIRE(SaveBlock(folder.path(), "t", many).status.ok());
  const auto little = std::make_shared<MemoryBudget>(int64_t{1} << 18), enough = std::make_shared<MemoryBudget>(int64_t{8} << 20);
  CHECK(CheckpointReader::Open({file}, nullptr, little).status().code() == Code::kResourceExhausted);
  CHECK(little->used() == 0);
  {
    auto reader = CheckpointReader::Open({file}, nullptr, enough);
    REQUIRE(reader.ok());
    CHECK(enough->used() > int64_t{1} << 18);
    CHECK(reader->Read("tensor/7", TensorSlice::Whole(1), enough).ok());
  }
  CHECK(enough->used() == 0);
  // A block that is small in the file.
  Tensor zeros = Tensor::Allocate(DType::kInt32, Shape{100'000}).value();
  std::fill_n(static_cast<int32_t*>(zeros.data()), 100'000, 0);
  REQUIRE(SaveBlock(folder.path(), "t", {{"zeros", zeros}}).status.ok());
  Spill(file, Compressed(Slurp(file)));
  CHECK(fs::file_size(file) < 10'000);
  const auto small = std::make_shared<MemoryBudget>(50'000);
  CHECK(CheckpointReader::Open({file}, nullptr, small).status().code() == Code::kResourceExhausted);
  CHECK(small->used() == 0);
}

/// A damaged file may still be right where nothing looks at the damage (the padding of the footer).
void CheckDamaged(const fs::path& path, const std::string& bytes, const std::vector<std::pair<std::string, Tensor>>& tensors) {
  Spill(path, bytes);
  for (const auto& [name, expected] : tensors) {
    auto read = ReadAll({path}, name);
    if (read.ok() ? !SameBits(*read, expected) : read.status().code() != Code::kDataLoss) {
      FAIL("read of '" << name << "' gave " << (read.ok() ? std::string("other bits") : ToString(read.status())));
    }
  }
}

TEST_CASE("Every flipped byte and every truncation is data_loss", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const fs::path path = folder.path() / "ck";
  std::mt19937 random(1);
  for (const std::string& whole : {FileOfTensorFlow(), Compressed(FileOfTensorFlow())}) {
    Spill(path, whole);
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const char* name : {"t/DT_FLOAT", "t/DT_STRING"}) tensors.emplace_back(name, ReadAll({path}, name).value());
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      CheckDamaged(path, bytes, tensors);
      bytes[at] = static_cast<char>(random());
      CheckDamaged(path, bytes, tensors);
      CheckDamaged(path, whole.substr(0, at), tensors);
      CheckDamaged(path, whole.substr(at + 1), tensors);
    }
  }
}

/// Puts the right checksum behind the block at the front of the file.
void Reseal(std::string& bytes, size_t block_size) {
  const uint32_t crc = MaskCrc32c(ExtendCrc32c(0, std::string_view(bytes).substr(0, block_size + 1)));
  std::memcpy(bytes.data() + block_size + 1, &crc, sizeof crc);
}

TEST_CASE("Damage under a right checksum does no harm", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const fs::path path = folder.path() / "ck";
  std::mt19937 random(2);
  int read_anyway = 0;
  for (const std::string& whole : {FileOfTensorFlow(), Compressed(FileOfTensorFlow())}) {
    std::string_view footer = std::string_view(whole).substr(whole.size() - kFooterBytes);
    uint64_t meta_offset = 0;
    REQUIRE(TakeVarint(footer, meta_offset));
    const size_t block_size = static_cast<size_t>(meta_offset) - kTrailerBytes;
    for (int round = 0; round < 6000; ++round) {
      std::string bytes = whole;
      for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
        const char value = random() % 3 == 0 ? '\xff' : static_cast<char>(random());
        bytes[random() % (block_size + 1)] = value;
      }
      Reseal(bytes, block_size);
      Spill(path, bytes);
      auto reader = CheckpointReader::Open({path});
      if (!reader.ok()) continue;
      for (const char* type : {"BOOL", "DOUBLE", "FLOAT", "INT32", "INT64", "STRING"}) {
        const std::string name = Cat("t/DT_", type);
        const SavedTensor* saved = reader->Find(name);
        auto read = reader->Read(name, TensorSlice::Whole(saved ? saved->shape.rank() : 0), nullptr);
        read_anyway += read.ok();
      }
    }
  }
  CHECK(read_anyway > 0);  // most damage is in one tensor only
}

TEST_CASE("What Restore and Save refuse", "[checkpoint]") {
  kit::TemporaryFolder folder;
  const Tensor x = Tensor::Of<float>({1, 2});
  REQUIRE(SaveBlock(folder.path(), "ck", {{"x", x}}).status.ok());
  auto refused = [&](const std::string& file, const std::string& name, DType dtype, Code code, const std::string& port) {
    auto result = RestoreBlock(folder.path(), file, name, dtype);
    INFO(ToString(result.status));
    CHECK(result.status.code() == code);
    CHECK(result.status.place().port == port);
  };
  refused("none", "x", DType::kFloat, Code::kNotFound, "file_pattern");
  refused("none*", "x", DType::kFloat, Code::kNotFound, "file_pattern");
  refused(".", "x", DType::kFloat, Code::kFailedPrecondition, "file_pattern");
  refused("../../../../etc/passwd", "x", DType::kFloat, Code::kPermissionDenied, "file_pattern");
  refused("ck", "y", DType::kFloat, Code::kNotFound, "tensor_name");
  refused("ck", "x", DType::kInt32, Code::kInvalidArgument, "dt");
  Spill(folder.path() / "text", "this is only text, and not long enough to be a table of tensors");
  refused("text", "x", DType::kFloat, Code::kDataLoss, "file_pattern");

  CHECK(SaveBlock(folder.path(), "ck", {{"x", x}, {"x", x}}).status.place().port == "tensor_names");
  CHECK(SaveBlock(folder.path(), "ck", {{"x", Sample(DType::kBFloat16, Shape{2}, 1)}}).status.code() == Code::kUnsupported);
  CHECK(SaveBlock(folder.path(), "no/such/folder/ck", {{"x", x}}).status.code() == Code::kNotFound);
  // What is refused leaves the old file, and nothing else.
  CHECK(SameBits(ReadAll({folder.path() / "ck"}, "x").value(), x));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

}  // namespace
}  // namespace weft
