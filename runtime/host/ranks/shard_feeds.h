// ShardFeeds: values that the host feeds to a sharded run, from any thread; a step takes those that were given before it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/host/ranks/shard_sessions.h"

namespace weft {

/// What Feed says is for any thread; the rest for one.
class ShardFeeds {
 public:
  /// `spec` has the values of the steps, and outlives it: its feeds are what these functions make of them.
  ShardFeeds(std::shared_ptr<const Graph> graph, SessionSpec& spec) : graph_(std::move(graph)), spec_(spec) {}

  /// ShardedRun::Feed.
  Status Feed(std::string_view name, Tensor value);
  /// The session is divided by what is fed now: from here on no other values are.
  void TakeFirst();
  /// Which of them are cut.
  void NoteCut(const ShardParts& divided);
  /// The values of a step, for its sessions.
  Status Take(const ShardSessions& sessions);
  /// By feed, whether its value is another than in the step before; until Used.
  const std::vector<char>& anew() const { return anew_; }
  void Used() { anew_.assign(anew_.size(), 0); }

 private:
  /// A value that was fed before the first step.
  struct Fed {
    ValueRef value;
    Shape shape;
    bool cut = true;
  };

  const std::shared_ptr<const Graph> graph_;
  SessionSpec& spec_;
  std::vector<char> anew_;
  std::mutex mutex_;                      // of what follows
  std::vector<SessionSpec::Feed> given_;  // for the next step
  std::optional<std::vector<Fed>> fed_;   // since the session was divided
};

}  // namespace weft
