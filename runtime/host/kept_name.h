// Names that hosts have given, through edits of the page.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/state/kept_blocks.h"
#include "weft/exec/session.h"
#include "weft/state/scope.h"

namespace weft {

/// The name of a value ("ID.port[1]", "ID.result_port[0][2]") or of a block, which stays that of the same one (KeptBlock). Thread-safe.
class KeptName {
 public:
  /// `given` names a value, or a block, of `graph`, a revision of the scope's page.
  static KeptName OfValue(const Scope& scope, const Graph& graph, std::string given);
  static KeptName OfBlock(const Scope& scope, const Graph& graph, std::string given);

  /// As the host gave it.
  const std::string& given() const { return given_; }
  /// What a revision of the page calls it; absent where that has no such block.
  std::optional<std::string> In(const Graph& graph) const;
  /// What the page calls it now; where the page has no such block, what it was called last.
  std::string text() const;

 private:
  KeptName(const Scope& scope, const Graph& graph, std::string given, size_t id_size);
  std::string given_;
  size_t id_size_;  // of the id at the front
  std::optional<KeptBlock> block_;
};

/// What was found of a host's name, a Status or a Result, and the page that it was looked up in last.
template <class Found>
struct Lookup {
  std::shared_ptr<const Graph> graph;
  Found found;
};

/// Looks a name up by `find(const Graph&)`: in the page as it is now and, where that fails and `and_before`, in the page of the session's
/// current run, which may be older. Where both fail, gives what was said of the page as it is now.
template <class Find>
Lookup<std::invoke_result_t<Find, const Graph&>> LookUp(const Session& session, Find find, bool and_before = true) {
  std::shared_ptr<const Graph> now = session.scope().revision()->graph;
  auto found = find(*now);
  if (found.ok() || !and_before) return {std::move(now), std::move(found)};
  std::shared_ptr<const Graph> before = session.graph();
  if (before == now) return {std::move(now), std::move(found)};
  auto found_before = find(*before);
  if (!found_before.ok()) return {std::move(now), std::move(found)};
  return {std::move(before), std::move(found_before)};
}
/// The same of what is for runs to come: these are of the page as it is now, or of the last that could be planned.
template <class Find>
auto LookUpForNextRun(const Session& session, Find find) {
  return LookUp(session, std::move(find), session.outdated_page());
}

/// A name of a value, or a condition on one ("cost.output < 0.5"), after the block `from` was renamed.
std::string Renamed(const std::string& text, std::string_view from, std::string_view to);

}  // namespace weft
