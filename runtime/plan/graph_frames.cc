// Frames of loops: which blocks a page runs once, and which it runs in each iteration of a loop.
#include <algorithm>
#include <utility>

#include "runtime/plan/graph_builder.h"

namespace weft {
namespace {

constexpr int kUnknown = -1;  // of a faulty block: said once
constexpr int kDeepest = 100;

bool Flows(const Node& node, Flow flow) { return node.def != nullptr && node.def->flow == flow; }

bool IsLoopBlock(const Node& node) {
  return Flows(node, Flow::kEnter) || Flows(node, Flow::kExit) || Flows(node, Flow::kNextIteration);
}

/// Blocks that stand for sessions, feeds and the like carry no values of a frame.
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

/// Or stand for the outputs of others.
bool TakesFrame(const Node& node) {
  return HasFrame(node) || node.def->structural == Structural::kOperation || node.def->structural == Structural::kOutput;
}

template <class V>
const V* AttrOf(const Node& node, std::string_view name) {
  int index = node.def->FindAttr(name);
  return index < 0 ? nullptr : std::get_if<V>(&node.attrs[static_cast<size_t>(index)]);
}

}  // namespace

void GraphBuilder::FindFrames() {
  if (std::none_of(graph_.nodes_.begin(), graph_.nodes_.end(), IsLoopBlock)) return;
  home_.assign(page_.blocks.size(), 0);
  feeds_back_.assign(producers_.size(), 0);
  ForEachItem([&](int block, uint32_t item, int producer) {
    feeds_back_[item] = Flows(graph_.nodes_[block], Flow::kMerge) && Flows(graph_.nodes_[producer], Flow::kNextIteration);
  });
  std::vector<int> waiting;
  std::vector<int> order = Sort(waiting);
  // An Enter of a constant leaves open where the frame lies; another Enter of it tells.
  for (settling_ = true; settling_;) {
    open_exits_ = parents_found_ = false;
    for (int block : order) FindFrame(block);
    if (open_exits_ && parents_found_) continue;
    for (size_t f = 1; f < graph_.frames_.size(); ++f) {
      if (graph_.frames_[f].parent < 0) graph_.frames_[f].parent = 0;
    }
    settling_ = false;
  }
  for (int block : order) FindFrame(block);
  CheckFrames();
  ForEachItem([&](int block, uint32_t item, int producer) {
    // Outside of loops NextIteration hands its value on, as any other block does.
    if (feeds_back_[item] && graph_.nodes_[producer].frame == 0) feeds_back_[item] = 0;
    if (!feeds_back_[item] || graph_.nodes_[block].broken) return;
    // Its type is that of the values it meets, until it is known.
    graph_.nodes_[producer].out_first = PortTable::Single(1);
    graph_.nodes_[producer].output_types = {DType::kInvalid};
  });
  for (Node& node : graph_.nodes_) {
    if (node.frame == kUnknown) node.frame = 0;
  }
}

// Literals, constants and variables hold in every frame: they are not computed.
bool GraphBuilder::HoldsInEveryFrame(int block) const {
  const Node& node = graph_.nodes_[block];
  if (node.def == nullptr) return false;
  if (node.def->structural == Structural::kVariable || node.def->structural == Structural::kTemporary) return true;
  if (node.def->structural != Structural::kConstant) return false;
  std::span<const int> producers = ProducersOf(block);
  return std::none_of(producers.begin(), producers.end(), [](int producer) { return producer >= 0; });
}

// The frame that all inputs are of; its producers have theirs.
void GraphBuilder::FindFrame(int block) {
  Node& node = graph_.nodes_[block];
  if (node.def == nullptr) node.frame = kUnknown;
  if (node.def == nullptr || !TakesFrame(node)) return;
  int frame = 0;  // what reads nothing, or constants only, runs once
  int from = -1;
  bool unknown = false;
  for (uint32_t item = first_item_[first_input_[block]]; item < first_item_[first_input_[block + 1]]; ++item) {
    int producer = producers_[item];
    if (producer < 0 || feeds_back_[item] || HoldsInEveryFrame(producer)) continue;
    unknown |= graph_.nodes_[producer].frame == kUnknown;
    if (graph_.nodes_[producer].frame == kUnknown) continue;
    int found = graph_.nodes_[producer].frame;
    if (from < 0) {
      frame = found;
      from = producer;
    } else if (found != frame) {
      Status status = InvalidArgument("the wire brings a value of ", FrameName(found), ", but '", page_.blocks[from].id, "' brings one of ",
                                      FrameName(frame));
      std::string_view hint = "bring a value into a loop by an Enter block with is_constant_ = true, and out of it by an Exit";
      if (!settling_) ErrorAtItem(std::move(status).WithHint(hint), block, item);
      node.frame = kUnknown;
      return;
    }
  }
  if (from < 0 && unknown) {
    node.frame = kUnknown;
    return;
  }
  home_[block] = node.frame = frame;
  if (node.def->flow == Flow::kEnter) return EnterFrame(block, from < 0 ? kUnknown : frame);
  if (node.def->flow == Flow::kExit) return ExitFrame(block, frame);
  bool stored = node.def->structural == Structural::kVariable || node.def->structural == Structural::kTemporary;
  if (!stored || frame == 0 || settling_) return;
  Error(InvalidArgument("needs an initial value from outside of loops, found one of ", FrameName(frame)), block);
}

// `parent` is unknown for a value that holds in every frame.
void GraphBuilder::EnterFrame(int block, int parent) {
  Node& node = graph_.nodes_[block];
  const auto* name = AttrOf<std::string>(node, "frame_name");
  node.frame = kUnknown;
  if (name == nullptr) return;  // reported: it is required
  std::vector<Frame>& frames = graph_.frames_;
  auto [it, added] = frame_by_name_.emplace(*name, static_cast<int>(frames.size()));
  const int index = it->second;
  if (added) frames.push_back({*name, kUnknown, block});
  int depth = 1;
  bool within = false;  // itself
  for (int outer = parent; outer > 0; outer = frames[outer].parent, ++depth) within |= outer == index;
  if (depth > kDeepest || within) {
    Status status = within ? InvalidArgument("the frame '", *name, "' is entered from within itself")
                           : ResourceExhausted("loops nested more than ", kDeepest, " deep are not taken");
    if (!settling_) Error(std::move(status), block, "frame_name");
    return;
  }
  if (parent >= 0 && frames[index].parent < 0) {
    frames[index].parent = parent;
    frames[index].enter = block;
    parents_found_ = true;
  } else if (parent >= 0 && frames[index].parent != parent) {
    Status status = InvalidArgument("enters the frame '", *name, "' from ", FrameName(parent), ", but '",
                                    page_.blocks[frames[index].enter].id, "' enters it from ", FrameName(frames[index].parent));
    if (!settling_) Error(std::move(status).WithHint("give each loop a frame_name of its own"), block, "frame_name");
    return;
  }
  home_[block] = node.frame = index;
}

void GraphBuilder::ExitFrame(int block, int frame) {
  Node& node = graph_.nodes_[block];
  if (frame != 0) {
    node.frame = graph_.frames_[frame].parent;
    open_exits_ |= node.frame == kUnknown;
    return;
  }
  node.frame = kUnknown;
  if (settling_) return;
  Status status = InvalidArgument("needs a value of a loop, found one from outside of loops");
  Error(std::move(status).WithHint("values come into a loop by Enter blocks"), block, "data");
}

std::string GraphBuilder::FrameName(int frame) const {
  return frame == 0 ? std::string("the page outside of loops") : Cat("the frame '", graph_.frames_[frame].name, "'");
}

// What a frame needs besides: NextIteration goes to Merge blocks of its own frame, and only one LoopCond says whether to go on.
void GraphBuilder::CheckFrames() {
  std::vector<char> feeds(page_.blocks.size(), 0), goes_on(graph_.frames_.size(), 0), warned(page_.blocks.size(), 0);
  std::vector<int> condition(graph_.frames_.size(), -1);
  ForEachItem([&](int block, uint32_t item, int producer) {
    if (!Flows(graph_.nodes_[producer], Flow::kNextIteration)) return;
    int frame = graph_.nodes_[producer].frame;
    if (frame <= 0 || !HasFrame(graph_.nodes_[block])) return;
    goes_on[frame] = 1;
    feeds[producer] = 1;
    if (!feeds_back_[item]) {
      Status status = InvalidArgument("a value of the next iteration can go to a Merge only, found ", graph_.nodes_[block].def->name);
      ErrorAtItem(std::move(status).WithHint("a Merge takes what enters the loop and what its last iteration left"), block, item);
    } else if (graph_.nodes_[block].frame != frame && graph_.nodes_[block].frame != kUnknown) {
      Status status = InvalidArgument("the wire brings a value of ", FrameName(frame), ", but the Merge is in ",
                                      FrameName(graph_.nodes_[block].frame));
      std::string_view hint = "a Merge in a loop takes what an Enter of that loop brings, and a NextIteration of it";
      ErrorAtItem(std::move(status).WithHint(hint), block, item);
    }
  });
  for (size_t i = 0; i < page_.blocks.size(); ++i) {
    const Node& node = graph_.nodes_[i];
    const int block = static_cast<int>(i);
    if (node.frame <= 0) continue;
    if (Flows(node, Flow::kNextIteration) && !feeds[i] && !node.broken) {
      Error(InvalidArgument("feeds no Merge, so the loop '", graph_.frames_[node.frame].name, "' has no next iteration")
                .WithHint("wire its output to the Merge that takes what enters the loop"), block);
    }
    if (!IsLoopCondition(node)) continue;
    if (condition[node.frame] >= 0) {
      Status status = InvalidArgument("the loop '", graph_.frames_[node.frame].name, "' has a condition already: '",
                                      page_.blocks[condition[node.frame]].id, "'");
      Error(std::move(status).WithHint("give each loop a frame_name of its own"), block);
    }
    condition[node.frame] = block;
  }
  ForEachItem([&](int block, uint32_t, int producer) {
    const Node& enter = graph_.nodes_[producer];
    if (!Flows(enter, Flow::kEnter) || enter.frame <= 0 || !goes_on[enter.frame] || warned[producer]) return;
    const auto* constant = AttrOf<bool>(enter, "is_constant");
    if (constant == nullptr || *constant || Flows(graph_.nodes_[block], Flow::kMerge) || !HasFrame(graph_.nodes_[block])) return;
    warned[producer] = 1;
    Status status = InvalidArgument("its value is there in the loop's first iteration only, and '", page_.blocks[block].id,
                                    "' reads it in each");
    diagnostics_.Warning(At(std::move(status).WithHint("set is_constant_ = true"), producer, "is_constant"));
  });
}

// A loop runs as a whole: all that enters it comes before, all that reads its results after it. `order` has producers before consumers.
void GraphBuilder::CheckLoopOrder() {
  const int blocks = static_cast<int>(page_.blocks.size());
  const int frames = static_cast<int>(graph_.frames_.size());
  auto begin = [&](int frame) { return blocks + 2 * frame; };
  auto end = [&](int frame) { return blocks + 2 * frame + 1; };
  std::vector<std::pair<int, int>> edges;
  ForEachItem([&](int block, uint32_t item, int producer) {
    if (feeds_back_[item] || !HasFrame(graph_.nodes_[block])) return;
    bool leaves = Flows(graph_.nodes_[producer], Flow::kExit) && home_[producer] > 0;
    bool enters = Flows(graph_.nodes_[block], Flow::kEnter) && home_[block] > 0;
    edges.emplace_back(leaves ? end(home_[producer]) : producer, enters ? begin(home_[block]) : block);
  });
  for (int block = 0; block < blocks; ++block) {
    if (home_[block] <= 0) continue;
    edges.emplace_back(begin(home_[block]), block);
    edges.emplace_back(block, end(home_[block]));
  }
  for (int frame = 1; frame < frames; ++frame) {
    int parent = graph_.frames_[frame].parent;
    if (parent == 0) continue;
    edges.emplace_back(begin(parent), begin(frame));
    edges.emplace_back(end(frame), end(parent));
  }
  std::sort(edges.begin(), edges.end());
  std::vector<int> waiting(static_cast<size_t>(blocks + 2 * frames), 0), ready;
  for (auto [from, to] : edges) ++waiting[to];
  for (int i = 0; i < blocks + 2 * frames; ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    int from = ready.back();
    ready.pop_back();
    for (auto it = std::lower_bound(edges.begin(), edges.end(), std::pair(from, -1)); it != edges.end() && it->first == from; ++it) {
      if (--waiting[it->second] == 0) ready.push_back(it->second);
    }
  }
  bool said = false;
  for (int block = 0; block < blocks; ++block) {
    if (waiting[block] == 0) continue;
    bool enters = Flows(graph_.nodes_[block], Flow::kEnter);
    std::span<const int> producers = ProducersOf(block);
    if (enters && !said && std::any_of(producers.begin(), producers.end(), [&](int p) { return p >= 0 && waiting[p] > 0; })) {
      said = true;
      Status status = InvalidArgument("the loop '", graph_.frames_[home_[block]].name,
                                      "' would have to end before it can begin: this value depends on its results");
      Error(std::move(status).WithHint("let it enter another loop, with a frame_name of its own"), block, "data");
    }
    graph_.nodes_[block].broken = true;
  }
}

// What comes back has the type of what enters, unless CheckFeedback finds another.
void GraphBuilder::TrustFeedback(const Node& merge) {
  if (feeds_back_.empty() || merge.def->flow != Flow::kMerge) return;
  DType type = DType::kInvalid;
  for (ValueRef value : merge.inputs) {
    if (type == DType::kInvalid) type = graph_.TypeOf(value);
  }
  for (ValueRef value : merge.inputs) {
    DType& found = graph_.nodes_[value.node].output_types[value.output];
    if (found == DType::kInvalid) found = type;
  }
}

// The types of values that come back were taken on trust when the Merge was connected.
void GraphBuilder::CheckFeedback() {
  if (feeds_back_.empty()) return;
  std::vector<std::vector<int>> readers(page_.blocks.size());
  std::vector<int> broken;
  ForEachItem([&](int block, uint32_t item, int producer) {
    readers[producer].push_back(block);
    if (!feeds_back_[item]) return;
    const Node& next = graph_.nodes_[producer];
    const Node& merge = graph_.nodes_[block];
    if (!next.broken && !merge.broken && next.output_types[0] != merge.output_types[0]) {
      Status status = InvalidArgument("the input 'inputs' needs ", merge.output_types[0], ", the type of what enters the loop, found ",
                                      next.output_types[0]);
      ErrorAtItem(std::move(status).WithHint("a Cast block converts"), block, item);
      broken.push_back(block);
    }
    if (next.broken && !merge.broken) broken.push_back(producer);
  });
  // What was connected before the fault was found.
  std::vector<char> visited(page_.blocks.size(), 0);
  while (!broken.empty()) {
    int block = broken.back();
    broken.pop_back();
    const BlockDef* def = graph_.nodes_[block].def;
    if (std::exchange(visited[block], 1) || (def != nullptr && def->structural == Structural::kSession)) continue;
    graph_.nodes_[block].broken = true;
    Disconnect(block);
    broken.insert(broken.end(), readers[block].begin(), readers[block].end());
  }
}

void GraphBuilder::ErrorAtItem(Status status, int block, uint32_t item) {
  uint32_t input = first_input_[block];
  while (first_item_[input + 1] <= item) ++input;
  const PageInput& source = page_.blocks[block].inputs[input - first_input_[block]];
  Error(std::move(status), block, source.port, source.list ? static_cast<int>(item - first_item_[input]) : -1);
}

}  // namespace weft
