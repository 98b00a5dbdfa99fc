// Version 1 checkpoints. Nearly every change of a byte makes a checksum wrong, so that inputs whose first byte is even get right ones before
// they are read; the file is what comes after that byte.
#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "tests/fuzz/finding.h"
#include "tests/fuzz/mending.h"
#include "tests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

using namespace blocks::checkpoint_v1;

void ReadAll(const std::filesystem::path& path, const std::shared_ptr<MemoryBudget>& budget) {
  auto reader = CheckpointReader::Open({path}, nullptr, budget);
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
  if (bytes[0] % 2 == 0) MendTable(file);
  const auto budget = std::make_shared<MemoryBudget>(MemoryLimit());
  ReadAll(ScratchFile("fuzz.ckpt", file), budget);
  Require(budget->used() == 0, budget->used(), " bytes are still counted when the values have gone");
}

}  // namespace weft::fuzz
