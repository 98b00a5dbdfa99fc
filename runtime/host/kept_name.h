// Names that hosts have given, through edits of the page.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/state/kept_blocks.h"
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

/// A name of a value, or a condition on one ("cost.output < 0.5"), after the block `from` was renamed.
std::string Renamed(const std::string& text, std::string_view from, std::string_view to);

}  // namespace weft
