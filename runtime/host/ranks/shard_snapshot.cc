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

Status SaveShardSnapshot(Scope& scope, ShardStates& states, Collectives& all, const std::string& path, const std::function<void()>& writing) {
  const std::string hash = Cat(states.steps, "/", HashOfVariables(scope));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> hashes,
                        GatherAll(all, CollectiveUser::kControl, hash, "for the variables of all ranks, in a snapshot"));
  for (size_t r = 0; r < hashes.size(); ++r) {
    if (hashes[r] == hashes[0]) continue;
    return DataLoss("the variables of rank ", r, " (", all.host(static_cast<int>(r)), ") are not those of rank 0 after step ", states.steps);
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> streams,
                        GatherAll(all, CollectiveUser::kControl, states.Own(), "for the random streams of all ranks, in a snapshot"));
  Status status;
  if (all.rank() == 0) {
    writing();
    status = states.TakeAll(streams);
    if (status.ok()) status = SaveSnapshot(scope, path).status();
  }
  return AgreeOnStatus(all, CollectiveUser::kControl, status, "for the snapshot that rank 0 writes");
}

Status LoadShardSnapshot(Scope& scope, ShardStates& states, Collectives& all, int shards, const std::string& path, Diagnostics& problems) {
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
  if (status.ok()) status = RestoreSnapshot(scope, place, {}, problems).status();
  if (all.rank() != 0 && place != path) std::filesystem::remove(place, error);
  if (status.ok() && states.shards == 0) states.shards = shards;  // of a run without shards
  if (status.ok() && states.shards != shards) {
    status = InvalidArgument("the snapshot is of a run with ", states.shards, " shards, found ", shards)
                 .WithHint(Cat("take --shards ", states.shards));
  }
  return AgreeOnStatus(all, CollectiveUser::kControl, status, "for the snapshot on all ranks");
}

}  // namespace weft
