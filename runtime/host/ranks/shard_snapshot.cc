#include "runtime/host/ranks/shard_snapshot.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/host/file_bytes.h"
#include "runtime/state/variable_store.h"
#include "weft/base/hash.h"
#include "weft/block/stored_state.h"
#include "weft/state/snapshot.h"

namespace weft {
namespace {

/// The bytes of all variables in a few: the same on ranks that have computed the same.
uint64_t HashOfVariables(Scope& scope) {
  const std::shared_ptr<Revision> revision = scope.revision();
  uint64_t hash = 0;
  const VariableAccess access(scope.variables());
  for (const auto& cell : revision->variables) {
    const Tensor& value = cell->value(access);
    std::string strings;
    std::string_view bytes;
    if (value.defined() && value.dtype() == DType::kString) {
      AppendElements(value, strings);
      bytes = strings;
    } else if (value.defined() && value.dtype() != DType::kResource) {
      bytes = {static_cast<const char*>(value.data()), static_cast<size_t>(value.bytes())};
    }
    hash = HashBytes(bytes, hash);
  }
  return hash;
}

Result<std::string> ReadWhole(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return OpenError(path, errno);
  return ReadBytes(file, path, 0, -1, false);
}

/// A file of these bytes in the folder for temporary ones, for this process.
Result<std::filesystem::path> WriteTemporary(const std::string& bytes) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const std::string name = Cat("weft-", getpid(), "-restored");
  NewFile file;
  int failed = file.Create(OpenFolder(folder), name);
  if (failed == 0) failed = file.Write(bytes.data(), bytes.size());
  if (failed == 0) failed = file.Commit();
  if (failed != 0) return OpenError((folder / name).string(), failed);
  return folder / name;
}

}  // namespace

Status ShardSnapshots::Save(const std::string& path) {
  Collectives& all = collectives_;
  const std::string hash = Cat(states_->steps, "/", HashOfVariables(*scope_));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> hashes,
                        GatherAll(all, CollectiveUser::kControl, hash, "for the variables of all ranks, in a snapshot"));
  for (size_t r = 0; r < hashes.size(); ++r) {
    if (hashes[r] == hashes[0]) continue;
    return DataLoss("the variables of rank ", r, " (", all.host(static_cast<int>(r)), ") are not those of rank 0 after step ", states_->steps);
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> streams,
                        GatherAll(all, CollectiveUser::kControl, states_->Own(), "for the random streams of all ranks, in a snapshot"));
  Status status;
  if (all.rank() == 0) {
    sessions_.Announce(states_->steps, Cat("writing the snapshot '", path, "'"));
    status = states_->TakeAll(streams);
    if (status.ok()) status = SaveSnapshot(*scope_, path).status();
  }
  return AgreeOnStatus(all, CollectiveUser::kControl, status, "for the snapshot that rank 0 writes");
}

// A folder is this run's as long as it writes there: who takes it for each snapshot alone would share it.
Status ShardSnapshots::OpenFolder(const SnapshotFolder& folder) {
  if (!own_) WEFT_RETURN_IF_ERROR(folder.CheckEmpty().WithHint("resume from them, or take another folder"));
  if (!folder_ || folder_->path() != folder.path()) folder_ = folder;
  return folder_->Open();
}

Status ShardSnapshots::SaveNewest(const SnapshotFolder& folder) {
  Collectives& all = collectives_;
  Status status = all.rank() == 0 ? OpenFolder(folder) : Status();
  WEFT_RETURN_IF_ERROR(AgreeOnStatus(all, CollectiveUser::kControl, status, "for the folder of the snapshots"));
  WEFT_RETURN_IF_ERROR(Save(folder.PathOf(states_->steps)));
  own_ = true;
  status = all.rank() == 0 ? folder_->Publish(states_->steps) : Status();
  return AgreeOnStatus(all, CollectiveUser::kControl, status, "for the newest snapshot's name");
}

// Rank 0 looks which there are.
Result<std::string> ShardSnapshots::RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say) {
  std::string list;
  if (collectives_.rank() == 0) {
    for (const std::string& path : folder.Candidates()) list += path + "\n";
  }
  WEFT_RETURN_IF_ERROR(BroadcastText(collectives_, CollectiveUser::kControl, 0, list, "for the snapshots that there are"));
  own_ = true;
  Status status;
  for (size_t at = 0, end; (end = list.find('\n', at)) != std::string::npos; at = end + 1) {
    std::string path = list.substr(at, end - at);
    Diagnostics ignored;
    status = Load(path, ignored);
    if (status.ok()) return path;
    if (say) say(Cat("cannot use '", path, "': ", status.message()));
  }
  if (!status.ok()) return status;
  return std::string();
}

Status ShardSnapshots::Load(const std::string& path, Diagnostics& problems) {
  if (join_.made()) return FailedPrecondition("a snapshot is taken before the first step, and there was one");
  Collectives& all = collectives_;
  // The file goes to all as it is: they may have no folder in common.
  Status status;
  std::string bytes;
  if (all.rank() == 0) {
    auto read = ReadWhole(path);
    if (read.ok()) bytes = std::move(*read);
    else status = std::move(read).status();
  }
  WEFT_RETURN_IF_ERROR(AgreeOnStatus(all, CollectiveUser::kControl, status, "for the snapshot that rank 0 reads"));
  WEFT_RETURN_IF_ERROR(BroadcastText(all, CollectiveUser::kControl, 0, bytes, "for the snapshot that rank 0 reads"));
  std::error_code error;
  std::filesystem::path place = path;
  if (all.rank() != 0) {
    auto written = WriteTemporary(bytes);
    if (written.ok()) place = std::move(*written);
    else status = std::move(written).status();
  }
  if (status.ok()) status = RestoreSnapshot(*scope_, place, {}, problems).status();
  if (all.rank() != 0 && place != path) std::filesystem::remove(place, error);
  if (status.ok() && states_->shards == 0) states_->shards = shards_;  // of a run without shards
  if (status.ok() && states_->shards != shards_) {
    status = InvalidArgument("the snapshot is of a run with ", states_->shards, " shards, found ", shards_)
                 .WithHint(Cat("take --shards ", states_->shards));
  }
  return AgreeOnStatus(all, CollectiveUser::kControl, status, "for the snapshot on all ranks");
}

}  // namespace weft
