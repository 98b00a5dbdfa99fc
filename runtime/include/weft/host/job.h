// Job: the processes that a launcher of MPI has started together, as a host of one of them sees them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "weft/host/rank_link.h"

namespace weft {

class ShardedRun;

struct JobOptions {
  /// The library of messages: "auto" is that of the launcher, if there is one; "none": this process is alone; else the name or path of one.
  std::string messages = "auto";
  std::chrono::nanoseconds deadline = std::chrono::seconds(120);  // as in LinkOptions
  std::function<void(std::string_view why)> tell{};               // as in LinkOptions; empty: a line on standard error
};

/// Thread-safe.
class Job {
 public:
  /// Joins the job, as RankLink::Open does. Without a launcher and with "auto" this process is rank 0 of 1, and no library is opened.
  static Result<std::shared_ptr<Job>> Open(JobOptions options);
  /// Rank 0 of 1.
  static std::shared_ptr<Job> Alone();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const { return collectives_->rank(); }
  int size() const { return collectives_->size(); }
  /// "rank 2 (node7)".
  std::string Name(int rank) const;
  /// "Open MPI v4.1.4"; empty where no library of messages is open.
  std::string library() const { return link_ == nullptr ? "" : link_->library(); }
  const std::shared_ptr<Collectives>& collectives() const { return collectives_; }
  /// For each rank, where several share this machine; 0: no fewer than else.
  int threads() const { return threads_; }

  /// What this rank says that it does, to others that wait for it, until Unwatch of the same run or Watch of another. The run must live.
  void Watch(const ShardedRun& run);
  void Unwatch(const ShardedRun& run);

  /// Ends all processes of the job, after telling why: "rank 2 (node7) WHY". Of a job of one process, too.
  [[noreturn]] void Abort(std::string_view why);
  /// Leaves the job together with the others, at most by the deadline. What is left goes with the last user of collectives().
  void Close();

 private:
  struct Watched;
  explicit Job(std::function<void(std::string_view why)> tell);

  const std::shared_ptr<Watched> watched_;
  std::shared_ptr<RankLink> link_;  // null: alone
  std::shared_ptr<Collectives> collectives_ = std::make_shared<LocalCollectives>();
  const std::function<void(std::string_view why)> tell_;
  int threads_ = 0;
};

}  // namespace weft
