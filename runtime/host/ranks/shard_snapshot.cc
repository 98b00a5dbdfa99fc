#include "runtime/host/ranks/shard_snapshot.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "runtime/base/failure.h"
#include "runtime/host/file_bytes.h"
#include "runtime/state/scope_state.h"
#include "runtime/state/variable_store.h"
#include "weft/base/hash.h"
#include "weft/block/stored_state.h"

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

/// What does not depend on how a folder is named.
std::filesystem::path PlaceOf(const SnapshotFolder& folder) {
  std::error_code error;
  std::filesystem::path place = std::filesystem::canonical(folder.path(), error);
  return error ? folder.path() : place;
}

/// A file in a folder of its own among the temporary ones, which go with the object. (Processes that share those may have the same number.)
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile() {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::filesystem::path path() const { return folder_ / kName; }
  Status Write(const std::string& bytes);

 private:
  static constexpr const char* kName = "restored";
  std::filesystem::path folder_;
};

Status TemporaryFile::Write(const std::string& bytes) {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "weft-XXXXXX").string();
  if (error) return OpenError("the folder for temporary files", error.value());
  if (mkdtemp(name.data()) == nullptr) return OpenError(name, errno);
  folder_ = name;
  NewFile file;
  int failed = file.Create(OpenFolder(folder_), kName);
  if (failed == 0) failed = file.Write(bytes.data(), bytes.size());
  if (failed == 0) failed = file.Commit();
  return failed == 0 ? Status() : OpenError(path().string(), failed);
}

}  // namespace

Status ShardSnapshots::Save(const std::string& path) {
  Collectives& all = collectives_;
  const std::string hash = Cat(states_->steps, "/", HashOfVariables(*scope_));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> hashes,
                        GatherAll(all, CollectiveUser::kControl, hash, "for the variables of all ranks, in a snapshot"));
  for (size_t r = 0; r < hashes.size(); ++r) {
    if (hashes[r] == hashes[0]) continue;
    return DataLoss("the variables of ", RankName(all, r), " are not those of rank 0 after step ", states_->steps);
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> streams,
                        GatherAll(all, CollectiveUser::kControl, states_->Own(), "for the random streams of all ranks, in a snapshot"));
  Status status;
  if (all.rank() == 0) {
    sessions_.Announce(states_->steps, Cat("writing the snapshot '", path, "'"));
    status = states_->TakeAll(streams);
    if (status.ok()) status = SaveSnapshot(*scope_, path).status();
  }
  return Agree(status, "for the snapshot that rank 0 writes");
}

// ---- folders ---------------------------------------------------------------------------------------------------------------------------

bool ShardSnapshots::IsOwn(const SnapshotFolder& folder) const { return folder_ && PlaceOf(*folder_) == PlaceOf(folder); }

// A folder is this run's as long as it writes there: who takes it for each snapshot alone would share it. It is looked at when no other process
// can write to it.
Result<SnapshotFolder> ShardSnapshots::OpenToSave(const SnapshotFolder& folder) const {
  const bool own = IsOwn(folder);
  SnapshotFolder opened = own ? *folder_ : folder;
  WEFT_RETURN_IF_ERROR(opened.Open());
  if (!own) WEFT_RETURN_IF_ERROR(opened.CheckEmpty().WithHint("resume from them, or take another folder"));
  return opened;
}

// One that is missing has no snapshots, and is not made; one in which this process may not write is read as it is.
Result<std::optional<SnapshotFolder>> ShardSnapshots::OpenToRestore(const SnapshotFolder& folder) const {
  std::error_code error;
  if (!std::filesystem::exists(folder.path(), error)) return std::optional<SnapshotFolder>();
  SnapshotFolder opened = IsOwn(folder) ? *folder_ : folder;
  const Status status = opened.Open();
  if (status.code() == Code::kPermissionDenied) return std::optional<SnapshotFolder>();
  WEFT_RETURN_IF_ERROR(status);
  return std::optional<SnapshotFolder>(std::move(opened));
}

Status ShardSnapshots::SaveNewest(const SnapshotFolder& folder) {
  std::optional<SnapshotFolder> opened;
  Status status;
  if (collectives_.rank() == 0) {
    auto own = OpenToSave(folder);
    if (own.ok()) opened = std::move(*own);
    else status = std::move(own).status();
  }
  WEFT_RETURN_IF_ERROR(Agree(status, "for the folder of the snapshots"));
  WEFT_RETURN_IF_ERROR(Save(folder.PathOf(states_->steps)));
  if (opened) {
    folder_ = std::move(opened);
    status = folder_->Publish(states_->steps);
  }
  return Agree(status, "for the newest snapshot's name");
}

// Rank 0 looks which there are.
Result<std::string> ShardSnapshots::RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say) {
  failed_alone_ = false;
  std::optional<SnapshotFolder> opened;
  std::string list;
  Status status;
  if (collectives_.rank() == 0) {
    auto own = OpenToRestore(folder);
    if (own.ok()) opened = std::move(*own);
    else status = std::move(own).status();
    for (const std::string& path : folder.Candidates()) list += path + "\n";
  }
  WEFT_RETURN_IF_ERROR(Agree(status, "for the folder of the snapshots"));
  WEFT_RETURN_IF_ERROR(BroadcastText(collectives_, CollectiveUser::kControl, 0, list, "for the snapshots that there are"));
  std::string taken;
  for (size_t at = 0, end; taken.empty() && (end = list.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string path = list.substr(at, end - at);
    Diagnostics ignored;
    status = Load(path, ignored);
    if (failed_alone_) return status;
    if (status.ok()) taken = path;
    else if (say) say(Cat("cannot use '", path, "': ", status.message()));
  }
  WEFT_RETURN_IF_ERROR(status);
  if (opened) folder_ = std::move(opened);
  return taken;
}

// ---- a file ----------------------------------------------------------------------------------------------------------------------------

// It goes to all ranks as it is: they may have no folder in common.
Result<std::string> ShardSnapshots::TakeFile(const std::string& path) {
  Status status;
  std::string bytes;
  if (collectives_.rank() == 0) {
    auto read = ReadWhole(path);
    if (read.ok()) bytes = std::move(*read);
    else status = std::move(read).status();
  }
  WEFT_RETURN_IF_ERROR(Agree(status, "for the snapshot that rank 0 reads"));
  WEFT_RETURN_IF_ERROR(BroadcastText(collectives_, CollectiveUser::kControl, 0, bytes, "for the snapshot that rank 0 reads"));
  return bytes;
}

Status ShardSnapshots::ReadAndCheck(const std::string& path, const std::string& bytes, const RestoreOptions& options, ScopeState& state,
                                    Diagnostics& problems) const {
  const auto read = [&](const std::filesystem::path& place) -> Status {
    SnapshotReader file;
    WEFT_RETURN_IF_ERROR(file.Open(place, path));  // also where it is a copy of that
    WEFT_RETURN_IF_ERROR(state.Read(file));
    return state.Check(options, problems);
  };
  try {
    if (collectives_.rank() == 0) return read(path);
    TemporaryFile own;
    WEFT_RETURN_IF_ERROR(own.Write(bytes));
    return read(own.path());
  } catch (const std::bad_alloc&) {
    return NoMemory();  // which the other ranks learn, too
  }
}

Status ShardSnapshots::Load(const std::string& path, Diagnostics& problems, const RestoreOptions& options) {
  failed_alone_ = false;
  if (join_.made()) return FailedPrecondition("a snapshot is taken before the first step, and there was one");
  WEFT_ASSIGN_OR_RETURN(const std::string bytes, TakeFile(path));
  ScopeState state(*scope_);
  WEFT_RETURN_IF_ERROR(Agree(ReadAndCheck(path, bytes, options, state, problems), "for the snapshot on all ranks"));
  // From here on the others have another state.
  Status status = state.Apply(options, problems);
  failed_alone_ = !status.ok();
  return status;
}

}  // namespace weft
