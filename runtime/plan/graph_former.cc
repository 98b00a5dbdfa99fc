// What a graph takes over from that of the page before an edit: blocks that read the same as before, without another look at what they say.
#include <algorithm>

#include "runtime/plan/graph_builder.h"
#include "runtime/plan/id_map.h"

namespace weft {
namespace {

/// Whether what a block is depends on nothing but what is written at it, and on the types of what it reads.
bool MayKeep(const BlockDef& def, const PageBlock& block) {
  if (def.structural == Structural::kNone) return def.flow == Flow::kPlain || def.flow == Flow::kForward;
  if (def.structural != Structural::kConstant && def.structural != Structural::kVariable) return false;
  // These take the value of a constant that they are wired to.
  const auto is_wire = [](const InputItem& item) { return WireOf(item) != nullptr; };
  return std::ranges::none_of(block.inputs, [&](const PageInput& input) { return std::ranges::any_of(input.items, is_wire); });
}

}  // namespace

// By their serial numbers; a block that is not found at its place or beside it, nor by its id, counts as new.
void GraphBuilder::FindFormer() {
  if (former_ == nullptr || page_.edits == 0 || &former_->registry_ != &graph_.registry_ || former_->page_->format != page_.format) return;
  const Page& then = *former_->page_;
  const auto is = [&](int64_t at, size_t block) {
    return at >= 0 && at < static_cast<int64_t>(then.blocks.size()) && SerialOf(then, static_cast<size_t>(at)) == SerialOf(page_, block);
  };
  before_.assign(page_.blocks.size(), -1);
  now_.assign(then.blocks.size(), -1);
  stays_.assign(page_.blocks.size(), 0);
  kept_.assign(page_.blocks.size(), 0);
  wired_.assign(page_.blocks.size(), 0);
  same_.assign(page_.blocks.size(), 0);
  int64_t shift = 0;
  for (size_t i = 0; i < page_.blocks.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    int64_t at = -1;
    for (int64_t guess : {place + shift, place + shift - 1, place + shift + 1}) {
      if (at < 0 && is(guess, i)) at = guess;
    }
    if (at < 0) {
      const int same_id = former_->IndexOf(page_.blocks[i].id);
      if (!is(same_id, i)) continue;
      at = same_id;
    }
    shift = at - place;
    before_[i] = static_cast<int>(at);
    now_[static_cast<size_t>(at)] = static_cast<int>(i);
  }
}

// Takes the former node as it was, for Reconnect to bring up to date; false where the block was edited, or had a fault.
bool GraphBuilder::KeepFormer(int block) {
  if (before_.empty() || before_[block] < 0) return false;
  const size_t before = static_cast<size_t>(before_[block]);
  const PageBlock& source = page_.blocks[static_cast<size_t>(block)];
  if (source.version != former_->page_->blocks[before].version) return false;
  stays_[block] = 1;
  const Node& was = former_->nodes_[before];
  if (was.broken || was.def == nullptr || was.frame != 0 || !MayKeep(*was.def, source)) return false;
  // A block that another one stands for is not of its type.
  if (was.def->name != source.type && graph_.registry_.Find(source.type) != was.def) return false;
  if (memo_.reported().contains(SerialOf(page_, static_cast<size_t>(block)))) return false;
  Node& node = graph_.nodes_[static_cast<size_t>(block)];
  node = was;
  node.page_block = block;
  node.order = node.variable = -1;
  kept_[block] = 1;
  return true;
}

// What a kept node's wires lead to, where those blocks were not edited: their names are what they were.
bool GraphBuilder::TakeProducers(int block) {
  if (kept_.empty() || !kept_[block] || same_ids_) return false;
  const Graph::Producers& was = former_->producers_;
  const uint32_t inputs = was.first_input[before_[block]], inputs_end = was.first_input[before_[block] + 1];
  const uint32_t items = was.first_item[inputs], items_end = was.first_item[inputs_end];
  for (uint32_t item = items; item < items_end; ++item) {
    const int from = was.nodes[item];
    if (from >= 0 && (now_[from] < 0 || !stays_[now_[from]])) return false;
  }
  const auto first = static_cast<uint32_t>(producers_.size());
  for (uint32_t input = inputs; input < inputs_end; ++input) first_item_.push_back(first + was.first_item[input + 1] - items);
  first_input_.push_back(static_cast<uint32_t>(first_item_.size()) - 1);
  for (uint32_t item = items; item < items_end; ++item) producers_.push_back(was.nodes[item] < 0 ? -1 : now_[was.nodes[item]]);
  wired_[block] = 1;
  return true;
}

// A node that was kept, where all that it reads is what it was; else as it is before it is connected.
bool GraphBuilder::Reconnect(int block) {
  if (kept_.empty() || !kept_[block]) return false;
  if (MapInputs(block)) {
    if (graph_.nodes_[block].def->structural == Structural::kVariable) DeclareVariable(block, ShapeAttr(graph_.nodes_[block]));
    return true;
  }
  Node& node = graph_.nodes_[block];
  Node fresh;
  fresh.id = std::move(node.id);
  fresh.page_block = block;
  fresh.def = node.def;
  fresh.broken = node.broken;
  fresh.frame = node.frame;
  node = std::move(fresh);
  ReadAttrs(block);
  return false;
}

bool GraphBuilder::ReadsTheSame(int block) const {
  if (wired_[block]) return std::ranges::all_of(ProducersOf(block), [&](int producer) { return producer < 0 || same_[producer]; });
  for (const PageInput& input : page_.blocks[block].inputs) {
    for (size_t k = 0; k < input.items.size(); ++k) {
      if (WireOf(input.items[k]) == nullptr) continue;
      const int producer = ProducerOf(block, input, k);
      if (producer < 0 || !same_[producer]) return false;
    }
  }
  return true;
}

bool GraphBuilder::MapInputs(int block) {
  const Node& node = graph_.nodes_[block];
  if (node.broken || same_ids_ || !home_.empty()) return false;
  if (!ReadsTheSame(block)) return false;
  const int blocks = static_cast<int>(now_.size());
  literals_.clear();
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const int from = node.inputs[v].node;
    if (from >= blocks) literals_.emplace_back(from, v);
    else if (now_[from] < 0 || !same_[now_[from]]) return false;
  }
  size_t listed = 0;  // what wires bring to list ports
  for (size_t p = 0; !node.inputs.empty() && p < node.def->inputs.size(); ++p) {
    if (node.def->inputs[p].list == PortList::kSingle) continue;
    for (uint32_t v = node.in_first[p]; v < node.in_first[p + 1]; ++v) listed += node.inputs[v].node < blocks;
  }
  if (list_values_ + listed > kMostListValues) return false;
  list_values_ += listed;
  for (ValueRef& input : graph_.nodes_[block].inputs) {
    if (input.node < blocks) input.node = now_[input.node];
  }
  std::ranges::sort(literals_);  // in the order in which they are written
  for (const auto& [from, v] : literals_) {
    Node& literal = graph_.nodes_.emplace_back(former_->nodes_[from]);
    literal.page_block = block;
    literal.order = next_order_++;
    graph_.nodes_[block].inputs[v].node = static_cast<int>(graph_.nodes_.size()) - 1;
  }
  return true;
}

// Whether those that read the block find what they found before.
void GraphBuilder::CompareWithFormer(int block) {
  if (before_.empty() || before_[block] < 0) return;
  const Node& node = graph_.nodes_[block];
  const Node& was = former_->nodes_[before_[block]];
  if (node.broken || was.broken || node.def != was.def || node.def == nullptr || node.id != was.id) return;
  // Those that stand for values of others are read as those are.
  const Structural kind = node.def->structural;
  const bool direct = kind == Structural::kNone || kind == Structural::kConstant || kind == Structural::kVariable;
  same_[block] = direct && node.output_types == was.output_types && std::ranges::equal(node.out_first.table(), was.out_first.table());
}

// What was said of a block has to be said again.
void GraphBuilder::NoteReported(size_t first) {
  for (size_t d = first; d < diagnostics_.all().size(); ++d) {
    const int block = graph_.IndexOf(diagnostics_.all()[d].status.place().block);
    if (block >= 0) memo_.reported().insert(SerialOf(page_, static_cast<size_t>(block)));
  }
}

}  // namespace weft
