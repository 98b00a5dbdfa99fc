#include "runtime/host/ranks/fingerprint.h"

#include <functional>

#include "runtime/host/version.h"
#include "weft/page/writer.h"

namespace weft {
namespace {

uint64_t HashOf(uint64_t before, std::string_view bytes) { return before * 0x9E3779B97F4A7C15u + std::hash<std::string_view>()(bytes) + 1; }

std::string Name(const Collectives& collectives, size_t rank) { return Cat("rank ", rank, " (", collectives.host(static_cast<int>(rank)), ")"); }

}  // namespace

std::vector<Fingerprint> FingerprintOf(const Graph& graph, const SessionSpec& spec, const ShardingOptions& options) {
  uint64_t session = HashOf(0, spec.id), cut = HashOf(0, Cat(options.shards, " ", options.sum, " ", options.settings));
  for (const SessionSpec::Fetch& fetch : spec.fetches) session = HashOf(session, fetch.name);
  for (int node : spec.run) session = HashOf(session, graph.node(node).id);
  for (const auto* names : {&options.cut, &options.whole}) {
    cut = HashOf(cut, "outputs");
    for (const std::string& name : *names) cut = HashOf(cut, name);
  }
  return {{"version of weft", HashOf(0, kVersion)}, {"page", HashOf(0, WritePage(graph.page()))}, {"session", session}, {"set of options", cut}};
}

Fingerprint FingerprintOfFeeds(const Graph& graph, const SessionSpec& spec) {
  uint64_t feeds = 0;
  for (const SessionSpec::Feed& feed : spec.feeds) {
    feeds = HashOf(feeds, Cat(graph.ValueName(feed.value), " ", feed.tensor.dtype(), " ", feed.tensor.shape()));
    if (feed.tensor.dtype() == DType::kString) feeds = HashOf(feeds, ToString(feed.tensor, feed.tensor.count()));
    else feeds = HashOf(feeds, {static_cast<const char*>(feed.tensor.data()), static_cast<size_t>(feed.tensor.bytes())});
  }
  return {"feed", feeds};
}

Status AgreeOnFingerprints(Collectives& collectives, const std::vector<Fingerprint>& own) {
  std::string bytes;
  for (const Fingerprint& fingerprint : own) bytes.append(reinterpret_cast<const char*>(&fingerprint.second), sizeof fingerprint.second);
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(collectives, CollectiveUser::kControl, bytes, "for the pages of all ranks"));
  std::string others;
  for (size_t r = 1; r < all.size(); ++r) {
    for (size_t f = 0; f < own.size(); ++f) {
      if (all[r].substr(f * sizeof(uint64_t), sizeof(uint64_t)) == all[0].substr(f * sizeof(uint64_t), sizeof(uint64_t))) continue;
      others += Cat(others.empty() ? "" : "; ", Name(collectives, r), " has another ", own[f].first, " than ", Name(collectives, 0));
      break;
    }
  }
  return others.empty() ? Status() : InvalidArgument(others).WithHint("all ranks need the same files and the same options");
}

}  // namespace weft
