// RankLink::Loop: what moves the messages of a link.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "runtime/host/shared_library.h"
#include "weft/host/message_module.h"
#include "weft/host/rank_link.h"

namespace weft {

class RankLink::Loop {
 public:
  Loop(SharedLibrary library, const WeftMessages& messages, const LinkOptions& options)
      : library_(std::move(library)), messages_(messages), options_(options) {}
  ~Loop() { Close(); }

  /// Joins the job.
  Status Start();
  Status Move(CollectiveUser user, std::span<const Message> messages, std::string_view what);
  void SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline);
  [[noreturn]] void Abort(std::string_view why);
  void Close();

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string Name(int rank) const { return Cat("rank ", rank, " (", hosts[static_cast<size_t>(rank)], ")"); }
  const char* library() const { return messages_.name(); }

  std::vector<std::string> hosts;  // by rank; written before anything else reads it

 private:
  using Clock = std::chrono::steady_clock;
  /// A part of a message, under way.
  struct Piece {
    int request;
    int rank;
    bool receive;
  };
  /// One call of Move.
  struct Transfer {
    CollectiveUser user;
    std::span<const Message> messages;
    std::string_view what;
    Clock::time_point start, deadline;
    std::vector<Piece> under_way{};
    std::optional<Clock::time_point> asked{};  // when the ranks that it waits for were asked what they do
    bool flows = false;  // something of it has come
    bool done = false;
    Status status{};
  };
  /// A short text on its way, between two links.
  struct Note {
    int request;
    std::array<char, 512> text;
  };

  void Run();
  void Round(std::unique_lock<std::mutex>& lock);
  void Begin(Transfer& transfer);
  bool Poll(Transfer& transfer);
  void Rest(bool moved);
  void AnswerNotes();
  void SendNote(int to, int tag, std::string_view text);
  bool TakeNote(int tag, int& from, std::string& text);
  void Watch(Transfer& transfer);
  void Ask(Transfer& transfer);
  std::set<int> AwaitedBy(const Transfer& transfer) const;
  [[noreturn]] void EndJob(std::string_view why);

  SharedLibrary library_;
  const WeftMessages& messages_;
  const LinkOptions options_;
  int rank_ = 0, size_ = 1;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_, done_;
  std::deque<Transfer*> waiting_;
  std::array<std::chrono::nanoseconds, 3> deadlines_{};  // by CollectiveUser; 0: that of the options
  bool begun_ = false, closing_ = false, left_ = false;
  bool driving_ = false;  // a thread looks for messages: it alone uses `messages_`, and what follows below
  Status begin_status_;
  std::thread thread_;

  // Of the thread that looks for messages.
  std::list<Transfer*> moving_;
  std::list<Note> notes_;
  std::vector<std::string> answers_;  // by rank
  Clock::time_point busy_{}, looked_{};
};

}  // namespace weft
