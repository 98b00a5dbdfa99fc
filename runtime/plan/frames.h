// What the passes over loops share. Frames are described in README.md.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/plan/draft.h"

namespace weft {

constexpr int kUnknownFrame = -1;  // of a faulty block, whose fault is reported once

inline bool Flows(const Node& node, Flow flow) { return node.def != nullptr && node.def->flow == flow; }

/// Whether the block's value is the same in every frame: a constant, or a variable. Of blocks that are connected.
inline bool HoldsInEveryFrame(const Node& node) { return node.variable >= 0 || node.constant.defined(); }

/// Whether the block has values of a frame: sessions, feeds and the like have not.
bool HasFrame(const Node& node);

/// The attribute, where the node has one of this name and type.
template <class V>
const V* AttrOf(const Node& node, std::string_view name) {
  int index = node.def->FindAttr(name);
  return index < 0 ? nullptr : std::get_if<V>(&node.attrs[static_cast<size_t>(index)]);
}

/// "the frame 'x'", for diagnostics.
std::string FrameName(const Draft& draft, int frame);
/// Why a Merge cannot take what a NextIteration of another frame brings.
Status OtherFrame(const Draft& draft, int found, int merge);

/// block_order.cc: the blocks whose producers come before them, in page order among those that are ready; back edges do not count. `waiting`
/// is left with how many inputs each block lacks; blocks that lack any are left out of the order. With `loops_whole`, which needs the frames,
/// all of a loop but its Exit blocks comes before those.
std::vector<int> SortBlocks(const Draft& draft, std::vector<int>& waiting, bool loops_whole = false);

/// loop_checks.cc. Needs the frames. NextIteration goes to Merge blocks of its own frame, and one LoopCond says whether a loop continues.
void CheckFrames(Draft& draft);
/// Needs the frames of a page without cycles. A loop can run as a whole: after all that enters it, before all that reads its results.
void CheckLoopOrder(Draft& draft);

}  // namespace weft
