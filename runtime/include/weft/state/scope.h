// Scope: a loaded page and the state it keeps: variables, queues, readers, random streams. The page's sessions share it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/page/edit.h"
#include "weft/page/edit_changes.h"
#include "weft/plan/plan.h"
#include "weft/state/runtime.h"

namespace weft {

struct ScopeOptions {
  std::filesystem::path page_folder;                    // relative file names start here; empty: the working folder
  std::vector<std::filesystem::path> allowed_folders;   // besides page_folder
  bool allow_page_folder = true;
  std::function<void(std::string_view)> print;          // where Print and warnings go; called from any thread; may be empty
  /// How long all running sessions may wait for one another (on a queue, say) before that is an error. Negative: for ever.
  int64_t stall_limit_ms = 5000;
};

/// The value of one variable. Read and written with the scope's lock of values held.
class VariableCell {
 public:
  /// Undefined while the variable has none.
  const Tensor& value() const { return value_; }
  /// `changes` counts those of all cells of a scope, so that a session sees whether what it took is what they hold.
  void Set(Tensor value, uint64_t& changes) {
    value_ = std::move(value);
    ++changes;
  }

 private:
  Tensor value_;
};

/// One state of an edited page: its graph, and where the values of its variables are. Each edit makes a new one; a session that runs keeps
/// the one it was planned for. Revisions share the cells of variables that are the same in both.
struct Revision {
  std::shared_ptr<const Graph> graph;
  std::vector<std::shared_ptr<VariableCell>> variables;  // by Graph::variables()
  uint64_t number = 0;   // of edits before it
  Diagnostics found;     // what was wrong when its graph was made
  bool started = false;  // its variables have their initial values; with the scope's lock of values

  /// A plan that was made when the page was checked, for the first session that asks for the same.
  std::optional<Plan> TakePlan(const PlanRequest& request);
  std::mutex plans_mutex;
  std::vector<std::pair<PlanRequest, Plan>> plans;
};

/// What to do with edits of an open page.
enum class EditMode : uint8_t {
  kApply,   // make them, whatever they mean: a page in the making has faults
  kStrict,  // make them where the page has no error afterwards that it did not have before
  kTry,     // make nothing: only say what kStrict would
};

/// Thread-safe. Sessions keep it alive.
class Scope : public std::enable_shared_from_this<Scope> {
 public:
  /// Resolves and checks the page; every fault is in `diagnostics`. Gives null only where there are errors that leave no graph.
  static std::shared_ptr<Scope> Open(Runtime& runtime, std::shared_ptr<const Page> page, std::string_view name, ScopeOptions options,
                                     Diagnostics& diagnostics);

  Runtime& runtime() const { return runtime_; }
  /// The page as it is now. The reference holds until the next edit: who reads while others edit takes the revision.
  const Graph& graph() const { return *revision()->graph; }
  std::shared_ptr<Revision> revision() const;

  /// Changes the page, and gives the edits that take it back (see weft/page/edit.h). All edits are made or none. `diagnostics` gets every
  /// fault of the page as it would be, as Open and CheckSessions give them. A session that runs finishes its run of the page as it was; its
  /// next one is of the page as it is now. Feeds and fetches follow blocks that are renamed; results stay readable until then.
  /// Variables keep their values where their blocks are there before and after, of the same type and with the same initial value, and the
  /// value fits the shape that they declare; others start anew, as does the state of a block (a queue, a random stream, a reader) whose
  /// type or attributes change. Errors are those of ApplyEdits; with kStrict and kTry also the first new error of the page.
  /// `changes` (may be null) gets what is different, in kTry: what would be.
  Result<std::vector<Edit>> Apply(std::span<const Edit> edits, Diagnostics& diagnostics, EditMode mode = EditMode::kApply,
                                  PageChanges* changes = nullptr);
  /// Counts the edits of the page.
  uint64_t edits() const { return edits_.load(std::memory_order_acquire); }

  /// The value of a Variable block. failed_precondition where it has none yet; not_found where there is no such variable.
  Result<Tensor> GetVariable(std::string_view id) const;
  /// Replaces it. invalid_argument for another type.
  Status SetVariable(std::string_view id, Tensor value);

 private:
  friend class Executor;
  friend class ScopeState;
  friend void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics);
  friend class ScopeWaiter;
  friend class ScopeFiles;
  friend class ScopeBinder;
  Scope(Runtime& runtime, ScopeOptions options) : runtime_(runtime), options_(std::move(options)) {}

  static Result<int> FindVariable(const Graph& graph, std::string_view id);
  void CheckRevision(Revision& revision, Diagnostics& diagnostics, bool keep_plans) const;
  std::shared_ptr<Page> TakePageToEdit();
  std::shared_ptr<Revision> MakeRevision(const Revision& old, std::shared_ptr<const Graph> graph) const;
  void MoveState(const Graph& old, const Graph& fresh);

  Runtime& runtime_;
  const ScopeOptions options_;

  mutable std::mutex revision_mutex_;
  std::shared_ptr<Revision> revision_;
  std::mutex editing_mutex_;  // edits are made one at a time
  std::atomic<uint64_t> edits_{0};
  // The page before the last edits, and those: where nobody has it any more, it is brought up to date for the next ones, and none is copied.
  std::shared_ptr<Page> present_, spare_;
  std::vector<Edit> last_edits_;
  std::atomic<Keep> last_keep_{Keep::kAll};  // of the session that was planned last

  mutable std::mutex values_mutex_;  // of the revisions' cells; held for moments only: snapshots and commits
  uint64_t value_changes_ = 0;       // of those cells, from 1 on; with values_mutex_

  friend class Turn;
  std::mutex turn_mutex_;
  std::condition_variable turn_changed_;
  // Lines of those who want a turn, in the order they came; the first has it. Without an order a run that waits for room in a queue
  // could take every turn before the run that would make the room.
  class Turn* updating_ = nullptr;  // from a run's first update to its commit
  class Turn* starting_ = nullptr;  // while a run starts the variables

  std::mutex resources_mutex_;
  std::map<std::string, ResourceHandle, std::less<>> resources_;
  struct RestoredState {
    std::string kind, state;
  };
  std::map<std::string, RestoredState, std::less<>> restored_;  // by the same keys: what a snapshot holds for resources not made yet

  std::mutex stall_mutex_;
  int running_ = 0, waiting_ = 0;
  int paused_ = 0;  // of those that run, held up by their observers
  int holds_ = 0;   // while not 0, no run begins: the scope's state is saved or restored
  std::condition_variable runs_changed_;
  std::atomic<uint64_t> plans_{0};  // made by executors, to number them
  uint64_t progress_ = 0;  // counts runs that began and waits that ended
};

/// Plans every session of the page, or the default one where it has none, and reports each fault of shapes once. Also where the page has
/// other errors: then for all that those do not reach.
void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics);

}  // namespace weft
