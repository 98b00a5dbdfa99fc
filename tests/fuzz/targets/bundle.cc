// Checkpoints as the blocks read them. After the byte of the mode: of version 2 the size of the index (2 bytes, low one first), the index,
// the file of elements; of version 1 the file. Its tensors have the names in kNames.
#include "tests/fuzz/mending.h"
#include "tests/fuzz/run_block.h"
#include "tests/fuzz/targets.h"

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/table_reader.h"
#include "blocks/io/checkpoint_v2/bundle_format.h"
#include "blocks/protobuf/wire.h"

namespace weft::fuzz {
namespace {

using namespace blocks::checkpoint_v2;
using blocks::protobuf::FieldReader;
using blocks::protobuf::LoadFixed;
using blocks::protobuf::WireType;

struct Saved {
  const char* name;
  const char* dtype;
  const char* part;  // of it
};
constexpr Saved kNames[] = {
    {"floats", "DT_FLOAT", "4 3 1,2:-"}, {"parts", "DT_FLOAT", "6 2 2,3:-"}, {"longs", "DT_INT64", "5 0,5"},
    {"words", "DT_STRING", "3 1,1"},     {"truths", "DT_BOOL", ""},         {"halves", "DT_HALF", "2 2 -:1,1"},
};

/// The checksums of the entries of a block are made those of the elements. (Strings have others, and stay as they are.)
void MendEntries(std::string& block, std::string_view data) {
  constexpr uint32_t kChecksumField = 6;
  std::vector<std::pair<size_t, uint32_t>> checksums;
  BlockCursor cursor(block);
  while (cursor.Next()) {
    BundleEntry entry;
    if (!TakeEntry(cursor.value(), entry) || entry.dtype == DType::kString) continue;
    if (entry.offset > data.size() || entry.size > data.size() - entry.offset) continue;
    const auto elements = data.substr(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.size));
    for (FieldReader field(cursor.value()); field.Next();) {
      if (!field.Is(kChecksumField, WireType::kFixed32)) continue;
      checksums.emplace_back(field.bytes().data() - block.data(), MaskCrc32c(ExtendCrc32c(0, elements)));
    }
  }
  for (const auto& [at, checksum] : checksums) block.replace(at, sizeof checksum, reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

void WriteBundle(const Mode& mode, const std::string& prefix) {
  const size_t told = mode.rest.size() < 2 ? 0 : LoadFixed<uint16_t>(mode.rest.data());
  const std::string_view files = mode.rest.substr(std::min<size_t>(2, mode.rest.size()));
  std::string index(files.substr(0, told)), data(files.substr(index.size()));
  if (mode.mend) MendTable(index, [&](std::string& block) { MendEntries(block, data); });
  ScratchFile(IndexName(prefix), index);
  ScratchFile(DataName(prefix, 0, 1), data);
}

BlockCase Restore(const std::string& prefix, const Saved& saved, std::string_view part) {
  BlockCase block("RestoreV2", Cat("dtypes_ = {", saved.dtype, "};"));
  block.Text("prefix", prefix).Texts("tensor_names", {saved.name}).Texts("shape_and_slices", {std::string(part)});
  return block;
}

void RestoreAll(const Mode& mode) {
  WriteBundle(mode, "read");
  for (const Saved& saved : kNames) Restore("read", saved, "").Try(mode.alone);
}

void RestoreParts(const Mode& mode) {
  WriteBundle(mode, "read");
  for (const Saved& saved : kNames) Restore("read", saved, saved.part).Try(mode.alone);
}

/// With a sound one, to a third.
void Merge(const Mode& mode) {
  WriteBundle(mode, "first");
  BlockCase save("SaveV2", "dtypes_ = {DT_FLOAT};");
  save.Text("prefix", "second").Texts("tensor_names", {"more"}).Texts("shape_and_slices", {""}).List("tensors", {Tensor::Scalar(1.5f)});
  const Status saved = save.Outcome(false);
  Require(saved.ok(), ToString(saved));
  BlockCase("MergeV2Checkpoints", "").Texts("checkpoint_prefixes", {"first", "second"}).Text("destination_prefix", "third").Try(mode.alone);
  for (const Saved& one : {kNames[0], kNames[1], Saved{"more", "DT_FLOAT", ""}}) Restore("third", one, "").Try(mode.alone);
  for (const char* prefix : {"first", "second", "third"}) {
    std::error_code ignored;
    for (const std::string& name : {IndexName(prefix), DataName(prefix, 0, 1), DataName(prefix, 0, 2), DataName(prefix, 1, 2)}) {
      std::filesystem::remove(ScratchFolder() / name, ignored);
    }
  }
}

void WriteSlices(const Mode& mode) {
  std::string file(mode.rest);
  if (mode.mend) MendTable(file);
  ScratchFile("slices", file);
}

void RestoreSlices(const Mode& mode) {
  WriteSlices(mode);
  for (const Saved& saved : kNames) {
    BlockCase block("RestoreSlice", Cat("dt_ = ", saved.dtype, ";"));
    block.Text("file_pattern", "slice?").Text("tensor_name", saved.name).Text("shape_and_slice", saved.part).Try(mode.alone);
  }
}

void RestoreWhole(const Mode& mode) {
  WriteSlices(mode);
  for (const Saved& saved : kNames) {
    BlockCase block("Restore", Cat("dt_ = ", saved.dtype, ";"));
    block.Text("file_pattern", "slices").Text("tensor_name", saved.name).Try(mode.alone);
    Restore("slices", saved, saved.part).Try(mode.alone);
  }
}

constexpr void (*kWays[])(const Mode&) = {RestoreAll, RestoreParts, Merge, RestoreSlices, RestoreWhole};

}  // namespace

void Bundle(std::string_view bytes) {
  const Mode mode(bytes, std::size(kWays));
  kWays[mode.way](mode);
  CheckMemoryReturned();
}

}  // namespace weft::fuzz
