// Transfer: the messages of one call of Move, on their way in pieces.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/collectives.h"
#include "weft/host/message_module.h"

namespace weft {

/// Messages go in pieces, which show that they move. Those to a rank, and those from it, are a stream each, in the order of their messages: a
/// window of a stream's pieces is under way, and only the first of them is looked at, as they end about in order. So a look costs as many tests
/// as there are streams, however many pieces they have. Used by the one thread that calls the library of messages.
class Transfer {
 public:
  using Clock = std::chrono::steady_clock;

  /// What another rank still has to give or to take.
  struct Peer {
    int rank = 0;
    Clock::time_point moved{};  // when a piece to it or from it last ended, or its own transfer moved; until then, when this one began
    // A question to it that has not led to anything yet (LateRanks).
    int question = 0;           // 0: none
    Clock::time_point asked{};
    std::string answer{};

   private:
    friend class Transfer;
    struct Stream {
      std::vector<const Message*> messages{};
      size_t message = 0, at = 0;   // where the next piece begins
      std::vector<int> requests{};  // of the pieces that were begun
      size_t ended = 0;             // of those
      bool done() const { return message == messages.size() && ended == requests.size(); }
    };
    Stream in{}, out{};
  };
  struct Fault {
    int rank;
    bool receive;
  };

  Transfer(CollectiveUser user, std::span<const Message> messages, std::string_view what, std::chrono::nanoseconds deadline)
      : user_(user), messages_(messages), what_(what), deadline_(deadline) {}

  /// Begins the first pieces, of a job of so many ranks. Called once.
  void Begin(const WeftMessages& library, int ranks);
  /// Takes note of the pieces that have ended, and begins others in their place. Whether there was one.
  bool Look(const WeftMessages& library);
  /// A message that failed; the library says why.
  const std::optional<Fault>& fault() const { return fault_; }
  bool begun() const { return begun_; }
  bool done() const { return begun_ && peers_.empty(); }

  CollectiveUser user() const { return user_; }
  std::string_view what() const { return what_; }
  std::chrono::nanoseconds deadline() const { return deadline_; }
  /// Something of it has come.
  bool flows() const { return flows_; }
  /// The ranks with which it is not done, in no order.
  std::vector<Peer>& peers() { return peers_; }
  /// When a piece last ended, or a rank it waits for last moved; absent where nothing has. Note: later than what is known.
  std::optional<Clock::time_point> moved() const { return moved_; }
  void Note(Peer& peer, Clock::time_point moved);

  // Set by the link, under its lock.
  bool ended = false;

 private:
  using Stream = Peer::Stream;
  void Fill(const WeftMessages& library, Peer& peer, bool receive);
  bool Take(const WeftMessages& library, Peer& peer, bool receive);

  const CollectiveUser user_;
  const std::span<const Message> messages_;
  const std::string_view what_;
  const std::chrono::nanoseconds deadline_;
  std::vector<Peer> peers_;
  size_t window_ = 0;  // pieces of a stream
  bool begun_ = false, flows_ = false;
  std::optional<Clock::time_point> moved_;
  std::optional<Fault> fault_;
};

}  // namespace weft
