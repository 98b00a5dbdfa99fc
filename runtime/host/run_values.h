// Values that go into and out of a runner's runs: what a host feeds, and functions that take results.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/exec/result_name.h"
#include "runtime/host/kept_name.h"
#include "weft/host/runner.h"

namespace weft {

/// What a host feeds, until a run takes it. Thread-safe; what is fed follows its block through edits of the page (KeptName).
class RunFeeds {
 public:
  /// Absent: the page's own value again. Errors of Runner::Feed. The value is looked up in the page as it is now, which the runs to come are
  /// of; while the session is outdated_page(), also in its own revision; then among what is fed, by the name that the host gave.
  Status Add(const Session& session, std::string_view name, std::optional<Tensor> tensor);
  /// Whether BeforeRun has something to do.
  bool waiting(const Session& session) const {
    return waiting_.load(std::memory_order_acquire) || (any_.load(std::memory_order_relaxed) && edits_ != session.scope().edits());
  }
  /// Hands over to the session what was added, as far as its page has it. On the thread that runs, or while nothing does.
  Status Apply(Session& session);
  /// The same, and what an edit took away with its block is fed again where the block is back. On the thread that runs.
  Status BeforeRun(Session& session);

 private:
  struct Fed {
    KeptName name;
    std::optional<Tensor> tensor;
    /// The value in a revision of the page, whatever it is called there; invalid where there is none.
    ValueRef In(const Graph& graph) const;
  };
  bool DropOtherTypes(Session& session) const;
  void FeedAgain(Session& session);

  std::atomic<bool> waiting_{false}, any_{false};
  std::atomic<uint64_t> edits_{0};  // of the page when all that is fed was found to be
  std::mutex mutex_;
  std::vector<Fed> pending_;
  std::vector<Fed> fed_;  // what is fed, or is to be
};

/// Functions that take results at the end of each run. Thread-safe; the results follow their blocks through edits of the page (KeptName).
class RunOutputs {
 public:
  using Take = std::function<Status(const ResultValue&)>;
  /// In place of the one of that value; empty: no more. Errors of Runner::SetOutput.
  Status Set(const Session& session, std::string_view name, Take take);
  bool any() const { return any_.load(std::memory_order_acquire); }
  /// Calls them, each with its result, without a lock. For what the session has no more there is no call.
  Status Give(const Session& session);
  void Clear();

 private:
  struct Output {
    KeptName name;
    Take take;
    std::shared_ptr<const Graph> graph;  // that `value` is of
    std::optional<NamedValue> value;     // where the session keeps it
  };
  static void Find(Output& output, const Session& session, const std::shared_ptr<const Graph>& graph);

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Output> outputs_;
};

}  // namespace weft
