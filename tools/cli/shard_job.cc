#include "tools/cli/shard_job.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <iostream>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "weft/base/hash.h"

namespace weft::cli {
namespace {

// The run of this process, for the handler of signals and for the link's thread, which asks where it is.
std::atomic<ShardedRun*> watched = nullptr;
std::mutex watched_mutex;  // held while the link's thread looks, and while the run goes
std::atomic<int> interrupted = 0;

void OnInterrupt(int signal) {
  if (interrupted.exchange(signal) != 0) _exit(128 + signal);
  if (ShardedRun* run = watched) run->Cancel();
}

void TakeSignals() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::string Where() {
  std::lock_guard lock(watched_mutex);
  ShardedRun* const run = watched;
  return run == nullptr ? "its start" : run->where();
}

}  // namespace

std::string Rounded(double number) {
  const double digits = std::abs(number) < 10 ? 100 : std::abs(number) < 100 ? 10 : 1;
  std::string text = std::to_string(std::round(number * digits) / digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<Fingerprint> PageFingerprint(const Document& document, const SessionSpec& spec, const RunCommand& command) {
  uint64_t feeds = 0, options = 0, session = HashBytes(spec.id);
  for (const SessionSpec::Feed& feed : spec.feeds) {
    feeds = HashBytes(Cat(document.scope()->graph().ValueName(feed.value), " ", feed.tensor.dtype(), " ", feed.tensor.shape()), feeds);
    if (feed.tensor.dtype() == DType::kString) feeds = HashBytes(ToString(feed.tensor, feed.tensor.count()), feeds);
    else feeds = HashBytes({static_cast<const char*>(feed.tensor.data()), static_cast<size_t>(feed.tensor.bytes())}, feeds);
  }
  for (const SessionSpec::Fetch& fetch : spec.fetches) session = HashBytes(fetch.name, session);
  const ShardCommand& shard = command.shard;
  options = HashBytes(Cat(shard.shards, " ", shard.reduce, " ", command.steps, " ", shard.every, " ", shard.resume, " ", command.load_state.empty(), " ",
                          command.save_state.empty(), " ", shard.snapshots.empty(), " ", command.watch.size(), " ", command.plot.size()));
  for (const auto* names : {&shard.cut, &shard.whole, &command.page.set}) {
    for (const std::string& name : *names) options = HashBytes(name, options);
  }
  return {{"version of weft", HashBytes(WEFT_VERSION)}, {"page", HashBytes(document.Write())}, {"session", session}, {"feed", feeds}, {"options", options}};
}

std::vector<std::string> ShardKey(const Page& page) {
  if (page.extra.empty()) return {};
  const nlohmann::json members = nlohmann::json::parse("{" + page.extra + "}", nullptr, false);
  std::vector<std::string> names;
  if (!members.is_object() || !members.contains("shard")) return names;
  for (const nlohmann::json& name : members["shard"]) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

namespace {

Result<std::shared_ptr<RankLink>> OpenLink(const Launch& launch, const ShardCommand& command) {
  LinkOptions options;
  options.library = command.mpi == "auto" ? launch.library : command.mpi;
  options.deadline = std::chrono::nanoseconds(static_cast<int64_t>(command.deadline * 1e9));
  options.where = Where;
  options.tell = [](std::string_view why) { std::cerr << Cat("weft: ", Colored("error:", 31), " ", Visible(why), "\n") << std::flush; };
  return RankLink::Open(options);
}

}  // namespace

Result<std::shared_ptr<RankLink>> LinkOfPage(Scope& scope, const ShardCommand& command) {
  const std::optional<Launch> launch = FindLaunch();
  if (!launch || command.mpi == "none" || !HasCollectives(scope.graph())) return std::shared_ptr<RankLink>();
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<RankLink> link, OpenLink(*launch, command));
  WEFT_RETURN_IF_ERROR(UseCollectives(scope, link));
  return link;
}

Result<std::unique_ptr<ShardJob>> ShardJob::Open(const RunCommand& command) {
  std::unique_ptr<ShardJob> job(new ShardJob());
  const std::optional<Launch> launch = FindLaunch();
  TakeSignals();
  if (!launch || command.shard.mpi == "none") {
    job->collectives_ = std::make_shared<LocalCollectives>();
    return job;
  }
  WEFT_ASSIGN_OR_RETURN(job->link_, OpenLink(*launch, command.shard));
  job->collectives_ = job->link_;
  if (launch->on_host > 1) job->threads_ = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / launch->on_host);
  LogDebug(Cat(job->Name(job->rank()), " of ", job->size(), ", by ", job->link_->library()));
  return job;
}

ShardJob::~ShardJob() { Close(); }

Status ShardJob::Agree(const Status& own, const std::vector<Fingerprint>& fingerprints) {
  WEFT_RETURN_IF_ERROR(AgreeOnStatus(*collectives_, CollectiveUser::kControl, own, "for the pages of all ranks"));
  std::string bytes;
  for (const Fingerprint& fingerprint : fingerprints) bytes.append(reinterpret_cast<const char*>(&fingerprint.second), sizeof(uint64_t));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(*collectives_, CollectiveUser::kControl, bytes, "for the pages of all ranks"));
  std::string others;
  for (size_t r = 1; r < all.size(); ++r) {
    for (size_t f = 0; f < fingerprints.size(); ++f) {
      if (all[r].substr(f * sizeof(uint64_t), sizeof(uint64_t)) == all[0].substr(f * sizeof(uint64_t), sizeof(uint64_t))) continue;
      others += Cat(others.empty() ? "" : "; ", Name(static_cast<int>(r)), " has another ", fingerprints[f].first, " than ", Name(0));
      break;
    }
  }
  return others.empty() ? Status() : InvalidArgument(others).WithHint("all ranks need the same files and the same command");
}

void ShardJob::Watch(ShardedRun& run) {
  std::lock_guard lock(watched_mutex);
  watched = &run;
  if (interrupted != 0) run.Cancel();
}

void ShardJob::Say(std::string_view text) const {
  if (rank() == 0) std::cerr << "weft: " << Visible(text) << "\n";
}

int ShardJob::End(Status status, ShardedRun& run, bool json) {
  const bool agreed = run.all_failed();
  const std::string where = run.where();
  {
    std::lock_guard lock(watched_mutex);
    watched = nullptr;
  }
  if (status.ok()) {
    Close();
    return kOk;
  }
  if (interrupted != 0) {
    if (link_ != nullptr && size() > 1) link_->Abort(Cat(Name(rank()), " was interrupted, at ", where));
    std::cerr << "weft: interrupted\n";
    return 128 + interrupted;
  }
  if (link_ == nullptr || size() == 1 || agreed) {
    if (rank() == 0) Report(status, json);
    Close();
    return kFailed;
  }
  Report(status, false);
  link_->Abort(Cat(Name(rank()), " failed, at ", where));
}

void ShardJob::Close() {
  if (link_ != nullptr) link_->Close();
}

}  // namespace weft::cli
