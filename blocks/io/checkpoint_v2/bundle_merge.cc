#include "blocks/io/checkpoint_v2/bundle_merge.h"

#include <algorithm>

#include "blocks/io/checkpoint_v2/bundle_reader.h"
#include "blocks/io/checkpoint_v2/bundle_writer.h"

namespace weft::blocks::checkpoint_v2 {
namespace {

namespace fs = std::filesystem;
using Entries = std::map<std::string, BundleEntry, std::less<>>;

/// Files that are moved to other places, and back again unless that is kept.
class Moves {
 public:
  ~Moves() {
    for (; !kept_ && done_ > 0; --done_) (void)MoveFile(moves_[done_ - 1].to, moves_[done_ - 1].from);  // it is as good as that works
  }
  void Add(fs::path from, fs::path to) { moves_.push_back({std::move(from), std::move(to)}); }

  /// invalid_argument where a file would be moved over one that is to be moved itself.
  Status Check() const {
    for (const Move& a : moves_) {
      const auto in_the_way = [&](const Move& b) { return a.to == b.from && a.from != b.from; };
      if (std::ranges::any_of(moves_, in_the_way)) {
        return InvalidArgument("needs a destination that is none of the checkpoints, found '", a.to.native(), "' to be both");
      }
    }
    return {};
  }
  Status Do() {
    for (; done_ < moves_.size(); ++done_) {
      if (moves_[done_].from != moves_[done_].to) WEFT_RETURN_IF_ERROR(MoveFile(moves_[done_].from, moves_[done_].to));
    }
    return {};
  }
  void Keep() { kept_ = true; }

 private:
  struct Move {
    fs::path from, to;
  };
  std::vector<Move> moves_;
  size_t done_ = 0;
  bool kept_ = false;
};

class Merge {
 public:
  Merge(const Files& files, const Services& services) : files_(files), services_(services) {}

  /// Adds the entries of a checkpoint; false where it is missing.
  Result<bool> Add(const std::string& prefix) {
    auto index = ReadIndex(files_, prefix, services_.workers, services_.budget);
    if (index.status().code() == Code::kNotFound) return false;
    if (!index.ok()) return std::move(index).status();
    std::map<int64_t, int64_t> numbers;  // of a file of elements, here and in the whole
    for (auto& [key, entry] : index->entries) {
      if (entry.slices.empty()) {
        if (entry.shard < 0 || entry.shard >= index->header.shards) return Damaged(prefix, key);
        const auto [at, added] = numbers.try_emplace(entry.shard, static_cast<int64_t>(data_.size()));
        if (added) data_.push_back(DataName(prefix, entry.shard, index->header.shards));
        entry.shard = at->second;
      }
      WEFT_RETURN_IF_ERROR(Join(prefix, key, std::move(entry)));
    }
    charges_.push_back(std::move(index->charge));
    indices_.push_back(IndexName(prefix));
    return true;
  }

  Status Write(const std::string& to) {
    const auto shards = static_cast<int64_t>(data_.size());
    WEFT_ASSIGN_OR_RETURN(AtomicFile index, AtomicFile::Create(files_, IndexName(to), true));
    WEFT_RETURN_IF_ERROR(WriteIndex(index, shards, entries_, *services_.workers));
    Moves moves;
    for (int64_t k = 0; k < shards; ++k) {
      WEFT_ASSIGN_OR_RETURN(fs::path from, files_.Resolve(data_[static_cast<size_t>(k)], Files::Access::kWrite));
      WEFT_ASSIGN_OR_RETURN(fs::path place, files_.Resolve(DataName(to, k, shards), Files::Access::kWrite));
      moves.Add(std::move(from), std::move(place));
    }
    WEFT_RETURN_IF_ERROR(moves.Check());
    WEFT_RETURN_IF_ERROR(moves.Do());
    WEFT_RETURN_IF_ERROR(index.Commit());
    moves.Keep();
    return RemoveIndices(to);
  }

 private:
  static Status Damaged(std::string_view prefix, std::string_view key) {
    return DataLoss("needs checkpoints whose entries fit one another, found one of '", key, "' in '", prefix, "' that does not");
  }

  Status Join(std::string_view prefix, const std::string& key, BundleEntry entry) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
      entries_.emplace(key, std::move(entry));
      return {};
    }
    BundleEntry& whole = found->second;
    if (whole.slices.empty() || entry.slices.empty()) {
      return InvalidArgument("needs tensors, or parts of them, that are in one of the checkpoints alone, found '", key, "' also in '", prefix, "'");
    }
    if (whole.dtype != entry.dtype || whole.shape != entry.shape) return Damaged(prefix, key);
    whole.slices.insert(whole.slices.end(), entry.slices.begin(), entry.slices.end());
    return {};
  }

  /// Those of the checkpoints, which are of no use any more.
  Status RemoveIndices(const std::string& to) const {
    WEFT_ASSIGN_OR_RETURN(const fs::path kept, files_.Resolve(IndexName(to), Files::Access::kWrite));
    for (const std::string& name : indices_) {
      WEFT_ASSIGN_OR_RETURN(const fs::path index, files_.Resolve(name, Files::Access::kWrite));
      if (index != kept) RemoveFile(index);
    }
    return {};
  }

  const Files& files_;
  const Services& services_;
  Entries entries_;
  std::vector<MemoryCharge> charges_;
  std::vector<std::string> data_, indices_;  // names of the files
};

/// Folders that are empty go, but not the one that the whole is in. What cannot be removed stays.
void RemoveFolders(const Files& files, const std::vector<std::string>& prefixes, const std::string& to) {
  const auto folder_of = [&](const std::string& prefix) -> fs::path {
    const auto index = files.Resolve(IndexName(prefix), Files::Access::kWrite);
    return index.ok() ? index->parent_path() : fs::path();
  };
  const fs::path kept = folder_of(to);
  for (const std::string& prefix : prefixes) {
    const fs::path folder = folder_of(prefix);
    // Only what lies in a folder that may be written is the page's to remove.
    if (!folder.empty() && folder != kept && files.Resolve(folder.parent_path().native(), Files::Access::kWrite).ok()) RemoveFolder(folder);
  }
}

}  // namespace

Status MergeBundles(const Files& files, const std::vector<std::string>& prefixes, const std::string& to, const MergeOptions& options,
                    const Services& services) {
  Merge merge(files, services);
  bool any = false;
  for (const std::string& prefix : prefixes) {
    WEFT_ASSIGN_OR_RETURN(const bool found, merge.Add(prefix));
    any |= found;
    if (!found && !options.allow_missing) return InvalidArgument("needs checkpoints that are there, found none '", prefix, "'");
  }
  if (!any) return InvalidArgument("needs a checkpoint, found none of ", prefixes.size());
  WEFT_RETURN_IF_ERROR(merge.Write(to));
  if (options.delete_folders) RemoveFolders(files, prefixes, to);
  return {};
}

}  // namespace weft::blocks::checkpoint_v2
