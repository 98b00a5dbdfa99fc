#include "blocks/io/checkpoint/table_reader.h"

#include <snappy-sinksource.h>
#include <snappy.h>

#include <algorithm>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint {

using namespace protobuf;

namespace {

// A Snappy element of 3 bytes stands for at most 64, so no honest block grows more than this.
constexpr size_t kMostSnappyGrowth = 22;

bool TakePlace(std::string_view& bytes, BlockPlace& place) { return TakeVarint(bytes, place.offset) && TakeVarint(bytes, place.size); }

constexpr size_t kPackedPieceBytes = kFilePieceBytes / 8;
constexpr uint64_t kEntriesBetweenLooks = 1 << 14;

/// Packed bytes for Snappy, a piece at a time; it has reached their end, too, where the run is to end.
class PackedPieces final : public snappy::Source {
 public:
  PackedPieces(std::string_view bytes, const Workers* workers) : bytes_(bytes), workers_(workers) {}
  size_t Available() const override { return bytes_.size(); }
  const char* Peek(size_t* size) override {
    *size = stopped_ ? 0 : std::min(bytes_.size(), left_);
    return bytes_.data();
  }
  void Skip(size_t count) override {
    bytes_.remove_prefix(count);
    left_ -= count;
    if (left_ > 0) return;
    left_ = kPackedPieceBytes;
    stopped_ = IsStopped(workers_);
  }

 private:
  std::string_view bytes_;
  const Workers* const workers_;
  size_t left_ = kPackedPieceBytes;  // of the piece
  bool stopped_ = false;
};

}  // namespace

BlockCursor::BlockCursor(std::string_view block) {
  ok_ = block.size() >= sizeof(uint32_t);
  if (!ok_) return;
  const size_t entries = block.size() - sizeof(uint32_t);
  const uint32_t restarts = LoadFixed<uint32_t>(block.data() + entries);
  ok_ = restarts <= entries / sizeof(uint32_t);
  if (!ok_) return;
  rest_ = entries_ = block.substr(0, entries - restarts * sizeof(uint32_t));
  restarts_ = block.substr(entries_.size(), restarts * sizeof(uint32_t));
}

std::string_view BlockCursor::KeyAt(size_t restart) const {
  const auto offset = LoadFixed<uint32_t>(restarts_.data() + restart * sizeof(uint32_t));
  if (offset >= entries_.size()) return {};
  std::string_view bytes = entries_.substr(offset);
  uint64_t shared = 0, unshared = 0, size = 0;
  const bool good = TakeVarint(bytes, shared) && TakeVarint(bytes, unshared) && TakeVarint(bytes, size) && shared == 0 && unshared <= bytes.size();
  return good ? bytes.substr(0, static_cast<size_t>(unshared)) : std::string_view();
}

// To the last restart with a key below; at a fault, and where keys are in no order, to some other place.
void BlockCursor::Seek(std::string_view key) {
  size_t low = 0, high = restarts();
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    const std::string_view at = KeyAt(middle);
    if (!at.empty() && at < key) low = middle;
    else high = middle;
  }
  if (low == 0) return;
  rest_ = entries_.substr(LoadFixed<uint32_t>(restarts_.data() + low * sizeof(uint32_t)));
  key_.clear();
}

bool BlockCursor::Next() {
  if (!ok_ || rest_.empty()) return false;
  uint64_t shared = 0, unshared = 0, size = 0;
  ok_ = TakeVarint(rest_, shared) && TakeVarint(rest_, unshared) && TakeVarint(rest_, size);
  ok_ = ok_ && shared <= key_.size() && unshared <= rest_.size() && size <= rest_.size() - unshared;
  if (!ok_) return false;
  key_.resize(static_cast<size_t>(shared));
  key_.append(rest_.substr(0, static_cast<size_t>(unshared)));
  value_ = rest_.substr(static_cast<size_t>(unshared), static_cast<size_t>(size));
  rest_.remove_prefix(static_cast<size_t>(unshared + size));
  return true;
}

Status TableReader::Damaged(std::string_view what) const {
  return Status(Code::kDataLoss, Cat("needs ", what_, ", found ", what, " in '", file_.path().native(), "'"))
      .WithHint("save it again");
}

Result<TableReader> TableReader::Open(const std::filesystem::path& path, std::string_view what, const Workers* workers,
                                      std::shared_ptr<MemoryBudget> budget) {
  WEFT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  TableReader table(std::move(file), what, workers, std::move(budget));
  if (table.file_.size() < kFooterBytes) return table.Damaged("too few bytes");
  char footer[kFooterBytes];
  WEFT_RETURN_IF_ERROR(table.file_.ReadAt(table.file_.size() - kFooterBytes, footer));
  if (LoadFixed<uint64_t>(footer + kFooterBytes - sizeof(uint64_t)) != kTableMagic) return table.Damaged("no table of tensors");
  std::string_view places(footer, kFooterBytes - sizeof(uint64_t));
  BlockPlace meta_index, index;
  if (!TakePlace(places, meta_index) || !TakePlace(places, index)) return table.Damaged("a damaged footer");
  WEFT_ASSIGN_OR_RETURN(table.index_, table.ReadBlock(index));
  return table;
}

Result<TableBlock> TableReader::ReadBlock(BlockPlace place) const {
  const uint64_t end = file_.size() - kFooterBytes;
  if (place.offset > end || place.size > end - place.offset || end - place.offset - place.size < kTrailerBytes) {
    return Damaged("a block outside the file");
  }
  const auto size = static_cast<size_t>(place.size);
  TableBlock block{MemoryCharge(budget_), {}};
  WEFT_RETURN_IF_ERROR(block.charge.Hold(static_cast<int64_t>(size + kTrailerBytes)));
  std::string& bytes = block.bytes;
  bytes.reserve(size + kTrailerBytes);
  uint32_t checksum = 0;  // of the block and its kind
  while (bytes.size() < size + kTrailerBytes) {
    if (!bytes.empty() && IsStopped(workers_)) return kernels::RunStopped();
    const size_t at = bytes.size(), piece = std::min(kFilePieceBytes, size + kTrailerBytes - at);
    bytes.resize(at + piece);
    WEFT_RETURN_IF_ERROR(file_.ReadAt(place.offset + at, std::span(bytes).subspan(at)));
    if (at <= size) checksum = ExtendCrc32c(checksum, std::string_view(bytes).substr(at, std::min(piece, size + 1 - at)));
  }
  const uint32_t stored = LoadFixed<uint32_t>(bytes.data() + size + 1);
  if (MaskCrc32c(checksum) != stored) return Damaged("a block with a wrong checksum");
  const char kind = bytes[size];
  bytes.resize(size);
  if (kind == kPlainBlock) return block;
  if (kind == kSnappyBlock) return Expand(bytes);
  return Damaged("a block that cannot be expanded");
}

Result<TableBlock> TableReader::Expand(std::string_view packed) const {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &size) || size / kMostSnappyGrowth > packed.size()) {
    return Damaged("a block that cannot be expanded");
  }
  TableBlock plain{MemoryCharge(budget_), {}};
  WEFT_RETURN_IF_ERROR(plain.charge.Hold(static_cast<int64_t>(size)));
  plain.bytes.reserve(size);
  for (size_t at = 0; at < size; at += kFilePieceBytes) {
    if (at > 0 && IsStopped(workers_)) return kernels::RunStopped();
    plain.bytes.resize(std::min(size, at + kFilePieceBytes));
  }
  PackedPieces pieces(packed, workers_);
  if (snappy::RawUncompress(&pieces, plain.bytes.data())) return plain;
  return IsStopped(workers_) ? kernels::RunStopped() : Damaged("a block that cannot be expanded");
}

Result<std::optional<TableValue>> TableReader::Get(std::string_view key) {
  BlockCursor index(index_.bytes);
  index.Seek(key);
  uint64_t entries = 0;
  const auto left = [&] { return ++entries % kEntriesBetweenLooks == 0 && IsStopped(workers_); };
  while (index.Next()) {
    if (left()) return kernels::RunStopped();
    if (index.key() < key) continue;
    std::string_view bytes = index.value();
    BlockPlace place;
    if (!TakePlace(bytes, place)) return Damaged("a damaged index");
    if (last_ == nullptr || place.offset != last_offset_) {
      last_ = nullptr;  // not two of them in memory
      WEFT_ASSIGN_OR_RETURN(TableBlock block, ReadBlock(place));
      last_ = std::make_shared<const TableBlock>(std::move(block));
      last_offset_ = place.offset;
    }
    BlockCursor entry(last_->bytes);
    entry.Seek(key);
    while (entry.Next()) {
      if (left()) return kernels::RunStopped();
      if (entry.key() > key) break;
      if (entry.key() == key) return std::optional(TableValue{last_, entry.value()});
    }
    if (!entry.ok()) return Damaged("a damaged block");
    return std::optional<TableValue>();
  }
  if (!index.ok()) return Damaged("a damaged index");
  return std::optional<TableValue>();
}

Status TableReader::ForEach(FunctionRef<Status(std::string_view, std::string_view)> use) const {
  BlockCursor index(index_.bytes);
  uint64_t entries = 0, read = 0;
  while (index.Next()) {
    std::string_view bytes = index.value();
    BlockPlace place;
    if (!TakePlace(bytes, place)) return Damaged("a damaged index");
    // Blocks lie side by side; an index that names one again and again takes no time.
    if (place.size > file_.size() || (read += place.size) > file_.size()) return Damaged("blocks that overlap");
    WEFT_ASSIGN_OR_RETURN(const TableBlock block, ReadBlock(place));
    BlockCursor entry(block.bytes);
    while (entry.Next()) {
      if (++entries % kEntriesBetweenLooks == 0 && IsStopped(workers_)) return kernels::RunStopped();
      WEFT_RETURN_IF_ERROR(use(entry.key(), entry.value()));
    }
    if (!entry.ok()) return Damaged("a damaged block");
    if (IsStopped(workers_)) return kernels::RunStopped();
  }
  return index.ok() ? Status() : Damaged("a damaged index");
}

}  // namespace weft::blocks::checkpoint
