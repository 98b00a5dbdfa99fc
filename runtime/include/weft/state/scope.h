// Scope: a loaded page and the state it keeps: variables, queues, readers, random streams. The page's sessions share it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/page/edit.h"
#include "weft/page/edit_changes.h"
#include "weft/plan/plan.h"
#include "weft/state/revision.h"
#include "weft/state/runtime.h"

namespace weft {

struct ScopeOptions {
  std::shared_ptr<const Files> files;           // what blocks may read and write; null: no files
  std::function<void(std::string_view)> print;  // where Print and warnings go; called from any thread; may be empty
  std::shared_ptr<MemoryBudget> budget;         // what the page may hold; null: Runtime::PageBudget
  /// How long all running sessions may wait for one another (on a queue, say) before that is an error: the host may yet start one that ends
  /// the wait. Negative: for ever. Else it is an error at once where a PageRun runs all sessions of the scope.
  int64_t stall_limit_ms = 5000;
};

/// What to do with edits of an open page.
enum class EditMode : uint8_t {
  kApply,       // make them, whatever they mean: a page in the making has faults
  kStrict,      // make them where the page has no error afterwards that it did not have before
  kTry,         // make nothing: only say what kStrict would
  kOpenInputs,  // as kStrict, but inputs may have neither a wire nor a value: for an editor, whose pages are not ready for long
};

/// Thread-safe. Sessions keep it alive.
class Scope : public std::enable_shared_from_this<Scope> {
 public:
  /// Resolves and checks the page; every fault is in `diagnostics`. Gives null only where there are errors that leave no graph.
  static std::shared_ptr<Scope> Open(Runtime& runtime, std::shared_ptr<const Page> page, std::string_view name, ScopeOptions options,
                                     Diagnostics& diagnostics);

  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  Runtime& runtime() const { return runtime_; }
  /// Of all that the page holds: its text, graph and plans, values and state. Never null.
  const std::shared_ptr<MemoryBudget>& budget() const { return options_.budget; }
  /// The page as it is now. The reference holds until the next edit: who reads while others edit takes the revision.
  const Graph& graph() const { return *revision()->graph; }
  std::shared_ptr<Revision> revision() const;

  /// Changes the page, and gives the edits that take it back (see weft/page/edit.h). All edits are made or none. `diagnostics` gets every
  /// fault of the page as it would be, as Open and CheckSessions give them. A session that runs finishes its run of the page as it was; its
  /// next one is of the page as it is now. Feeds and fetches follow blocks that are renamed; results stay readable until then.
  /// Variables keep their values where their blocks are there before and after, of the same type and with the same initial value, and the
  /// value fits the shape that they declare; others start anew, as does the state of a block (a queue, a random stream, a reader) whose
  /// type or attributes change. Errors are those of ApplyEdits; where the mode is not kApply also the first new error of the page,
  /// told of the input that the edits wired, where a block's checks tell it of another of its inputs.
  /// `changes` (may be null) gets what is different, in kTry: what would be.
  /// `prepare` (may be empty; not called in kTry) is called with the edits that take it back and the page as it will be when nothing can fail
  /// but it, and nothing is changed yet: where it fails, nothing is.
  using Prepare = std::function<Status(const std::vector<Edit>& inverse, const Page& page)>;
  Result<std::vector<Edit>> Apply(std::span<const Edit> edits, Diagnostics& diagnostics, EditMode mode = EditMode::kApply,
                                  PageChanges* changes = nullptr, const Prepare& prepare = {});
  /// Counts the edits of the page.
  uint64_t edits() const;

  /// The value of a Variable block. failed_precondition where it has none yet; not_found where there is no such variable.
  Result<Tensor> GetVariable(std::string_view id) const;
  /// Replaces it. invalid_argument for another type.
  Status SetVariable(std::string_view id, Tensor value);

  // For the layers above: what runs, edits and snapshots of the page share. The classes are those of runtime/state.
  const ScopeOptions& options() const { return options_; }
  class VariableStore& variables() const;
  class ResourceStore& resources() const;
  class RunGate& runs() const;
  /// Blocks that hosts have named, through edits.
  class KeptBlocks& kept_blocks() const;
  /// For a run that updates variables, from its turn to its commit.
  class TurnLine& updating() const;
  /// For a run that starts the variables.
  class TurnLine& starting() const;
  /// What the session that was planned last keeps; edits are checked with plans of the same.
  Keep last_keep() const { return last_keep_.load(std::memory_order_relaxed); }
  /// Gives the plan a number that no other of the scope has, from 1 on.
  uint64_t NumberPlan(Keep keep);

 private:
  struct Parts;
  Scope(Runtime& runtime, ScopeOptions options);

  Runtime& runtime_;
  const ScopeOptions options_;
  const std::unique_ptr<Parts> parts_;
  std::atomic<Keep> last_keep_{Keep::kAll};
  std::atomic<uint64_t> plans_{0};
};

/// Plans every session of the page, or the default one where it has none, and reports each fault of shapes once, also of blocks that no
/// session reads. Also where the page has other errors: then for all that those do not reach.
void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics);

}  // namespace weft
