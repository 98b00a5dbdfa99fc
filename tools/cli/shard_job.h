// ShardJob: the processes of a job, as the command line sees them: who speaks, how it ends.
#pragma once

#include <memory>
#include <string>

#include "tools/cli/interrupt.h"
#include "tools/cli/run_command.h"
#include "weft/host/job.h"
#include "weft/host/sharded_run.h"

namespace weft::cli {

/// A number with a digit after the point where that says something.
std::string Rounded(double number);

/// Interrupted, the run ends at the next block; the second time, at once. One a process.
class ShardJob {
 public:
  /// Joins the job of the launcher, where there is one.
  static Result<std::unique_ptr<ShardJob>> Open(const RunCommand& command);
  ~ShardJob();

  const std::shared_ptr<Collectives>& collectives() const { return job_->collectives(); }
  int rank() const { return job_->rank(); }
  int size() const { return job_->size(); }
  std::string Name(int rank) const { return job_->Name(rank); }
  int threads() const { return job_->threads(); }

  /// While one lives, signals end the run, which says what this rank does. It lives no longer than the run. One at a time.
  class Watch {
   public:
    Watch(ShardJob& job, ShardedRun& run);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Job& job_;
    ShardedRun& run_;
  };
  /// A line on standard error, of rank 0.
  void Say(std::string_view text) const;
  /// The job's end after its steps, or after a failure of this rank, which ends all. Gives the exit status.
  int End(Status status, const ShardedRun& run, bool json);
  /// Leaves the job together with the others.
  void Close() { job_->Close(); }

 private:
  ShardJob(std::unique_ptr<Interrupt> interrupt, std::shared_ptr<Job> job) : interrupt_(std::move(interrupt)), job_(std::move(job)) {}

  const std::unique_ptr<Interrupt> interrupt_;
  const std::shared_ptr<Job> job_;
};

/// invalid_argument for options of a job, of a run without shards, where the page has no blocks of collectives that would use them.
Status CheckJobOptions(const Graph& graph, const ShardCommand& command);
/// For a page with blocks of collectives: they communicate with the other ranks of the launcher's job. Null for others.
Result<std::shared_ptr<Job>> JobOfPage(Scope& scope, const ShardCommand& command);

}  // namespace weft::cli
