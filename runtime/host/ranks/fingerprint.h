// What all ranks of a job must have alike, as hashes that they compare.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/block/collectives.h"
#include "weft/host/sharded_run.h"
#include "weft/plan/graph.h"

namespace weft {

/// A part and its hash: {"page", 123}.
using Fingerprint = std::pair<std::string, uint64_t>;

/// Of a session and how it is cut: the engine's version, the page, what is asked for, the options.
std::vector<Fingerprint> FingerprintOf(const Graph& graph, const SessionSpec& spec, const ShardingOptions& options);
/// Of the values that replace others.
Fingerprint FingerprintOfFeeds(const Graph& graph, const SessionSpec& spec);

/// Fails on all ranks where one has other fingerprints than rank 0: invalid_argument, with each such rank and the first part that differs.
Status AgreeOnFingerprints(Collectives& collectives, const std::vector<Fingerprint>& own);

}  // namespace weft
