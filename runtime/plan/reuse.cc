#include "runtime/plan/reuse.h"

#include <algorithm>
#include <bit>

#include "runtime/plan/draft.h"
#include "runtime/plan/graph_memo.h"
#include "runtime/plan/id_map.h"

namespace weft {

bool SameSetting(const AttrValue& a, const AttrValue& b) {
  const float *x = std::get_if<float>(&a), *y = std::get_if<float>(&b);
  return x != nullptr && y != nullptr ? std::bit_cast<uint32_t>(*x) == std::bit_cast<uint32_t>(*y) : a == b;
}

bool SameSettings(const AttrList& a, const AttrList& b) {
  const std::span<const AttrValue> x = a, y = b;
  return a.Shares(b) || std::ranges::equal(x, y, SameSetting);
}

namespace {

/// Whether what a block is depends on nothing but what is written at it, and on the types of what it reads.
bool MayTake(const BlockDef& def, const PageBlock& block) {
  if (def.structural == Structural::kNone) return def.flow == Flow::kPlain || def.flow == Flow::kForward;
  if (def.structural != Structural::kConstant && def.structural != Structural::kVariable) return false;
  // These take the value of a constant that they are wired to.
  const auto is_wire = [](const InputItem& item) { return WireOf(item) != nullptr; };
  return std::ranges::none_of(block.inputs, [&](const PageInput& input) { return std::ranges::any_of(input.items, is_wire); });
}

}  // namespace

Reuse::Reuse(Draft& draft, const Graph* previous) : draft_(draft), previous_(previous) {
  if (previous == nullptr || draft.page.edits == 0) return;
  if (&previous->registry() == &draft.registry() && previous->page().format == draft.page.format) MatchBlocks();
}

// By their serial numbers; a block that is not found at its place or beside it, nor by its id, counts as new.
void Reuse::MatchBlocks() {
  const Page& page = draft_.page;
  const Page& then = previous_->page();
  const auto is = [&](int64_t at, size_t block) {
    return at >= 0 && at < static_cast<int64_t>(then.blocks.size()) && SerialOf(then, static_cast<size_t>(at)) == SerialOf(page, block);
  };
  before_.assign(page.blocks.size(), -1);
  now_.assign(then.blocks.size(), -1);
  unedited_.assign(page.blocks.size(), 0);
  taken_.assign(page.blocks.size(), 0);
  rewired_.assign(page.blocks.size(), 0);
  unchanged_.assign(page.blocks.size(), 0);
  int64_t shift = 0;
  for (size_t i = 0; i < page.blocks.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    int64_t at = -1;
    for (int64_t guess : {place + shift, place + shift - 1, place + shift + 1}) {
      if (at < 0 && is(guess, i)) at = guess;
    }
    if (at < 0) {
      const int same_id = previous_->IndexOf(page.blocks[i].id);
      if (!is(same_id, i)) continue;
      at = same_id;
    }
    shift = at - place;
    before_[i] = static_cast<int>(at);
    now_[static_cast<size_t>(at)] = static_cast<int>(i);
  }
}

bool Reuse::TakeNode(int block) {
  if (before_.empty() || before_[block] < 0) return false;
  const size_t before = static_cast<size_t>(before_[block]);
  const PageBlock& source = draft_.page.blocks[static_cast<size_t>(block)];
  if (source.version != previous_->page().blocks[before].version) return false;
  unedited_[block] = 1;
  const Node& was = previous_->nodes()[before];
  if (was.broken || was.def == nullptr || was.frame != 0 || !MayTake(*was.def, source)) return false;
  // A block that another one stands for is not of its type.
  if (was.def->name != source.type && draft_.registry().Find(source.type) != was.def) return false;
  if (draft_.graph.memo().reported.contains(SerialOf(draft_.page, static_cast<size_t>(block)))) return false;
  Node& node = draft_.nodes[static_cast<size_t>(block)];
  node = was;
  node.page_block = block;
  node.order = node.variable = -1;
  taken_[block] = 1;
  return true;
}

// Where the blocks that its wires lead to were not edited, their ids are what they were.
bool Reuse::TakeWires(int block) {
  if (!HasTaken(block) || draft_.repeated_ids) return false;
  const Wires& was = previous_->wires();
  Wires& wires = draft_.parts.wires;
  const uint32_t inputs = was.first_input[before_[block]], inputs_end = was.first_input[before_[block] + 1];
  const uint32_t items = was.first_item[inputs], items_end = was.first_item[inputs_end];
  for (uint32_t item = items; item < items_end; ++item) {
    const int from = was.producers[item];
    if (from >= 0 && (now_[from] < 0 || !unedited_[now_[from]])) return false;
  }
  const auto first = static_cast<uint32_t>(wires.producers.size());
  for (uint32_t input = inputs; input < inputs_end; ++input) wires.first_item.push_back(first + was.first_item[input + 1] - items);
  wires.first_input.push_back(static_cast<uint32_t>(wires.first_item.size()) - 1);
  for (uint32_t item = items; item < items_end; ++item) wires.producers.push_back(was.producers[item] < 0 ? -1 : now_[was.producers[item]]);
  rewired_[block] = 1;
  return true;
}

bool Reuse::ReadsTheSame(int block) const {
  if (rewired_[block]) return std::ranges::all_of(draft_.parts.wires.ProducersOf(block), [&](int producer) { return producer < 0 || unchanged_[producer]; });
  for (const PageInput& input : draft_.page.blocks[block].inputs) {
    for (size_t k = 0; k < input.items.size(); ++k) {
      if (WireOf(input.items[k]) == nullptr) continue;
      const int producer = draft_.ProducerOf(block, input, k);
      if (producer < 0 || !unchanged_[producer]) return false;
    }
  }
  return true;
}

bool Reuse::TakeInputs(int block) {
  if (!HasTaken(block)) return false;
  const Node& node = draft_.nodes[block];
  if (node.broken || draft_.repeated_ids || !draft_.loops.home.empty()) return false;
  if (!ReadsTheSame(block)) return false;
  const int blocks = static_cast<int>(now_.size());
  literals_.clear();
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const int from = node.inputs[v].node;
    if (from >= blocks) literals_.emplace_back(from, v);
    else if (now_[from] < 0 || !unchanged_[now_[from]]) return false;
  }
  size_t listed = 0;  // what wires bring to list ports
  for (size_t p = 0; !node.inputs.empty() && p < node.def->inputs.size(); ++p) {
    if (node.def->inputs[p].list == PortList::kSingle) continue;
    for (uint32_t v = node.in_first[p]; v < node.in_first[p + 1]; ++v) listed += node.inputs[v].node < blocks;
  }
  if (draft_.list_values + listed > Draft::kMostListValues) return false;
  draft_.list_values += listed;
  for (ValueRef& input : draft_.nodes[block].inputs) {
    if (input.node < blocks) input.node = now_[input.node];
  }
  std::ranges::sort(literals_);  // in the order in which they are written
  for (const auto& [from, v] : literals_) {
    Node& literal = draft_.nodes.emplace_back(previous_->node(from));
    literal.page_block = block;
    literal.order = draft_.next_order++;
    draft_.nodes[block].inputs[v].node = static_cast<int>(draft_.nodes.size()) - 1;
  }
  return true;
}

void Reuse::Compare(int block) {
  if (before_.empty() || before_[block] < 0) return;
  const Node& node = draft_.nodes[block];
  const Node& was = previous_->node(before_[block]);
  if (node.broken || was.broken || node.def != was.def || node.def == nullptr || node.id != was.id) return;
  // A wire from any other kind of block brings values of others.
  const Structural kind = node.def->structural;
  const bool direct = kind == Structural::kNone || kind == Structural::kConstant || kind == Structural::kVariable;
  unchanged_[block] = direct && node.output_types == was.output_types && std::ranges::equal(node.out_first.table(), was.out_first.table());
}

// A block with a fault is not taken: the fault has to be reported again.
void Reuse::NoteFaults(size_t first) {
  for (size_t d = first; d < draft_.diagnostics.all().size(); ++d) {
    const int block = draft_.graph.IndexOf(draft_.diagnostics.all()[d].status.place().block);
    if (block >= 0) draft_.graph.memo().reported.insert(SerialOf(draft_.page, static_cast<size_t>(block)));
  }
}

const AttrList* Reuse::FindWritten(const BlockDef& def, const std::string& text) {
  const auto& known = draft_.graph.memo().Of(def).written.items;
  const auto same = std::ranges::find(known, text, &GraphMemo::Written::text);
  return same == known.end() ? nullptr : &same->attrs;
}

void Reuse::KeepWritten(const BlockDef& def, const std::string& text, const AttrList& attrs) {
  draft_.graph.memo().Of(def).written.Keep({text, attrs});
}

const AttrList* Reuse::FindGiven(const BlockDef& def, GivenAttrs given) {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first && SameSetting(a.second, b.second); };
  for (const GraphMemo::Given& other : draft_.graph.memo().Of(def).given.items) {
    if (std::ranges::equal(given, other.given, same)) return &other.attrs;
  }
  return nullptr;
}

void Reuse::KeepGiven(const BlockDef& def, GivenAttrs given, const AttrList& attrs) {
  draft_.graph.memo().Of(def).given.Keep({{given.begin(), given.end()}, attrs});
}

bool Reuse::TakeTypes(Node& node, const TypeKeys& keys) {
  for (const GraphMemo::Typed& other : draft_.graph.memo().Of(*node.def).typed.items) {
    if (!(other.inputs == keys) || !std::ranges::equal(other.in_first.table(), node.in_first.table())) continue;
    if (!SameSettings(other.given, node.attrs)) continue;
    node.attrs = other.attrs;
    node.in_first = other.in_first;
    node.output_types = other.output_types;
    node.out_first = other.out_first;
    return true;
  }
  return false;
}

void Reuse::KeepTypes(const Node& node, const AttrList& given, const TypeKeys& keys) {
  constexpr size_t kMostInputs = 64;
  if (keys.size() > kMostInputs) return;
  draft_.graph.memo().Of(*node.def).typed.Keep({given, keys, node.in_first, node.attrs, node.output_types, node.out_first});
}

const GradientRecord* Reuse::FindGradient(const Node& node, const ShortList<uint16_t, 12>& values) {
  for (const GradientRecord& known : draft_.graph.memo().Of(*node.def).gradients.items) {
    if (known.values == values && SameSettings(known.attrs, node.attrs) && std::ranges::equal(known.in_first.table(), node.in_first.table()) &&
        std::ranges::equal(known.out_first.table(), node.out_first.table())) {
      return &known;
    }
  }
  return nullptr;
}

void Reuse::KeepGradient(const Node& node, GradientRecord record) {
  record.attrs = node.attrs;
  record.in_first = node.in_first;
  record.out_first = node.out_first;
  draft_.graph.memo().Of(*node.def).gradients.Keep(std::move(record));
}

}  // namespace weft
