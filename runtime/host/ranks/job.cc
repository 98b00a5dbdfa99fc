#include "weft/host/job.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "weft/host/sharded_run.h"

namespace weft {
namespace {

void TellStandardError(std::string_view why) { std::fprintf(stderr, "weft: error: %.*s\n", static_cast<int>(why.size()), why.data()); }

}  // namespace

/// The run that says what this rank does. The link's thread asks, also while the host opens and closes runs.
struct Job::Watched {
  std::mutex mutex;
  const ShardedRun* run = nullptr;
  std::string otherwise = "its start";

  std::string Where() {
    std::lock_guard lock(mutex);
    return run == nullptr ? otherwise : run->where();
  }
};

Job::Job(std::function<void(std::string_view why)> tell) : watched_(std::make_shared<Watched>()), tell_(std::move(tell)) {}

std::shared_ptr<Job> Job::Alone() { return std::shared_ptr<Job>(new Job(TellStandardError)); }

Result<std::shared_ptr<Job>> Job::Open(JobOptions options) {
  std::shared_ptr<Job> job(new Job(options.tell ? std::move(options.tell) : TellStandardError));
  const std::optional<Launch> launch = FindLaunch();
  if (options.messages == "none" || (options.messages == "auto" && !launch)) return job;
  LinkOptions link;
  link.library = options.messages == "auto" ? launch->library : options.messages;
  link.deadline = options.deadline;
  link.where = [watched = job->watched_] { return watched->Where(); };
  // A launcher that is told of the end may drop what it has not read of this process's output.
  link.tell = [tell = job->tell_](std::string_view why) {
    tell(why);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  WEFT_ASSIGN_OR_RETURN(job->link_, RankLink::Open(link));
  job->collectives_ = job->link_;
  if (launch && launch->on_host > 1) job->threads_ = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / launch->on_host);
  return job;
}

std::string Job::Name(int rank) const { return link_ == nullptr ? "this process" : link_->Name(rank); }

void Job::Watch(const ShardedRun& run) {
  std::lock_guard lock(watched_->mutex);
  watched_->run = &run;
  watched_->otherwise = "work of its own";
}

void Job::Unwatch(const ShardedRun& run) {
  std::lock_guard lock(watched_->mutex);
  if (watched_->run == &run) watched_->run = nullptr;
}

void Job::Abort(std::string_view why) {
  const std::string text = Cat(Name(rank()), " ", why);
  if (link_ != nullptr) link_->Abort(text);
  tell_(text);
  std::_Exit(1);
}

void Job::Close() {
  if (link_ != nullptr) link_->Close();
}

}  // namespace weft
