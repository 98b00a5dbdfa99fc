// Scope: a loaded page and the state it keeps: variables, queues, readers, random streams. The page's sessions share it.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/plan/graph.h"
#include "weft/session/runtime.h"

namespace weft {

struct ScopeOptions {
  std::filesystem::path page_folder;                    // relative file names start here; empty: the working folder
  std::vector<std::filesystem::path> allowed_folders;   // besides page_folder
  bool allow_page_folder = true;
  std::function<void(std::string_view)> print;          // where Print and warnings go; called from any thread; may be empty
  /// How long all running sessions may wait for one another (on a queue, say) before that is an error. Negative: for ever.
  int64_t stall_limit_ms = 5000;
};

/// Thread-safe. Sessions keep it alive.
/// The value of one variable. Read and written with the scope's lock of values held.
struct VariableCell {
  Tensor value;  // undefined while the variable has none
};

/// One state of an edited page: its graph, and where the values of its variables are. Each edit makes a new one; a session that runs keeps
/// the one it was planned for. Editions share the cells of variables that are the same in both.
struct Edition {
  std::shared_ptr<const Graph> graph;
  std::vector<std::shared_ptr<VariableCell>> variables;  // by Graph::variables()
  bool started = false;  // its variables have their initial values; with the scope's lock of values
};

class Scope : public std::enable_shared_from_this<Scope> {
 public:
  /// Resolves and checks the page; every fault is in `diagnostics`. Gives null only where there are errors that leave no graph.
  static std::shared_ptr<Scope> Open(Runtime& runtime, std::shared_ptr<const Page> page, std::string_view name, ScopeOptions options,
                                     Diagnostics& diagnostics);

  Runtime& runtime() const { return runtime_; }
  /// The page as it is now. The reference holds until the next edit: who reads while others edit takes the edition.
  const Graph& graph() const { return *edition()->graph; }
  std::shared_ptr<Edition> edition() const;

  /// The value of a Variable block. failed_precondition where it has none yet; not_found where there is no such variable.
  Result<Tensor> GetVariable(std::string_view id) const;
  /// Replaces it. invalid_argument for another type.
  Status SetVariable(std::string_view id, Tensor value);

 private:
  friend class Executor;
  friend class ScopeWaiter;
  friend class ScopeFiles;
  friend class ScopeBinder;
  Scope(Runtime& runtime, ScopeOptions options) : runtime_(runtime), options_(std::move(options)) {}

  static Result<int> FindVariable(const Graph& graph, std::string_view id);

  Runtime& runtime_;
  const ScopeOptions options_;
  std::unique_ptr<Graph> graph_;

  mutable std::mutex edition_mutex_;
  std::shared_ptr<Edition> edition_;

  mutable std::mutex values_mutex_;  // of the editions' cells; held for moments only: snapshots and commits

  friend class Turn;
  std::mutex turn_mutex_;
  std::condition_variable turn_changed_;
  // Lines of those who want a turn, in the order they came; the first has it. Without an order a run that waits for room in a queue
  // could take every turn before the run that would make the room.
  class Turn* updating_ = nullptr;  // from a run's first update to its commit
  class Turn* starting_ = nullptr;  // while a run starts the variables

  std::mutex resources_mutex_;
  std::map<std::string, ResourceHandle, std::less<>> resources_;

  std::mutex stall_mutex_;
  int running_ = 0, waiting_ = 0;
  uint64_t progress_ = 0;  // counts runs that began and waits that ended
};

}  // namespace weft
