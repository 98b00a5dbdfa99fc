#include "runtime/host/ranks/fingerprint.h"

#include "runtime/host/version.h"
#include "weft/base/hash.h"
#include "weft/page/writer.h"

namespace weft {
std::vector<Fingerprint> FingerprintOf(const Graph& graph, const SessionSpec& spec, const ShardingOptions& options) {
  uint64_t session = HashBytes(spec.id), cut = HashBytes(Cat(options.shards, " ", options.sum, " ", options.settings));
  for (const SessionSpec::Fetch& fetch : spec.fetches) session = HashBytes(fetch.name, session);
  for (int node : spec.run) session = HashBytes(graph.node(node).id, session);
  for (const auto* names : {&options.cut, &options.whole}) {
    cut = HashBytes("outputs", cut);
    for (const std::string& name : *names) cut = HashBytes(name, cut);
  }
  return {{"version of weft", HashBytes(kVersion)}, {"page", HashBytes(WritePage(graph.page()))}, {"session", session}, {"set of options", cut}};
}

Fingerprint FingerprintOfFeeds(const Graph& graph, const SessionSpec& spec) {
  uint64_t feeds = 0;
  for (const SessionSpec::Feed& feed : spec.feeds) {
    feeds = HashBytes(Cat(graph.ValueName(feed.value), " ", feed.tensor.dtype(), " ", feed.tensor.shape()), feeds);
    if (feed.tensor.dtype() == DType::kString) {
      for (const std::string_view text : feed.tensor.values<String>()) feeds = HashBytes(text, HashBytes(Cat(text.size(), " "), feeds));
    } else {
      feeds = HashBytes({static_cast<const char*>(feed.tensor.data()), static_cast<size_t>(feed.tensor.bytes())}, feeds);
    }
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
      others += Cat(others.empty() ? "" : "; ", RankName(collectives, r), " has another ", own[f].first, " than ", RankName(collectives, 0));
      break;
    }
  }
  return others.empty() ? Status() : InvalidArgument(others).WithHint("all ranks need the same files and the same options");
}

}  // namespace weft
