// Clients that are connected by WebSocket, and the numbered events of a page.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/serve/engine.h"
#include "tools/serve/http.h"
#include "tools/serve/limits.h"

namespace weft::serve {

using Clock = std::chrono::steady_clock;

/// A client: one WebSocket, or, after that was lost and it came back in time, the next one. Functions may be called from any thread.
class Client {
 public:
  Client(std::string id, const Limits& limits) : id_(std::move(id)), limits_(limits) {}

  const std::string& id() const { return id_; }
  std::string name() const;
  void SetName(std::string name);

  /// The connection it has now, by which nothing is sent before `first`.
  void Attach(std::shared_ptr<Socket> socket, const Json& first);
  /// The connection is gone. False where another one has taken its place.
  bool Detach(const Socket* socket);
  bool connected() const;
  /// How long it has been without a connection.
  Clock::duration gone_for() const;
  /// It comes back: its lease begins anew.
  void Renew();

  /// Sends what must not be lost: a client that does not read it is cut.
  void Send(const Json& message) { SendText(std::make_shared<const std::string>(Dump(message))); }
  void SendText(Bytes text);
  /// Sends what may be left out where the client reads slowly; it is told. False where it was.
  bool Offer(Bytes message, bool binary, const char* topic);
  void Close(int code, const std::string& reason);

 private:
  const std::string id_;
  const Limits& limits_;
  mutable std::mutex mutex_;
  std::string name_;
  std::shared_ptr<Socket> socket_;
  Clock::time_point gone_since_ = Clock::now();
  std::set<std::string> lost_;  // topics of which something was left out since it was told
};

/// The numbered events of a page: kept for those who come back, sent to those who subscribed.
class EventLog {
 public:
  EventLog(std::string page, const Limits& limits) : page_(std::move(page)), limits_(limits) {}

  /// Numbers the event and sends it.
  void Publish(Json event);
  uint64_t seq() const;
  /// From now on, or from a number on as far as those are kept: `gap` tells that some are not. What was missed is sent at once, after `first`.
  void Subscribe(const std::shared_ptr<Client>& client, std::optional<uint64_t> from_seq, Json first);
  /// False where it had not subscribed.
  bool Unsubscribe(const Client& client);
  std::vector<std::shared_ptr<Client>> subscribers() const;

 private:
  struct Kept {
    uint64_t seq;
    Bytes text;
  };
  const std::string page_;
  const Limits& limits_;
  mutable std::mutex mutex_;
  uint64_t seq_ = 0;
  std::deque<Kept> kept_;
  size_t kept_bytes_ = 0;
  std::map<std::string, std::weak_ptr<Client>> subscribers_;
};

}  // namespace weft::serve
