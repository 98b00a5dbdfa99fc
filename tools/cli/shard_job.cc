#include "tools/cli/shard_job.h"

#include <atomic>
#include <cmath>
#include <iostream>
#include <utility>

namespace weft::cli {
namespace {

// The run that a signal ends.
std::atomic<ShardedRun*> watched = nullptr;

void CancelWatched() {
  if (ShardedRun* run = watched) run->Cancel();
}

Result<std::shared_ptr<Job>> OpenJob(const ShardCommand& command) {
  JobOptions options;
  options.messages = command.mpi;
  options.deadline = std::chrono::nanoseconds(static_cast<int64_t>(command.deadline * 1e9));
  options.tell = [](std::string_view why) { std::cerr << Cat("weft: ", Colored("error:", 31), " ", Visible(why), "\n") << std::flush; };
  return Job::Open(std::move(options));
}

}  // namespace

std::string Rounded(double number) {
  const double digits = std::abs(number) < 10 ? 100 : std::abs(number) < 100 ? 10 : 1;
  std::string text = std::to_string(std::round(number * digits) / digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

Status CheckJobOptions(const Graph& graph, const ShardCommand& command) {
  if (HasCollectives(graph)) return {};
  for (const auto& [name, option] : {std::pair("--deadline", command.deadline_option), std::pair("--mpi", command.mpi_option)}) {
    if (!option || !option->given()) continue;
    return InvalidArgument(name, " needs --shards, or a page with blocks of collectives, found neither: this run waits for no other process")
        .WithHint(Cat("leave ", name, " out, or cut the batch by --shards S"));
  }
  return {};
}

Result<std::shared_ptr<Job>> JobOfPage(Scope& scope, const ShardCommand& command) {
  if (!HasCollectives(scope.graph())) return std::shared_ptr<Job>();
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Job> job, OpenJob(command));
  if (job->library().empty()) return std::shared_ptr<Job>();
  WEFT_RETURN_IF_ERROR(UseCollectives(scope, job->collectives()));
  return job;
}

Result<std::unique_ptr<ShardJob>> ShardJob::Open(const RunCommand& command) {
  auto interrupt = std::make_unique<Interrupt>(CancelWatched);
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Job> opened, OpenJob(command.shard));
  std::unique_ptr<ShardJob> job(new ShardJob(std::move(interrupt), std::move(opened)));
  if (!job->job_->library().empty()) LogDebug(Cat(job->Name(job->rank()), " of ", job->size(), ", by ", job->job_->library()));
  return job;
}

ShardJob::~ShardJob() { Close(); }

ShardJob::Watch::Watch(ShardJob& job, ShardedRun& run) : job_(*job.job_), run_(run) {
  job_.Watch(run);
  watched = &run;
  if (Interrupt::signal() != 0) run.Cancel();
}

ShardJob::Watch::~Watch() {
  watched = nullptr;
  job_.Unwatch(run_);
}

void ShardJob::Say(std::string_view text) const {
  if (rank() == 0) std::cerr << "weft: " << Visible(text) << "\n";
}

int ShardJob::End(Status status, const ShardedRun& run, bool json) {
  const bool agreed = run.all_failed();
  const std::string where = run.where();
  if (status.ok()) {
    Close();
    return kOk;
  }
  if (Interrupt::signal() != 0) {
    if (size() > 1) job_->Abort(Cat("was interrupted, at ", where));
    std::cerr << "weft: interrupted\n";
    return Interrupt::StatusOf(Interrupt::signal());
  }
  if (size() == 1 || agreed) {
    if (rank() == 0) Report(status, json);
    Close();
    return kFailed;
  }
  Report(status, false);
  job_->Abort(Cat("failed, at ", where));
}

}  // namespace weft::cli
