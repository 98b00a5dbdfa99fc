#include "blocks/io/record_reader.h"

#include <algorithm>

#include "blocks/io/exclusive_use.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks {
namespace {

constexpr std::string_view kInUse = "a reader that is in use";

}  // namespace

Status PlacedSource::Start(const Files& files, const String& name, const Services& services) {
  place_ = 0;
  loaded_ = -1;
  name_ = std::string(name);
  WEFT_RETURN_IF_ERROR(Open(files, name_));
  return PassHead(services);
}

Result<bool> PlacedSource::Next(FileRecord& record, const Services& services) {
  if (loaded_ >= 0) {
    WEFT_ASSIGN_OR_RETURN(const bool there, GoTo(loaded_, services));
    if (!there) return DataLossAt(loaded_);
    loaded_ = -1;
  }
  return NextRecord(record, services);
}

Result<String> PlacedSource::KeyOf(int64_t number, const Services& services) const {
  String key(name_, Cat(":", number));
  WEFT_RETURN_IF_ERROR(key.Hold(services.budget));
  return key;
}

Status PlacedSource::DataLossAt(int64_t place) const {
  return DataLoss("needs the place ", place, " of a reader in '", name_, "', found the end of the file before it")
      .WithHint("put the file back as it was when the state was saved, or reset the reader");
}

void PlacedSource::Save(StateWriter& out) const {
  out.PutText(name_);
  out.PutSigned(loaded_ >= 0 ? loaded_ : place_);
}

Result<std::unique_ptr<RecordSource>> PlacedSource::Load(StateReader& in) const {
  WEFT_ASSIGN_OR_RETURN(const std::string name, in.Text());
  WEFT_ASSIGN_OR_RETURN(const int64_t place, in.Signed());
  std::unique_ptr<PlacedSource> source = Fresh();
  source->name_ = name;
  WEFT_RETURN_IF_ERROR(source->Open(in.files(), name));
  if (place < 0 || place > source->LastPlace()) return source->DataLossAt(place);
  source->loaded_ = place;
  return std::unique_ptr<RecordSource>(std::move(source));
}

Status RecordReader::StartNextFile(Queue& names, const Services& services) {
  if (names.spec().types != DTypes{DType::kString}) {
    return InvalidArgument("needs a queue whose elements are one string each, found other component types").WithPort("queue_handle");
  }
  WEFT_ASSIGN_OR_RETURN(auto elements, names.Dequeue(1, false, *services.waiter, -1));
  const Tensor& name = elements[0][0];
  if (name.count() != 1) {
    return InvalidArgument("needs one file name in an element of the queue, found the shape ", name.shape()).WithPort("queue_handle");
  }
  String text = name.values<String>()[0];
  Status status = source_->Start(*services.files, text, services);
  if (!status.ok()) source_->Stop();
  if (status.code() == Code::kCancelled) names.Return(std::move(elements));  // nothing was read of it
  set_in_file(status.ok(), std::move(text));
  return status;
}

Result<bool> RecordReader::NextRecord(FileRecord& record, const Services& services) {
  WEFT_ASSIGN_OR_RETURN(const bool found, source_->Next(record, services));
  const bool completed = !found || record.last;
  if (completed) source_->Stop();
  std::lock_guard lock(mutex_);
  in_file_ = !completed;
  records_produced_ += found;
  files_completed_ += completed;
  return found;
}

Result<FileRecord> RecordReader::Read(Queue& names, const Services& services) {
  ExclusiveUse use(mutex_, changed_, in_use_);
  WEFT_RETURN_IF_ERROR(use.Begin(services, kInUse));
  FileRecord record;
  for (;;) {
    if (services.workers->Stopped()) return kernels::RunStopped();
    if (!in_file_) WEFT_RETURN_IF_ERROR(StartNextFile(names, services));
    WEFT_ASSIGN_OR_RETURN(const bool found, NextRecord(record, services));
    if (found) return record;
  }
}

Result<std::vector<FileRecord>> RecordReader::ReadUpTo(Queue& names, int64_t count, const Services& services) {
  ExclusiveUse use(mutex_, changed_, in_use_);
  WEFT_RETURN_IF_ERROR(use.Begin(services, kInUse));
  std::vector<FileRecord> records;
  MemoryCharge held(services.budget);
  while (static_cast<int64_t>(records.size()) < count) {
    if (services.workers->Stopped()) return kernels::RunStopped();
    if (records.size() == records.capacity()) {
      const size_t room = std::max<size_t>(2 * records.capacity(), 1);
      WEFT_RETURN_IF_ERROR(held.Hold(static_cast<int64_t>(room * sizeof(FileRecord))));
      records.reserve(room);
    }
    if (!in_file_) WEFT_RETURN_IF_ERROR(StartNextFile(names, services));
    FileRecord record;
    WEFT_ASSIGN_OR_RETURN(const bool found, NextRecord(record, services));
    if (!found && !records.empty()) break;
    if (!found) continue;
    const bool last = record.last;
    records.push_back(std::move(record));
    if (last) break;
  }
  return records;
}

Status RecordReader::Reset(const Services& services) {
  ExclusiveUse use(mutex_, changed_, in_use_);
  WEFT_RETURN_IF_ERROR(use.Begin(services, kInUse));
  Reset();
  return {};
}

void RecordReader::Reset() {
  source_->Stop();
  std::lock_guard lock(mutex_);
  in_file_ = false;
  name_ = {};
  records_produced_ = files_completed_ = 0;
}

void RecordReader::set_in_file(bool in_file, String name) {
  std::lock_guard lock(mutex_);
  in_file_ = in_file;
  name_ = std::move(name);
}

// ReaderBaseState  1 work_started, 2 work_finished, 3 num_records_produced, 4 current_work. A field that has its default value is left out.

Result<String> RecordReader::Serialize(const Services& services) {
  ExclusiveUse use(mutex_, changed_, in_use_);
  WEFT_RETURN_IF_ERROR(use.Begin(services, kInUse));
  if (!source_->KeepsName()) return Status(Code::kUnsupported, Cat("needs a reader whose state can be kept, found a ", block_));
  std::lock_guard lock(mutex_);
  std::string state;
  const int64_t counts[] = {files_completed_ + in_file_, files_completed_, records_produced_};
  for (uint32_t i = 0; i < std::size(counts); ++i) {
    if (counts[i] != 0) protobuf::PutVarintField(state, i + 1, static_cast<uint64_t>(counts[i]));
  }
  if (!name_.empty()) protobuf::PutBytesField(state, 4, name_);
  String kept(state);
  WEFT_RETURN_IF_ERROR(kept.Hold(services.budget));
  return kept;
}

Status RecordReader::Restore(std::string_view state, const Services& services) {
  ExclusiveUse use(mutex_, changed_, in_use_);
  WEFT_RETURN_IF_ERROR(use.Begin(services, kInUse));
  Reset();
  if (!source_->KeepsName()) return Status(Code::kUnsupported, Cat("needs a reader whose state can be restored, found a ", block_));
  Status status = TakeState(state, services);
  if (!status.ok()) Reset();
  return status;
}

Status RecordReader::TakeState(std::string_view state, const Services& services) {
  int64_t counts[3] = {};
  std::string_view name;
  protobuf::FieldReader field(state);
  while (field.Next()) {
    if (field.number() <= 3 && field.type() == protobuf::WireType::kVarint) counts[field.number() - 1] = static_cast<int64_t>(field.varint());
    if (field.Is(4, protobuf::WireType::kBytes)) name = field.bytes();
  }
  const auto [started, finished, records] = counts;
  if (!field.ok()) return InvalidArgument("needs a state of ReaderSerializeState, found bytes that are none");
  if (started < 0 || finished < 0 || records < 0 || started > finished) {
    return InvalidArgument("needs the state of a reader that is in no file, found ", started, " files begun, ", finished, " completed and ",
                           records, " records read");
  }
  String kept(name);
  WEFT_RETURN_IF_ERROR(kept.Hold(services.budget));
  std::lock_guard lock(mutex_);
  name_ = std::move(kept);
  records_produced_ = records;
  files_completed_ = finished;
  return {};
}

Status RecordReader::Save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  // One that waits for the name of a file is in none.
  if (in_use_ && in_file_) return FailedPrecondition("needs a reader that no run reads from, found one in use");
  out.PutText(block_);
  out.PutSigned(records_produced_);
  out.PutSigned(files_completed_);
  out.Put(in_file_);
  if (source_->KeepsName()) out.PutText(name_);
  if (in_file_) source_->Save(out);
  return {};
}

Result<std::function<void()>> RecordReader::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string block, in.Text());
  if (block != block_) return InvalidArgument("needs the state of a ", block_, ", found that of a ", block);
  WEFT_ASSIGN_OR_RETURN(const uint64_t records, in.NumberUpTo(INT64_MAX / 2));
  WEFT_ASSIGN_OR_RETURN(const uint64_t files, in.NumberUpTo(INT64_MAX / 2));
  WEFT_ASSIGN_OR_RETURN(const uint64_t in_file, in.NumberUpTo(1));
  String name;
  if (source_->KeepsName()) {
    WEFT_ASSIGN_OR_RETURN(const std::string text, in.Text());
    name = String(text);
    WEFT_RETURN_IF_ERROR(name.Hold(in.budget()));
  }
  std::shared_ptr<RecordSource> source;
  if (in_file != 0) {
    WEFT_ASSIGN_OR_RETURN(source, source_->Load(in));
  }
  std::lock_guard lock(mutex_);
  if (in_use_) return FailedPrecondition("needs a reader that no run reads from, found one in use");
  return std::function<void()>([this, records, files, source, name]() mutable {
    Reset();
    std::lock_guard lock(mutex_);
    name_ = std::move(name);
    records_produced_ = static_cast<int64_t>(records);
    files_completed_ = static_cast<int64_t>(files);
    in_file_ = source != nullptr;
    if (source != nullptr) source_ = std::move(source);
  });
}

int64_t RecordReader::records_produced() const {
  std::lock_guard lock(mutex_);
  return records_produced_;
}

int64_t RecordReader::files_completed() const {
  std::lock_guard lock(mutex_);
  return files_completed_;
}

}  // namespace weft::blocks
