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

// A stream that the shard has not used yet is where its own begins.
Status ShardStates::Put(const Scope& scope, int shard, const std::string& key, Resource& resource) const {
  auto* stream = dynamic_cast<ShardStream*>(&resource);
  if (stream == nullptr || !keys_.contains(key)) return {};
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

Status ShardStates::Enter(Scope& scope, int shard) {
  entered_ = shard;
  {
    const ResourceStore::Access access(scope.resources());
    for (const auto& [key, handle] : access.resources()) WEFT_RETURN_IF_ERROR(Put(scope, shard, key, *handle));
  }
  // Blocks make their streams in their first run.
  scope.resources().SetMade([this, &scope](const std::string& key, Resource& made) { return Put(scope, entered_, key, made); });
  return {};
}

Status ShardStates::Leave(Scope& scope) {
  scope.resources().SetMade({});
  const ResourceStore::Access access(scope.resources());
  ran_.insert(entered_);
  Streams& own = streams_[entered_];
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
  for (int shard : ran_) own[shard] = streams_.at(shard);
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
  return std::function<void()>([this, count, done, streams = std::move(streams)]() mutable {
    shards = static_cast<int>(count);
    steps = done;
    streams_ = std::move(streams);
  });
}

void ShardStates::Reset() {
  shards = 0;
  steps = 0;
  streams_.clear();
}

}  // namespace weft
