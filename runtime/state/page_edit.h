// The steps of an edit of an open page: its page changed, a revision of it, the state that goes with it.
#pragma once

#include <memory>
#include <vector>

#include "runtime/state/resource_store.h"
#include "runtime/state/variable_store.h"
#include "weft/page/edit.h"
#include "weft/state/scope.h"

namespace weft {

/// Gives what takes the edits back; `edits` become as they were made. Where one fails, the page is to be dropped.
Result<std::vector<Edit>> ApplyToPage(Page& page, const Registry& registry, std::vector<Edit>& edits);

/// A revision of the graph after `old`. What is the same variable in both, and starts with the same value, has the same cell, unless its
/// value does not fit the shape that it declares now; others have a new one.
std::shared_ptr<Revision> NextRevision(const Revision& old, std::shared_ptr<const Graph> graph, VariableStore& store);

/// Adds the faults of the sessions' plans, and those of shapes of blocks that no session reads, each once. `keep_plans`: plans of sessions that
/// have none wait in the revision for those.
void CheckRevision(const Scope& scope, Revision& revision, Diagnostics& diagnostics, bool keep_plans);

/// The first error of `after`, found of `fresh`, that is not one of `before`, found of `old`, wherever on the page; where
/// there are more than are kept, also an error that says how many there would be. `open_inputs`: but for inputs that have nothing.
Status FirstNewError(const Revision& old, const Diagnostics& before, const Revision& fresh, const Diagnostics& after, bool open_inputs);

/// A fault that edits brought to the page of `graph`: told of the input that they wired, where a block's checks tell it of another one.
Status ToldOfEdits(const Graph& graph, std::span<const Edit> edits, Status fault);

/// Resources go with a block that is renamed; those of blocks that are gone, or whose type or attributes changed, are dropped.
void MoveResources(const Graph& old, const Graph& fresh, ResourceStore& store);

}  // namespace weft
