#include "blocks/io/checkpoint_v2/bundle_reader.h"

#include <algorithm>
#include <vector>

#include "blocks/io/byte_stream.h"
#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/parts.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint_v2 {

using namespace protobuf;

namespace {

constexpr std::string_view kWhat = "a version 2 checkpoint";
// What an entry takes in the map, and each axis of a slice besides.
constexpr size_t kEntryBytes = sizeof(BundleEntry) + 96, kAxisBytes = 2 * sizeof(int64_t);

size_t HeldBytes(std::string_view key, const BundleEntry& entry) {
  const auto slice = sizeof(TensorSlice) + kAxisBytes * static_cast<size_t>(entry.shape.rank());
  return kEntryBytes + key.size() + entry.slices.size() * slice;
}

/// The bytes of an entry, one after another. data_loss where there are too few, cancelled where the run is to end.
class EntryBytes {
 public:
  EntryBytes(ByteStream& from, uint64_t size, const Workers* workers) : from_(from), left_(size), workers_(workers) {}

  Status Take(std::span<char> to) {
    while (!to.empty()) {
      WEFT_ASSIGN_OR_RETURN(const std::string_view ahead, Ahead());
      const size_t part = std::min(ahead.size(), to.size());
      std::copy_n(ahead.data(), part, to.data());
      WEFT_RETURN_IF_ERROR(Drop(part));
      to = to.subspan(part);
    }
    return {};
  }
  /// A varint.
  Status TakeLength(uint64_t& length) {
    char text[kVarintBytes];
    for (size_t i = 0; i < kVarintBytes; ++i) {
      WEFT_RETURN_IF_ERROR(Take({text + i, 1}));
      std::string_view bytes(text, i + 1);
      if (static_cast<uint8_t>(text[i]) < 0x80) return TakeVarint(bytes, length) ? Status() : TooFew();
    }
    return TooFew();
  }
  /// Whether so many more bytes can follow what was reserved before.
  bool Reserve(uint64_t bytes) {
    if (bytes > left_ || reserved_ > left_ - bytes) return false;
    reserved_ += bytes;
    return true;
  }
  uint64_t left() const { return left_; }

 private:
  static constexpr size_t kVarintBytes = 10;

  static Status TooFew() { return DataLoss("needs the bytes of strings, found too few, or other bytes, in ", kWhat); }
  Result<std::string_view> Ahead() {
    if (left_ == 0) return TooFew();
    WEFT_ASSIGN_OR_RETURN(const std::string_view ahead, from_.Peek(workers_));
    if (ahead.empty()) return TooFew();
    return ahead.substr(0, static_cast<size_t>(std::min<uint64_t>(left_, ahead.size())));
  }
  Status Drop(size_t bytes) {
    left_ -= bytes;
    since_look_ += bytes;
    if (since_look_ >= kFilePieceBytes / 4) {
      since_look_ = 0;
      if (IsStopped(workers_)) return kernels::RunStopped();
    }
    auto rest = static_cast<int64_t>(bytes);
    return from_.Skip(rest, workers_).status();
  }

  ByteStream& from_;
  uint64_t left_, reserved_ = 0;
  size_t since_look_ = 0;
  const Workers* const workers_;
};

}  // namespace

Result<BundleIndex> ReadIndex(const Files& files, std::string_view prefix, const Workers* workers,
                              const std::shared_ptr<MemoryBudget>& budget) {
  const std::string name = IndexName(prefix);
  WEFT_ASSIGN_OR_RETURN(const std::filesystem::path path, files.Resolve(name, Files::Access::kRead));
  WEFT_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(path, kWhat, workers, budget));
  const auto damaged = [&](const auto&... what) {
    return DataLoss("needs ", kWhat, ", found ", what..., " in '", name, "'").WithHint("save it again");
  };
  BundleIndex index;
  index.charge = MemoryCharge(budget);
  bool has_header = false;
  WEFT_RETURN_IF_ERROR(table.ForEach([&](std::string_view key, std::string_view value) -> Status {
    if (key.empty()) {
      has_header = TakeHeader(value, index.header);
      return has_header ? Status() : damaged("a damaged header");
    }
    BundleEntry entry;
    if (!TakeEntry(value, entry)) return damaged("a damaged entry of '", key, "'");
    WEFT_RETURN_IF_ERROR(index.charge.Hold(index.charge.bytes() + static_cast<int64_t>(HeldBytes(key, entry))));
    const bool added = index.entries.emplace(key, std::move(entry)).second;
    return added ? Status() : damaged("two entries of '", key, "'");
  }));
  if (!has_header) return damaged("no header");
  if (index.header.needed_version > kFormatVersion) {
    return Unsupported("needs a checkpoint of format ", kFormatVersion, ", found one for readers of format ", index.header.needed_version);
  }
  if (index.header.big_endian) return Unsupported("needs a checkpoint of a little endian machine, found '", name, "' of a big endian one");
  return index;
}

Result<BundleReader> BundleReader::Open(const Files& files, std::string_view prefix, const Workers* workers,
                                        const std::shared_ptr<MemoryBudget>& budget) {
  WEFT_ASSIGN_OR_RETURN(BundleIndex index, ReadIndex(files, prefix, workers, budget));
  return BundleReader(files, prefix, std::move(index), workers, budget);
}

Status BundleReader::Damaged(std::string_view name, std::string_view what) const {
  return DataLoss("needs ", kWhat, ", found ", what, " of tensor '", name, "' in '", prefix_, "'").WithHint("save it again");
}

const BundleEntry* BundleReader::Find(std::string_view name) const {
  const auto found = index_.entries.find(name);
  return found == index_.entries.end() ? nullptr : &found->second;
}

Result<const InputFile*> BundleReader::Shard(int64_t number) {
  auto found = shards_.find(number);
  if (found == shards_.end()) {
    WEFT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(files_, DataName(prefix_, number, index_.header.shards)));
    found = shards_.emplace(number, std::move(file)).first;
  }
  return &found->second;
}

Result<const InputFile*> BundleReader::FileOf(std::string_view name, const BundleEntry& entry) {
  if (entry.shard < 0 || entry.shard >= index_.header.shards) return Damaged(name, "a file that there is not");
  WEFT_ASSIGN_OR_RETURN(const InputFile* file, Shard(entry.shard));
  if (entry.offset > file->size() || entry.size > file->size() - entry.offset) return Damaged(name, "too few bytes");
  const auto count = static_cast<uint64_t>(entry.shape.count());
  const bool fits = entry.dtype == DType::kString
                        ? count <= entry.size
                        : entry.size % ElementSize(entry.dtype) == 0 && entry.size / ElementSize(entry.dtype) == count;
  if (!fits) return Damaged(name, "another number of bytes than its shape needs");
  return file;
}

Result<Tensor> BundleReader::Read(std::string_view name, const BundleEntry& entry, const TensorSlice& part) {
  if (entry.dtype == DType::kInvalid || entry.dtype == DType::kResource) {
    return Unsupported("tensor '", name, "' has a type that Weft does not read");
  }
  std::vector<const BundleEntry*> pieces;
  std::vector<Box> boxes;
  uint64_t bytes = 0;  // every element takes one at least
  for (const TensorSlice& slice : entry.slices) {
    const BundleEntry* piece = Find(SliceKey(name, slice));
    auto box = BoxOf(slice, entry.shape);
    if (piece == nullptr || !box || piece->shape != box->shape() || piece->dtype != entry.dtype || !piece->slices.empty()) {
      return Damaged(name, "a part that does not fit, or is missing,");
    }
    pieces.push_back(piece);
    boxes.push_back(std::move(*box));
  }
  if (pieces.empty()) {
    pieces.push_back(&entry);
    boxes.push_back(*BoxOf(TensorSlice::Whole(entry.shape.rank()), entry.shape));
  }
  for (const BundleEntry* piece : pieces) {
    WEFT_RETURN_IF_ERROR(FileOf(name, *piece).status());
    bytes = std::max(bytes, bytes + piece->size);
  }
  const PartsRead from{name, entry.dtype, entry.shape, bytes, workers_, budget_};
  return ReadParts(from, part, pieces.size(), [&](size_t k) -> const Box& { return boxes[k]; },
                   [&](size_t k, void* elements) { return ReadElements(name, *pieces[k], elements); });
}

Status BundleReader::ReadElements(std::string_view name, const BundleEntry& entry, void* elements) {
  WEFT_ASSIGN_OR_RETURN(const InputFile* file, FileOf(name, entry));
  if (entry.dtype == DType::kString) {
    return ReadStrings(name, entry, *file, {static_cast<String*>(elements), static_cast<size_t>(entry.shape.count())});
  }
  const std::span<char> bytes(static_cast<char*>(elements), static_cast<size_t>(entry.size));
  uint32_t checksum = 0;
  const auto extend = [&](std::string_view piece) { checksum = ExtendCrc32c(checksum, piece); };
  WEFT_RETURN_IF_ERROR(file->ReadLong(entry.offset, bytes, workers_, extend));
  if (MaskCrc32c(checksum) != entry.checksum) return Damaged(name, "elements that do not fit their checksum");
  if (entry.dtype == DType::kBool) {  // other bytes are no truth values
    for (std::string_view rest(bytes.data(), bytes.size()); !rest.empty();) {
      const std::string_view piece = rest.substr(0, kFilePieceBytes);
      if (std::any_of(piece.begin(), piece.end(), [](char byte) { return (byte & ~1) != 0; })) return Damaged(name, "bytes that are no truth values");
      rest.remove_prefix(piece.size());
      if (IsStopped(workers_)) return kernels::RunStopped();
    }
  }
  return {};
}

Status BundleReader::ReadStrings(std::string_view name, const BundleEntry& entry, const InputFile& file, std::span<String> elements) const {
  WEFT_ASSIGN_OR_RETURN(InputFile again, InputFile::Open(file.path()));
  WEFT_ASSIGN_OR_RETURN(const auto stream, OpenByteStream(std::move(again), Encoding::kPlain));
  auto before = static_cast<int64_t>(entry.offset);
  WEFT_ASSIGN_OR_RETURN(const bool there, stream->Skip(before, workers_));
  EntryBytes bytes(*stream, there ? entry.size : 0, workers_);
  uint32_t checksum = 0;
  for (String& element : elements) {
    uint64_t length = 0;
    WEFT_RETURN_IF_ERROR(bytes.TakeLength(length));
    checksum = ExtendByLength(checksum, length);
    if (!bytes.Reserve(length)) return Damaged(name, "strings longer than its bytes");
    WEFT_ASSIGN_OR_RETURN(element, String::Uninitialized(static_cast<size_t>(length), budget_));
  }
  uint32_t stored = 0;
  const std::span<char> stored_bytes(reinterpret_cast<char*>(&stored), sizeof stored);
  WEFT_RETURN_IF_ERROR(bytes.Take(stored_bytes));
  if (MaskCrc32c(checksum) != stored) return Damaged(name, "lengths that do not fit their checksum");
  checksum = ExtendCrc32c(checksum, {stored_bytes.data(), stored_bytes.size()});
  for (String& element : elements) {
    WEFT_RETURN_IF_ERROR(bytes.Take({element.mutable_data(), element.size()}));
    checksum = ExtendCrc32c(checksum, element);
  }
  if (MaskCrc32c(checksum) != entry.checksum || bytes.left() != 0) return Damaged(name, "elements that do not fit their checksum");
  return {};
}

}  // namespace weft::blocks::checkpoint_v2
