// KeptBlocks: the blocks of a page that hosts have named, through its edits.
#pragma once

#include <memory>
#include <mutex>
#include <string>

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
  struct State;
  explicit KeptBlock(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Of one scope. Thread-safe.
class KeptBlocks {
 public:
  explicit KeptBlocks(const RevisionHistory& history);
  /// `block` is an index into the blocks of the page that the graph, one of its revisions, is of.
  KeptBlock Keep(const Graph& graph, int block);
  /// An edit has made the page what `graph` is of. To be called in the order of edits. Without memory for a longer id, a block keeps the one
  /// that it had.
  void Follow(const Graph& graph) noexcept;

 private:
  friend struct KeptBlock::State;
  struct List {
    std::mutex mutex;
    KeptBlock::State* first = nullptr;
  };
  const RevisionHistory& history_;
  const std::shared_ptr<List> kept_;  // what is kept leaves it, also after the page
};

}  // namespace weft
