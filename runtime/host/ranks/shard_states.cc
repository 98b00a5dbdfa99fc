#include "runtime/host/ranks/shard_states.h"

#include "runtime/state/scope_services.h"
#include "runtime/state/scope_state.h"
#include "weft/block/shard_stream.h"

namespace weft {
namespace {

constexpr std::string_view kContainer = "weft", kName = "shards";

}  // namespace

Result<std::shared_ptr<ShardStates>> ShardStates::Of(Scope& scope) {
  ScopeBinder binder(scope, {}, {});
  WEFT_ASSIGN_OR_RETURN(ResourceHandle handle, binder.Shared(kContainer, kName, [] { return Result<ResourceHandle>(std::make_shared<ShardStates>()); }));
  auto states = std::dynamic_pointer_cast<ShardStates>(handle);
  if (states == nullptr) return InvalidArgument("the page has a ", handle->kind(), " of the name '", kName, "' in the container '", kContainer, "'");
  return states;
}

Status ShardStates::Open(int of_run) {
  if (open_.exchange(true)) {
    return FailedPrecondition("needs a page without another open run in shards, found one of ", shards, " shards").WithHint("close that run first");
  }
  if (shards != of_run) Reset();
  shards = of_run;
  return {};
}

// A stream that the shard has not used yet is where its own begins.
Status ShardStates::Put(const Scope& scope, int shard, const std::string& key, Resource& resource) const {
  auto* stream = dynamic_cast<ShardStream*>(&resource);
  if (stream == nullptr) return {};
  const auto own = streams_.find(shard);
  const auto saved = own == streams_.end() ? Streams::const_iterator() : own->second.find(key);
  if (own == streams_.end() || saved == own->second.end()) {
    stream->ResetFor(static_cast<uint64_t>(shard));
    return {};
  }
  WEFT_ASSIGN_OR_RETURN(const auto change, LoadResource(resource, resource.kind(), saved->second, scope));
  change();
  return {};
}

ShardStates::Turn::~Turn() { scope_.resources().SetMade({}); }

Status ShardStates::Turn::Begin() {
  const auto put = [this](const std::string& key, Resource& resource) {
    return keys_.contains(key) ? states_.Put(scope_, shard_, key, resource) : Status();
  };
  {
    const ResourceStore::Access access(scope_.resources());
    for (const auto& [key, handle] : access.resources()) WEFT_RETURN_IF_ERROR(put(key, *handle));
  }
  // Blocks make their streams in their first run.
  scope_.resources().SetMade(put);
  return {};
}

Status ShardStates::Turn::Keep() {
  const ResourceStore::Access access(scope_.resources());
  states_.ran_.insert(shard_);
  Streams& own = states_.streams_[shard_];
  for (const auto& [key, handle] : access.resources()) {
    const auto* stored = dynamic_cast<const StoredState*>(handle.get());
    if (stored == nullptr || !keys_.contains(key) || dynamic_cast<const ShardStream*>(handle.get()) == nullptr) continue;
    StateWriter out;
    WEFT_RETURN_IF_ERROR(stored->Save(out));
    own[key] = std::move(out).Take();
  }
  return {};
}

void ShardStates::Write(const std::map<int, Streams>& all, StateWriter& out) {
  out.Put(all.size());
  for (const auto& [shard, streams] : all) {
    out.PutSigned(shard);
    out.Put(streams.size());
    for (const auto& [key, state] : streams) {
      out.PutText(key);
      out.PutText(state);
    }
  }
}

Result<std::map<int, ShardStates::Streams>> ShardStates::Read(StateReader& in) {
  std::map<int, Streams> all;
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  for (uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const uint64_t shard, in.NumberUpTo(INT32_MAX));
    WEFT_ASSIGN_OR_RETURN(const uint64_t streams, in.Number());
    Streams& own = all[static_cast<int>(shard)];
    for (uint64_t s = 0; s < streams; ++s) {
      WEFT_ASSIGN_OR_RETURN(std::string key, in.Text());
      WEFT_ASSIGN_OR_RETURN(own[key], in.Text());
    }
  }
  return all;
}

std::string ShardStates::Own() const {
  std::map<int, Streams> own;
  for (const auto& [shard, streams] : streams_) {
    if (ran_.contains(shard)) own[shard] = streams;
  }
  StateWriter out;
  Write(own, out);
  return std::move(out).Take();
}

Status ShardStates::TakeAll(const std::vector<std::string>& of_ranks) {
  class NoFiles final : public Files {
    Result<std::filesystem::path> Resolve(std::string_view name, Access /*access*/) const override { return PermissionDenied("no files: ", name); }
  } files;
  for (const std::string& bytes : of_ranks) {
    StateReader in(bytes, files, nullptr);
    WEFT_ASSIGN_OR_RETURN(auto streams, Read(in));
    for (auto& [shard, own] : streams) streams_[shard] = std::move(own);
  }
  return {};
}

Status ShardStates::Save(StateWriter& out) const {
  out.PutSigned(shards);
  out.Put(steps);
  Write(streams_, out);
  return {};
}

Result<std::function<void()>> ShardStates::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.NumberUpTo(INT32_MAX));
  WEFT_ASSIGN_OR_RETURN(const uint64_t done, in.Number());
  WEFT_ASSIGN_OR_RETURN(auto streams, Read(in));
  const int saved = static_cast<int>(count);
  if (open_ && saved != 0 && saved != shards) {
    return InvalidArgument("the snapshot is of a run with ", saved, " shards, found ", shards).WithHint(Cat("take ", saved, " shards"));
  }
  return std::function<void()>([this, saved, done, streams = std::move(streams)]() mutable {
    Reset();
    if (saved != 0) shards = saved;
    steps = done;
    streams_ = std::move(streams);
  });
}

void ShardStates::Reset() {
  if (!open_) shards = 0;  // else it is that of the run
  steps = 0;
  streams_.clear();
  ran_.clear();
}

}  // namespace weft
