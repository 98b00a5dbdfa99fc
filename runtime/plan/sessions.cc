// Sessions that a page's ClientSession blocks describe.
#include <string>
#include <vector>

#include "runtime/plan/connecting.h"
#include "runtime/plan/passes.h"

namespace weft {
namespace {

void ReadFetches(Draft& draft, int block, SessionSpec& session) {
  const PageInput* fetches = InputOf(draft, block, "fetch_outputs");
  if (fetches == nullptr) return;
  const int port = draft.nodes[block].def->FindInput("fetch_outputs");
  for (size_t k = 0; k < fetches->items.size(); ++k) {
    const auto* wire = std::get_if<Wire>(&fetches->items[k]);
    if (wire == nullptr) {
      draft.Error(InvalidArgument("a fetch needs a wire to an output, found a value"), block, fetches->port, static_cast<int>(k));
      continue;
    }
    std::vector<ValueRef> values;
    if (!ConnectItem(draft, block, port, *fetches, k, values)) {
      // What a broken block reads is planned for its faults.
      if (int producer = draft.ProducerOf(block, *fetches, k); producer >= 0) session.run.push_back(producer);
      continue;
    }
    for (size_t v = 0; v < values.size(); ++v) {
      session.fetches.push_back({values.size() == 1 ? ToString(*wire) : Cat(*wire, "[", v, "]"), values[v]});
    }
  }
}

// Any port stands for its block, as imported pages write it; in Weft's format it is more likely a fetch in the wrong place.
void WarnOfData(Draft& draft, const Wire& wire, int target, int block, const PageInput& input, size_t item) {
  const Node& node = draft.nodes[target];
  if (wire.port == "operation" || draft.page.format != Page::Format::kWeft || node.def == nullptr || node.id != wire.block) return;
  Status status = InvalidArgument("the input runs the block '", wire.block, "' for its effect, and does not take its value '", wire.port, "'")
                      .WithHint(Cat("write ", wire.block, ".operation, or fetch the value by fetch_outputs"));
  draft.diagnostics.Warning(draft.At(std::move(status), block, input.port, input.list ? static_cast<int>(item) : -1));
}

void ReadOperations(Draft& draft, int block, SessionSpec& session) {
  const PageInput* run = InputOf(draft, block, "run_outputs");
  if (run == nullptr) return;
  for (size_t k = 0; k < run->items.size(); ++k) {
    const auto* wire = std::get_if<Wire>(&run->items[k]);
    auto target = wire == nullptr ? Result<int>(InvalidArgument("an operation needs a wire to a block, found a value"))
                                  : OperationOf(draft, *wire, draft.ProducerOf(block, *run, k));
    if (!target.ok()) {
      draft.Error(std::move(target).status(), block, run->port, static_cast<int>(k));
      continue;
    }
    WarnOfData(draft, *wire, *target, block, *run, k);
    draft.nodes[block].broken |= draft.nodes[*target].broken;
    session.run.push_back(*target);
  }
}

/// The FeedType block that a wire comes from.
Result<int> FeedOf(Draft& draft, const Wire* wire, int producer) {
  if (wire == nullptr) return InvalidArgument("a feed needs a wire to a FeedType block, found a value");
  if (producer < 0) return draft.NoBlock(wire->block);
  const BlockDef* def = draft.nodes[producer].def;
  if (def == nullptr || def->structural == Structural::kFeed) return producer;
  return InvalidArgument("a feed needs a FeedType block, found '", wire->block, "' (", def->name, ")");
}

void ReadFeeds(Draft& draft, int block, SessionSpec& session) {
  const PageInput* feeds = InputOf(draft, block, "inputs");
  if (feeds == nullptr) return;
  for (size_t k = 0; k < feeds->items.size(); ++k) {
    auto feed = FeedOf(draft, std::get_if<Wire>(&feeds->items[k]), draft.ProducerOf(block, *feeds, k));
    if (!feed.ok()) draft.Error(std::move(feed).status(), block, feeds->port, static_cast<int>(k));
    else if (draft.nodes[*feed].broken) draft.nodes[block].broken = true;
    else session.feeds.push_back({draft.nodes[*feed].inputs[0], draft.nodes[*feed].constant});
  }
}

SessionSpec ReadSession(Draft& draft, int block) {
  const Node& node = draft.nodes[block];
  SessionSpec session;
  session.id = node.id;
  session.node = block;
  session.by_name = false;
  const int loop = node.def->FindAttr("INFINITE_LOOP");
  if (loop >= 0 && std::holds_alternative<bool>(node.attrs[loop])) session.loop = std::get<bool>(node.attrs[loop]);
  ReadFetches(draft, block, session);
  ReadOperations(draft, block, session);
  ReadFeeds(draft, block, session);
  return session;
}

}  // namespace

void ConnectSessions(Draft& draft) {
  for (int block = 0; block < draft.blocks(); ++block) {
    const BlockDef* def = draft.nodes[block].def;
    if (def != nullptr && def->structural == Structural::kSession) draft.parts.sessions.push_back(ReadSession(draft, block));
  }
}

}  // namespace weft
