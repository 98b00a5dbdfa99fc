#include "blocks/data_flow/staging.h"

#include <algorithm>
#include <utility>

namespace weft::blocks {
namespace {

/// As TensorFlow counts: a string has an object of 24 bytes beside its text.
int64_t BytesOf(const Tensor& tensor) {
  if (!tensor.defined()) return 0;
  if (tensor.dtype() != DType::kString) return tensor.bytes();
  int64_t bytes = 24 * tensor.count();
  for (const String& text : tensor.values<String>()) bytes += static_cast<int64_t>(text.size());
  return bytes;
}

int64_t BytesOf(const StagedValues& values) {
  int64_t bytes = 0;
  for (const Tensor& value : values) bytes += BytesOf(value);
  return bytes;
}

constexpr const char* kRoom = "room in a staging area";

Status CheckTypes(const StagedValues& values, const DTypes& types) {
  if (values.size() != types.size()) {
    return InvalidArgument("needs as many types as the ", values.size(), " values that were staged together, found ", types.size())
        .WithPort("dtypes");
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (values[i].dtype() == types[i]) continue;
    return InvalidArgument("needs the type of the staged value ", i, ", ", values[i].dtype(), ", found ", types[i]).WithPort("dtypes");
  }
  return {};
}

}  // namespace

Status StageLimits::Check(int64_t added) const {
  if (memory_limit <= 0 || added <= memory_limit) return {};
  return ResourceExhausted("needs values of at most the memory limit of ", memory_limit, " bytes, found ", added).WithPort("values");
}

// ---- StagingArea ----------------------------------------------------------------------------------------------------------------

void StagingArea::Admit() {
  line_.Admit(true, [&](StagedArrival& arrival) -> Result<bool> {
    if (!arrival.limits.HaveRoom(static_cast<int64_t>(values_.size()), bytes_, arrival.bytes)) return false;
    values_.splice(values_.end(), arrival.values);
    bytes_ += arrival.bytes;
    return true;
  });
  changed_.notify_all();
}

Status StagingArea::Put(StagedValues values, const StageLimits& limits, Waiter& waiter, const ResourceHandle& self) {
  StagedArrival arrival{{}, BytesOf(values), limits};
  arrival.values.push_back(std::move(values));
  WEFT_RETURN_IF_ERROR(limits.Check(arrival.bytes));
  std::unique_lock lock(mutex_);
  const auto ticket = line_.Join(std::move(arrival));
  Admit();
  lock.unlock();
  return WaitInLine(ticket, waiter, TimeLeft(-1), kRoom, self);
}

Result<StagedValues> StagingArea::Take(const DTypes& types, Waiter& waiter) {
  std::unique_lock lock(mutex_);
  auto ready = [&] { return !values_.empty(); };
  if (!ready()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, ready, -1, "values in a staging area"));
  WEFT_RETURN_IF_ERROR(CheckTypes(values_.front(), types));
  StagedValues values = std::move(values_.front());
  if (!places_.empty()) places_.pop_front();
  values_.pop_front();
  bytes_ -= BytesOf(values);
  Admit();
  return values;
}

Result<StagedValues> StagingArea::Peek(int64_t index, const DTypes& types, Waiter& waiter) {
  std::unique_lock lock(mutex_);
  auto ready = [&] { return static_cast<int64_t>(values_.size()) > index; };
  if (!ready()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, ready, -1, "values in a staging area"));
  while (std::cmp_less_equal(places_.size(), index)) places_.push_back(places_.empty() ? values_.cbegin() : std::next(places_.back()));
  const StagedValues& values = *places_[static_cast<size_t>(index)];
  WEFT_RETURN_IF_ERROR(CheckTypes(values, types));
  return values;
}

int64_t StagingArea::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(values_.size());
}

void StagingArea::Replace(std::list<StagedValues> values, int64_t bytes) {
  std::lock_guard lock(mutex_);
  places_.clear();
  values_ = std::move(values);
  bytes_ = bytes;
  Admit();
}

void StagingArea::Clear() { Replace({}, 0); }

Status StagingArea::Save(StateWriter& out) const {
  std::list<StagedValues> all;
  {
    std::lock_guard lock(mutex_);
    all = values_;
  }
  out.Put(all.size());
  for (const StagedValues& values : all) {
    out.Put(values.size());
    for (const Tensor& value : values) WEFT_RETURN_IF_ERROR(out.PutTensor(value));
  }
  return {};
}

Result<std::function<void()>> StagingArea::Load(StateReader& in) {
  auto all = std::make_shared<std::list<StagedValues>>();
  int64_t bytes = 0;
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  for (uint64_t i = 0; i < count; ++i) {
    StagedValues& values = all->emplace_back();
    WEFT_ASSIGN_OR_RETURN(const uint64_t size, in.Number());
    for (uint64_t k = 0; k < size; ++k) {
      WEFT_ASSIGN_OR_RETURN(Tensor value, in.ReadTensor());
      values.push_back(std::move(value));
    }
    bytes += BytesOf(values);
  }
  return std::function<void()>([this, all, bytes] { Replace(std::move(*all), bytes); });
}

// ---- StagingMap -----------------------------------------------------------------------------------------------------------------

int64_t StagingMap::EntryBytes(int64_t values) {
  constexpr int64_t kNodes = sizeof(Entries::value_type) + sizeof(decltype(State::keys)::value_type) + 8 * sizeof(void*);
  return kNodes + values * static_cast<int64_t>(sizeof(Tensor));
}

void StagingMap::Complete(State& state, HeldEntry entry) {
  const int64_t key = entry.key.values<int64_t>()[0];
  if (state.complete.contains(key)) {
    state.bytes -= BytesOf(entry.values);
    return;
  }
  entry.arrival = state.arrivals++;
  state.keys.emplace(entry.arrival, key);
  state.complete.emplace(key, std::move(entry));
}

Result<StagingMap::Entries::iterator> StagingMap::EntryOf(StagedPart& part) {
  const int64_t key = part.key.values<int64_t>()[0];
  const auto found = state_.incomplete.find(key);
  if (found == state_.incomplete.end()) {
    WEFT_RETURN_IF_ERROR(part.room.Hold(EntryBytes(part.components)));
    StagedValues places(static_cast<size_t>(part.components));
    return state_.incomplete.emplace(key, HeldEntry{{part.key, std::move(places)}, std::move(part.room)}).first;
  }
  const StagedValues& present = found->second.values;
  if (static_cast<int64_t>(present.size()) != part.components) {
    return InvalidArgument("needs the ", present.size(), " types that the key ", key, " was begun with, found ", part.components)
        .WithPort("dtypes");
  }
  for (int32_t index : part.indices) {
    if (!present[static_cast<size_t>(index)].defined()) continue;
    return InvalidArgument("needs values that the key ", key, " has not, found one for index ", index, ", which was given before")
        .WithPort("indices");
  }
  return found;
}

// Checks first, so that a part is put in whole or not at all.
Result<bool> StagingMap::Add(StagedPartArrival& arrival) {
  StagedPart& part = arrival.part;
  const bool whole = static_cast<int64_t>(part.indices.size()) == part.components;
  const int64_t size = whole ? static_cast<int64_t>(state_.complete.size()) : -1;  // what is incomplete does not fill the map
  if (!arrival.limits.HaveRoom(size, state_.bytes, arrival.bytes)) return false;
  if (whole) {
    state_.bytes += arrival.bytes;
    Complete(state_, {{part.key, std::move(part.values)}, std::move(part.room)});
    return true;
  }
  WEFT_ASSIGN_OR_RETURN(const Entries::iterator entry, EntryOf(part));
  StagedValues& values = entry->second.values;
  for (size_t i = 0; i < part.indices.size(); ++i) values[static_cast<size_t>(part.indices[i])] = std::move(part.values[i]);
  state_.bytes += arrival.bytes;
  if (std::all_of(values.begin(), values.end(), [](const Tensor& value) { return value.defined(); })) {
    HeldEntry complete = std::move(entry->second);
    state_.incomplete.erase(entry);
    Complete(state_, std::move(complete));
  }
  return true;
}

void StagingMap::Admit() {
  line_.Admit(false, [&](StagedPartArrival& arrival) { return Add(arrival); });
  changed_.notify_all();
}

Status StagingMap::Put(StagedPart part, const StageLimits& limits, Waiter& waiter, const ResourceHandle& self) {
  const int64_t bytes = BytesOf(part.values);
  WEFT_RETURN_IF_ERROR(limits.Check(bytes));
  WEFT_RETURN_IF_ERROR(part.room.Hold(EntryBytes(std::ssize(part.values))));
  std::unique_lock lock(mutex_);
  const auto ticket = line_.Join(StagedPartArrival{std::move(part), bytes, limits});
  Admit();
  lock.unlock();
  return WaitInLine(ticket, waiter, TimeLeft(-1), kRoom, self);
}

Result<StagedValues> StagingMap::TakeFrom(Entries::iterator entry, std::span<const int32_t> indices, const DTypes& types, bool keep) {
  StagedValues& values = entry->second.values;
  StagedValues taken;
  for (int32_t index : indices) {
    if (index < 0 || index >= static_cast<int64_t>(values.size())) {
      return InvalidArgument("needs indices of the ", values.size(), " values of the key ", entry->first, ", found ", index)
          .WithPort("indices");
    }
    if (!values[static_cast<size_t>(index)].defined()) {
      return InvalidArgument("needs indices of values that are there, found ", index, ", whose value was taken from the key ", entry->first)
          .WithPort("indices");
    }
    taken.push_back(values[static_cast<size_t>(index)]);
  }
  WEFT_RETURN_IF_ERROR(CheckTypes(taken, types));
  if (keep) return taken;
  for (int32_t index : indices) values[static_cast<size_t>(index)] = Tensor();
  state_.bytes -= BytesOf(taken);
  if (std::none_of(values.begin(), values.end(), [](const Tensor& value) { return value.defined(); })) {
    state_.keys.erase(entry->second.arrival);
    state_.complete.erase(entry);
  }
  Admit();
  return taken;
}

Result<StagedValues> StagingMap::Take(int64_t key, std::span<const int32_t> indices, const DTypes& types, bool keep, Waiter& waiter) {
  std::unique_lock lock(mutex_);
  auto ready = [&] { return state_.complete.contains(key); };
  if (!ready()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, ready, -1, Cat("the values of the key ", key)));
  return TakeFrom(state_.complete.find(key), indices, types, keep);
}

Result<StagedValues> StagingMap::TakeNext(std::span<const int32_t> indices, const DTypes& types, Waiter& waiter) {
  std::unique_lock lock(mutex_);
  auto ready = [&] { return !state_.complete.empty(); };
  if (!ready()) WEFT_RETURN_IF_ERROR(waiter.Wait(lock, changed_, ready, -1, "a key in a staging map"));
  const auto entry = ordered_ ? state_.complete.begin() : state_.complete.find(state_.keys.begin()->second);
  StagedValues key_first = {entry->second.key};
  WEFT_ASSIGN_OR_RETURN(StagedValues values, TakeFrom(entry, indices, types, false));
  key_first.insert(key_first.end(), std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  return key_first;
}

int64_t StagingMap::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(state_.complete.size());
}

int64_t StagingMap::incomplete_size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(state_.incomplete.size());
}

void StagingMap::Clear() {
  std::lock_guard lock(mutex_);
  state_ = {};
  Admit();
}

Status StagingMap::SaveEntries(std::vector<Entry> entries, StateWriter& out) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.arrival < b.arrival; });
  out.Put(entries.size());
  for (const Entry& entry : entries) {
    WEFT_RETURN_IF_ERROR(out.PutTensor(entry.key));
    out.Put(entry.values.size());
    for (const Tensor& value : entry.values) {
      out.Put(value.defined());
      if (value.defined()) WEFT_RETURN_IF_ERROR(out.PutTensor(value));
    }
  }
  return {};
}

Result<std::vector<StagingMap::HeldEntry>> StagingMap::LoadEntries(StateReader& in) {
  std::vector<HeldEntry> entries;
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  for (uint64_t i = 0; i < count; ++i) {
    HeldEntry& entry = entries.emplace_back();
    WEFT_ASSIGN_OR_RETURN(entry.key, in.ReadTensor());
    if (entry.key.dtype() != DType::kInt64 || entry.key.count() != 1) return DataLoss("needs one DT_INT64 as a key");
    WEFT_ASSIGN_OR_RETURN(const uint64_t size, in.NumberUpTo(INT32_MAX));  // as indices of values are DT_INT32
    entry.room = MemoryCharge(in.budget());
    WEFT_RETURN_IF_ERROR(entry.room.Hold(EntryBytes(static_cast<int64_t>(size))));
    for (uint64_t k = 0; k < size; ++k) {
      WEFT_ASSIGN_OR_RETURN(const uint64_t there, in.NumberUpTo(1));
      Tensor& value = entry.values.emplace_back();
      if (there == 0) continue;
      WEFT_ASSIGN_OR_RETURN(value, in.ReadTensor());
    }
  }
  return entries;
}

Status StagingMap::Save(StateWriter& out) const {
  std::vector<Entry> complete, incomplete;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : state_.complete) complete.push_back(entry);
    for (const auto& [key, entry] : state_.incomplete) incomplete.push_back(entry);
  }
  out.PutText(kind());
  WEFT_RETURN_IF_ERROR(SaveEntries(std::move(complete), out));
  return SaveEntries(std::move(incomplete), out);
}

Result<std::function<void()>> StagingMap::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string saved, in.Text());
  if (saved != kind()) return InvalidArgument("needs the state of a ", kind(), ", found that of a ", saved);
  auto state = std::make_shared<State>();
  WEFT_ASSIGN_OR_RETURN(std::vector<HeldEntry> complete, LoadEntries(in));
  for (HeldEntry& entry : complete) {
    state->bytes += BytesOf(entry.values);
    Complete(*state, std::move(entry));
  }
  WEFT_ASSIGN_OR_RETURN(std::vector<HeldEntry> incomplete, LoadEntries(in));
  for (HeldEntry& entry : incomplete) {
    state->bytes += BytesOf(entry.values);
    const int64_t key = entry.key.values<int64_t>()[0];
    if (!state->incomplete.emplace(key, std::move(entry)).second) return DataLoss("needs keys that differ, found ", key, " twice");
  }
  return std::function<void()>([this, state] {
    std::lock_guard lock(mutex_);
    state_ = std::move(*state);
    Admit();
  });
}

}  // namespace weft::blocks
