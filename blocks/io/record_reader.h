// RecordReader: state that takes files from a queue of names and gives their records. What a record is, is the business of a
// RecordSource, so that all kinds of reader share the queue, the counting and the waiting.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "blocks/data_flow/queue.h"
#include "weft/block/services.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

struct FileRecord {
  String key, value;
  bool last = false;  // of its file, as the source knows already
};

/// The records of one file after another. Used by one thread at a time. Of the services, workers and the budget are used, which may be null,
/// and those of Next have the files: cancelled where the run is to end meanwhile.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Begins with a file; `name` is as on the page.
  virtual Status Start(const Files& files, const String& name, const Services& services) = 0;
  /// False at the end of the file. Key and value count in the budget. The same record is the next one where it fails.
  virtual Result<bool> Next(FileRecord& record, const Services& services) = 0;
  /// Lets go of the file.
  virtual void Stop() = 0;
  /// The file that it is in and where; only called between Start and Stop.
  virtual void Save(StateWriter& out) const = 0;
  /// Another source, as this one was when it was saved; opens the file again, and leaves what takes long to the next record. This one stays
  /// as it is.
  virtual Result<std::unique_ptr<RecordSource>> Load(StateReader& in) const = 0;
  /// Whether the name of the last file and the counts are all that there is to keep, so that ReaderSerializeState can.
  virtual bool KeepsName() const { return false; }
};

/// A source whose place in a file is a number: of the records, lines or bytes that are behind. One that was loaded goes to its place when the
/// next record is asked for, in a run that can be ended and has a budget; it fails with data_loss where the file ends before.
class PlacedSource : public RecordSource {
 public:
  Status Start(const Files& files, const String& name, const Services& services) final;
  Result<bool> Next(FileRecord& record, const Services& services) final;
  void Save(StateWriter& out) const final;
  Result<std::unique_ptr<RecordSource>> Load(StateReader& in) const final;

 protected:
  /// One of the same settings, in no file.
  virtual std::unique_ptr<PlacedSource> Fresh() const = 0;
  /// Opens a file, and reads no more of it than tells what it is. place_ is 0.
  virtual Status Open(const Files& files, const std::string& name) = 0;
  /// Passes what is before the first record.
  virtual Status PassHead(const Services&) { return {}; }
  /// The last place that the file, which is open, can have, as far as that can be told without reading it.
  virtual int64_t LastPlace() const = 0;
  /// From the start of the file to a place, from 0 to LastPlace(); false where it ends before. Where it fails, the next call goes on from there.
  virtual Result<bool> GoTo(int64_t place, const Services& services) = 0;
  /// As Next.
  virtual Result<bool> NextRecord(FileRecord& record, const Services& services) = 0;
  /// The key of the record: the file's name, a colon and a number; it counts in the budget.
  Result<String> KeyOf(int64_t number, const Services& services) const;

  std::string name_;  // as on the page
  int64_t place_ = 0;

 private:
  Status DataLossAt(int64_t place) const;
  int64_t loaded_ = -1;  // the place to go to before the next record; negative: it is there
};

/// Thread-safe; records are read one call after another.
class RecordReader final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "reader";
  RecordReader(std::string block, std::unique_ptr<RecordSource> source) : block_(std::move(block)), source_(std::move(source)) {}
  std::string_view kind() const override { return kKind; }
  /// The block that made it: "FixedLengthRecordReader".
  const std::string& block() const { return block_; }

  /// The next record; takes files from `names` as it needs them. out_of_range where `names` is closed and empty.
  Result<FileRecord> Read(Queue& names, const Services& services);
  /// Up to `count` records of one file, at least one where `count` is.
  Result<std::vector<FileRecord>> ReadUpTo(Queue& names, int64_t count, const Services& services);
  /// As new: forgets the file it is in, and the counts.
  Status Reset(const Services& services);
  /// The counts and the name of the last file as TensorFlow's ReaderBaseState message; unsupported where more than that would be to keep.
  Result<String> Serialize(const Services& services);
  /// Takes what Serialize gave. invalid_argument for what is none, and for that of a reader in a file, as TensorFlow; unsupported
  /// where Serialize is. The reader is as new where it fails.
  Status Restore(std::string_view state, const Services& services);

  int64_t records_produced() const;
  int64_t files_completed() const;

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override;

 private:
  Status StartNextFile(Queue& names, const Services& services);
  /// False at the end of the file, which is then completed.
  Result<bool> NextRecord(FileRecord& record, const Services& services);
  Status TakeState(std::string_view state, const Services& services);
  void set_in_file(bool in_file, String name);

  const std::string block_;
  mutable std::mutex mutex_;  // of the members up to name_; never held while the source reads or the queue is waited for
  bool in_use_ = false;
  int64_t records_produced_ = 0, files_completed_ = 0;
  std::condition_variable changed_;
  bool in_file_ = false;  // changed by the thread that set in_use_ alone
  String name_;           // of the last file that was begun; changed as in_file_
  // Of the thread that set in_use_.
  std::shared_ptr<RecordSource> source_;
};

}  // namespace weft::blocks
