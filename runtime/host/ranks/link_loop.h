// RankLink::Loop: the threads of a link, which of them calls the library of messages, and how the job ends.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/host/ranks/late_ranks.h"
#include "runtime/host/ranks/transfer.h"
#include "runtime/host/shared_library.h"
#include "weft/host/message_module.h"
#include "weft/host/rank_link.h"

namespace weft {

class RankLink::Loop {
 public:
  Loop(SharedLibrary library, const WeftMessages& messages, const LinkOptions& options)
      : library_(std::move(library)), messages_(messages), options_(options), late_(messages, hosts, options.where) {}
  ~Loop() { Close(); }

  /// Joins the job.
  Status Start();
  Status Move(CollectiveUser user, std::span<const Message> messages, std::string_view what);
  void SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline);
  [[noreturn]] void Abort(std::string_view why);
  void Close();

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string Name(int rank) const { return RankName(rank, hosts[static_cast<size_t>(rank)]); }
  const char* library() const { return messages_.name(); }

  std::vector<std::string> hosts;  // by rank; written before anything else reads it

 private:
  using Clock = Transfer::Clock;

  void Run();
  void Drive(std::unique_lock<std::mutex>& lock);
  void Look(Transfer& transfer, bool& moved);
  void Rest(bool moved);
  [[noreturn]] void EndJob(std::string_view why);
  [[noreturn]] void EndProcess();
  [[noreturn]] void WaitForTheEnd(std::unique_lock<std::mutex>& lock);
  [[noreturn]] void StopDriving(std::unique_lock<std::mutex>& lock);

  SharedLibrary library_;
  const WeftMessages& messages_;
  const LinkOptions options_;
  int rank_ = 0, size_ = 1;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_, done_;
  std::deque<Transfer*> waiting_;
  std::array<std::chrono::nanoseconds, 3> deadlines_{};  // by CollectiveUser; 0: that of the options
  bool begun_ = false, closing_ = false, leaving_ = false, left_ = false;
  bool driving_ = false;  // a thread looks for messages: it alone uses `messages_`, and what follows below
  bool ending_ = false;   // a thread ends the job: no other may begin to drive, and who does stops
  Status begin_status_;
  std::thread thread_;

  // Of the thread that looks for messages.
  std::list<Transfer*> moving_;
  LateRanks late_;
  Clock::time_point busy_{}, looked_{};
};

}  // namespace weft
