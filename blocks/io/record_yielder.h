// RecordYielder: the records of the files that a pattern matches, in random order, again and again.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "blocks/io/record_reader.h"

namespace weft::blocks {

/// What is to be read, and how it is shuffled.
struct YieldSpec {
  std::string pattern;  // names or patterns, between commas
  int64_t seed = 0;
  float shift_ratio = 0;    // by which part of them the list of files is rotated; none outside of [0, 1)
  int64_t buffer_size = 1;  // records that are shuffled among one another
  int64_t parallelism = 1;  // files that are read by turns
};

/// Thread-safe; batches are made one call after another. Each time that all records have been given, an epoch, the files are matched,
/// shuffled and read anew: by readers that take turns of kTurn records, into a buffer in which each record changes its place with one drawn
/// by chance, as in TensorFlow. There the readers run beside one another, so that for several files, or more records than half the buffer,
/// no run repeats; here the same seeds give the same records.
class RecordYielder final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "yielder of records";
  /// Makes what reads a file.
  using MakeSource = std::function<std::unique_ptr<RecordSource>()>;
  RecordYielder(YieldSpec spec, MakeSource make_source);
  std::string_view kind() const override { return kKind; }

  /// Fills `to`. not_found where no file matches or none has a record; what was drawn before a failure is lost.
  Status Yield(std::span<String> to, const Services& services);

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override;

 private:
  static constexpr size_t kTurn = 16;

  /// The files of one reader, and what it has read and not passed on.
  struct Shard {
    std::vector<std::string> files;
    size_t next = 0;                       // the file after the one it is in
    std::shared_ptr<RecordSource> source;  // null: in no file
    std::vector<String> records;

    bool ended() const { return source == nullptr && next == files.size() && records.empty(); }
  };
  struct State {
    int64_t epoch = 0;
    std::mt19937_64 random;
    std::vector<String> buffer;
    MemoryCharge room;  // of the buffer
    std::vector<Shard> shards;
    size_t turn = 0;   // the shard that reads next
    bool any = false;  // records in this epoch so far
  };

  bool EpochEnded() const;
  Status BeginEpoch(const Services& services);
  /// Reads until the buffer is full or the epoch ends.
  Status Fill(const Services& services);
  Status ReadTurn(Shard& shard, const Services& services);
  Status Shuffle(Shard& shard, const Services& services);
  /// Room for another record in the buffer of a state.
  Status MakeRoom(State& state, const std::shared_ptr<MemoryBudget>& budget) const;
  Status SaveShard(const Shard& shard, StateWriter& out) const;
  Result<Shard> LoadShard(StateReader& in) const;

  const YieldSpec spec_;
  const MakeSource make_source_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool in_use_ = false;
  State state_;  // of the thread that set in_use_; of others with the lock, where none has
};

}  // namespace weft::blocks
