#include "blocks/io/record_yielder.h"

#include <algorithm>
#include <sstream>

#include "blocks/io/exclusive_use.h"
#include "blocks/io/file_access.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/murmur_hash.h"

namespace weft::blocks {
namespace {

/// By which TensorFlow seeds the order of the files.
uint64_t Hash64(uint64_t number, uint64_t seed) {
  return MurmurHash64A({reinterpret_cast<const char*>(&number), sizeof number}, seed, [](int64_t) { return false; });
}

Result<std::vector<std::string>> MatchAll(const std::string& patterns, const Services& services) {
  std::vector<std::string> found;
  for (size_t begin = 0; begin <= patterns.size();) {
    const size_t end = std::min(patterns.find(',', begin), patterns.size());
    const std::string_view pattern = std::string_view(patterns).substr(begin, end - begin);
    WEFT_ASSIGN_OR_RETURN(const auto paths, MatchFiles(*services.files, pattern, services.workers));
    for (const std::filesystem::path& path : paths) found.push_back(path.string());
    begin = end + 1;
  }
  return found;
}

/// A record of a snapshot.
Result<String> ReadRecord(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string text, in.Text());
  String record(text);
  WEFT_RETURN_IF_ERROR(record.Hold(in.budget()));
  return record;
}

constexpr const char* kPattern = "file_pattern";

}  // namespace

RecordYielder::RecordYielder(YieldSpec spec, MakeSource make_source) : spec_(std::move(spec)), make_source_(std::move(make_source)) {
  state_.random.seed(static_cast<uint64_t>(spec_.seed));
}

// ---- epochs --------------------------------------------------------------------------------------------------------------------

bool RecordYielder::EpochEnded() const {
  return std::all_of(state_.shards.begin(), state_.shards.end(), [](const Shard& shard) { return shard.ended(); });
}

Status RecordYielder::BeginEpoch(const Services& services) {
  auto files = MatchAll(spec_.pattern, services);
  if (!files.ok()) return std::move(files).status().WithPort(kPattern);
  if (files->empty()) return NotFound("needs files to read, found none of the name '", spec_.pattern, "'").WithPort(kPattern);
  if (state_.epoch > 0 && !state_.any)
    return NotFound("needs records to give, found none in the files of '", spec_.pattern, "'").WithPort(kPattern);
  ++state_.epoch;
  std::mt19937_64 random(Hash64(static_cast<uint64_t>(state_.epoch), static_cast<uint64_t>(spec_.seed)));
  std::shuffle(files->begin(), files->end(), random);
  if (spec_.shift_ratio >= 0 && spec_.shift_ratio < 1) {
    const auto shift =
        std::min(static_cast<int64_t>(spec_.shift_ratio * static_cast<float>(files->size())), static_cast<int64_t>(files->size()));
    std::rotate(files->begin(), files->begin() + shift, files->end());
  }
  state_.shards.assign(std::min(static_cast<size_t>(spec_.parallelism), files->size()), {});
  for (size_t i = 0; i < files->size(); ++i) state_.shards[i % state_.shards.size()].files.push_back(std::move((*files)[i]));
  state_.turn = 0;
  state_.any = false;
  return {};
}

// ---- reading -------------------------------------------------------------------------------------------------------------------

// Until the shard has a turn's records, or has no more.
Status RecordYielder::ReadTurn(Shard& shard, const Services& services) {
  while (shard.records.size() < kTurn) {
    if (services.workers != nullptr && services.workers->Stopped()) return kernels::RunStopped();
    if (shard.source == nullptr) {
      if (shard.next == shard.files.size()) return {};
      std::shared_ptr<RecordSource> source = make_source_();
      WEFT_RETURN_IF_ERROR(source->Start(*services.files, shard.files[shard.next], services));
      ++shard.next;
      shard.source = std::move(source);
    }
    FileRecord record;
    WEFT_ASSIGN_OR_RETURN(const bool found, shard.source->Next(record, services));
    if (!found) {
      shard.source = nullptr;
      continue;
    }
    shard.records.push_back(std::move(record.value));
    state_.any = true;
  }
  return {};
}

// A short record takes no memory but its place in the buffer.
Status RecordYielder::MakeRoom(State& state, const std::shared_ptr<MemoryBudget>& budget) const {
  std::vector<String>& buffer = state.buffer;
  if (buffer.size() < buffer.capacity()) return {};
  if (buffer.capacity() == 0) state.room = MemoryCharge(budget);
  const size_t room = std::min(std::max(2 * buffer.capacity(), kTurn), static_cast<size_t>(spec_.buffer_size));
  WEFT_RETURN_IF_ERROR(state.room.Hold(static_cast<int64_t>(room * sizeof(String))));
  buffer.reserve(room);
  return {};
}

// Each from the last on changes places with one drawn by chance, or with none.
Status RecordYielder::Shuffle(Shard& shard, const Services& services) {
  std::vector<String>& buffer = state_.buffer;
  while (!shard.records.empty() && buffer.size() < static_cast<size_t>(spec_.buffer_size)) {
    WEFT_RETURN_IF_ERROR(MakeRoom(state_, services.budget));
    const size_t place = state_.random() % (buffer.size() + 1);
    buffer.push_back(std::move(shard.records.back()));
    shard.records.pop_back();
    std::swap(buffer[place], buffer.back());
  }
  return {};
}

Status RecordYielder::Fill(const Services& services) {
  while (state_.buffer.size() < static_cast<size_t>(spec_.buffer_size) && !EpochEnded()) {
    Shard& shard = state_.shards[state_.turn];
    WEFT_RETURN_IF_ERROR(ReadTurn(shard, services));
    WEFT_RETURN_IF_ERROR(Shuffle(shard, services));
    if (shard.records.empty()) state_.turn = (state_.turn + 1) % state_.shards.size();
  }
  return {};
}

Status RecordYielder::Yield(std::span<String> to, const Services& services) {
  ExclusiveUse use(mutex_, changed_, in_use_);
  WEFT_RETURN_IF_ERROR(use.Begin(services, "its turn to read records"));
  const size_t enough = std::max<size_t>(static_cast<size_t>(spec_.buffer_size) / 2, 1);
  for (String& record : to) {
    while (state_.buffer.size() < enough) {
      if (EpochEnded() && !state_.buffer.empty()) break;
      if (EpochEnded()) WEFT_RETURN_IF_ERROR(BeginEpoch(services));
      WEFT_RETURN_IF_ERROR(Fill(services));
    }
    record = std::move(state_.buffer.back());
    state_.buffer.pop_back();
  }
  return {};
}

// ---- snapshots -----------------------------------------------------------------------------------------------------------------

Status RecordYielder::SaveShard(const Shard& shard, StateWriter& out) const {
  out.Put(shard.files.size());
  for (const std::string& file : shard.files) out.PutText(file);
  out.Put(shard.next);
  out.Put(shard.source != nullptr);
  if (shard.source != nullptr) shard.source->Save(out);
  out.Put(shard.records.size());
  for (const String& record : shard.records) out.PutText(record);
  return {};
}

Result<RecordYielder::Shard> RecordYielder::LoadShard(StateReader& in) const {
  Shard shard;
  WEFT_ASSIGN_OR_RETURN(const uint64_t files, in.Number());
  for (uint64_t i = 0; i < files; ++i) {
    WEFT_ASSIGN_OR_RETURN(std::string file, in.Text());
    shard.files.push_back(std::move(file));
  }
  WEFT_ASSIGN_OR_RETURN(shard.next, in.NumberUpTo(shard.files.size()));
  WEFT_ASSIGN_OR_RETURN(const uint64_t in_file, in.NumberUpTo(1));
  if (in_file != 0) {
    WEFT_ASSIGN_OR_RETURN(shard.source, make_source_()->Load(in));
  }
  WEFT_ASSIGN_OR_RETURN(const uint64_t records, in.Number());
  for (uint64_t i = 0; i < records; ++i) {
    WEFT_ASSIGN_OR_RETURN(String record, ReadRecord(in));
    shard.records.push_back(std::move(record));
  }
  return shard;
}

Status RecordYielder::Save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  if (in_use_) return FailedPrecondition("needs a block that reads no records now");
  out.PutText(spec_.pattern);
  out.PutSigned(state_.epoch);
  std::ostringstream random;
  random << state_.random;
  out.PutText(random.str());
  out.Put(state_.buffer.size());
  for (const String& record : state_.buffer) out.PutText(record);
  out.Put(state_.turn);
  out.Put(state_.any);
  out.Put(state_.shards.size());
  for (const Shard& shard : state_.shards) WEFT_RETURN_IF_ERROR(SaveShard(shard, out));
  return {};
}

Result<std::function<void()>> RecordYielder::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string pattern, in.Text());
  if (pattern != spec_.pattern)
    return InvalidArgument("needs the state for the files of '", spec_.pattern, "', found that for '", pattern, "'");
  auto state = std::make_shared<State>();
  WEFT_ASSIGN_OR_RETURN(state->epoch, in.Signed());
  WEFT_ASSIGN_OR_RETURN(const std::string random, in.Text());
  std::istringstream numbers(random);
  numbers >> state->random;
  if (!numbers) return DataLoss("needs the state of random numbers, found other text");
  WEFT_ASSIGN_OR_RETURN(const uint64_t records, in.NumberUpTo(static_cast<uint64_t>(spec_.buffer_size)));
  for (uint64_t i = 0; i < records; ++i) {
    WEFT_RETURN_IF_ERROR(MakeRoom(*state, in.budget()));
    WEFT_ASSIGN_OR_RETURN(String record, ReadRecord(in));
    state->buffer.push_back(std::move(record));
  }
  WEFT_ASSIGN_OR_RETURN(state->turn, in.Number());
  WEFT_ASSIGN_OR_RETURN(const uint64_t any, in.NumberUpTo(1));
  state->any = any != 0;
  WEFT_ASSIGN_OR_RETURN(const uint64_t shards, in.Number());
  if (state->turn > 0 && state->turn >= shards) return DataLoss("needs a turn of the ", shards, " readers, found ", state->turn);
  for (uint64_t i = 0; i < shards; ++i) {
    WEFT_ASSIGN_OR_RETURN(Shard shard, LoadShard(in));
    state->shards.push_back(std::move(shard));
  }
  return std::function<void()>([this, state] {
    std::lock_guard lock(mutex_);
    state_ = std::move(*state);
  });
}

void RecordYielder::Reset() {
  std::lock_guard lock(mutex_);
  state_ = {};
  state_.random.seed(static_cast<uint64_t>(spec_.seed));
}

}  // namespace weft::blocks
