#include "blocks/io/checkpoint_v2/bundle_merge.h"

#include <algorithm>
#include <set>

#include "blocks/io/checkpoint_v2/bundle_reader.h"
#include "blocks/io/checkpoint_v2/bundle_writer.h"
#include "blocks/io/kept_file.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks::checkpoint_v2 {
namespace {

namespace fs = std::filesystem;
using Entries = std::map<std::string, BundleEntry, std::less<>>;

struct Move {
  fs::path from, to;
};

/// invalid_argument where a file would be moved over one that is to be moved itself.
Status CheckMoves(const std::vector<Move>& moves) {
  std::set<fs::path> sources;
  for (const Move& move : moves) sources.insert(move.from);
  for (const auto& [from, to] : moves) {
    if (from != to && sources.contains(to)) {
      return InvalidArgument("needs a destination that is none of the checkpoints, found '", to.native(), "' to be both");
    }
  }
  return {};
}

/// Files that were moved over what was there; all goes back to where it was unless that is kept.
class Moved {
 public:
  /// Up to `most` of them. The locks are of the folders of the destinations, and live longer.
  Moved(const FolderLocks& locks, size_t most) : locks_(locks) { done_.reserve(most); }
  ~Moved() {
    for (; !done_.empty(); done_.pop_back()) Undo(done_.back());
  }
  Status Do(const Move& move) {
    if (move.from == move.to) return {};
    WEFT_ASSIGN_OR_RETURN(KeptFile old, KeptFile::Of(locks_, move.to));
    WEFT_RETURN_IF_ERROR(MoveFile(move.from, move.to));
    done_.push_back({move, std::move(old)});  // needs no memory, so that what was moved is always known
    return {};
  }
  void Keep() {
    for (Done& each : done_) each.old.LetGo();
    done_.clear();
  }

 private:
  struct Done {
    const Move& move;
    KeptFile old;  // what was at its destination
  };

  static void Undo(Done& done) {
    // What cannot go back stays where it is: it is there only.
    if (!MoveFile(done.move.to, done.move.from).ok()) done.old.LetGo();
  }

  const FolderLocks& locks_;
  std::vector<Done> done_;
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
    WEFT_RETURN_IF_ERROR(CheckElements());
    WEFT_ASSIGN_OR_RETURN(AtomicFile index, AtomicFile::Create(files_, IndexName(to), true));
    WEFT_RETURN_IF_ERROR(WriteIndex(index, shards, entries_, *services_.workers));
    WEFT_ASSIGN_OR_RETURN(const std::vector<fs::path> old_indices, OldIndices(index.path()));
    std::vector<fs::path> places{index.path()};
    std::vector<Move> moves;
    for (int64_t k = 0; k < shards; ++k) {
      WEFT_ASSIGN_OR_RETURN(fs::path from, files_.Resolve(data_[static_cast<size_t>(k)], Files::Access::kWrite));
      WEFT_ASSIGN_OR_RETURN(fs::path place, files_.Resolve(DataName(to, k, shards), Files::Access::kWrite));
      places.push_back(place);
      moves.push_back({std::move(from), std::move(place)});
    }
    WEFT_RETURN_IF_ERROR(CheckMoves(moves));
    WEFT_ASSIGN_OR_RETURN(const FolderLocks locks, FolderLocks::Of(places, *services_.workers));
    WEFT_RETURN_IF_ERROR(Commit(moves, index, locks));
    for (const fs::path& old : old_indices) RemoveFile(old);
    return {};
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

  /// Whether all elements are there, as far as that can be told without reading them.
  Status CheckElements() const {
    std::vector<uint64_t> ends(data_.size());
    std::vector<const std::string*> last(data_.size());  // which entry ends there
    for (const auto& [key, entry] : entries_) {
      if (!entry.slices.empty()) continue;
      const auto shard = static_cast<size_t>(entry.shard);
      const uint64_t end = entry.size > UINT64_MAX - entry.offset ? UINT64_MAX : entry.offset + entry.size;
      if (last[shard] == nullptr || end > ends[shard]) ends[shard] = end, last[shard] = &key;
    }
    for (size_t k = 0; k < data_.size(); ++k) {
      if (services_.workers->Stopped()) return kernels::RunStopped();
      WEFT_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(files_, data_[k]));
      if (file.size() < ends[k]) {
        return DataLoss("needs ", ends[k], " bytes in '", data_[k], "' for '", *last[k], "', found ", file.size()).WithHint("save it again");
      }
    }
    return {};
  }

  /// The files of elements and the index take their places, or all stays as it was.
  static Status Commit(const std::vector<Move>& moves, AtomicFile& index, const FolderLocks& locks) {
    WEFT_ASSIGN_OR_RETURN(KeptFile old_index, KeptFile::Of(locks, index.path()));
    Moved moved(locks, moves.size());
    for (const Move& move : moves) WEFT_RETURN_IF_ERROR(moved.Do(move));
    WEFT_RETURN_IF_ERROR(index.Commit());
    moved.Keep();
    old_index.LetGo();
    return {};
  }

  /// The indices of the checkpoints, which are of no use when the whole is there; without the one in whose place it is.
  Result<std::vector<fs::path>> OldIndices(const fs::path& kept) const {
    std::vector<fs::path> places;
    for (const std::string& name : indices_) {
      WEFT_ASSIGN_OR_RETURN(fs::path index, files_.Resolve(name, Files::Access::kWrite));
      if (index != kept) places.push_back(std::move(index));
    }
    return places;
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
