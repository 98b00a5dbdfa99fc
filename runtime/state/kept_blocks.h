// KeptBlocks: the blocks of a page that hosts have named, through its edits.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/state/revision_history.h"
#include "weft/plan/graph.h"

namespace weft {

/// A block that a host has named: that block, whatever edits call it and wherever they put it. Where an edit removes it, any block that has the
/// id that it had last, once there is one: hosts with an undo list of their own bring a block back as a new one. Copies are one and the
/// same. Thread-safe; it may outlive its page.
class KeptBlock {
 public:
  /// Its index in a revision of the page; -1 where that has no such block.
  int In(const Graph& graph) const;
  /// What the page calls it now; where the page has it no more, what it was called last.
  std::string id() const;

 private:
  friend class KeptBlocks;
  struct State {
    std::mutex mutex;
    uint64_t named = 0, now = 0;  // serial numbers: of the block that was named, and of the one that has taken its place
    int place = -1;               // where it was seen last
    std::string id;
    int Find(const Graph& graph);
    void Follow(const Graph& graph) noexcept;
  };
  explicit KeptBlock(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Of one scope. Thread-safe.
class KeptBlocks {
 public:
  explicit KeptBlocks(const RevisionHistory& history) : history_(history) {}
  /// `block` is an index into the blocks of the page that the graph, one of its revisions, is of.
  KeptBlock Keep(const Graph& graph, int block);
  /// An edit has made the page what `graph` is of. To be called in the order of edits. Without memory for a longer id, a block keeps the one
  /// that it had.
  void Follow(const Graph& graph) noexcept;

 private:
  const RevisionHistory& history_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<KeptBlock::State>> kept_;
  size_t tidy_at_ = 64;  // how many there are when those that nobody has any more are taken out
};

}  // namespace weft
