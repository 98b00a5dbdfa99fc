// ShardJob: the processes of a job, as the command line sees them: who speaks, how it ends.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/run_command.h"
#include "weft/host/rank_link.h"
#include "weft/host/sharded_run.h"

namespace weft::cli {

/// A part of what ranks must have alike, and its hash: {"page", 123}.
using Fingerprint = std::pair<std::string, uint64_t>;
std::vector<Fingerprint> PageFingerprint(const Document& document, const SessionSpec& spec, const RunCommand& command);

/// The outputs that the page's key "shard" names; none where it has no such key.
std::vector<std::string> ShardKey(const Page& page);

/// A number with a digit after the point where that says something.
std::string Rounded(double number);

/// Interrupted, the run ends at the next block; the second time, at once. One a process.
class ShardJob {
 public:
  /// Joins the job of the launcher, where there is one.
  static Result<std::unique_ptr<ShardJob>> Open(const RunCommand& command);
  ~ShardJob();

  const std::shared_ptr<Collectives>& collectives() const { return collectives_; }
  int rank() const { return collectives_->rank(); }
  int size() const { return collectives_->size(); }
  std::string Name(int rank) const { return link_ == nullptr ? "this process" : link_->Name(rank); }
  /// For each rank of this machine; 0: the default.
  int threads() const { return threads_; }

  /// Fails on all ranks where one has failed, or has other fingerprints than rank 0.
  Status Agree(const Status& own, const std::vector<Fingerprint>& fingerprints);
  /// The run that signals end, and that says what this rank does.
  void Watch(ShardedRun& run);
  /// A line on standard error, of rank 0.
  void Say(std::string_view text) const;
  /// The job's end after its steps, or after a failure of this rank, which ends all. Gives the exit status.
  int End(Status status, ShardedRun& run, bool json);
  /// Leaves the job together with the others.
  void Close();

 private:
  ShardJob() = default;
  std::shared_ptr<RankLink> link_;  // null: alone
  std::shared_ptr<Collectives> collectives_;
  int threads_ = 0;
};

/// For a page with blocks of collectives that a launcher runs: they communicate with the other ranks. Null for others.
Result<std::shared_ptr<RankLink>> LinkOfPage(Scope& scope, const ShardCommand& command);

}  // namespace weft::cli
