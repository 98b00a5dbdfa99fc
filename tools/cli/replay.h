// Replay: a page that was saved after a run is computed again from what it recorded, and compared.
#pragma once

#include <string>
#include <vector>

#include "weft/exec/session.h"

namespace weft::cli {

struct ReplayVerdict {
  enum class Kind : uint8_t { kAgree, kDiffer, kUndetermined };
  std::string result;  // ID.port
  Kind kind = Kind::kUndetermined;
  std::string reason;  // why it is undetermined, or how it differs; empty where it agrees
};

/// Computes each block from the recorded values of its producers. Variables get their recorded values.
std::vector<ReplayVerdict> ReplayBlocks(const std::shared_ptr<Scope>& scope);

/// Runs the page once from its recorded Variables and compares every other recorded result.
std::vector<ReplayVerdict> ReplayWhole(const std::shared_ptr<Scope>& scope);

}  // namespace weft::cli
