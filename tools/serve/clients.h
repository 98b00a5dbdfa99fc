// The clients that are connected, and those that may come back.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/serve/client.h"

namespace weft::serve {

/// Functions may be called from any thread.
class Clients {
 public:
  explicit Clients(const Limits& limits) : limits_(limits) {}

  /// Null where there is none.
  std::shared_ptr<Client> Find(const std::string& id);
  /// A new client, or the one that comes back. Null where there are too many.
  std::shared_ptr<Client> Welcome(const std::string& resume, bool& resumed);
  std::vector<std::shared_ptr<Client>> All();
  /// Forgets those whose lease is over; gives them.
  std::vector<std::shared_ptr<Client>> TakeGone();
  /// Sends a message to all.
  void Tell(const Json& message);
  uint64_t NextSubscription() { return ++subscriptions_; }
  /// Says farewell to all, and welcomes none any more.
  void End();

 private:
  const Limits& limits_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Client>> clients_;
  uint64_t next_ = 1;
  bool ended_ = false;
  std::atomic<uint64_t> subscriptions_{0};
};

}  // namespace weft::serve
