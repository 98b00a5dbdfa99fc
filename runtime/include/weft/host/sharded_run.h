// ShardedRun: a session whose batch is cut into shards, which the processes of a job compute side by side.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/block/collectives.h"
#include "weft/exec/session.h"
#include "weft/host/snapshot_folder.h"
#include "weft/state/snapshot.h"

namespace weft {

struct ShardingOptions {
  int shards = 1;
  bool sum = false;                 // values of shards are added; else their mean is taken
  std::vector<std::string> cut{};   // outputs to cut besides placeholders, readers and queues: "x.output"
  std::vector<std::string> whole{};  // outputs that are not cut, although they would be
  std::string settings{};    // what else of the host all ranks need alike, such as the number of steps; compared, not read
  bool feeds_later = false;  // values are fed after Open: what is cut is looked for in the first step
};

/// How the steps have gone, over all ranks, since the last time somebody asked.
struct ShardedProgress {
  uint64_t steps = 0;                  // run so far, of the job
  std::vector<double> compute_ms{};    // by rank: the mean time of a step until it waits for the others
  double step_ms = 0;                  // a whole step, on this rank
  int slowest() const;
};

/// One step computes each shard of this rank once, joins their gradients with those of the other ranks, and updates the variables once, on
/// every rank alike. The shards, the order in which their values are added, and their random numbers do not depend on how many ranks there are:
/// nor do the bits of any result. All ranks make the same calls but Feed, results, where and Cancel in the same order. For one thread at a time,
/// but for Feed(), where() and Cancel(). The page is not edited meanwhile: a step then fails with failed_precondition.
class ShardedRun {
 public:
  /// Compares with the other ranks what all need alike: invalid_argument, which names ranks that have another page, session, values or
  /// options. Divides the session, with the outputs that the page's key "shard" names among those to cut; starts the page's variables, which all
  /// ranks take from rank 0. invalid_argument where the shards cannot be shared out; failed_precondition where another run of the scope is open:
  /// they would draw from the same random streams; what DivideSession says (runtime/host/ranks/shard_parts.h).
  /// Fails on all ranks alike. One that cannot come as far tells the others by AgreeOnStatus before, which all call.
  static Result<std::unique_ptr<ShardedRun>> Open(std::shared_ptr<Scope> scope, SessionSpec spec, ShardingOptions options,
                                                  std::shared_ptr<Collectives> collectives);
  ~ShardedRun();
  /// Another run of the scope, or of the folder of its snapshots, may be opened. No step, nor a snapshot, follows.
  void Close();

  /// Replaces an output's value in the steps to come, on every rank by the same; of what is cut, that of the whole batch. With feeds_later any
  /// output, until the first step; from then on those that are fed already, of the same rank; what is not cut keeps its shape. not_found;
  /// invalid_argument for another type or such a shape; failed_precondition for others. Fails on this rank alone. From any thread.
  Status Feed(std::string_view name, Tensor value);
  /// One step. The first one plans: invalid_argument, with the block, where a batch is not divided by the shards or where a block has the size
  /// of the whole batch as a constant. With `results` what the session fetches is joined, too: all ranks ask for it in the same steps.
  Status Step(bool results);
  /// Whether the last step, or the last snapshot that was taken, failed on all ranks alike, so that they end together or go on. (Open always
  /// does.)
  bool all_failed() const;
  /// Of the last step that joined results: in the order of the session's fetches, named as the page has them. The tensors stay as they are.
  const std::vector<std::pair<std::string, Tensor>>& results() const;

  /// How many steps the page has behind it, those of an earlier run of it and before a restored snapshot included.
  uint64_t steps() const;
  /// The shards that this rank computes: the first, and the one after the last.
  std::pair<int, int> shards() const;
  /// Means since the last call. All ranks call it after the same steps.
  Result<ShardedProgress> Progress();
  /// What this rank does now: "step 17, shard 5, block 'conv'". From any thread.
  std::string where() const;
  /// How many buckets of values were on their way while the last shard of a step still computed, of how many.
  std::pair<uint64_t, uint64_t> early_buckets() const;
  /// Ends the run of this rank between two blocks. From any thread, and from signal handlers.
  void Cancel();

  /// Saves variables, readers, and the random streams of all shards to a file of rank 0, and agrees on it: where ranks differ, or it cannot be
  /// written, every rank fails, and no new file is there. All ranks call it after the same step.
  Status SaveSnapshot(const std::string& path);
  /// Takes the state of a file that rank 0 can read, on all ranks; before the first step, on any number of ranks. not_found where there is none.
  /// All ranks check it before any changes its state, and fail alike, with the state that they had. What fails after that (all_failed tells),
  /// such as a page that is edited meanwhile, fails on this rank alone: the run is over.
  Status LoadSnapshot(const std::string& path, Diagnostics& problems, const RestoreOptions& options = {});
  /// The same as SaveSnapshot to a folder of rank 0, where the snapshot becomes the newest; the folder is then this run's until it saves to
  /// another. failed_precondition where another process has the folder, and where it has snapshots and is not that which the run last saved
  /// to or restored from.
  Status SaveNewest(const SnapshotFolder& folder);
  /// Takes the newest snapshot of such a folder that is whole; `say` (may be empty) is told of those that are passed over. Gives its path; empty
  /// where the folder has none. Where there are some and none can be taken: why the oldest cannot. failed_precondition where another process
  /// has the folder. Else as LoadSnapshot.
  Result<std::string> RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say = {});

 private:
  class Parts;
  explicit ShardedRun(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace weft
