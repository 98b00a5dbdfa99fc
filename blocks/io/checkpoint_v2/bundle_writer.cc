#include "blocks/io/checkpoint_v2/bundle_writer.h"

#include <algorithm>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/table_writer.h"
#include "blocks/io/kept_file.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint_v2 {

using namespace protobuf;

namespace {

constexpr size_t kSmallBytes = size_t{1} << 16;  // of strings that are written at once

/// Writes elements and keeps their checksum.
class DataWriter {
 public:
  DataWriter(AtomicFile& file, const Workers& workers) : file_(file), workers_(workers) {}

  Status Write(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kFilePieceBytes))) {
      if (workers_.Stopped()) return kernels::RunStopped();
      const std::string_view piece = bytes.substr(0, kFilePieceBytes);
      checksum_ = ExtendCrc32c(checksum_, piece);
      WEFT_RETURN_IF_ERROR(file_.Write(piece));
    }
    return {};
  }

  Status WriteStrings(std::span<const String> strings) {
    std::string bytes;
    uint32_t checksum = 0;
    kernels::StopCheck stop(workers_);
    for (const String& text : strings) {
      if (stop()) return kernels::RunStopped();
      PutVarint(bytes, text.size());
      checksum = ExtendByLength(checksum, text.size());
      if (bytes.size() >= kSmallBytes) WEFT_RETURN_IF_ERROR(Flush(bytes));
    }
    WEFT_RETURN_IF_ERROR(Flush(bytes));
    checksum_ = checksum;
    PutFixed(bytes, MaskCrc32c(checksum));
    for (const String& text : strings) {
      if (stop()) return kernels::RunStopped();
      if (bytes.size() + text.size() >= kSmallBytes) WEFT_RETURN_IF_ERROR(Flush(bytes));
      if (text.size() >= kSmallBytes) WEFT_RETURN_IF_ERROR(Write(text));
      else bytes.append(text.view());
    }
    return Flush(bytes);
  }

  uint32_t checksum() const { return checksum_; }

 private:
  Status Flush(std::string& bytes) {
    Status status = Write(bytes);
    bytes.clear();
    return status;
  }

  AtomicFile& file_;
  const Workers& workers_;
  uint32_t checksum_ = 0;
};

/// Writes the elements of a tensor; where they are.
Result<BundleEntry> WriteElements(AtomicFile& file, const Tensor& tensor, const Workers& workers) {
  BundleEntry entry{tensor.dtype(), tensor.shape(), 0, file.size(), 0, 0, {}};
  DataWriter out(file, workers);
  if (tensor.dtype() == DType::kString) WEFT_RETURN_IF_ERROR(out.WriteStrings(tensor.values<String>()));
  else WEFT_RETURN_IF_ERROR(out.Write({static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes())}));
  entry.size = file.size() - entry.offset;
  entry.checksum = MaskCrc32c(out.checksum());
  return entry;
}

/// Whether a part is all of its tensor.
bool IsWhole(const PartSpec& part) { return *BoxOf(part.slice, part.whole) == *BoxOf(TensorSlice::Whole(part.whole.rank()), part.whole); }

}  // namespace

Status WriteIndex(AtomicFile& file, int64_t shards, const std::map<std::string, BundleEntry, std::less<>>& entries, const Workers& workers) {
  TableWriter table(file, &workers);
  WEFT_RETURN_IF_ERROR(table.Add("", HeaderMessage(shards)));
  kernels::StopCheck stop(workers);
  for (const auto& [key, entry] : entries) {
    if (stop(64)) return kernels::RunStopped();
    WEFT_RETURN_IF_ERROR(table.Add(key, EntryMessage(entry)));
  }
  return table.Finish();
}

Status WriteBundle(const Files& files, std::string_view prefix, std::span<const NamedTensor> tensors, const Workers& workers) {
  WEFT_RETURN_IF_ERROR(CheckNames(tensors));
  WEFT_ASSIGN_OR_RETURN(AtomicFile data, AtomicFile::Create(files, DataName(prefix, 0, 1), true));
  WEFT_ASSIGN_OR_RETURN(AtomicFile index, AtomicFile::Create(files, IndexName(prefix), true));
  std::map<std::string, BundleEntry, std::less<>> entries;
  for (const NamedTensor& named : tensors) {
    if (named.name.empty()) return InvalidArgument("needs names for all tensors, found an empty one");
    WEFT_ASSIGN_OR_RETURN(BundleEntry entry, WriteElements(data, named.tensor, workers));
    if (!named.part || IsWhole(*named.part)) {
      entries.emplace(named.name, std::move(entry));
      continue;
    }
    entries.emplace(SliceKey(named.name, named.part->slice), std::move(entry));
    BundleEntry& whole = entries.try_emplace(named.name, BundleEntry{named.tensor.dtype(), named.part->whole, 0, 0, 0, 0, {}}).first->second;
    whole.slices.push_back(named.part->slice);
  }
  WEFT_RETURN_IF_ERROR(WriteIndex(index, 1, entries, workers));
  // Old elements under a new index, or the other way round, are no checkpoint; nor are one writer's elements under another's index.
  const std::filesystem::path places[] = {data.path(), index.path()};
  WEFT_ASSIGN_OR_RETURN(const FolderLocks locks, FolderLocks::Of(places, workers));
  WEFT_ASSIGN_OR_RETURN(KeptFile old_data, KeptFile::Of(locks, data.path()));
  WEFT_ASSIGN_OR_RETURN(KeptFile old_index, KeptFile::Of(locks, index.path()));
  WEFT_RETURN_IF_ERROR(data.Commit());
  WEFT_RETURN_IF_ERROR(index.Commit());
  old_data.LetGo();
  old_index.LetGo();
  return {};
}

}  // namespace weft::blocks::checkpoint_v2
