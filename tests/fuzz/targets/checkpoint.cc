// Version 1 checkpoints. Nearly every change of a byte makes a checksum wrong, so that inputs whose first byte is even get right ones before
// they are read; the file is what comes after that byte.
#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/protobuf/wire.h"
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

using namespace blocks::checkpoint_v1;
using blocks::protobuf::TakeVarint;

bool TakePlace(std::string_view& bytes, BlockPlace& place) { return TakeVarint(bytes, place.offset) && TakeVarint(bytes, place.size); }

/// Writes the checksum of a block after it; false where it is not in the file.
bool Mend(std::string& file, BlockPlace place) {
  const uint64_t end = file.size() - kFooterBytes;
  if (place.offset > end || place.size > end - place.offset || end - place.offset - place.size < kTrailerBytes) return false;
  const auto at = static_cast<size_t>(place.offset), size = static_cast<size_t>(place.size);
  const uint32_t checksum = MaskCrc32c(ExtendCrc32c(0, std::string_view(file).substr(at, size + 1)));
  file.replace(at + size + 1, sizeof checksum, reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return true;
}

/// Writes the magic number and the checksums of the index and of the blocks that it names.
void MendAll(std::string& file) {
  if (file.size() < kFooterBytes) return;
  file.replace(file.size() - sizeof kTableMagic, sizeof kTableMagic, reinterpret_cast<const char*>(&kTableMagic), sizeof kTableMagic);
  const std::string footer = file.substr(file.size() - kFooterBytes);
  std::string_view places(footer);
  BlockPlace meta_index, index;
  if (!TakePlace(places, meta_index) || !TakePlace(places, index) || !Mend(file, index)) return;
  const std::string block = file.substr(static_cast<size_t>(index.offset), static_cast<size_t>(index.size));
  BlockCursor entry(block);
  while (entry.Next()) {
    std::string_view value = entry.value();
    BlockPlace place;
    if (TakePlace(value, place)) Mend(file, place);
  }
  Mend(file, index);  // a block may lie over it
}

void ReadAll(const std::filesystem::path& path, const std::shared_ptr<MemoryBudget>& budget) {
  const auto reader = CheckpointReader::Open({path}, nullptr, budget);
  if (!reader.ok()) return CheckStatus(reader.status());
  for (const char* name : {"v", "w", "text", "flags", ""}) {
    const SavedTensor* saved = reader->Find(name);
    if (saved == nullptr) continue;
    const int rank = saved->shape.rank();
    CheckStatus(reader->Read(name, TensorSlice::Whole(rank), budget).status());
    TensorSlice part = TensorSlice::Whole(rank);
    if (rank > 0) part.lengths[0] = 1;
    CheckStatus(reader->Read(name, part, budget).status());
  }
}

}  // namespace

void Checkpoint(std::string_view bytes) {
  if (bytes.empty()) return;
  std::string file(bytes.substr(1));
  if (bytes[0] % 2 == 0) MendAll(file);
  const auto budget = std::make_shared<MemoryBudget>(kMemoryLimit);
  ReadAll(ScratchFile("fuzz.ckpt", file), budget);
  Require(budget->used() == 0, budget->used(), " bytes are still counted when the values have gone");
}

}  // namespace weft::fuzz
