// All state of a scope at one moment, and its way to and from a snapshot.
#pragma once

#include <optional>
#include <vector>

#include "runtime/state/resource_store.h"
#include "runtime/state/run_gate.h"
#include "runtime/state/snapshot_file.h"
#include "runtime/state/variable_store.h"
#include "weft/state/snapshot.h"

namespace weft {

/// Variables and resources of a scope, taken between two runs or read from a file. For one thread.
class ScopeState {
 public:
  explicit ScopeState(Scope& scope) : scope_(scope), revision_(scope.revision()) {}

  /// Takes what the scope has now. Waits for the moment.
  Status Capture(std::chrono::nanoseconds patience);
  Status Write(SnapshotWriter& file) const;

  Status Read(SnapshotReader& file);
  /// Says all that does not fit of what was read; the scope stays as it is.
  Status Check(const RestoreOptions& options, Diagnostics& problems);
  /// Puts what was read into the scope, or says all that does not fit.
  Status Apply(const RestoreOptions& options, Diagnostics& problems);

  SnapshotSummary summary() const { return {variables_.size(), resources_.size(), 0}; }

 private:
  struct Variable {
    std::string id, block;
    bool fits_page = true;  // its shape was one that the page declares
    Tensor value;           // undefined: none
  };
  struct ResourceState {
    std::string key;    // in the ResourceStore
    std::string block;  // the type of the block that makes it
    std::string kind, state;
  };
  using Change = std::function<void()>;

  Status Close(RunGate::Closing& gate, std::chrono::nanoseconds patience) const;
  Status Fit(bool partial, ResourceStore::Access& resources, VariableAccess& variables, Diagnostics& problems, std::vector<Change>& changes) const;
  Status CaptureVariables();
  Status CaptureResources();
  Status ReadSections(SnapshotReader& file);
  Status ReadVariable(SnapshotReader& file);
  Status ReadResource(SnapshotReader& file);
  void FitVariables(bool partial, VariableAccess& access, Diagnostics& problems, std::vector<Change>& changes) const;
  void FitResources(bool partial, ResourceStore::Access& access, Diagnostics& problems, std::vector<Change>& changes) const;
  Status FitVariable(const Variable& saved, VariableAccess& access, std::vector<char>& found, std::vector<Change>& changes) const;
  /// `maker`: the type of the block on this page that makes it; empty where none does.
  Status FitResource(const ResourceState& saved, std::string_view maker, const ResourceStore::Access& access, ResourceStore::SavedStates& restored,
                     std::vector<Change>& changes) const;

  Scope& scope_;
  const std::shared_ptr<Revision> revision_;
  std::string page_, file_;  // whose state it is, and the snapshot that it was read from
  bool started_ = false;
  std::vector<Variable> variables_;
  std::vector<ResourceState> resources_;
};

/// Loads into a resource what was saved of one. Called with the scope's lock of resources held.
Result<std::function<void()>> LoadResource(Resource& resource, std::string_view kind, std::string_view state, const Scope& scope);

}  // namespace weft
