// Values that go into and out of a runner's runs: what a host feeds, and functions that take results.
#pragma once

#include <mutex>
#include <vector>

#include "weft/host/runner.h"

namespace weft {

/// What a host feeds, until a run takes it. Thread-safe; what is fed follows its block through edits of the page.
class RunFeeds {
 public:
  /// Absent: the page's own value again. Errors of Runner::Feed. The value is looked up in the page as it is now, which the runs to come are
  /// of; while the session is outdated_page(), also in its own revision.
  Status Add(const Session& session, std::string_view name, std::optional<Tensor> tensor);
  bool waiting() const { return waiting_.load(std::memory_order_acquire); }
  /// Hands over to the session what was added, as far as its page has it. On the thread that runs, or while nothing does.
  Status Apply(Session& session);

 private:
  struct Fed {
    std::shared_ptr<const Graph> graph;  // that the value was found in
    ValueRef value;
    std::optional<Tensor> tensor;
    /// The same value of another revision, whatever it is called there.
    ValueRef In(const Graph& other) const;
  };
  bool DropOtherTypes(Session& session) const;

  std::atomic<bool> waiting_{false};
  std::mutex mutex_;
  std::vector<Fed> pending_;
  std::vector<Fed> fed_;  // what is fed, or is to be; without tensors
};

/// Functions that take results at the end of each run. Thread-safe.
class RunOutputs {
 public:
  using Take = std::function<Status(const ResultValue&)>;
  /// In place of the one of that name; empty: no more.
  void Set(std::string_view name, Take take);
  bool any() const { return any_.load(std::memory_order_acquire); }
  /// Calls them, each with its result, without a lock.
  Status Give(const Session& session);
  void Clear();

 private:
  struct Output {
    std::string name;
    Take take;
  };
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Output> outputs_;
};

}  // namespace weft
