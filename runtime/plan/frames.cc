// Frames of loops: which blocks a page runs once, and which it runs in each iteration of a loop.
#include "runtime/plan/frames.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/adjacency.h"
#include "runtime/plan/passes.h"

namespace weft {
namespace {

constexpr int kDeepest = 100;  // nested loops

bool IsLoopBlock(const Node& node) {
  return Flows(node, Flow::kEnter) || Flows(node, Flow::kExit) || Flows(node, Flow::kNextIteration);
}

/// Whether the block has values of a frame, or stands for outputs of one that has.
bool TakesFrame(const Node& node) {
  return HasFrame(node) || node.def->structural == Structural::kOperation || node.def->structural == Structural::kOutput;
}

/// Gives each block its frame from those of its inputs.
class FrameFinder {
 public:
  explicit FrameFinder(Draft& draft) : draft_(draft) {}

  /// `order` has producers before consumers. Until all frames have their parents, faults are not reported.
  void Run(const std::vector<int>& order);
  /// After Run: a NextIteration of what holds in every frame is of the frame of the Merge that it leads back to.
  void TakeFrameOfMerge(int next, int merge);

 private:
  bool HoldsInEveryFrame(int block) const;
  void FindParents(const std::vector<int>& order);
  void LookAgain(const std::vector<int>& order);
  void Wake(int block);
  void WakeReaders(int block);
  void FindFrame(int block);
  void EnterFrame(int block, int parent);
  void ExitFrame(int block, int frame);

  Draft& draft_;
  std::map<std::string, int> frame_by_name_;
  // While parents are still to be found:
  bool settling_ = false;
  bool parents_found_ = false;                              // in this round
  std::unordered_set<int> open_exits_;                      // Exit blocks that lead to a frame which is not known yet
  std::unordered_map<int, std::vector<int>> asked_parent_;  // by frame that lacks its parent: blocks whose own frame depends on that
  std::vector<int> place_;                                  // by block: in the order, or -1
  int at_ = 0;                                              // place of the block at hand
  std::set<int> due_, due_next_;                            // places of blocks to look at again, in this round and in the next
  std::optional<Adjacency> readers_;                        // by block, once there is a second round
};

void FrameFinder::Run(const std::vector<int>& order) {
  settling_ = true;
  FindParents(order);
  for (size_t f = 1; f < draft_.parts.frames.size(); ++f) {
    if (draft_.parts.frames[f].parent < 0) draft_.parts.frames[f].parent = 0;
  }
  settling_ = false;
  for (int block : order) FindFrame(block);
}

// An Enter of a constant does not say which frame the loop lies in; another Enter of it does, which may come later. After a round over all
// blocks, later ones look only at those whose frames depend on what was found since.
void FrameFinder::FindParents(const std::vector<int>& order) {
  place_.assign(draft_.page.blocks.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int>(i);
  for (at_ = 0; at_ < static_cast<int>(order.size()); ++at_) FindFrame(order[at_]);
  while (!open_exits_.empty() && std::exchange(parents_found_, false)) LookAgain(order);
}

void FrameFinder::LookAgain(const std::vector<int>& order) {
  due_ = std::exchange(due_next_, {});
  while (!due_.empty()) {
    at_ = due_.extract(due_.begin()).value();
    const int block = order[at_];
    const int before = draft_.nodes[block].frame;
    FindFrame(block);
    if (draft_.nodes[block].frame != before) WakeReaders(block);
  }
}

void FrameFinder::Wake(int block) {
  if (place_[block] >= 0) (place_[block] > at_ ? due_ : due_next_).insert(place_[block]);
}

void FrameFinder::WakeReaders(int block) {
  if (!readers_) {
    readers_.emplace(draft_.page.blocks.size(), [&](const auto& edge) {
      draft_.parts.wires.ForEach([&](int reader, uint32_t, int producer) { edge(producer, reader); });
    });
  }
  for (int reader : readers_->Of(block)) Wake(reader);
}

// Literals, constants and variables are in every frame: they are not computed.
bool FrameFinder::HoldsInEveryFrame(int block) const {
  const Node& node = draft_.nodes[block];
  if (node.def == nullptr) return false;
  if (node.def->structural == Structural::kVariable || node.def->structural == Structural::kTemporary) return true;
  if (node.def->structural != Structural::kConstant) return false;
  std::span<const int> producers = draft_.parts.wires.ProducersOf(block);
  return std::none_of(producers.begin(), producers.end(), [](int producer) { return producer >= 0; });
}

void FrameFinder::TakeFrameOfMerge(int next, int merge) {
  const int frame = draft_.nodes[merge].frame;
  if (frame <= 0 || draft_.nodes[next].frame != 0) return;
  std::span<const int> producers = draft_.parts.wires.ProducersOf(next);
  const auto holds = [&](int producer) { return producer < 0 || HoldsInEveryFrame(producer); };
  if (std::all_of(producers.begin(), producers.end(), holds)) draft_.loops.home[next] = draft_.nodes[next].frame = frame;
}

// The frame that all inputs are of; its producers have theirs.
void FrameFinder::FindFrame(int block) {
  CallLimit::Check();
  Node& node = draft_.nodes[block];
  if (node.def == nullptr) node.frame = kUnknownFrame;
  if (node.def == nullptr || !TakesFrame(node)) return;
  if (!open_exits_.empty()) open_exits_.erase(block);
  int frame = 0;  // what reads nothing, or constants only, runs once
  int from = -1;
  bool unknown = false;
  const Wires::Items items = draft_.parts.wires.ItemsOf(block);
  for (uint32_t item = items.begin; item < items.end; ++item) {
    int producer = draft_.parts.wires.producers[item];
    if (producer < 0 || draft_.loops.is_back_edge[item] || HoldsInEveryFrame(producer)) continue;
    unknown |= draft_.nodes[producer].frame == kUnknownFrame;
    if (draft_.nodes[producer].frame == kUnknownFrame) continue;
    int found = draft_.nodes[producer].frame;
    if (from < 0) {
      frame = found;
      from = producer;
    } else if (found != frame) {
      Status status = InvalidArgument("the wire brings a value of ", FrameName(draft_, found), ", but '", draft_.page.blocks[from].id, "' brings one of ",
                                      FrameName(draft_, frame));
      std::string_view hint = "bring a value into a loop by an Enter block with is_constant_ = true, and out of it by an Exit";
      if (!settling_) draft_.ErrorAtItem(std::move(status).WithHint(hint), block, item);
      node.frame = kUnknownFrame;
      return;
    }
  }
  if (from < 0 && unknown) {
    node.frame = kUnknownFrame;
    return;
  }
  draft_.loops.home[block] = node.frame = frame;
  if (node.def->flow == Flow::kEnter) return EnterFrame(block, from < 0 ? kUnknownFrame : frame);
  if (node.def->flow == Flow::kExit) return ExitFrame(block, frame);
  bool stored = node.def->structural == Structural::kVariable || node.def->structural == Structural::kTemporary;
  if (!stored || frame == 0 || settling_) return;
  draft_.Error(InvalidArgument("needs an initial value from outside of loops, found one of ", FrameName(draft_, frame)), block);
}

// `parent` is unknown for a value that is in every frame.
void FrameFinder::EnterFrame(int block, int parent) {
  Node& node = draft_.nodes[block];
  const auto* name = AttrOf<std::string>(node, "frame_name");
  node.frame = kUnknownFrame;
  if (name == nullptr) return;  // reported: it is required
  std::vector<Frame>& frames = draft_.parts.frames;
  auto [it, added] = frame_by_name_.emplace(*name, static_cast<int>(frames.size()));
  const int index = it->second;
  if (added) frames.push_back({*name, kUnknownFrame, block});
  int depth = 1;
  bool within = false;  // itself
  int outermost = parent;  // that is known
  for (int outer = parent; outer > 0; outer = frames[outer].parent, ++depth) {
    within |= outer == index;
    outermost = outer;
  }
  if (settling_ && outermost > 0 && frames[outermost].parent < 0) asked_parent_[outermost].push_back(block);
  if (depth > kDeepest || within) {
    Status status = within ? InvalidArgument("the frame '", *name, "' is entered from within itself")
                           : ResourceExhausted("loops nested more than ", kDeepest, " deep are not taken");
    if (!settling_) draft_.Error(std::move(status), block, "frame_name");
    return;
  }
  if (parent >= 0 && frames[index].parent < 0) {
    frames[index].parent = parent;
    frames[index].enter = block;
    parents_found_ = true;
    if (const auto asked = asked_parent_.find(index); asked != asked_parent_.end()) {
      for (int other : std::exchange(asked->second, {})) Wake(other);
    }
  } else if (parent >= 0 && frames[index].parent != parent) {
    Status status = InvalidArgument("enters the frame '", *name, "' from ", FrameName(draft_, parent), ", but '",
                                    draft_.page.blocks[frames[index].enter].id, "' enters it from ", FrameName(draft_, frames[index].parent));
    if (!settling_) draft_.Error(std::move(status).WithHint("give each loop a frame_name of its own"), block, "frame_name");
    return;
  }
  draft_.loops.home[block] = node.frame = index;
}

void FrameFinder::ExitFrame(int block, int frame) {
  Node& node = draft_.nodes[block];
  if (frame != 0) {
    node.frame = draft_.parts.frames[frame].parent;
    if (!settling_ || node.frame != kUnknownFrame) return;
    open_exits_.insert(block);
    asked_parent_[frame].push_back(block);
    return;
  }
  node.frame = kUnknownFrame;
  if (settling_) return;
  Status status = InvalidArgument("needs a value of a loop, found one from outside of loops");
  draft_.Error(std::move(status).WithHint("values come into a loop by Enter blocks"), block, "data");
}

}  // namespace

bool HasFrame(const Node& node) {
  if (node.def == nullptr) return false;
  switch (node.def->structural) {
    case Structural::kNone:
    case Structural::kConstant:
    case Structural::kVariable:
    case Structural::kTemporary:
    case Structural::kList:
    case Structural::kAlias: return true;
    default: return false;
  }
}

Status OtherFrame(const Draft& draft, int found, int merge) {
  return InvalidArgument("the wire brings a value of ", FrameName(draft, found), ", but the Merge is in ", FrameName(draft, merge))
      .WithHint("a Merge in a loop takes what an Enter of that loop brings, and a NextIteration of it");
}

std::string FrameName(const Draft& draft, int frame) {
  return frame == 0 ? std::string("the page outside of loops") : Cat("the frame '", draft.parts.frames[frame].name, "'");
}

void FindFrames(Draft& draft) {
  if (std::none_of(draft.nodes.begin(), draft.nodes.end(), IsLoopBlock)) return;
  std::vector<char>& is_back_edge = draft.loops.is_back_edge;
  draft.loops.home.assign(draft.page.blocks.size(), 0);
  is_back_edge.assign(draft.parts.wires.producers.size(), 0);
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    is_back_edge[item] = Flows(draft.nodes[block], Flow::kMerge) && Flows(draft.nodes[producer], Flow::kNextIteration);
  });
  std::vector<int> waiting;
  FrameFinder finder(draft);
  finder.Run(SortBlocks(draft, waiting));
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    if (is_back_edge[item]) finder.TakeFrameOfMerge(producer, block);
  });
  CheckFrames(draft);
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    // Outside of loops NextIteration hands its value on, as any other block does.
    if (is_back_edge[item] && draft.nodes[producer].frame == 0 && draft.nodes[block].frame <= 0) is_back_edge[item] = 0;
    if (!is_back_edge[item] || draft.nodes[block].broken) return;
    // The Merge is connected first; AssumeFeedbackTypes gives this output its type.
    draft.nodes[producer].out_first = PortTable::Single(1);
    draft.nodes[producer].output_types = {DType::kInvalid};
  });
  for (Node& node : draft.nodes) {
    if (node.frame == kUnknownFrame) node.frame = 0;
  }
}

}  // namespace weft
