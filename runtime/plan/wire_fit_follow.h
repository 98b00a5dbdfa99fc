// What comes of a block giving other outputs than it does.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "runtime/plan/wire_fit_links.h"
#include "runtime/plan/wire_fit_values.h"

namespace weft {

/// Why a wire does not fit; null where it does. Points into a Refusals.
using Refusal = const Status*;

/// Keeps the refusals of one question. Where only whether a wire fits is asked, they have no text: that would take most of the time.
class Refusals {
 public:
  explicit Refusals(const Graph& graph) : graph_(graph) {}

  bool brief() const { return brief_; }
  void Begin(bool brief);
  Refusal Make(Status status) { return brief_ ? &brief_refusal_ : &all_.emplace_back(std::move(status)); }
  /// With the place that diagnostics of the page give.
  Refusal MakeAt(int block, const Status& status);

 private:
  const Graph& graph_;
  const Status brief_refusal_ = InvalidArgument("");
  std::deque<Status> all_;
  bool brief_ = false;
};

/// Blocks whose outputs would be others are followed to the blocks that read them, in the graph's order, until one refuses or nothing
/// changes any more. Remembers what came of it.
class ChangeFollower {
 public:
  ChangeFollower(const Graph& graph, const PageValues& values, BlockTyping& typing, PageLinks& links, Refusals& refusals);

  /// A new question, which may follow so many blocks.
  void Begin(bool brief, size_t most_blocks);
  Refusal Follow(int block, const OfferedOutputs& outputs);

 private:
  struct Followed {
    uint64_t outputs;  // their hash
    Refusal refused;
    int next;  // of the same block, or -1
  };
  const Followed* FindFollowed(int block, uint64_t outputs) const;
  void Remember(Refusal refused);
  const OfferedOutputs* OutputsAfter(int reader, Refusal& refused);
  void Change(int block, const OfferedOutputs& outputs);
  int NextOpen();

  const Graph& graph_;
  const PageValues& values_;
  BlockTyping& typing_;
  PageLinks& links_;
  Refusals& refusals_;
  std::vector<Followed> followed_;
  std::vector<int> first_followed_;  // by block: index into followed_, or -1
  size_t blocks_left_ = 0;           // that may still be followed
  // Of the change that is followed; vectors are kept for their memory:
  const ChangedOutputs nothing_changed_;
  ChangedOutputs changed_;
  bool as_many_ = true;                           // each block that changed has as many values as before
  std::deque<OfferedOutputs> lists_;              // what list blocks would have
  std::vector<GivenItem> given_;                  // of the block at hand
  std::vector<std::pair<int, uint64_t>> passed_;  // blocks and their outputs, each of which alone stood for all that had changed
  std::vector<uint64_t> open_;                    // blocks that are to be looked at: bits by Node::order
  size_t open_count_ = 0, first_open_ = 0;
};

}  // namespace weft
