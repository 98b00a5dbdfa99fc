// ShardSessions: the sessions of a sharded run's parts, and what this rank does at the moment.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/host/ranks/shard_parts.h"
#include "weft/exec/session.h"
#include "weft/exec/value_taps.h"

namespace weft {

/// Sees the runs of a rank: for where(), and to take values of the last shard as soon as they are there.
class ShardWatch final : public Observer, public ValueTaps {
 public:
  using Take = std::function<Status(size_t fetch, const Tensor& value)>;
  /// What the next run is: "shard 5"; `take` may be empty.
  void Announce(uint64_t step, std::string doing, Take take);
  std::string where() const;

  const std::atomic<uint32_t>* wants_steps() const override { return &no_steps_; }
  Status OnRunStart(uint64_t run, RunView& view) override;
  void OnRunBegin(uint64_t run, size_t steps) override;
  void OnRunEnd(uint64_t run, const Status& status) override;
  Status OnValue(size_t fetch, const Tensor& value) override { return take_ ? take_(fetch, value) : Status(); }

 private:
  const std::atomic<uint32_t> no_steps_{0};
  RunView* starting_ = nullptr;
  Take take_;
  mutable std::mutex mutex_;  // of what follows
  RunView* view_ = nullptr;
  uint64_t step_ = 0;
  std::string doing_ = "its start";
};

/// For one thread, but for where() and Cancel().
class ShardSessions {
 public:
  explicit ShardSessions(std::shared_ptr<Scope> scope) : scope_(std::move(scope)), graph_(scope_->revision()->graph) {}

  /// Sessions for the parts. What Session::CheckAsked says.
  Status Make(const ShardParts& divided);
  /// Null where the part is empty.
  Session* before() const { return before_.get(); }
  Session* after() const { return after_.get(); }
  Session& shard() const { return *shard_; }

  /// One run of a session. cancelled after Cancel; failed_precondition where the page was edited.
  Status Run(Session& session, uint64_t step, std::string doing, ShardWatch::Take take = {});
  /// The same of a session that runs this once.
  Status RunOnce(SessionSpec spec, uint64_t step, std::string doing);
  /// What this rank does besides.
  void Announce(uint64_t step, std::string doing) { watch_.Announce(step, std::move(doing), {}); }
  std::string where() const { return watch_.where(); }

  /// From any thread, and from signal handlers.
  void Cancel();
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  const std::shared_ptr<Scope> scope_;
  const std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Session> before_, shard_, after_;
  std::vector<std::unique_ptr<Session>> past_;  // which Cancel may have seen
  std::atomic<Session*> running_{nullptr};
  ShardWatch watch_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace weft
