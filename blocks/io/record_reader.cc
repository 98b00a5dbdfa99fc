#include "blocks/io/record_reader.h"

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {

/// Makes this thread the one that reads, for as long as the object lives. Others wait for it with the engine's waiter, so that they can be
/// cancelled while this one waits for a file name.
class RecordReader::Use {
 public:
  explicit Use(RecordReader& reader) : reader_(reader) {}
  ~Use() {
    if (!held_) return;
    std::lock_guard lock(reader_.mutex_);
    reader_.in_use_ = false;
    reader_.changed_.notify_all();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  Status Begin(const Services& services) {
    std::unique_lock lock(reader_.mutex_);
    auto ready = [&] { return !reader_.in_use_; };
    if (!ready()) WEFT_RETURN_IF_ERROR(services.waiter->Wait(lock, reader_.changed_, ready, -1, "a reader that is in use"));
    reader_.in_use_ = held_ = true;
    return {};
  }

 private:
  RecordReader& reader_;
  bool held_ = false;
};

Status RecordReader::StartNextFile(Queue& names, const Services& services) {
  if (names.spec().types != DTypes{DType::kString}) {
    return InvalidArgument("needs a queue whose elements are one string each, found other component types").WithPort("queue_handle");
  }
  WEFT_ASSIGN_OR_RETURN(auto elements, names.Dequeue(1, false, *services.waiter, -1));
  const Tensor& name = elements[0][0];
  if (name.count() != 1) {
    return InvalidArgument("needs one file name in an element of the queue, found the shape ", name.shape()).WithPort("queue_handle");
  }
  const std::string text(name.values<String>()[0]);
  Status status = source_->Start(*services.files, text, services);
  if (!status.ok()) source_->Stop();
  if (status.code() == Code::kCancelled) names.Return(std::move(elements));  // nothing was read of it
  set_in_file(status.ok());
  return status;
}

Result<bool> RecordReader::NextRecord(FileRecord& record, const Services& services) {
  WEFT_ASSIGN_OR_RETURN(const bool found, source_->Next(record, services));
  if (!found) source_->Stop();
  std::lock_guard lock(mutex_);
  in_file_ = found;
  ++(found ? records_produced_ : files_completed_);
  return found;
}

Result<FileRecord> RecordReader::Read(Queue& names, const Services& services) {
  Use use(*this);
  WEFT_RETURN_IF_ERROR(use.Begin(services));
  FileRecord record;
  for (;;) {
    if (services.workers->Stopped()) return kernels::RunStopped();
    if (!in_file_) WEFT_RETURN_IF_ERROR(StartNextFile(names, services));
    WEFT_ASSIGN_OR_RETURN(const bool found, NextRecord(record, services));
    if (found) return record;
  }
}

Result<std::vector<FileRecord>> RecordReader::ReadUpTo(Queue& names, int64_t count, const Services& services) {
  Use use(*this);
  WEFT_RETURN_IF_ERROR(use.Begin(services));
  std::vector<FileRecord> records;
  MemoryCharge held(services.budget);
  while (static_cast<int64_t>(records.size()) < count) {
    if (services.workers->Stopped()) return kernels::RunStopped();
    if (!in_file_) WEFT_RETURN_IF_ERROR(StartNextFile(names, services));
    FileRecord record;
    WEFT_ASSIGN_OR_RETURN(const bool found, NextRecord(record, services));
    if (!found && !records.empty()) break;
    if (!found) continue;
    for (const String* text : {&record.key, &record.value}) WEFT_RETURN_IF_ERROR(text->Hold(services.budget));
    records.push_back(std::move(record));
    WEFT_RETURN_IF_ERROR(held.Hold(static_cast<int64_t>(records.capacity() * sizeof(FileRecord))));
  }
  return records;
}

Status RecordReader::Reset(const Services& services) {
  Use use(*this);
  WEFT_RETURN_IF_ERROR(use.Begin(services));
  Reset();
  return {};
}

void RecordReader::Reset() {
  source_->Stop();
  std::lock_guard lock(mutex_);
  in_file_ = false;
  records_produced_ = files_completed_ = 0;
}

void RecordReader::set_in_file(bool in_file) {
  std::lock_guard lock(mutex_);
  in_file_ = in_file;
}

Status RecordReader::Save(StateWriter& out) const {
  std::lock_guard lock(mutex_);
  // One that waits for the name of a file is in none.
  if (in_use_ && in_file_) return FailedPrecondition("needs a reader that no run reads from, found one in use");
  out.PutText(block_);
  out.PutSigned(records_produced_);
  out.PutSigned(files_completed_);
  out.Put(in_file_);
  if (in_file_) source_->Save(out);
  return {};
}

Result<std::function<void()>> RecordReader::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const std::string block, in.Text());
  if (block != block_) return InvalidArgument("needs the state of a ", block_, ", found that of a ", block);
  WEFT_ASSIGN_OR_RETURN(const uint64_t records, in.NumberUpTo(INT64_MAX / 2));
  WEFT_ASSIGN_OR_RETURN(const uint64_t files, in.NumberUpTo(INT64_MAX / 2));
  WEFT_ASSIGN_OR_RETURN(const uint64_t in_file, in.NumberUpTo(1));
  std::shared_ptr<RecordSource> source;
  if (in_file != 0) {
    WEFT_ASSIGN_OR_RETURN(source, source_->Load(in));
  }
  std::lock_guard lock(mutex_);
  if (in_use_) return FailedPrecondition("needs a reader that no run reads from, found one in use");
  return std::function<void()>([this, records, files, source]() mutable {
    Reset();
    std::lock_guard lock(mutex_);
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
